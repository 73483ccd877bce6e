"""Oracles that need no person: labels, noise, a budget, an earlier session."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.core.answers import Answer, Choice, Gesture, Query, ordered
from likewise.errors import AnswerError, BudgetExhausted, InputError
from likewise.inputs import is_whole, refuse_events
from likewise.oracles.oracle import answer_to, as_oracle, chosen_by_pairs
from likewise.words import plural


class LabelOracle:
    """Answer by known labels: the same label, the same group.

    Parameters
    ----------
    labels : array-like of shape (n_rows,) or mapping
        The label of every row, or, as a mapping, of every sample id. Rows change their number
        when data are sliced, as in cross-validation; ids do not: pass ``sample_ids`` to ``fit``
        and labels by id here. Labels by row are refused for data of another length.

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

    @property
    def n_rows(self) -> int | None:
        """How many rows have a label; None where labels are by id."""
        return None if isinstance(self.labels, Mapping) else len(self.labels)

    def answer(self, query: Query) -> Answer:
        """Return whether the two rows have the same label."""
        same = self._label(query.left, query.left_id) == self._label(query.right, query.right_id)
        return Answer.SAME if same else Answer.DIFFERENT

    def choose(self, choice: Choice) -> int | None:
        """Return the first group that has a row with the same label, or None."""
        return chosen_by_pairs(choice, self.answer)

    def _label(self, row: int, sample_id: Hashable | None) -> Any:
        if not isinstance(self.labels, Mapping):
            if row >= len(self.labels):
                n_labels = plural(len(self.labels), "label")
                raise AnswerError(f"row {row} has no label: the oracle has {n_labels}")
            return _known(self.labels[row], f"row {row}")
        if sample_id is None:
            raise AnswerError(
                "this oracle knows labels by sample id, but the question has none. "
                "Pass sample_ids to fit or start."
            )
        if sample_id not in self.labels:
            raise AnswerError(f"sample id {sample_id!r} has no label")
        return _known(self.labels[sample_id], f"sample id {sample_id!r}")


def _is_share(p: Any) -> bool:
    return isinstance(p, int | float | np.number) and 0 <= float(p) <= 1


def _known(label: Any, whose: str) -> Any:
    if label is None or (isinstance(label, float) and math.isnan(label)):
        raise AnswerError(
            f"the label of {whose} is {label}, which is equal to no label. Leave out such rows, as "
            "by train_indices, or give them a label."
        )
    return label


class WrappedOracle:
    """An oracle that does something to the answers of another one."""

    def __init__(self, oracle: Any) -> None:
        self.oracle = as_oracle(oracle)

    @property
    def n_rows(self) -> int | None:
        """How many rows the other oracle knows about, if it says so."""
        return getattr(self.oracle, "n_rows", None)

    def _answer(self, query: Query) -> Answer:
        return answer_to(query, self.oracle.answer(query))

    def _choose(self, choice: Choice) -> Any:
        """Return what the other oracle chooses, by pairs if it cannot choose."""
        choose = getattr(self.oracle, "choose", None)
        if choose is not None:
            return choose(choice)
        return chosen_by_pairs(choice, self._answer)


class NoisyOracle(WrappedOracle):
    """Reverse a share of another oracle's answers.

    Parameters
    ----------
    oracle : Oracle or callable
        Who answers.
    p : float
        The probability that a yes becomes a no or a no a yes. A wrong choice is another group
        than the right one, or none, each with the same probability.
    seed : int, default=0
        Which answers are wrong. The same question is always answered the same way.
    """

    def __init__(self, oracle: Any, p: float, seed: int = 0) -> None:
        if not _is_share(p):
            raise InputError(f"p must be a probability from 0 to 1, got {p!r}")
        super().__init__(oracle)
        self.p = p
        self.seed = seed

    def answer(self, query: Query) -> Answer:
        """Return the other oracle's answer, or its opposite."""
        answer = self._answer(query)
        is_wrong = np.random.default_rng([self.seed, *query.pair]).random() < self.p
        if not is_wrong or answer is Answer.UNSURE:
            return answer
        return Answer.DIFFERENT if answer is Answer.SAME else Answer.SAME

    def choose(self, choice: Choice) -> Any:
        """Return what the other oracle chooses, or something else."""
        right = self._choose(choice)
        shown = [row for group in choice.groups for row in group]
        rng = np.random.default_rng([self.seed, choice.row, *shown])
        if right is Answer.UNSURE or rng.random() >= self.p:
            return right
        others = [place for place in (*range(len(choice.groups)), None) if place != right]
        return others[int(rng.integers(len(others)))]


class BudgetedOracle(WrappedOracle):
    """Pass on another oracle's answers, and stop after a number of them.

    Parameters
    ----------
    oracle : Oracle or callable
        Who answers.
    max_queries : int
        After this many answers `BudgetExhausted` is raised, on which ``fit`` ends normally.
    """

    def __init__(self, oracle: Any, max_queries: int) -> None:
        if not is_whole(max_queries) or max_queries < 0:
            raise InputError(f"max_queries must be a number from 0, got {max_queries!r}")
        super().__init__(oracle)
        self.max_queries = max_queries
        self.n_queries = 0

    def answer(self, query: Query) -> Answer:
        """Return the other oracle's answer while the budget lasts."""
        self._spend()
        return self._answer(query)

    def choose(self, choice: Choice) -> Any:
        """Return the other oracle's choice while the budget lasts."""
        self._spend()
        return self._choose(choice)

    def _spend(self) -> None:
        if self.n_queries >= self.max_queries:
            raise BudgetExhausted(f"the budget of {plural(self.max_queries, 'answer')} is spent")
        self.n_queries += 1


class ReplayOracle:
    """Answer as somebody did before.

    Parameters
    ----------
    events : iterable of Gesture
        A session's `events`.
    otherwise : Oracle or callable, optional
        Who answers what was not asked then. Without one, that is an error.
    """

    def __init__(self, events: Iterable[Gesture], otherwise: Any = None) -> None:
        refuse_events(events)
        gestures = list(events)
        refuse_events(gestures)
        self.answers = {link.pair: link.answer for g in gestures for link in g.links}
        self.choices = {(g.left, g.groups): g for g in gestures if g.groups}
        self.otherwise = None if otherwise is None else WrappedOracle(otherwise)

    def answer(self, query: Query) -> Answer:
        """Return the recorded answer."""
        if query.pair in self.answers:
            return self.answers[query.pair]
        if self.otherwise is not None:
            return self.otherwise._answer(query)
        raise AnswerError(
            f"rows {query.left} and {query.right} were not asked about in the recorded session. "
            "Pass otherwise= to say who answers new questions."
        )

    def choose(self, choice: Choice) -> Any:
        """Return what was chosen, or what the recorded answers say about the groups shown."""
        then = self.choices.get((choice.row, choice.groups))
        if then is not None:
            if then.answer is Answer.UNSURE:
                return Answer.UNSURE
            same = [link.right for link in then.links if link.answer is Answer.SAME]
            places = [k for k, group in enumerate(choice.groups) if group[0] in same]
            return places or None
        if self.otherwise is not None:
            return self.otherwise._choose(choice)
        said = [self.answers.get(ordered(choice.row, group[0])) for group in choice.groups]
        if Answer.SAME in said:
            return said.index(Answer.SAME)
        if None in said:
            raise AnswerError(
                f"row {choice.row} and these groups were not asked about in the recorded session. "
                "Pass otherwise= to say who answers new questions."
            )
        return Answer.UNSURE if Answer.UNSURE in said else None
