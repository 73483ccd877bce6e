"""The one loop in which an oracle answers the questions of a session."""

from __future__ import annotations

import asyncio
import inspect
import time
import warnings
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from likewise.core.answers import Question, Signed, checked_budget, is_whole
from likewise.core.session import Session, refuse_session
from likewise.errors import (
    AnswerError,
    BudgetExhausted,
    ContradictionError,
    InputError,
    InterruptedFitError,
    LikewiseError,
    NothingAskedWarning,
)
from likewise.oracles.oracle import Oracle, as_chosen, as_oracle, can_choose
from likewise.store import now
from likewise.words import plural

AnySession = TypeVar("AnySession", bound=Session)
OnAnswer = Callable[[Session], object]


def run(
    session: AnySession,
    oracle: Any,
    *,
    max_queries: int | None = None,
    n_at_once: int = 1,
    on_answer: OnAnswer | None = None,
) -> AnySession:
    """Let an oracle answer a session until it asks no more.

    Parameters
    ----------
    session : Session
        It is changed in place; after an error in the oracle it still has all earlier answers. Its
        own budget counts.
    oracle : Oracle or callable
        Who answers. If the session is about a sample of larger data, questions have the numbers
        of the rows in that data. To an oracle that cannot choose, a question with several groups
        is put as pairs, the likeliest group first; each of them counts as a question. Its `answer`
        may be a coroutine (``async def``). One that has `by`, such as "model:llama3", signs its
        answers with it.
    max_queries : int, optional
        Ask no more than this many questions now. The session's own budget counts, too.
    n_at_once : int, default=1
        How many questions may be open at the same time: useful where `answer` is a coroutine.
    on_answer : callable, optional
        Called with the session after every answer, for example to save it or to show progress.

    Returns
    -------
    Session
        The same session.

    Warns
    -----
    NothingAskedWarning
        If `max_queries` is given, but the session has ended: its own budget is spent or, without
        one, more questions would bring little. ``session.extend`` lets it ask more.

    See Also
    --------
    arun : The same where an event loop runs already, as in a notebook.

    Examples
    --------
    >>> from likewise import COBRA, LabelOracle, run
    >>> session = COBRA(n_super_instances=3).start([[0.0], [0.1], [5.0]])
    >>> run(session, LabelOracle([0, 0, 1]), max_queries=1).progress.answered
    1
    """
    asking = _asking(session, oracle, max_queries, n_at_once, on_answer)
    if not asking.waits:
        with suppress(StopIteration):  # nothing is waited for, so this goes through to the end
            asking.run().send(None)
        return session
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise InputError(
            "an event loop runs here already: await likewise.oracles.arun(session, oracle) instead"
        )
    asyncio.run(asking.run())
    return session


async def arun(
    session: AnySession,
    oracle: Any,
    *,
    max_queries: int | None = None,
    n_at_once: int = 1,
    on_answer: OnAnswer | None = None,
) -> AnySession:
    """Let an oracle answer a session, as `run` does, where an event loop runs already."""
    await _asking(session, oracle, max_queries, n_at_once, on_answer).run()
    return session


def _asking(
    session: Session,
    oracle: Any,
    max_queries: int | None,
    n_at_once: int,
    on_answer: OnAnswer | None,
) -> _Asking:
    """Check what `run` was passed."""
    refuse_session(session)
    oracle = as_oracle(oracle)
    check_length(oracle, session)
    if not is_whole(n_at_once) or n_at_once < 1:
        raise InputError(f"n_at_once must be a whole number from 1, got {n_at_once!r}")
    most, budget = checked_budget(max_queries), session.max_queries
    if most and session.is_done and session.progress.has_more:
        why = "more questions would bring little"
        if budget is not None:
            why = f"the session's budget of {plural(budget, 'question')} is spent"
        warnings.warn(
            f"nothing was asked: {why}. session.extend({most}) lets it ask {most} more, then run "
            "it again",
            NothingAskedWarning,
            stacklevel=3,
        )
    until = None if most is None else session.n_asked + most
    return _Asking(session, oracle, until, int(n_at_once), on_answer)


@dataclass
class _Answered:
    """What an oracle replied to a question, or why it did not."""

    asked: Question
    shown: Question
    """The same with the numbers of its rows in the data."""
    value: Any = None
    seconds: float | None = None
    error: Exception | None = None


_Reply = asyncio.Task[_Answered] | _Answered


