"""What an oracle is: whoever answers."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, runtime_checkable

from likewise.core.answers import Answer, Chosen, Question
from likewise.errors import AnswerError, InputError, SilentOracleWarning

MANY_SILENT = 5
"""A function is taken to lack a ``return`` if this many first answers are all None."""


@runtime_checkable
class Oracle(Protocol):
    """Whoever answers: any object with ``answer(question)``.

    To a question with one group it returns True or ``Answer.SAME``, False or ``Answer.DIFFERENT``;
    to one with several groups the place of a group, or ``Answer.NONE`` for none of these. To both
    it may return ``Answer.UNSURE`` or None for *not sure*. An oracle that has ``can_choose = True``
    is asked questions with several groups; others are asked about pairs of rows. One that knows how
    many rows it can answer about may have ``n_rows``. One that signs its answers has ``by``, such
    as "model:llama3". `answer` may be a coroutine (``async def``), which `run` awaits.
    """

    def answer(self, question: Question) -> Any:
        """Return the answer to a question."""


class CallbackOracle:
    """A function of two row numbers as an oracle.

    Parameters
    ----------
    function : callable
        ``function(i, j)`` gets two row **numbers** and returns True or 1 (same), False or 0
        (different) or None (not sure); an `Answer` or its value ("same", "different", "unsure")
        are accepted, too. Anything else is an error, so that a string such as "no" never counts as
        a yes.
    choose : callable, optional
        ``choose(row, groups)`` gets a row number and tuples of row numbers, and returns the place
        of the group that the row belongs to, ``Answer.NONE`` if it is none of these, or
        ``Answer.UNSURE`` or None if that is not sure.

    Warns
    -----
    SilentOracleWarning
        If the first five answers are all None, as those of a function without ``return`` are.

    Examples
    --------
    >>> from likewise import CallbackOracle, Question
    >>> CallbackOracle(lambda i, j: i % 2 == j % 2).answer(Question(1, 0, ((4,),)))
    True
    """

    def __init__(
        self,
        function: Callable[[int, int], Any],
        choose: Callable[[int, tuple[tuple[int, ...], ...]], Any] | None = None,
    ) -> None:
        _refuse_other_arguments(function, "two row numbers, as in lambda i, j: y[i] == y[j]")
        if choose is not None:
            _refuse_other_arguments(choose, "a row number and the groups")
        self.function = function
        self.choose = choose
        self.can_choose = choose is not None
        self._n_silent = 0  # how many answers were None, while all were

    def answer(self, question: Question) -> Any:
        """Return what the function says about the row and the group."""
        answer = self._called(question)
        return self._awaited(answer) if inspect.iscoroutine(answer) else self._noticed(answer)

    async def _awaited(self, answer: Coroutine[Any, Any, Any]) -> Any:
        return self._noticed(await answer)

    def _noticed(self, answer: Any) -> Any:
        """Return an answer; warn if it is the last of several first answers that are all None."""
        if answer is not None:
            self._n_silent = MANY_SILENT
        elif self._n_silent < MANY_SILENT:
            self._n_silent += 1
            if self._n_silent == MANY_SILENT:
                warnings.warn(
                    f"the first {MANY_SILENT} answers of the function were None, which counts as "
                    "not sure. Does it lack a return? It returns True or False; of several groups "
                    "the place of one, or Answer.NONE for none of these",
                    SilentOracleWarning,
                    stacklevel=3,
                )
        return answer

    def _called(self, question: Question) -> Any:
        if self.choose is not None and len(question.groups) > 1:
            return self.choose(question.row, question.groups)
        left, right = question.row, question.groups[0][0]
        try:
            return self.function(left, right)
        except (TypeError, AttributeError) as error:
            if "int" not in str(error):
                raise
            raise AnswerError(
                f"the function failed on the row numbers {left} and {right} "
                f"({type(error).__name__}: {error}). A function that answers gets two row numbers, "
                "not two rows: look the rows up in it, as in lambda i, j: is_same(X[i], X[j])."
            ) from error


def _refuse_other_arguments(function: Callable[..., Any], two: str) -> None:
    """Refuse a function that cannot be called with two arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions written in C do not tell
        return
    try:
        signature.bind(0, 0)
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise InputError(
            f"the function {name}{signature} cannot answer ({error}): it is called with {two}. "
            "An object with a method answer(question) is passed the whole question"
        ) from None


def as_oracle(oracle: Any) -> Oracle:
    """Return an oracle as it is and a plain callable as a `CallbackOracle`."""
    if isinstance(oracle, type):
        raise InputError(f"pass an oracle, {oracle.__name__}(...), not its class")
    if isinstance(oracle, Oracle):
        return oracle
    if callable(oracle):
        return CallbackOracle(oracle)
    if isinstance(oracle, str):
        remedy = "To answer at the terminal, pass oracle=TerminalOracle()"
    else:
        remedy = "For labels that are known, pass oracle=LabelOracle(labels)"
    shown = repr(oracle) if isinstance(oracle, str) else type(oracle).__name__
    raise InputError(
        "an oracle has a method answer(question) or is a function of two row numbers, got "
        f"{shown}. {remedy}"
    )


def can_choose(oracle: Any) -> bool:
    """Return whether an oracle answers questions with several groups."""
    return bool(getattr(oracle, "can_choose", False))


def chosen_by(oracle: Oracle, question: Question) -> Chosen:
    """Return what an oracle answers, as `Session.choose` takes it.

    If the oracle cannot choose among groups, put the question as pairs before.
    """
    return as_chosen(oracle.answer(question), question)


def as_chosen(answer: Any, question: Question) -> Chosen:
    """Return an oracle's reply as `Session.choose` takes it; refuse what is not an answer."""
    chosen = question.place(Answer.UNSURE if answer is None else answer)
    question.links(chosen)  # raises `AnswerError` if it is no answer to this question
    return chosen


def answered(chosen: Chosen, question: Question) -> Any:
    """Return a choice as `Oracle.answer` returns it."""
    if len(question.groups) > 1 or isinstance(chosen, Answer):
        return chosen
    return Answer.SAME
