"""What an oracle is: whoever answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from likewise.core.answers import Answer, Choice, Query, as_answer
from likewise.errors import AnswerError, InputError

ROW_NUMBERS = (
    "A function that answers gets two row numbers, not two rows: look the rows up in it, as in "
    "lambda i, j: is_same(X[i], X[j])."
)


@runtime_checkable
class Oracle(Protocol):
    """Whoever answers: any object with ``answer(query) -> Answer``.

    An oracle may also have ``choose(choice)``, which returns the place of the group in
    ``choice.groups``, None for none of these, or ``Answer.UNSURE``. Without it, `run` puts a
    choice as pairs. An oracle that knows how many rows it can answer about may have ``n_rows``.
    """

    def answer(self, query: Query) -> Answer:
        """Return whether the two rows of a query belong together."""


class CallbackOracle:
    """A function of two row numbers as an oracle.

    Parameters
    ----------
    function : callable
        ``function(i, j)`` gets two row **numbers** and returns True (same), False (different) or
        None (not sure); an `Answer` or its value ("same", "different", "unsure") are accepted, too.
        Anything else is an error, so that a string such as "no" never counts as a yes.
    choose : callable, optional
        ``choose(row, groups)`` gets a row number and tuples of row numbers, and returns the place
        of the group that the row belongs to, None for none of these, or ``Answer.UNSURE``.

    Examples
    --------
    >>> from likewise import CallbackOracle, Query
    >>> CallbackOracle(lambda i, j: i % 2 == j % 2).answer(Query(1, 0, 4))
    <Answer.SAME: 'same'>
    """

    def __init__(
        self,
        function: Callable[[int, int], Any],
        choose: Callable[[int, tuple[tuple[int, ...], ...]], Any] | None = None,
    ) -> None:
        self.function = function
        if choose is not None:
            # Only an oracle that can choose has the method; `run` looks for it.
            self.choose = lambda choice: choose(choice.row, choice.groups)

    def answer(self, query: Query) -> Answer:
        """Return what the function says about the two rows."""
        try:
            value = self.function(query.left, query.right)
        except (TypeError, AttributeError) as error:
            if "int" not in str(error):
                raise
            raise AnswerError(
                f"the function failed on the row numbers {query.left} and {query.right} "
                f"({type(error).__name__}: {error}). {ROW_NUMBERS}"
            ) from error
        return answer_to(query, value)


def answer_to(query: Query, value: Any) -> Answer:
    """Return what was said to a question as an answer, or raise `AnswerError`."""
    try:
        return as_answer(value)
    except AnswerError as error:
        raise AnswerError(
            f"question {query.number} (rows {query.left} and {query.right}): {error}"
        ) from None


def as_oracle(oracle: Any) -> Oracle:
    """Return an oracle as it is and a plain callable as a `CallbackOracle`."""
    if isinstance(oracle, Oracle):
        return oracle
    if callable(oracle):
        return CallbackOracle(oracle)
    remedy = ""
    if isinstance(oracle, list | tuple | dict | np.ndarray) or hasattr(oracle, "__array__"):
        remedy = ". For labels that are known, pass oracle=LabelOracle(labels)"
    raise InputError(
        "an oracle has a method answer(query) or is a function of two row numbers, got "
        f"{type(oracle).__name__}{remedy}"
    )


def chosen_by_pairs(choice: Choice, answer: Callable[[Query], Answer]) -> int | None:
    """Return the first group that has a row answered *same*, or None."""
    for place, group in enumerate(choice.groups):
        queries = (choice.query(place, member) for member in range(len(group)))
        if any(answer(query) is Answer.SAME for query in queries):
            return place
    return None
