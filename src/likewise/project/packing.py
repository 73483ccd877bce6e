"""Sessions as bytes: arrays as arrays, all else as JSON."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import SessionFileError

_ARRAY = "array of this file"


def pack(value: Any) -> bytes:
    """Return a value of plain values and arrays as the bytes of a NumPy archive.

    Examples
    --------
    >>> import numpy as np
    >>> unpack(pack({"name": "x", "rows": np.arange(3)}))
    {'name': 'x', 'rows': array([0, 1, 2])}
    """
    arrays: dict[str, NDArray[Any]] = {}

    def name_of(inner: Any) -> dict[str, str]:
        if not isinstance(inner, np.ndarray):
            raise TypeError(f"{type(inner).__name__} is neither a plain value nor an array")
        arrays[f"a{len(arrays)}"] = inner
        return {_ARRAY: f"a{len(arrays) - 1}"}

    text = json.dumps(value, default=name_of, separators=(",", ":")).encode()
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, json=np.frombuffer(text, dtype=np.uint8), **arrays)
    return file.getvalue()


def unpack(data: bytes) -> Any:
    """Return the value that `pack` took; bytes of the first schema are JSON alone."""
    try:
        if data[:1] == b"{":
            return json.loads(data)
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return json.loads(
            arrays["json"].tobytes(),
            object_hook=lambda found: arrays[found[_ARRAY]] if _ARRAY in found else found,
        )
    except Exception as error:  # bytes that are not ours can fail in any way
        raise SessionFileError(f"the set-up in the session file is damaged: {error}") from error


def pack_session(session: Session) -> bytes:
    """Return a session with an empty log, as a payload of the store."""
    return pack({**session.state(), "log": [], "undone": []})


def needs_rows(strategy: Strategy) -> bool:
    """Return whether a strategy cannot be loaded without the rows.

    Strategies about super-instances store the rows they need with these. They are not tried, since
    loading one can take as long as making it.
    """
    plain = strategy.to_dict()
    if "partition" in plain:
        return False
    try:
        strategy.load({"name": strategy.name, **plain}, None)
    except (ValueError, TypeError, LookupError, AttributeError):
        return True  # it says so, or tried to use None as rows
    return False


def unpack_session(data: bytes, X: NDArray[Any] | None = None) -> Session:
    """Return the session that `pack_session` took; some strategies need the rows for that."""
    return Session.from_dict(unpack(data), X=X)
