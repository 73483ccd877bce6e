"""COBRA's order: always the closest two representatives whose relation is not settled.

One pass over all pairs by distance, skipping what is settled, asks the same questions in the same
order as the algorithm in the paper, which sorts all pairs of clusters again after every merge. An
answer never makes a settled pair unsettled, so the closest unsettled pair only gets farther.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answered import Answers
from likewise.core.answers import Answer, Groups
from likewise.core.closest_pairs import ClosestPairs
from likewise.core.labels import labels_of_rows
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.reports import Assessment
from likewise.core.strategy import Strategy
from likewise.errors import CannotGrowError, InputError
from likewise.learning.merge_tree import join_by_guess, merge_tree
from likewise.rows.build import build_super_instances, nearest_super_instance
from likewise.rows.metrics import EUCLIDEAN, distances

DEFAULT_SUPER_INSTANCES = 50
"""The number in most figures of the paper; used where there is no budget."""

TRIED_SINGLY, TRIED_AT_ONCE = 500, 2**12
"""To find the next open pair, this many are looked at one by one, then the second number at a
time."""

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


class OnePass(Strategy):
    """Pass once over pairs in order of distance, and ask about those that are open."""

    @abstractmethod
    def _piece(self, k: int) -> Pairs | None:
        """Return the next piece of the pairs, as two lists of rows; None after the last."""

    def next_question(self, answers: Answers) -> tuple[int, Groups] | None:
        """Return the closest open pair, or None when nothing is left to ask."""
        pair = self.closest(answers)
        return None if pair is None else (pair[0], ((pair[1],),))

    def closest(self, answers: Answers) -> tuple[int, int] | None:
        """Return the closest open pair."""
        number, k = self._place(answers)
        piece = self._piece(number)
        return None if piece is None else (int(piece[0][k]), int(piece[1][k]))

    def is_open(self, answers: Answers, left: int, right: int) -> bool:
        """Return whether two rows may be asked about; a pair never becomes open again."""
        return answers.is_open(left, right)

    def _place(self, answers: Answers) -> tuple[int, int]:
        """Return the number of a piece, and the place of the closest open pair in it."""

        def advance(before: tuple[int, int] | None) -> tuple[int, int]:
            number, start = before or (0, 0)
            while (piece := self._piece(number)) is not None:
                k = self._first_open(answers, *piece, start)
                if k is not None:
                    return number, k
                number, start = number + 1, 0
            return number, 0

        return answers.onward((self, "place"), advance)

    def _first_open(
        self, answers: Answers, left: NDArray[np.intp], right: NDArray[np.intp], start: int
    ) -> int | None:
        """Return the place of the first open pair of a piece, from `start` on."""
        end = min(start + TRIED_SINGLY, len(left))
        places: Iterable[int] = range(start, end)
        while start < len(left):
            for k in places:
                one, other = int(left[k]), int(right[k])
                is_present = one not in answers.removed and other not in answers.removed
                if is_present and self.is_open(answers, one, other):
                    return k
            # Near the end, most pairs are settled. They are left out many at a time.
            start, end = end, end + TRIED_AT_ONCE
            settled = answers.once((self, "settled"), lambda: Settled(answers.links))
            places = start + np.flatnonzero(~settled(left[start:end], right[start:end]))
        return None


class Settled:
    """Tells which of many pairs of rows links settle."""

    def __init__(self, links: LinkGraph) -> None:
        rows = links.mentioned()
        self._root = np.arange(links.n_items, dtype=np.int64)
        self._root[rows] = [links.find(row) for row in rows]
        roots = set(self._root[rows].tolist())
        differing = [self._code(root, _whole(links.differing(root))) for root in roots]
        self._differing = np.unique(np.concatenate([_whole(()), *differing]))

    def __call__(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether each pair is known to be the same or different."""
        one, other = self._root[left], self._root[right]
        is_settled = np.asarray(one == other)
        if len(self._differing):
            codes = self._code(one, other)
            at = np.minimum(np.searchsorted(self._differing, codes), len(self._differing) - 1)
            is_settled |= self._differing[at] == codes
        return is_settled

    def _code(self, one: Any, other: Any) -> Any:
        return one * len(self._root) + other


def _whole(rows: Collection[int]) -> NDArray[np.int64]:
    return np.fromiter(rows, dtype=np.int64, count=len(rows))


class ClosestFirst(OnePass):
    """Ask about the closest two representatives whose relation is not settled.

    Ties are broken by the smaller row, then by the larger one. A pair answered *not sure* is not
    asked again; the next closest pair of the same two groups is, when its turn comes.

    Parameters
    ----------
    partition : SuperInstances
        The super-instances and the rows that stand for them.
    """

    name: ClassVar[str] = "closest-first"

    def __init__(self, partition: SuperInstances, pairs: ClosestPairs | None = None) -> None:
        super().__init__(partition)
        if partition.points is None and partition.distances is None:
            raise InputError("the partition has neither points nor distances")
        self._pairs = pairs or ClosestPairs(partition.representatives, self._between)

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

    def grown(
        self,
        rows: NDArray[Any],
        unasked: frozenset[int],  # noqa: ARG002  (only representatives are asked about)
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
        # The representatives stay, and so does the order of their pairs.
        return type(self)(partition, self._pairs)

    def assess(self, answers: Answers) -> Assessment:
        """Return the number of undecided pairs of groups, and an estimate of the questions left.

        The estimate assumes that groups with answers are different, and that every other
        super-instance needs one question to find its group.
        """
        return Assessment(remaining=lambda: self._remaining(answers.links))

    def _remaining(self, links: LinkGraph) -> tuple[int, int]:
        names, differing = self._settled(links)
        n_groups = len(np.unique(names))
        undecided = n_groups * (n_groups - 1) // 2 - len(differing)
        touched = links.n_answered_components
        estimate = n_groups - touched + touched * (touched - 1) // 2 - len(differing)
        return undecided, min(undecided, max(estimate, 0))

    def labels(self, answers: Answers, *, guess: bool = False) -> NDArray[np.intp]:
        """Return the group of every row; a guess joins undecided groups by `join_by_guess`."""
        names, differing = self._settled(answers.links)
        if guess:
            same = [(name, i, Answer.SAME) for i, name in enumerate(names.tolist()) if name != i]
            different = [(a, b, Answer.DIFFERENT) for a, b in differing.tolist()]
            names = join_by_guess(self._tree, [*same, *different])
        return labels_of_rows(self.partition, names, answers.links)

    @cached_property
    def _tree(self) -> NDArray[np.float64]:
        n = self.partition.n_super_instances
        everything = np.arange(n, dtype=np.intp)
        condensed = self._between(everything, everything)[np.triu_indices(n, 1)]
        return merge_tree(condensed, is_euclidean=self.partition.metric in EUCLIDEAN)

    def _settled(self, links: LinkGraph) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first super-instance of the group of each, and pairs of these that differ."""
        first: dict[int, int] = {}
        rows = self.partition.representatives.tolist()
        names = [first.setdefault(links.find(row), k) for k, row in enumerate(rows)]
        differing = [
            (name, first[other])
            for root, name in first.items()
            for other in links.differing(root)
            if name < first.get(other, -1)
        ]
        return np.array(names, dtype=np.intp), np.array(differing, dtype=np.intp).reshape(-1, 2)

    def _between(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances between representatives."""
        known, points = self.partition.distances, self.partition.points
        if known is not None:
            return known[np.ix_(rows, columns)]
        assert points is not None
        return distances(points[rows], points[columns], self.partition.metric)