class _Asking:
    """The one loop: questions are put, and answers taken in as they come."""

    def __init__(
        self,
        session: Session,
        oracle: Oracle,
        until: int | None,
        n_at_once: int,
        on_answer: OnAnswer | None,
    ) -> None:
        self._session, self._oracle, self._on_answer = session, oracle, on_answer
        self._until, self._n_at_once = until, n_at_once
        functions = (getattr(oracle, name, None) for name in ("answer", "function", "choose"))
        self.waits = any(inspect.iscoroutinefunction(one) for one in functions)
        self._is_over = False
        self._error: Exception | None = None

    async def run(self) -> None:
        """Ask until nothing is left; take in all answers before raising an error of the oracle."""
        pending: dict[Question, _Reply] = {}
        try:
            while self._error is None:
                for question in self._next(list(pending)):
                    pending[question] = self._put(question)
                if not pending:
                    break
                for question in await _ready(pending):
                    self._take(pending.pop(question))
        finally:
            await self._end(list(pending.values()))
        if self._error is not None:
            raise self._error

    async def _end(self, pending: list[_Reply]) -> None:
        """Stop waiting, but take in what was answered in the meantime."""
        waiting = [one for one in pending if isinstance(one, asyncio.Task)]
        for one in waiting:
            one.cancel()
        if waiting:
            await asyncio.wait(waiting)
        for reply in pending:
            if isinstance(reply, _Answered) or not reply.cancelled():
                self._take(reply)

    def _next(self, pending: list[Question]) -> list[Question]:
        """Return further questions that can be put now, besides those that are open."""
        session, n = self._session, self._n_at_once - len(pending)
        if self._is_over:
            return []
        if self._until is not None:
            n = min(n, self._until - session.n_asked - len(pending))
        if n < 1:
            return []
        if self._n_at_once > 1:
            return session.ask_many(n, besides=pending)
        question = session.ask()
        return [] if question is None else [question]

    def _put(self, question: Question) -> _Reply:
        """Put a question to the oracle."""
        asked = question if can_choose(self._oracle) else question.pair()
        numbers = self._session.row_numbers
        shown = asked if numbers is None else asked.renumbered(numbers)
        began = time.monotonic()
        try:
            value = self._oracle.answer(shown)
        except Exception as error:
            return _Answered(asked, shown, error=error)
        if inspect.iscoroutine(value):
            return asyncio.ensure_future(self._wait(asked, shown, value, began))
        return _Answered(asked, shown, value, time.monotonic() - began)

    async def _wait(
        self, asked: Question, shown: Question, value: Coroutine[Any, Any, Any], began: float
    ) -> _Answered:
        try:
            answer = await value
        except Exception as error:
            return _Answered(asked, shown, error=error)
        return _Answered(asked, shown, answer, time.monotonic() - began)

    def _take(self, one: _Reply) -> None:
        """Take in what an oracle replied."""
        reply = one if isinstance(one, _Answered) else one.result()
        try:
            if reply.error is not None:
                raise reply.error
            chosen = as_chosen(reply.value, reply.shown)
            with self._session.transaction():  # Ctrl-C in here leaves the session as it was before
                self._session.answer(reply.asked, chosen, **self._signature(reply))
        except BudgetExhausted:
            self._is_over = True
            return
        except Exception as error:
            self._is_over = True
            self._error = self._error or self._about_data(error)
            return
        if self._on_answer is not None:
            self._on_answer(self._session)

    def _about_data(self, error: Exception) -> Exception:
        """Return an error with the numbers of its rows in the data."""
        numbers = self._session.row_numbers
        if numbers is not None and isinstance(error, ContradictionError):
            return error.renumbered(numbers)
        return error

    def _signature(self, reply: _Answered) -> Signed:
        by = getattr(self._oracle, "by", None)
        took = round(reply.seconds or 0.0, 2)
        if by is None:
            return {"seconds": took if getattr(self._oracle, "is_person", False) else None}
        return {"by": by, "at": now(), "seconds": took}


async def _ready(
    pending: dict[Question, _Reply],
) -> list[Question]:
    """Return the questions that are answered, in their order; wait until one is."""
    for question, one in pending.items():
        if isinstance(one, _Answered):
            return [question]
    tasks = [one for one in pending.values() if isinstance(one, asyncio.Task)]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    return [q for q, one in pending.items() if isinstance(one, asyncio.Task) and one.done()]


def run_for_fit(
    session: Session,
    oracle: Any,
    *,
    then: str = "",
    on_answer: Callable[[Session], object] | None = None,
) -> None:
    """Let an oracle answer inside an estimator's `fit`; see `run`.

    Parameters
    ----------
    session, oracle, on_answer
        As for `run`.
    then : str
        The call that makes an estimator of the session, for the message of the error.

    Raises
    ------
    InterruptedFitError
        If the oracle fails, or its answer cannot be. It has the session with every answer before.
    """
    try:
        run(session, oracle, on_answer=on_answer)
    except Exception as error:
        is_answer = isinstance(error, AnswerError | ContradictionError)
        if isinstance(error, LikewiseError) and not is_answer:
            raise
        n = session.n_asked
        raise InterruptedFitError(
            f"the oracle failed on question {n + 1}: {type(error).__name__}: "
            f"{str(error).rstrip('.')}. The session is kept with "
            f"{plural(n, 'answer') if n else 'no answer yet'}: go on with "
            f"run(error.session, oracle){then}.",
            session,
        ) from error


def check_length(oracle: Any, session: Session) -> None:
    """Refuse an oracle for another number of rows."""
    n_known, n_rows = getattr(oracle, "n_rows", None), session.strategy.n_rows
    if n_known is not None and session.row_numbers is not None:
        if n_known <= session.row_numbers[-1]:
            raise InputError(
                f"the oracle has labels for {plural(n_known, 'row')}, but the session is about a "
                f"sample of the data, up to row {session.row_numbers[-1]}: pass the labels of all "
                "rows"
            )
    elif n_known is not None and n_known != n_rows:
        raise InputError(
            f"the oracle has labels for {plural(n_known, 'row')}, but the data has "
            f"{n_rows}. If the data was sliced, as in cross-validation, row numbers changed: pass "
            "labels by id, LabelOracle({id: label, ...}) with sample_ids, or all rows with "
            "train_indices"
        )
