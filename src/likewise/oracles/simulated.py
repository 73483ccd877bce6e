"""Oracles that need no person: labels, noise, a budget, an earlier session."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.core.answers import Answer, Event, Query
from likewise.errors import AnswerError, BudgetExhausted, InputError
from likewise.oracles.protocol import as_answer, as_oracle


class LabelOracle:
    """Answer by known labels: the same label, the same group.

    Parameters
    ----------
    labels : array-like of shape (n_rows,) or mapping
        The label of every row, or, as a mapping, of every sample id. Rows change their number
        when data are sliced, as in cross-validation; ids do not: pass ``sample_ids`` to ``fit``
        and labels by id here.

    Examples
    --------
    >>> from likewise import LabelOracle, Query
    >>> LabelOracle(["cat", "dog", "cat"]).answer(Query(1, 0, 2))
    <Answer.SAME: 'same'>
    >>> by_id = LabelOracle({"a": "cat", "b": "dog"})
    >>> by_id.answer(Query(1, 0, 1, left_id="a", right_id="b"))
    <Answer.DIFFERENT: 'different'>
    """

    def __init__(self, labels: ArrayLike | Mapping[Hashable, Any]) -> None:
        self.labels: Any = labels
        if not isinstance(labels, Mapping):
            self.labels = array = np.asarray(labels)
            if array.ndim != 1:
                raise InputError(f"labels must have one dimension, got shape {array.shape}")

    def answer(self, query: Query) -> Answer:
        """Return whether the two rows have the same label."""
        same = self._label(query.left, query.left_id) == self._label(query.right, query.right_id)
        return Answer.SAME if same else Answer.DIFFERENT

    def _label(self, row: int, sample_id: Hashable | None) -> Any:
        if not isinstance(self.labels, Mapping):
            if row >= len(self.labels):
                raise AnswerError(f"row {row} has no label: there are {len(self.labels)} labels")
            return self.labels[row]
        if sample_id is None:
            raise AnswerError(
                "this oracle knows labels by sample id, but the question has none. "
                "Pass sample_ids to fit or start."
            )
        if sample_id not in self.labels:
            raise AnswerError(f"sample id {sample_id!r} has no label")
        return self.labels[sample_id]


class NoisyOracle:
    """Turn a share of another oracle's answers around.

    Parameters
    ----------
    oracle : Oracle or callable
        Who answers.
    p : float
        The probability that a yes becomes a no or a no a yes.
    seed : int, default=0
        Which answers are wrong. The same pair is always answered the same way.
    """

    def __init__(self, oracle: Any, p: float, seed: int = 0) -> None:
        if not 0 <= p <= 1:
            raise InputError(f"p must be a probability from 0 to 1, got {p}")
        self.oracle = as_oracle(oracle)
        self.p = p
        self.seed = seed

    def answer(self, query: Query) -> Answer:
        """Return the other oracle's answer, or its opposite."""
        answer = as_answer(self.oracle.answer(query), query)
        is_wrong = np.random.default_rng([self.seed, *query.pair]).random() < self.p
        if not is_wrong or answer is Answer.UNSURE:
            return answer
        return Answer.DIFFERENT if answer is Answer.SAME else Answer.SAME


class BudgetedOracle:
    """Pass on another oracle's answers, and stop after so many.

    Parameters
    ----------
    oracle : Oracle or callable
        Who answers.
    max_queries : int
        After this many answers `BudgetExhausted` is raised, on which ``fit`` ends normally.
    """

    def __init__(self, oracle: Any, max_queries: int) -> None:
        if max_queries < 0:
            raise InputError(f"max_queries must not be negative, got {max_queries}")
        self.oracle = as_oracle(oracle)
        self.max_queries = max_queries
        self.n_queries = 0

    def answer(self, query: Query) -> Answer:
        """Return the other oracle's answer while the budget lasts."""
        if self.n_queries >= self.max_queries:
            raise BudgetExhausted(f"all {self.max_queries} answers were given")
        self.n_queries += 1
        return as_answer(self.oracle.answer(query), query)


class ReplayOracle:
    """Answer as somebody did before.

    Parameters
    ----------
    events : iterable of Event
        A session's `events`.
    otherwise : Oracle or callable, optional
        Who answers what was not asked then. Without one, that is an error.
    """

    def __init__(self, events: Iterable[Event], otherwise: Any = None) -> None:
        self.answers = {event.pair: event.answer for event in events}
        self.otherwise = None if otherwise is None else as_oracle(otherwise)

    def answer(self, query: Query) -> Answer:
        """Return the recorded answer."""
        if query.pair in self.answers:
            return self.answers[query.pair]
        if self.otherwise is not None:
            return as_answer(self.otherwise.answer(query), query)
        raise AnswerError(
            f"rows {query.left} and {query.right} were not asked about in the recorded session. "
            "Pass otherwise= to say who answers new questions."
        )
