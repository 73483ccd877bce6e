"""Requests to a server: a budget that is never exceeded, timeouts, and retries.

The key comes from an environment variable when a request is made. It is in no attribute and no
message, and what a server sends back is shown without it.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import math
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from likewise.errors import BudgetExhausted, InputError, ModelError, needs_extra

MOST_BYTES = 1_000_000
"""A reply longer than this is not read to its end."""
LONGEST_WAIT = 60.0
"""A server that asks to wait longer than this, in seconds, is asked again after this time."""
TOO_MANY, REFUSED, UNKNOWN = 429, (401, 403), 404
PER_MESSAGE = 64
"""Tokens that a server adds to a request, at most."""
PER_PICTURE = 2000
"""Tokens that a picture takes, at most, with the models that are usual."""
KEY = "LIKEWISE_MODEL_KEY"
"""Where the key is looked for by default."""
TRACE = 8
"""A text with this many letters and digits of the key in a row is not shown."""
LOCAL = ("localhost", "127.0.0.1", "::1")


PARTS = {
    "max_tokens": r"max_(completion_)?tokens",
    "temperature": r"temperature",
    "response_format": r"response_format|json_schema|schema|grammar",
}
"""Optional parts of a request, and the words by which servers that refuse them name them."""


class PartRefused(Exception):  # noqa: N818
    """The server does not take a part of the request; the message has its name."""


class _Again(Exception):  # noqa: N818
    """A try failed, and another one may succeed."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


@dataclass(frozen=True)
class Expected:
    """What some questions are expected to take, as far as is known."""

    calls: int
    tokens: int
    cost: float | None

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", a cost of about {self.cost:.2f}"
        return f"up to {self.calls} calls, about {self.tokens} tokens{cost}"


class Meter:
    """What was spent, and what may be.

    Parameters
    ----------
    max_calls, max_tokens, max_cost : optional
        The most that may be spent.
    price : tuple of float, optional
        The price of a million tokens sent, and of a million received.
    """

    def __init__(
        self,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        price: tuple[float, float] | None = None,
    ) -> None:
        for name, value in (
            ("max_calls", max_calls), ("max_tokens", max_tokens), ("max_cost", max_cost)
        ):  # fmt: skip
            if value is not None and (not isinstance(value, int | float) or value < 0):
                raise InputError(f"{name} must be None or a number from 0, got {value!r}")
        if max_cost is not None and price is None:
            raise InputError("max_cost needs price=(per million tokens sent, per million received)")
        self.max_calls, self.max_tokens, self.max_cost = max_calls, max_tokens, max_cost
        self.price = price
        self.calls, self.sent, self.received = 0, 0, 0
        self.spent = ""
        self._scale = 1.0

    @property
    def tokens(self) -> int:
        """Tokens so far; calls under way count with the most that they can take."""
        return self.sent + self.received

    @property
    def cost(self) -> float | None:
        """What that costs, if prices are known."""
        return None if self.price is None else self.cost_of(self.sent, self.received)

    def cost_of(self, sent: int, received: int) -> float:
        """Return what some tokens cost."""
        assert self.price is not None
        return (sent * self.price[0] + received * self.price[1]) / 1e6

    def begin(self, sent: int, received: int) -> tuple[int, int]:
        """Count a call with the most tokens that it can take, or raise `BudgetExhausted`.

        `spent` then says why. Returns what is counted, which is more than expected if earlier calls
        took more.
        """
        sent = math.ceil(sent * self._scale)
        spent, self.spent = f"after {self.calls} calls and {self.tokens} tokens", ""
        if self.max_calls is not None and self.calls + 1 > self.max_calls:
            self.spent = f"max_calls={self.max_calls} is spent {spent}"
        elif self.max_tokens is not None and self.tokens + sent + received > self.max_tokens:
            self.spent = f"max_tokens={self.max_tokens} could be exceeded {spent}"
        elif self.max_cost is not None:
            cost = self.cost_of(self.sent + sent, self.received + received)
            if cost > self.max_cost:
                self.spent = f"max_cost={self.max_cost:g} could be exceeded {spent}"
        if self.spent:
            raise BudgetExhausted(self.spent)
        self.calls += 1
        self.sent += sent
        self.received += received
        return sent, received

    def correct(self, counted: tuple[int, int], sent: int, received: int) -> None:
        """Replace the most that a call could take with what it took."""
        self.sent += sent - counted[0]
        self.received += received - counted[1]
        if sent > counted[0]:  # such as pictures, of which some models make more tokens
            self._scale *= sent / counted[0]


