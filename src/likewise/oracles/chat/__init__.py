"""A language model as an oracle: `ChatOracle`, for any server with ``/v1/chat/completions``.

`oracle` asks in two orders and keeps to the budget, `prompt` has the words and reads the replies,
`server` talks to the server, and `cache` keeps what was answered beside a session.
"""

from likewise.oracles.chat.oracle import ChatOracle
from likewise.oracles.chat.server import Expected

__all__ = ["ChatOracle", "Expected"]
