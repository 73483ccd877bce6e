"""COBRA's order: always the closest two representatives whose relation is not settled.

One pass over all pairs by distance, skipping what is settled, asks the same questions in the same
order as the algorithm in the paper, which sorts all pairs of clusters again after every merge. For
an answer never makes a settled pair unsettled, so the closest unsettled pair only gets farther.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.closest_pairs import SETTLED, ClosestPairs
from likewise.core.partition import SuperInstances
from likewise.core.question import Groups
from likewise.errors import CannotGrowError
from likewise.learning.merge_tree import join_by_guess, merge_tree
from likewise.rows.assignment import nearest_super_instance
from likewise.rows.build import build_super_instances
from likewise.rows.metrics import EUCLIDEAN, distances
from likewise.strategies.representatives import RepresentativeStrategy

DEFAULT_SUPER_INSTANCES = 50
"""The number in most figures of the paper; used where there is no budget."""


class ClosestFirst(RepresentativeStrategy):
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

    def __init__(self, partition: SuperInstances, *, removed: frozenset[int] = frozenset()) -> None:
        super().__init__(partition)
        self.removed = removed
        self._between = _Between(partition)
        self._tree: NDArray[np.float64] | None = None
        gone = [cell for row, cell in self._position.items() if row in removed]
        self._pairs = ClosestPairs(partition.n_super_instances, self._between, left_out=gone)
        # Which component of representatives lies in a component of rows, if any does.
        self._component_at: dict[int, int] = dict(self._position)

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Return the strategy for 50 super-instances."""
        options: Any = {"train_indices": train_indices, "seed": seed, "n_jobs": n_jobs}
        return cls(build_super_instances(X, DEFAULT_SUPER_INSTANCES, **options))

    def next_question(self) -> tuple[int, Groups] | None:
        """Return the two rows to ask about now, or None when nothing is left to ask."""
        pair = self._pairs.closest()
        if pair is None:
            return None
        reps = self.partition.representatives
        return int(reps[pair[0]]), ((int(reps[pair[1]]),),)

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:  # noqa: ARG002
        """Take in an answer about two rows."""
        self._log.append((left, right, answer))
        if answer is Answer.UNSURE:
            i, j = self._position.get(left), self._position.get(right)
            if i is not None and j is not None:
                self._pairs.exclude(i, j)
            return
        is_news = self.links.implied(left, right) is None
        roots = self.links.find(left), self.links.find(right)
        self.links.add(left, right, answer)
        if is_news and answer is Answer.SAME:
            self._unite(roots)
        elif is_news:
            self._separate(*roots)

    def fresh(self) -> Self:
        """Return the same strategy before its first record."""
        return type(self)(self.partition, removed=self.removed)

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
            counts = partition.row_counts
            if counts is not None:
                counts = counts + np.bincount(nearest, minlength=len(counts))
            assignment = np.append(partition.assignment, nearest)
            partition = replace(partition, assignment=assignment, row_counts=counts)
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
        pairs = self._pairs
        touched = min(self.links.n_answered_components, pairs.n_components)
        untouched = pairs.n_components - touched
        apart = pairs.n_components * (pairs.n_components - 1) // 2 - pairs.undecided
        estimate = untouched + touched * (touched - 1) // 2 - apart
        return pairs.undecided, min(pairs.undecided, max(estimate, 0))

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every super-instance, a name of its group."""
        return self._pairs.component.copy()

    def guess_of_representatives(self) -> NDArray[np.intp]:
        """Return names of groups if the undecided ones are joined by `join_by_guess`."""
        n = self.partition.n_super_instances
        if self._tree is None:
            everything = np.arange(n, dtype=np.intp)
            condensed = self._between(everything, everything)[np.triu_indices(n, 1)]
            is_euclidean = self.partition.metric in EUCLIDEAN
            self._tree = merge_tree(condensed, is_euclidean=is_euclidean)
        same, different = self._answers_about_representatives()
        return join_by_guess(self._tree, [*same, *different])

    def _answers_about_representatives(
        self,
    ) -> tuple[list[tuple[int, int, Answer]], list[tuple[int, int, Answer]]]:
        """Return what is known about representatives, as a minimal list of pairs."""
        pairs = self._pairs
        same = [(int(name), i, Answer.SAME) for i, name in enumerate(pairs.component) if name != i]
        a, b, distance, _ = pairs.pairs_of_components()
        apart = distance == SETTLED
        different = [
            (i, j, Answer.DIFFERENT)
            for i, j in zip(a[apart].tolist(), b[apart].tolist(), strict=True)
        ]
        return same, different

    def _unite(self, roots: tuple[int, int]) -> None:
        """Follow a union of two components of rows."""
        inside = [c for root in roots if (c := self._component_at.pop(root, None)) is not None]
        if not inside:
            return
        root = self.links.find(roots[0])
        self._component_at[root] = self._pairs.merge(*inside) if len(inside) > 1 else inside[0]
        for other in self.links.differing(root):
            self._separate(root, other)

    def _separate(self, root: int, other: int) -> None:
        a, b = self._component_at.get(root), self._component_at.get(other)
        if a is not None and b is not None and not self._pairs.is_settled(a, b):
            self._pairs.separate(a, b)


class _Between:
    """Compare representatives by their metric; a class and not a closure so that it pickles."""

    def __init__(self, partition: SuperInstances) -> None:
        self.partition = partition

    def __call__(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        known = self.partition.distances
        if known is not None:
            return known[np.ix_(rows, columns)]
        points = self.partition.points
        assert points is not None
        return distances(points[rows], points[columns], self.partition.metric)
