"""What an oracle is: whoever answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from likewise.core.answers import Answer, Chosen, Question
from likewise.errors import AnswerError, InputError


@runtime_checkable
class Oracle(Protocol):
    """Whoever answers: any object with ``answer(question)``.

    To a question with one group it returns an `Answer`, True, False or None for *not sure*; to one
    with several groups the place of a group, ``Answer.NONE`` or ``Answer.UNSURE``. An oracle that
    has ``can_choose = True`` is asked questions with several groups; others are asked about pairs
    of rows. One that knows how many rows it can answer about may have ``n_rows``.
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
        of the group that the row belongs to, ``Answer.NONE`` or ``Answer.UNSURE``.

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
        self.function = function
        self.choose = choose
        self.can_choose = choose is not None

    def answer(self, question: Question) -> Any:
        """Return what the function says about the row and the group."""
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


def as_oracle(oracle: Any) -> Oracle:
    """Return an oracle as it is and a plain callable as a `CallbackOracle`."""
    if isinstance(oracle, Oracle):
        return oracle
    if callable(oracle):
        return CallbackOracle(oracle)
    raise InputError(
        "an oracle has a method answer(question) or is a function of two row numbers, got "
        f"{type(oracle).__name__}. For labels that are known, pass oracle=LabelOracle(labels)"
    )


def can_choose(oracle: Any) -> bool:
    """Return whether an oracle answers questions with several groups."""
    return bool(getattr(oracle, "can_choose", False))


def chosen_by(oracle: Oracle, question: Question) -> Chosen:
    """Return what an oracle answers, as `Session.choose` takes it.

    A question with several groups that the oracle cannot choose from must be put as pairs before.
    """
    answer = oracle.answer(question)
    if answer is None and len(question.groups) == 1:
        answer = Answer.UNSURE
    chosen = question.place(answer)
    question.links(chosen)  # raises `AnswerError` if it is no answer to this question
    return chosen


def answered(chosen: Chosen, question: Question) -> Any:
    """Return a choice as `Oracle.answer` returns it."""
    if len(question.groups) > 1 or isinstance(chosen, Answer):
        return chosen
    return Answer.SAME
