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

from likewise.core.answers import Answer, Groups, ordered
from likewise.core.candidates import Candidates
from likewise.core.partition import SuperInstances
from likewise.strategies.closest_first import OnePass, Pairs
from likewise.strategies.most_doubt import MAX_GROUPS, N_SHOWN

MOST_COUNTED = 1_000_000
"""Of more open pairs, those between the same two groups are counted each, to save time."""


class CandidatePairs(OnePass):
    """Ask about the closest listed pair that is not settled.

    Parameters
    ----------
    candidates : Candidates
        The pairs that may be asked about, of rows that stand for super-instances.
    partition : SuperInstances, optional
        Rows that certainly belong together. By default every row is on its own.
    max_groups : int, default=1
        With 1, questions are pairs. With more, a row of the closest pair is shown beside the groups
        of its candidates, at most so many. After *not sure*, its pairs with the rows of these
        groups are not asked about.
    """

    name: ClassVar[str] = "candidate-pairs"
    candidates: Candidates

    def __init__(
        self,
        candidates: Candidates,
        partition: SuperInstances | None = None,
        *,
        max_groups: int = 1,
    ) -> None:
        if partition is None:
            rows = np.arange(candidates.n_rows, dtype=np.intp)
            partition = SuperInstances(rows, rows, metric="precomputed")
        super().__init__(partition)
        self.candidates = candidates
        self.max_groups = max_groups

    @classmethod
    def from_rows(
        cls,
        X: Any,
        *,
        train_indices: NDArray[np.intp] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        **options: Any,
    ) -> Self:
        """Return the strategy for `Candidates`, which take the place of rows.

        Pairs are left out unless both of their rows are in `train_indices`. `options` are those of
        the class.
        """
        if not isinstance(X, Candidates):
            return super().from_rows(X, train_indices=train_indices, seed=seed, n_jobs=n_jobs)
        if train_indices is not None:
            X = X.where(np.isin(X.left, train_indices) & np.isin(X.right, train_indices))
        return cls(X, **options)

    def fresh(self) -> Self:
        """Return the same strategy before its first record; the list is shared."""
        return type(self)(self.candidates, self.partition, max_groups=self.max_groups)

    def to_dict(self) -> dict[str, Any]:
        """Return the partition and the candidates."""
        return {
            **super().to_dict(),
            "left": self.candidates.left.astype(np.int32),
            "right": self.candidates.right.astype(np.int32),
            "distances": self.candidates.distances,
            "max_groups": self.max_groups,
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        partition = SuperInstances.from_dict(plain["partition"])
        left, right = (np.asarray(plain[side], dtype=np.intp) for side in ("left", "right"))
        distances = np.asarray(plain["distances"], dtype=np.float64)
        candidates = Candidates(partition.n_rows, left, right, distances)
        return cls(candidates, partition, max_groups=plain["max_groups"])

    # -- what to ask -----------------------------------------------------------------------------

    def next_question(self) -> tuple[int, Groups] | None:
        """Return the closest pair that is not settled, or a row beside groups of candidates."""
        pair = self.closest()
        if pair is None or self.max_groups == 1:
            return super().next_question()
        # The row of the smaller group is asked about, the later one of two alike.
        row = min(pair, key=lambda row: (self.links.size(row), -row))
        groups: dict[int, tuple[int, ...]] = {}
        for other in self.candidates.neighbors(row).tolist():
            root = self.links.find(other)
            if root not in groups and self.is_open(row, other):
                groups[root] = (other, *self._fellows(other))
                if len(groups) == self.max_groups:
                    break
        return row, tuple(groups.values())

    def _piece(self, k: int) -> Pairs | None:
        return None if k else (self.candidates.left, self.candidates.right)

    def _fellows(self, row: int) -> list[int]:
        """Return further rows to show of the group of a row."""
        reps, part_of = self.partition.representatives, self.partition.assignment
        joined = [k for k in self.links.same_as(row, MAX_GROUPS) if reps[part_of[k]] == k]
        return joined[: N_SHOWN - 1]

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:
        """Take in an answer about two rows."""
        super().record(left, right, answer, is_certain=is_certain)
        if self.max_groups > 1 and not answer.is_link:
            others = self.candidates.neighbors(left).tolist()
            root = self.links.find(right)
            self._unsure.update(ordered(left, k) for k in others if self.links.find(k) == root)

    # -- what is known ---------------------------------------------------------------------------

    def remaining(self) -> tuple[int, int]:
        """Return how many listed pairs of groups are undecided, and an estimate of the questions.

        A choice usually decides where a row belongs, so that the estimate for choices is one for
        every group but one of each connected part of the list.
        """
        if self.closest() is None:
            return 0, 0
        start = self._place[1]
        left, right = self.candidates.left[start:], self.candidates.right[start:]
        linked = [row for link in self.links for row in link.pair]
        group = np.arange(self.n_rows, dtype=np.intp)
        group[linked] = [self.links.find(row) for row in linked]
        is_mentioned = np.zeros(self.n_rows, dtype=bool)
        is_mentioned[[*linked, *(row for pair in self._unsure for row in pair)]] = True
        is_open = group[left] != group[right]
        for k in np.flatnonzero(is_open & is_mentioned[left] & is_mentioned[right]).tolist():
            is_open[k] = self.is_open(int(left[k]), int(right[k]))
        n_open = int(is_open.sum())
        if n_open > MOST_COUNTED:
            return n_open, n_open
        ends = np.sort(np.stack([group[left[is_open]], group[right[is_open]]]), axis=0)
        pairs = np.unique(ends, axis=1)
        n_pairs = pairs.shape[1]
        if self.max_groups == 1:
            return n_pairs, n_pairs
        groups, places = np.unique(pairs, return_inverse=True)
        shape = len(groups), len(groups)
        graph = coo_array((np.ones(n_pairs), tuple(places.reshape(2, -1))), shape=shape)
        return n_pairs, len(groups) - connected_components(graph, directed=False)[0]