class ChatServer:
    """A server with ``/v1/chat/completions``.

    Parameters
    ----------
    base_url : str
        Its address, such as ``http://localhost:11434/v1``.
    meter : Meter
        Counts every request, retries included.
    key_from : str
        The environment variable with the key, if the server needs one.
    timeout : float
        How many seconds a request may take.
    tries : int
        How often a failing request is made in all.
    sleep, clock : callable
        Waiting, and the time in seconds since 1970; tests pass their own.

    Attributes
    ----------
    trouble : str
        Why the last request was made again; empty once there is a reply.
    """

    def __init__(
        self,
        base_url: str,
        meter: Meter,
        *,
        key_from: str,
        timeout: float,
        tries: int,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        parts = urlsplit(base_url) if isinstance(base_url, str) else urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(
                f"base_url is the address of a server, such as http://localhost:11434/v1, "
                f"got {base_url!r}"
            )
        if parts.username or parts.password or parts.query:
            raise InputError(f"base_url has no key in it: put the key in ${key_from}")
        if not re.fullmatch(r"[A-Za-z_]\w*", key_from):
            raise InputError(
                "key_from is the name of an environment variable, never the key itself"
            )
        self.is_local = parts.hostname in LOCAL
        self.base_url, self.meter = base_url.rstrip("/"), meter
        self._is_plain, self._key_from = parts.scheme == "http", key_from
        self._timeout, self._tries, self._sleep, self._clock = timeout, tries, sleep, clock
        with needs_extra("ChatOracle", "model"):
            import httpx2  # noqa: F401
        self._context: Any = None
        self.trouble = ""
        self._n_under_way = 0
        self._waiting: list[asyncio.Future[None]] = []

    async def complete(self, body: Mapping[str, Any], worst: tuple[int, int]) -> str:
        """Return what the model replies to a request.

        Parameters
        ----------
        body : mapping
            The request.
        worst : tuple of int
            The most tokens that are sent and received.

        Raises
        ------
        ModelError
            If the server gives no usable reply; the message says what to do.
        BudgetExhausted
            If the request could exceed the budget; it is not made then.
        PartRefused
            If the server does not take a part of the request.
        """
        why = ""
        for k in range(self._tries):
            counted = await self._begin(worst)
            try:
                content, sent, received = await self._try(body)
            except _Again as again:
                why = str(again)
                if k + 1 < self._tries:
                    self.trouble = f"{self.base_url} {why}: try {k + 2} of {self._tries}"
                    wait = 2.0**k if again.wait is None else again.wait
                    await self._sleep(min(wait, LONGEST_WAIT))
                continue
            else:
                self.trouble = ""
                sent = counted[0] if sent is None else sent
                self.meter.correct(counted, sent, received or counted[1])
                return content
            finally:
                self._end()
        raise ModelError(
            f"{self.base_url} {why}, {self._tries} times in a row. {self._remedy(why)}"
        )

    async def _begin(self, worst: tuple[int, int]) -> tuple[int, int]:
        """Count a request, once calls that are under way leave room for it in the budget.

        They are counted with the most that they can take, and mostly take less.
        """
        while True:
            try:
                counted = self.meter.begin(*worst)
            except BudgetExhausted:
                if not self._n_under_way:
                    raise
            else:
                self._n_under_way += 1
                return counted
            ended = asyncio.get_running_loop().create_future()
            self._waiting.append(ended)
            await ended

    def _end(self) -> None:
        """Let those try again that wait for room in the budget."""
        self._n_under_way -= 1
        waiting, self._waiting = self._waiting, []
        for ended in waiting:
            if not ended.done():
                ended.set_result(None)

    def _remedy(self, why: str) -> str:
        if why.startswith("replied"):
            return "Nothing is lost: run the same again later, or with fewer questions at once"
        if why.startswith("took longer"):
            ask = "Is the model too large for it, or is more time needed (--timeout)?"
        elif why.startswith(("cannot be reached", "broke off")) and self.is_local:
            ask = "Is it running, as by `ollama serve`?"
        else:
            ask = "Is that the address of a server of models, which ends in /v1 with most?"
        return f"{ask} Nothing is lost: run the same again then"

    async def _try(self, body: Mapping[str, Any]) -> tuple[str, int | None, int | None]:
        """Make a request once."""
        import httpx2

        try:
            async with asyncio.timeout(self._timeout):
                status, headers, data = await self._fetch(body)
        except (ModelError, _Again):
            raise
        except TimeoutError:
            raise _Again(f"took longer than {self._timeout:g} s") from None
        except httpx2.ConnectError:
            raise _Again("cannot be reached") from None
        except (httpx2.HTTPError, httpx2.StreamError, OSError, ValueError):
            raise _Again("broke off") from None
        if status != 200:
            self._refuse(body, status, headers, data)
        try:
            reply = json.loads(data)
            content = reply["choices"][0]["message"]["content"]
            usage = reply.get("usage") or {}
            if content is None:  # it thought until it was cut off, or would not answer
                content = ""
            if not isinstance(content, str):
                raise TypeError
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise _Again("sent what is no reply of a model") from None
        return content, _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")

    async def _fetch(self, body: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        """Return the status, the headers and the body of a reply, which may not be endless."""
        import httpx2

        if self._context is None:
            self._context = httpx2.create_ssl_context() if not self._is_plain else True
        options: Any = {"verify": self._context, "trust_env": not self.is_local}
        async with httpx2.AsyncClient(timeout=None, follow_redirects=False, **options) as client:
            url = f"{self.base_url}/chat/completions"
            async with client.stream("POST", url, json=body, headers=self._headers()) as reply:
                data = bytearray()
                async for piece in reply.aiter_bytes():
                    data += piece
                    if len(data) > MOST_BYTES:
                        raise _Again(f"sent more than {MOST_BYTES // 1_000_000} MB")
                return reply.status_code, dict(reply.headers), bytes(data)

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self._key_from, "").strip()
        if not key:
            if self._key_from != KEY:  # its name is not repeated: it may be the key, by mistake
                raise ModelError(
                    "the environment variable that key_from (--key-from) names is not set: export "
                    "it, or leave key_from out if the server needs no key"
                )
            return {}
        if self._is_plain and not self.is_local:
            raise ModelError(
                f"the key in ${self._key_from} is not sent to {self.base_url}, since others could "
                "read it on the way: use an address with https"
            )
        if not key.isascii() or not key.isprintable():
            raise ModelError(f"${self._key_from} has characters that no key has")
        return {"authorization": f"Bearer {key}"}

    def _refuse(
        self, body: Mapping[str, Any], status: int, headers: Mapping[str, str], data: bytes
    ) -> None:
        """Raise an error about a status that is not 200."""
        said = self._said(data.decode("utf-8", "replace"))
        if 300 <= status < 400:
            place = headers.get("location", "").removesuffix("/chat/completions")
            raise ModelError(
                f"{self.base_url} redirects ({status}{self._said(place)}). Nothing is sent "
                "elsewhere: if that is the right address, pass it as base_url (--base-url)"
            )
        if status == TOO_MANY or status >= 500:
            raise _Again(f"replied {status}{said}", self._wait_of(headers.get("retry-after")))
        if status in REFUSED:
            raise ModelError(
                f"{self.base_url} refused the key ({status}{said}): put a valid one in "
                f"${self._key_from}"
            )
        if status == UNKNOWN:
            raise ModelError(
                f"{self.base_url} does not have that ({status}{said}): check base_url, which ends "
                "in /v1 with most servers, and the model, as by `ollama list`"
            )
        why = f"{self.base_url} refused the request ({status}{said})"
        text = data[:4000].decode("utf-8", "replace")
        for part, words in PARTS.items():
            if part in body and re.search(words, text):
                raise PartRefused(part)
        raise ModelError(why)

    def _said(self, text: str) -> str:
        """Return the beginning of what a server says about an error, without the key."""
        text = " ".join(text[:4000].split())
        key = os.environ.get(self._key_from, "").strip()
        if key:
            text = text.replace(key, "…").replace(json.dumps(key)[1:-1], "…")
            # It may be escaped in another way, as by "\/", or be there in part.
            plain, said = (re.sub(r"[\W_]", "", part) for part in (key, text))
            n = min(TRACE, len(plain))
            if n and any(plain[k : k + n] in said for k in range(len(plain) - n + 1)):
                return ""
        text = "".join(c if c.isprintable() else "·" for c in text)
        return f": {text[:200]}" if text else ""

    def _wait_of(self, header: str | None) -> float | None:
        """Return how many seconds a server asks to wait, from a number or a date."""
        if header is None:
            return None
        try:
            return max(0.0, float(header))
        except ValueError:
            pass
        try:
            when = email.utils.parsedate_to_datetime(header).timestamp()
        except (ValueError, TypeError):
            return None
        return max(0.0, when - self._clock())


def _count(usage: Any, name: str) -> int | None:
    """Return a number of tokens that a server reports, if it can be one."""
    value = usage.get(name) if isinstance(usage, dict) else None
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None
