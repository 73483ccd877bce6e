"""The one loop that lets an oracle answer a session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Choice, Link, Query
from likewise.core.session import Session
from likewise.errors import (
    AnswerError,
    BudgetExhausted,
    InputError,
    InterruptedFitError,
    LikewiseError,
)
from likewise.inputs import refuse_session
from likewise.oracles.oracle import Oracle, answer_to, as_oracle
from likewise.words import plural

AnySession = TypeVar("AnySession", bound=Session)


def run(session: AnySession, oracle: Any, *, max_queries: int | None = None) -> AnySession:
    """Let an oracle answer a session until it is done or the budget is spent.

    Parameters
    ----------
    session : Session
        It is changed in place; after an error in the oracle it still has all earlier answers.
    oracle : Oracle or callable
        Who answers. If the session is about a sample of larger data, questions have the numbers
        of the rows in that data. A choice is put as pairs, one after the other, to an oracle that
        cannot choose; each of them counts as a question.
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
    refuse_session(session, max_queries)
    oracle = as_oracle(oracle)
    if session.row_numbers is None:
        check_length(oracle, session.strategy.n_rows)
    else:
        oracle = _AboutAllRows(oracle, session.row_numbers)
    choose = getattr(oracle, "choose", None)
    asked = 0
    while (max_queries is None or asked < max_queries) and (query := session.ask()) is not None:
        try:
            if isinstance(query, Query):
                session.tell(answer_to(query, oracle.answer(query)), query=query)
                asked += 1
            elif choose is not None:
                session.choose(choose(query), query=query)
                asked += 1
            else:
                n_left = None if max_queries is None else max_queries - asked
                links = _as_pairs(query, oracle, n_left)
                session.say(links, query=query)
                asked += len(links)
        except BudgetExhausted:
            break
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
        The call that makes an estimator of the session, for the message of the error.

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
        n = len(session.events)
        raise InterruptedFitError(
            f"the oracle failed on question {n + 1}: {type(error).__name__}: "
            f"{str(error).rstrip('.')}. The session is kept with "
            f"{plural(n, 'answer') if n else 'no answer yet'}: go on with "
            f"run(error.session, oracle){then}.",
            session,
        ) from error


def check_length(oracle: Any, n_rows: int) -> None:
    """Refuse an oracle for another number of rows."""
    n_known = getattr(oracle, "n_rows", None)
    if n_known is not None and n_known != n_rows:
        raise InputError(
            f"the oracle has labels for {plural(n_known, 'row')}, but the data has "
            f"{n_rows}. If the data was sliced, as in cross-validation, row numbers changed: pass "
            "labels by id, LabelOracle({id: label, ...}) with sample_ids, or all rows with "
            "train_indices"
        )


class _AboutAllRows:
    """An oracle about all rows of the data, for a session about a sample of them."""

    def __init__(self, oracle: Oracle, row_numbers: NDArray[np.intp]) -> None:
        n_known = getattr(oracle, "n_rows", None)
        if n_known is not None and n_known <= row_numbers[-1]:
            raise InputError(
                f"the oracle has labels for {plural(n_known, 'row')}, but the session is about a "
                f"sample of the data, up to row {row_numbers[-1]}: pass the labels of all rows"
            )
        self._oracle = oracle
        self._numbers = row_numbers.tolist()
        if hasattr(oracle, "choose"):
            self.choose = lambda choice: oracle.choose(
                replace(
                    choice,
                    row=self._numbers[choice.row],
                    groups=tuple(tuple(self._numbers[r] for r in g) for g in choice.groups),
                )
            )

    def answer(self, query: Query) -> Answer:
        left, right = self._numbers[query.left], self._numbers[query.right]
        return self._oracle.answer(replace(query, left=left, right=right))


def _as_pairs(choice: Choice, oracle: Oracle, n_left: int | None) -> list[Link]:
    """Ask about the row and one group after the other until one is the same."""
    links: list[Link] = []
    for place, group in enumerate(choice.groups):
        if n_left is not None and len(links) == n_left:
            break
        query = choice.query(place)
        try:
            answer = answer_to(query, oracle.answer(query))
        except BudgetExhausted:
            if not links:
                raise
            break
        links.append(Link(choice.row, group[0], answer))
        if answer is Answer.SAME:
            break
    return links
