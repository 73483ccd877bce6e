"""A language model that answers questions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from likewise.core.answers import MODEL, Answer, Question
from likewise.errors import InputError, ModelError
from likewise.oracles.chat.cache import ReplyCache
from likewise.oracles.chat.prompt import Put, messages, put, read
from likewise.oracles.chat.server import (
    KEY,
    PER_MESSAGE,
    PER_PICTURE,
    ChatServer,
    Expected,
    Meter,
    PartRefused,
)
from likewise.oracles.oracle import answered
from likewise.words import check_text

OLLAMA = "http://localhost:11434/v1"
"""Where Ollama listens."""
SHORT = 6000
"""Questions go into one call while they have no more bytes than this together."""
MOST_UNREADABLE = 6
"""After this many unreadable replies in a row, the model is no longer asked."""
BYTES_PER_TOKEN = 3.5
"""As is usual for English; for estimates only."""


class ChatOracle:
    """Let a language model answer.

    It is asked twice to which group an item belongs: with the groups in one order and in the
    opposite one. If the two replies differ, the answer is *not sure*. Groups are called by their
    names or by an item in them, never by letters or numbers. What a model says is
    evidence: answers are signed ``model:NAME``, and those of people count more.

    Parameters
    ----------
    model : str
        The name of the model on the server.
    base_url : str, default="http://localhost:11434/v1"
        A server with ``/chat/completions``: Ollama, llama.cpp, vLLM, or a hosted one.
    instruction : str
        What belongs together, in words, such as "the same product?".
    items : sequence or callable
        What each row is: a text, a mapping of fields, the bytes of a picture, or a list of these,
        by the number of the row.
    key_from : str, default="LIKEWISE_MODEL_KEY"
        The **name** of the environment variable with the key, if the server needs one.
    max_calls, max_tokens, max_cost : optional
        The most that may be spent. A call that could exceed one of them is not made: the model then
        stops answering. Retries count.
    price : tuple of float, optional
        The price of a million tokens sent, and of a million received.
    max_reply : int, default=400
        The most tokens of a reply, per question in a call. Models that think need more.
    per_call : int, default=4
        How many questions go into one call, if their items are short.
    longest : int, default=1500
        Texts are cut after about this many characters, at the end of a sentence.
    timeout : float, default=120
        How many seconds a call may take.
    tries : int, default=4
        How often a call is tried before giving up.
    cache : path, optional
        A file with earlier replies. By default they are kept in memory.
    **waits
        `sleep` and `clock`, for tests.

    Attributes
    ----------
    meter : Meter
        What was spent: `calls`, `tokens`, `cost`.
    n_answered, n_disagreed : int
        How many questions were asked, and to how many the two replies differed.

    Examples
    --------
    >>> from likewise.oracles import ChatOracle
    >>> oracle = ChatOracle("llama3", instruction="the same animal?", items=["cat", "Cat", "dog"])
    >>> oracle
    <ChatOracle: llama3 at http://localhost:11434/v1>
    """

    can_choose = True

    def __init__(
        self,
        model: str,
        base_url: str = OLLAMA,
        instruction: str = "",
        items: Sequence[Any] | Callable[[int], Any] = (),
        *,
        key_from: str = KEY,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        price: tuple[float, float] | None = None,
        max_reply: int = 400,
        per_call: int = 4,
        longest: int = 1500,
        timeout: float = 120.0,
        tries: int = 4,
        cache: str | Path | None = None,
        **waits: Any,
    ) -> None:
        self.model = check_text(model, "the name of a model")
        if not model:
            raise InputError("name a model, such as 'llama3'")
        if not instruction.strip():
            raise InputError(
                'a model must know what belongs together: instruction="the same product?"'
            )
        for name, value in (("max_reply", max_reply), ("per_call", per_call), ("tries", tries)):
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{name} must be a whole number from 1, got {value!r}")
        self.instruction = check_text(instruction, "an instruction", in_lines=True)
        self.by = f"{MODEL}{model}"
        self._show = items if callable(items) else items.__getitem__
        self.meter = Meter(max_calls, max_tokens, max_cost, price)
        self._server = ChatServer(
            base_url, self.meter, key_from=key_from, timeout=timeout, tries=tries, **waits
        )
        self._max_reply, self._per_call, self._longest = max_reply, per_call, longest
        self._cache = ReplyCache(None if cache is None else Path(cache))
        self._refused: set[str] = set()
        self._waiting: list[tuple[Put, asyncio.Future[Any]]] = []
        self._n_unreadable = 0
        self.n_answered = self.n_disagreed = 0

    def __repr__(self) -> str:
        return f"<ChatOracle: {self.model} at {self._server.base_url}>"

    @property
    def trouble(self) -> str:
        """Why the last request was made again; empty once there is a reply."""
        return self._server.trouble

    async def answer(self, question: Question) -> Any:
        """Return the group on which both replies agree; *not sure* if they do not."""
        one = put(question, self._show, self._longest)
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((one, future))
        if len(self._waiting) == 1:
            await asyncio.sleep(0)  # others that are asked now go into the same calls
            await self._ask_waiting()
        first, second = await future
        self.n_answered += 1
        if first != second:
            self.n_disagreed += 1
        chosen = one.chosen(first) if first == second else Answer.UNSURE
        return answered(Answer.UNSURE if chosen is None else chosen, question)

    def expected(self, questions: Sequence[Question], n: int | None = None) -> Expected:
        """Estimate what `n` questions such as these will take; nothing is asked."""
        puts = [put(question, self._show, self._longest) for question in questions]
        if not puts:
            return Expected(0, 0, None if self.meter.price is None else 0.0)
        share = (len(puts) if n is None else n) / len(puts)
        chunks = self._chunks(puts)
        calls = round(2 * len(chunks) * share + 0.49)
        sent = round(2 * share * sum(self._size(chunk) / BYTES_PER_TOKEN for chunk in chunks))
        received = round(2 * share * 30 * len(puts))
        cost = None if self.meter.price is None else self.meter.cost_of(sent, received)
        return Expected(calls, sent + received, cost)

    def close(self) -> None:
        """Write the replies to the cache."""
        self._cache.save()

    # -- inside ----------------------------------------------------------------------------------

    async def _ask_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            futures = {id(one): future for one, future in waiting}
            chunks = self._chunks([one for one, _ in waiting])
            await asyncio.gather(*(self._ask(chunk, futures) for chunk in chunks))
        finally:
            for _, future in waiting:
                if not future.done():
                    future.cancel()

    async def _ask(self, chunk: Sequence[Put], futures: dict[int, asyncio.Future[Any]]) -> None:
        """Ask some questions in both orders, and pass on the replies or the error."""
        try:
            orders = [await self._labels(chunk, backward=backward) for backward in (False, True)]
        except Exception as error:  # each of them gets it
            for one in chunk:
                if not futures[id(one)].done():
                    futures[id(one)].set_exception(error)
            return
        for one, *labels in zip(chunk, *orders, strict=True):
            if not futures[id(one)].done():
                futures[id(one)].set_result(labels)

    def _chunks(self, puts: Sequence[Put]) -> list[list[Put]]:
        """Divide questions among calls; a long one has a call of its own."""
        chunks: list[list[Put]] = []
        room = 0
        for one in puts:
            size = SHORT if one.pictures else one.length
            if not chunks or size > room or len(chunks[-1]) >= self._per_call:
                chunks.append([])
                room = SHORT
            chunks[-1].append(one)
            room -= size
        return chunks

    async def _labels(self, chunk: Sequence[Put], *, backward: bool) -> list[str | None]:
        """Return the replies to some questions in one order, from the cache where it has them."""
        keys = [self._key(one, backward=backward) for one in chunk]
        labels = [self._cached(one, key) for one, key in zip(chunk, keys, strict=True)]
        asked = [k for k, label in enumerate(labels) if label is None]
        if asked:
            replies = await self._replies([chunk[k] for k in asked], backward=backward)
            for k, reply in zip(asked, replies, strict=True):
                labels[k] = reply
                if reply is not None:
                    self._cache.put(keys[k], reply)
        return labels

    def _key(self, one: Put, *, backward: bool) -> str:
        # A hash of the whole prompt for one question, and of the pictures in it.
        asked = messages([one], self.instruction, backward=backward)
        return ReplyCache.key(self.model, self._server.base_url, asked)

    def _cached(self, one: Put, key: str) -> str | None:
        reply = self._cache.get(key)
        return reply if one.chosen(reply) is not None else None

    async def _replies(self, chunk: Sequence[Put], *, backward: bool) -> list[str | None]:
        # A token has at least one byte.
        worst = self._size(chunk) + PER_MESSAGE, self._max_reply * len(chunk)
        while True:
            try:
                content = await self._server.complete(self._body(chunk, worst[1], backward), worst)
                break
            except PartRefused as part:  # from now on without it
                self._refused.add(str(part))
        labels = read(content, chunk)
        self._n_unreadable = self._n_unreadable + 1 if not any(labels) else 0
        if self._n_unreadable >= MOST_UNREADABLE:
            raise ModelError(
                f"{MOST_UNREADABLE} replies of {self.model} in a row had no answer in them. Choose "
                "another model, or raise max_reply (--max-reply) if it thinks aloud"
            )
        return labels

    def _body(self, chunk: Sequence[Put], n_tokens: int, backward: bool) -> dict[str, Any]:
        """Return a request, without the parts that the server does not take."""
        plain = {"model": self.model, "stream": False, "temperature": 0, "max_tokens": n_tokens}
        plain |= messages(chunk, self.instruction, backward=backward)
        body = {name: value for name, value in plain.items() if name not in self._refused}
        # Hosted models that think have another name for it.
        return body if "max_tokens" in body else {**body, "max_completion_tokens": n_tokens}

    def _size(self, chunk: Sequence[Put]) -> int:
        """Return how many bytes the texts of a call have, and tokens of its pictures."""
        plain = messages(
            [Put(one.item, one.labels, one.examples) for one in chunk],
            self.instruction,
            backward=False,
        )
        n_pictures = sum(len(one.pictures) for one in chunk)
        return len(json.dumps(plain).encode()) + PER_PICTURE * n_pictures
