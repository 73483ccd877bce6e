"""COBRA's order: always the closest two representatives whose relation is not settled.

One pass over all pairs by distance, skipping what is settled, asks the same questions in the same
order as the algorithm in the paper, which sorts all pairs of clusters again after every merge. For
an answer never makes a settled pair unsettled, so the closest unsettled pair only gets farther.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Groups, ordered
from likewise.core.closest_pairs import ClosestPairs
from likewise.core.partition import SuperInstances
from likewise.errors import CannotGrowError
from likewise.learning.merge_tree import join_by_guess, merge_tree
from likewise.rows.build import build_super_instances, nearest_super_instance
from likewise.rows.metrics import EUCLIDEAN, distances
from likewise.strategies.cells import CellStrategy

DEFAULT_SUPER_INSTANCES = 50
"""The number in most figures of the paper; used where there is no budget."""

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


class OnePass(CellStrategy):
    """Pass once over pairs in order of distance, and ask about those that are open."""

    def __init__(self, partition: SuperInstances) -> None:
        super().__init__(partition)
        self._place = 0, 0
        self._unsure: set[tuple[int, int]] = set()

    @abstractmethod
    def _piece(self, k: int) -> Pairs | None:
        """Return the next piece of the pairs, as two lists of rows; None after the last."""

    def next_question(self) -> tuple[int, Groups] | None:
        """Return the closest open pair, or None when nothing is left to ask."""
        pair = self.closest()
        return None if pair is None else (pair[0], ((pair[1],),))

    def closest(self) -> tuple[int, int] | None:
        """Return the closest open pair; a pair that is not open any more never is again."""
        number, start = self._place
        while (piece := self._piece(number)) is not None:
            left, right = piece
            for k in range(start, len(left)):
                pair = int(left[k]), int(right[k])
                if self.is_open(*pair):
                    self._place = number, k
                    return pair
            number, start = number + 1, 0
        self._place = number, 0
        return None

    def is_open(self, left: int, right: int) -> bool:
        """Return whether nothing is known about two rows, and nobody was unsure about them."""
        is_unsure = ordered(left, right) in self._unsure
        return not is_unsure and self.links.implied(left, right) is None

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:  # noqa: ARG002
        """Take in an answer about two rows."""
        if answer.is_link:
            self.links.add(left, right, answer)
        else:
            self._unsure.add(ordered(left, right))


class ClosestFirst(OnePass):
    """Ask about the closest two representatives whose relation is not settled.

    Ties are broken by the smaller row, then by the larger one. A pair answered *not sure* is not
    asked again; the next closest pair of the same two groups is, when its turn comes.

    Parameters
    ----------
    partition : SuperInstances
        The super-instances and the rows that stand for them.
    removed : frozenset of int
        Rows that are gone. A super-instance whose representative is gone is not asked about.
    """

    name: ClassVar[str] = "closest-first"

    def __init__(
        self,
        partition: SuperInstances,
        *,
        removed: frozenset[int] = frozenset(),
        pairs: ClosestPairs | None = None,
    ) -> None:
        super().__init__(partition)
        self.removed = removed
        reps = partition.representatives
        self._pairs = pairs or ClosestPairs(reps, self._between, left_out=removed)

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        n_super_instances: int = DEFAULT_SUPER_INSTANCES,
        metric: str = "euclidean",
    ) -> Self:
        """Return the strategy for super-instances, which `build_super_instances` makes."""
        options: Any = {"train_indices": train_indices, "seed": seed, "n_jobs": n_jobs}
        return cls(build_super_instances(X, n_super_instances, metric=metric, **options))

    def _piece(self, k: int) -> Pairs | None:
        return self._pairs.piece(k)

    def fresh(self) -> Self:
        """Return the same strategy before its first record; the order of pairs is shared."""
        return type(self)(self.partition, removed=self.removed, pairs=self._pairs)

    def grown(
        self,
        rows: NDArray[Any],
        unasked: frozenset[int],  # noqa: ARG002  (only representatives are asked about)
        removed: frozenset[int],
    ) -> Self:
        """Return the strategy with further rows, which join the nearest super-instances."""
        partition = self.partition
        if len(rows):
            if partition.points is None:
                raise CannotGrowError(
                    "this session knows distances alone, so it cannot take further rows. Start "
                    "another one with all rows"
                )
            nearest = nearest_super_instance(partition, rows.astype(partition.points.dtype))
            assignment = np.append(partition.assignment, nearest)
            partition = replace(partition, assignment=assignment)
        return type(self)(partition, removed=removed)

    def askable(self) -> NDArray[np.intp]:
        """Return the representatives that are there."""
        return np.setdiff1d(self.partition.representatives, sorted(self.removed))

    def to_dict(self) -> dict[str, Any]:
        """Return the partition, and the rows that are gone."""
        removed = {"removed": sorted(self.removed)} if self.removed else {}
        return {**super().to_dict(), **removed}

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        removed = frozenset(map(int, plain.get("removed", ())))
        return cls(SuperInstances.from_dict(plain["partition"]), removed=removed)

    def remaining(self) -> tuple[int, int]:
        """Return the number of undecided pairs of groups, and an estimate of the questions left.

        The estimate assumes that groups with answers are different, and that every other
        super-instance needs one question to find its group.
        """
        names, apart = self._settled()
        n_groups = len(np.unique(names))
        undecided = n_groups * (n_groups - 1) // 2 - len(apart)
        touched = self.links.n_answered_components
        estimate = n_groups - touched + touched * (touched - 1) // 2 - len(apart)
        return undecided, min(undecided, max(estimate, 0))

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every super-instance, the first one that is known to be in its group."""
        return self._settled()[0]

    def guess_of_representatives(self) -> NDArray[np.intp]:
        """Return names of groups if the undecided ones are joined by `join_by_guess`."""
        names, apart = self._settled()
        same = [(name, i, Answer.SAME) for i, name in enumerate(names.tolist()) if name != i]
        different = [(a, b, Answer.DIFFERENT) for a, b in apart.tolist()]
        return join_by_guess(self._tree, [*same, *different])

    @cached_property
    def _tree(self) -> NDArray[np.float64]:
        n = self.partition.n_super_instances
        everything = np.arange(n, dtype=np.intp)
        condensed = self._between(everything, everything)[np.triu_indices(n, 1)]
        return merge_tree(condensed, is_euclidean=self.partition.metric in EUCLIDEAN)

    def _settled(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first super-instance of every one's group, and pairs of these that differ."""
        first: dict[int, int] = {}
        names = [first.setdefault(self.links.find(row), k) for row, k in self._position.items()]
        apart = [
            (name, first[other])
            for root, name in first.items()
            for other in self.links.differing(root)
            if name < first.get(other, -1)
        ]
        return np.array(names, dtype=np.intp), np.array(apart, dtype=np.intp).reshape(-1, 2)

    def _between(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances between representatives."""
        known, points = self.partition.distances, self.partition.points
        if known is not None:
            return known[np.ix_(rows, columns)]
        assert points is not None
        return distances(points[rows], points[columns], self.partition.metric)
