"""COBRA's order over a list of candidate pairs instead of all pairs.

One pass over the listed pairs by distance skips what earlier answers settle. A pair that is not
listed is never asked about, and its rows stay apart unless answers about others imply that they
belong together. The list may have millions of pairs: it is sorted once, and only rows that answers
are about take further memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from likewise.core.answered import Answers
from likewise.core.answers import Groups
from likewise.core.arrays import whole_numbers
from likewise.core.candidates import Candidates
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.reports import Assessment
from likewise.errors import InputError
from likewise.strategies.closest_first import OnePass, Pairs
from likewise.strategies.most_doubt import N_SHOWN, QUESTIONS

MOST_COUNTED = 1_000_000
"""To save time, more open pairs than this are all counted, also those between the same groups."""

MOST_LOOKED_AT = 6
"""How many rows of a group are searched for those to show beside its first one."""


class CandidatePairs(OnePass):
    """Ask about the closest listed pair that is not settled.

    Parameters
    ----------
    candidates : Candidates
        The pairs that may be asked about, of rows that stand for super-instances.
    partition : SuperInstances, optional
        Rows that certainly belong together. By default every row is on its own.
    questions : {"pairs", "choices"}, default="pairs"
        With "choices", a row of the closest pair is shown beside the groups of its candidates, the
        closest first. After *not sure*, its pairs with the rows of these groups are not asked
        about.
    """

    name: ClassVar[str] = "candidate-pairs"
    candidates: Candidates

    def __init__(
        self,
        candidates: Candidates,
        partition: SuperInstances | None = None,
        *,
        questions: str = "pairs",
    ) -> None:
        if partition is None:
            rows = np.arange(candidates.n_rows, dtype=np.intp)
            partition = SuperInstances(rows, rows, metric="precomputed")
        super().__init__(partition)
        self.candidates = candidates
        if questions not in QUESTIONS:
            raise InputError(
                f"questions must be {' or '.join(map(repr, QUESTIONS))}, got {questions!r}"
            )
        self.questions = questions

    @classmethod
    def from_rows(
        cls,
        X: Any,
        *,
        train_indices: NDArray[np.intp] | None = None,
        seed: int = 0,  # noqa: ARG003  (nothing is random here)
        n_jobs: int | None = None,  # noqa: ARG003
        **options: Any,
    ) -> Self:
        """Return the strategy for `Candidates`, which take the place of rows.

        Pairs are left out unless both of their rows are in `train_indices`. `options` are those of
        the class.
        """
        if not isinstance(X, Candidates):
            raise InputError(
                f"the strategy {cls.name!r} asks about listed pairs: it cannot be made from rows "
                "alone; choose another one, such as 'most-doubt' or 'closest-first'"
            )
        if train_indices is not None:
            X = X.where(np.isin(X.left, train_indices) & np.isin(X.right, train_indices))
        return cls(X, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the partition and the candidates."""
        return {
            **super().to_dict(),
            "left": self.candidates.left.astype(np.int32),
            "right": self.candidates.right.astype(np.int32),
            "distances": self.candidates.distances,
            "questions": self.questions,
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any]) -> Self:
        """Return the strategy that `to_dict` wrote down."""
        partition = SuperInstances.from_dict(plain["partition"])
        left, right = (whole_numbers(plain[side], side) for side in ("left", "right"))
        distances = np.asarray(plain["distances"], dtype=np.float64)
        if not np.isfinite(distances).all():
            raise InputError("distances must be finite numbers")
        n = partition.n_rows
        candidates = Candidates(n, left, right, distances)
        if not len(left) == len(right) == len(distances):
            raise InputError("left, right and distances must have one entry per pair each")
        if len(left) and not 0 <= min(left.min(), right.min()) <= max(left.max(), right.max()) < n:
            raise InputError(f"left and right must be rows from 0 to {n - 1}")
        return cls(candidates, partition, questions=plain["questions"])

    # -- what to ask -----------------------------------------------------------------------------

    def next_question(self, answers: Answers) -> tuple[int, Groups] | None:
        """Return the closest pair that is not settled, or a row beside groups of candidates."""
        pair = self.closest(answers)
        if pair is None or self.questions == "pairs":
            return super().next_question(answers)
        # The row of the smaller group is asked about, the later one of two alike.
        links = answers.links
        row = min(pair, key=lambda row: (links.size(row), -row))
        groups: dict[int, tuple[int, ...]] = {}
        for other in self.candidates.neighbors(row).tolist():
            root = links.find(other)
            if root not in groups and self.is_open(answers, row, other):
                groups[root] = (other, *self._fellows(links, other))
        return row, tuple(groups.values())

    def _piece(self, k: int) -> Pairs | None:
        return None if k else (self.candidates.left, self.candidates.right)

    def is_open(self, answers: Answers, left: int, right: int) -> bool:
        """Return whether two rows may be asked about, by what is known and by *not sure*."""
        if not answers.is_open(left, right):
            return False
        if self.questions == "pairs":
            return True
        # With choices, *not sure* is about the groups that the row was shown beside.
        unsure, find = self._unsure_groups(answers), answers.links.find
        return find(right) not in unsure.get(left, ()) and find(left) not in unsure.get(right, ())

    def _unsure_groups(self, answers: Answers) -> dict[int, set[int]]:
        """Return, for rows in question, the groups that somebody could not compare them with."""

        def make() -> dict[int, set[int]]:
            groups: dict[int, set[int]] = {}
            for link in (link for gesture in answers.gestures for link in gesture.links):
                if not link.answer.is_link:
                    groups.setdefault(link.left, set()).add(answers.links.find(link.right))
            return groups

        return answers.once((self, "unsure"), make)

    def _fellows(self, links: LinkGraph, row: int) -> list[int]:
        """Return further rows to show of the group of a row."""
        reps, part_of = self.partition.representatives, self.partition.assignment
        joined = [k for k in links.same_as(row, MOST_LOOKED_AT) if reps[part_of[k]] == k]
        return joined[: N_SHOWN - 1]

    # -- what is known ---------------------------------------------------------------------------

    def assess(self, answers: Answers) -> Assessment:
        """Return how many listed pairs of groups are undecided, and an estimate of the questions.

        A choice usually decides where a row belongs, so that the estimate for choices is one for
        every group but one of each connected part of the list.
        """
        return Assessment(remaining=lambda: self._remaining(answers))

    def _remaining(self, answers: Answers) -> tuple[int, int]:
        if self.closest(answers) is None:
            return 0, 0
        links, (_, start) = answers.links, self._place(answers)
        left, right = self.candidates.left[start:], self.candidates.right[start:]
        linked = [row for link in links for row in link.pair]
        group = np.arange(self.n_rows, dtype=np.intp)
        group[linked] = [links.find(row) for row in linked]
        is_mentioned = np.zeros(self.n_rows, dtype=bool)
        is_mentioned[[*linked, *(row for pair in answers.unsure for row in pair)]] = True
        is_open = group[left] != group[right]
        for k in np.flatnonzero(is_open & is_mentioned[left] & is_mentioned[right]).tolist():
            is_open[k] = self.is_open(answers, int(left[k]), int(right[k]))
        n_open = int(is_open.sum())
        if n_open > MOST_COUNTED:
            return n_open, n_open
        ends = np.sort(np.stack([group[left[is_open]], group[right[is_open]]]), axis=0)
        pairs = np.unique(ends, axis=1)
        n_pairs = pairs.shape[1]
        if self.questions == "pairs":
            return n_pairs, n_pairs
        groups, places = np.unique(pairs, return_inverse=True)
        shape = len(groups), len(groups)
        graph = coo_array((np.ones(n_pairs), tuple(places.reshape(2, -1))), shape=shape)
        return n_pairs, len(groups) - connected_components(graph, directed=False)[0]
