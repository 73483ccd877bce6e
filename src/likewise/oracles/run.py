"""The one loop that lets an oracle answer a session."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from likewise.core.answers import checked_budget
from likewise.core.log import refuse_session
from likewise.core.session import Session
from likewise.errors import (
    AnswerError,
    BudgetExhausted,
    InputError,
    InterruptedFitError,
    LikewiseError,
    NothingAskedWarning,
)
from likewise.oracles.oracle import as_oracle, can_choose, chosen_by
from likewise.words import plural

AnySession = TypeVar("AnySession", bound=Session)


def run(
    session: AnySession,
    oracle: Any,
    *,
    max_queries: int | None = None,
    on_answer: Callable[[Session], object] | None = None,
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
        is put as pairs, the likeliest group first; each of them counts as a question.
    max_queries : int, optional
        Ask no more than this many questions now. The session's own budget counts, too.
    on_answer : callable, optional
        Called with the session after every answer, for example to save it or to show progress.

    Returns
    -------
    Session
        The same session.

    Warns
    -----
    NothingAskedWarning
        If `max_queries` is given, but the session's own budget is spent. ``session.extend`` raises
        it.

    Examples
    --------
    >>> from likewise import COBRA, LabelOracle, run
    >>> session = COBRA(n_super_instances=3).start([[0.0], [0.1], [5.0]])
    >>> run(session, LabelOracle([0, 0, 1]), max_queries=1).progress.answered
    1
    """
    refuse_session(session)
    oracle = as_oracle(oracle)
    check_length(oracle, session)
    most, n_before = checked_budget(max_queries), session.n_asked
    budget = session.max_queries
    if most and budget is not None and session.is_done and session.progress.has_more:
        warnings.warn(
            f"nothing was asked: the session's budget of {plural(budget, 'question')} is spent. "
            f"session.extend({most}) lets it ask {most} more, then run it again",
            NothingAskedWarning,
            stacklevel=2,
        )
    while most is None or session.n_asked - n_before < most:
        question = session.ask()
        if question is None:
            break
        asked = question if can_choose(oracle) else question.pair()
        try:
            numbers = session.row_numbers
            shown = asked if numbers is None else asked.renumbered(numbers)
            shown_at = time.monotonic()
            chosen = chosen_by(oracle, shown)
            took = round(time.monotonic() - shown_at, 2)
            seconds = took if getattr(oracle, "is_person", False) else None
            with session.transaction():  # Ctrl-C in here leaves the session as it was before
                session.answer(asked, chosen, seconds=seconds)
        except BudgetExhausted:
            break
        if on_answer is not None:
            on_answer(session)
    return session


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
        If the oracle fails. It has the session with every answer before.
    """
    try:
        run(session, oracle, on_answer=on_answer)
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
