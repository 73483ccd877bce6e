"""What an oracle is, and the one loop that lets it answer a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from likewise.core.answers import Answer, Query
from likewise.core.session import Session
from likewise.errors import (
    AnswerError,
    BudgetExhausted,
    InputError,
    InterruptedFitError,
    LikewiseError,
)


@runtime_checkable
class Oracle(Protocol):
    """Whoever answers: any object with ``answer(query) -> Answer``."""

    def answer(self, query: Query) -> Answer:
        """Return whether the two rows of a query belong together."""


class CallbackOracle:
    """A function of two rows as an oracle.

    Parameters
    ----------
    function : callable
        ``function(i, j)`` returns True (same), False (different) or None (not sure); an `Answer`
        or its value ("same", "different", "unsure") will do as well. Anything else is an error,
        so that a string such as "no" is never taken for a yes.

    Examples
    --------
    >>> from likewise import CallbackOracle, Query
    >>> CallbackOracle(lambda i, j: i % 2 == j % 2).answer(Query(1, 0, 4))
    <Answer.SAME: 'same'>
    """

    def __init__(self, function: Callable[[int, int], Any]) -> None:
        self.function = function

    def answer(self, query: Query) -> Answer:
        """Return what the function says about the two rows."""
        return as_answer(self.function(query.left, query.right), query)


def as_answer(value: Any, query: Query) -> Answer:
    """Return a function's or an oracle's return value as an answer, or raise `AnswerError`."""
    if isinstance(value, Answer):
        return value
    if value is None:
        return Answer.UNSURE
    if isinstance(value, bool | np.bool_):
        return Answer.SAME if value else Answer.DIFFERENT
    if isinstance(value, str) and value in {a.value for a in Answer}:
        return Answer(value)
    raise AnswerError(
        f"question {query.number} (rows {query.left} and {query.right}) was answered with "
        f"{value!r}. Return True, False or None, or an Answer."
    )


def as_oracle(oracle: Any) -> Oracle:
    """Return an oracle as it is and a plain callable as a `CallbackOracle`."""
    if isinstance(oracle, Oracle):
        return oracle
    if callable(oracle):
        return CallbackOracle(oracle)
    raise InputError(
        "an oracle has a method answer(query) or is a function of two rows, got "
        f"{type(oracle).__name__}"
    )


def run(session: Session, oracle: Any, *, max_queries: int | None = None) -> Session:
    """Let an oracle answer a session until it is done or the budget is spent.

    Parameters
    ----------
    session : Session
        It is changed in place; after an error in the oracle it still holds every answer before.
    oracle : Oracle or callable
        Who answers.
    max_queries : int, optional
        Ask no more than this many questions.

    Returns
    -------
    Session
        The same session.

    Examples
    --------
    >>> from likewise import COBRA, LabelOracle, run
    >>> session = COBRA(n_super_instances=3).start([[0.0], [0.1], [5.0]])
    >>> run(session, LabelOracle([0, 0, 1]), max_queries=1).progress.answered
    1
    """
    oracle = as_oracle(oracle)
    asked = 0
    while (max_queries is None or asked < max_queries) and (query := session.ask()) is not None:
        try:
            answer = as_answer(oracle.answer(query), query)
        except BudgetExhausted:
            break
        session.tell(answer, query=query)
        asked += 1
    return session


def run_for_fit(
    session: Session, oracle: Any, *, max_queries: int | None = None, then: str = ""
) -> None:
    """Let an oracle answer inside an estimator's `fit`; see `run`.

    Parameters
    ----------
    session, oracle, max_queries
        As for `run`.
    then : str
        What makes an estimator of the session after all, to be named in the error.

    Raises
    ------
    InterruptedFitError
        If the oracle fails. It has the session with every answer before.
    """
    try:
        run(session, oracle, max_queries=max_queries)
    except Exception as error:
        if isinstance(error, LikewiseError) and not isinstance(error, AnswerError):
            raise
        raise InterruptedFitError(
            f"the oracle failed on question {len(session.events) + 1}: "
            f"{type(error).__name__}: {error}. The {len(session.events)} answers before it are "
            f"kept: go on with run(error.session, oracle){then}.",
            session,
        ) from error
