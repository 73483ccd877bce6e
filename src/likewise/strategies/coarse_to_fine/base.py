"""Cells, regions of cells that become finer, and a learner that assigns all cells to groups.

The learner is trained on the cells whose group is known. It also estimates how certain each group
is, and how much of the grouping is right.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from likewise.core.partition import SuperInstances
from likewise.core.reports import Completeness, Suspect
from likewise.errors import InputError
from likewise.learning.completeness import share_right
from likewise.learning.learner import Learned, Learner
from likewise.learning.merge_tree import join_by_guess, merge_tree
from likewise.learning.respect import respecting_labels
from likewise.learning.suspects import surprising_answers
from likewise.strategies.coarse_to_fine.cells import cells_of
from likewise.strategies.coarse_to_fine.log import Known
from likewise.strategies.coarse_to_fine.regions import Regions, closest_open, most_telling
from likewise.strategies.representatives import RepresentativeStrategy

N_REGIONS = (12, 24, 48, 96)
"""Into how many regions the data are cut, one after the other, if there is no budget."""

FOR_PEOPLE = (12, 24, 48)
"""Numbers of regions of a session without a budget. After about sixty answers it is done; more
answers need refining."""

DOUBT_FLOOR = 0.2
"""The weight of a row that the learner is sure of; a row of mean doubt weighs 1 more. Mean adjusted
Rand index of 50 pairs on ten of the paper's tasks, two seeds: .618; with 0.1 .620, with 0.4 .617.
"""

ONE_GROUP = 4
"""When this many new rows are all the same, all rows are guessed to be one group."""

ENOUGH_ROWS = 10
"""The completeness is estimated from this many rows on: with three known rows, all of them may be
predicted rightly, or none. The only known row of a group does not count."""


class RegionStrategy(RepresentativeStrategy):
    """Ask about representatives of regions, coarse ones first, then where the learner is in doubt.

    Parameters
    ----------
    partition : SuperInstances
        Fine cells, at best one per row, and the rows that stand for them.
    askable : ndarray of bool, optional
        The cells whose rows may be shown. By default all.
    n_regions : sequence of int, default=(12, 24, 48, 96)
        Into how many regions the data are cut, one after the other, if `budget` is not known.
    budget : int, optional
        How many questions there will be. It decides how fine the regions are; the strategy goes
        on asking when they are spent.
    to_the_end : bool, default=True
        Whether to go on, after the finest regions, until every cell is placed.
    seed : int, default=0
        Decides what is random in finding regions.
    """

    def __init__(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.bool_] | None = None,
        n_regions: Sequence[int] = N_REGIONS,
        budget: int | None = None,
        to_the_end: bool = True,
        seed: int = 0,
    ) -> None:
        super().__init__(partition)
        if partition.points is None:
            raise InputError(f"{type(self).__name__} learns from features, not from distances")
        self.n_regions = tuple(n_regions)
        self.budget = budget
        self.to_the_end = to_the_end
        self.seed = seed
        n = partition.n_super_instances
        self.is_askable = np.ones(n, dtype=bool) if askable is None else askable
        self._cell_of = {row: cell for row, cell in self._position.items() if self.is_askable[cell]}
        self._learner = Learner(partition.points, partition.sizes())
        self._views = self._learner.rows[:2]
        self._regions = Regions(self._views[0], partition.sizes(), self.is_askable, seed)
        self._groups: NDArray[np.intp] | None = None

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None = None,
        budget: int | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        **options: Any,
    ) -> Self:
        """Return the strategy for rows, with further options of its own.

        Without a budget it is done after a few cuts into regions, about sixty answers; refining
        goes on from there.
        """
        partition, askable = cells_of(X, train_indices=train_indices, seed=seed, n_jobs=n_jobs)
        if budget is None:
            options = {"n_regions": FOR_PEOPLE, "to_the_end": False, **options}
        return cls(partition, askable=askable, budget=budget, seed=seed, **options)

    @property
    def n_parts(self) -> int:
        """The number of regions at the end, when nothing is left to ask."""
        return min(self.partition.n_super_instances, self.n_regions[-1])

    def on(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.intp] | None = None,
        n_parts: int | None = None,
    ) -> Self:
        """Return the strategy for other cells, or for more regions."""
        options = self._options()
        if n_parts is not None:
            options["n_regions"] = (*self.n_regions, n_parts)
        is_askable = None if askable is None else np.isin(partition.representatives, askable)
        return type(self)(partition, askable=is_askable, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the partition, the askable cells and all options as plain values."""
        return {
            **super().to_dict(),
            "askable": np.flatnonzero(self.is_askable).tolist(),
            **self._options(),
            "n_regions": list(self.n_regions),
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        options = {k: v for k, v in plain.items() if k not in ("name", "partition", "askable")}
        partition = SuperInstances.from_dict(plain["partition"])
        askable = np.zeros(partition.n_super_instances, dtype=bool)
        askable[plain["askable"]] = True
        return cls(partition, askable=askable, **options)

    def _options(self) -> dict[str, Any]:
        """Return the options that a copy is made with."""
        return {
            "n_regions": self.n_regions,
            "budget": self.budget,
            "to_the_end": self.to_the_end,
            "seed": self.seed,
        }

    @abstractmethod
    def _what_is_known(self) -> Known:
        """Return what the answers say about cells."""

    def worked_out(self) -> dict[str, Any]:
        """Return the regions of every cut so far."""
        return self._regions.kept

    def take_worked_out(self, found: Mapping[str, Any]) -> None:
        """Take stored cuts, which are reused for the same cells."""
        self._regions.kept.update(found)

    # -- labels ----------------------------------------------------------------------------------

    def labels_guess(self) -> NDArray[np.intp]:
        """Return `labels`, which are a guess where nothing was answered."""
        return self.labels()

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every cell, the number of its group: as answered, else as learned."""
        if self._groups is None:
            chances, decided = self._cell_chances()
            self._groups = respecting_labels(chances, self.links, decided, self._position)
        return self._groups

    def askable(self) -> NDArray[np.intp]:
        """Return the rows that stand for askable cells."""
        return self.partition.representatives[self.is_askable]

    # -- what was learned ------------------------------------------------------------------------

    def examples(self, *, guess: bool = False) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows whose group is known by answers, and their groups from 0."""
        del guess  # only rows with answers are examples
        known = self._what_is_known()
        cells, groups = known.examples()
        return self.partition.representatives[cells], groups

    def doubts(self) -> NDArray[np.float64]:
        """Return, for every row, the chance that its label is wrong, by the learner."""
        known = self._what_is_known()
        if len(known.groups) < 2:
            return np.ones(self.n_rows)
        doubt: NDArray[np.float64] = 1.0 - self._cell_chances()[0].max(axis=1)
        return doubt[self.partition.assignment]

    def suspects(self) -> list[Suspect]:
        """Return answers that other known rows contradict, the least credible first."""
        known = self._what_is_known()
        if len(known.groups) < 2:
            return []
        learned = self._learned(known)
        rows = self.partition.representatives[learned.known].tolist()
        return surprising_answers(self._log, dict(zip(rows, learned.left_out, strict=True)))

    def completeness(self) -> Completeness | None:
        """Return how much of the grouping is right, or None while too little is known."""
        known = self._what_is_known()
        if len(known.groups) < 2:
            return None
        learned = self._learned(known)
        n_once = int((np.bincount(learned.groups) == 1).sum())
        if len(known.order) - n_once < ENOUGH_ROWS:
            return None
        n_open = len(known.order) - len(learned.known)
        right = share_right(learned.left_out, learned.groups, n_open, self.n_rows)
        return Completeness(*right, n_once)

    # -- inside ----------------------------------------------------------------------------------

    def _learned(self, known: Known) -> Learned:
        """Return what is learned from known cells, which are in two groups or more."""
        return self._learner.learn(*known.examples())

    def _chances(self, known: Known) -> NDArray[np.float64]:
        """Return how likely each cell belongs to each group."""
        return self._learned(known).chances

    def _cell_chances(self) -> tuple[NDArray[np.float64], dict[int, int]]:
        """Return how likely each cell belongs to each group, and the groups of roots."""
        known = self._what_is_known()
        if len(known.groups) < 2:
            return self._without_groups(known), {}
        learned = self._learned(known)
        chances = learned.chances.copy()
        chances[learned.known] = np.eye(learned.n_groups)[learned.groups]
        return chances, {root: g for g, root in enumerate(known.groups)}

    def _without_groups(self, known: Known) -> NDArray[np.float64]:
        """Return the groups that the data alone suggest: a cut of the tree of the first regions.

        If the first few new rows, or all of them, were the same, everything is one group.
        """
        n_cells = self.partition.n_super_instances
        region, heads = self._regions.cut(self.n_regions[0])
        n_same = len(known.order) if not known.pending else 0
        if len(heads) < 2 or n_same >= min(ONE_GROUP, len(self._cell_of)):
            return np.ones((n_cells, 1))
        tree = merge_tree(pdist(self._views[0][heads]), is_euclidean=True)
        joined = np.unique(join_by_guess(tree, []), return_inverse=True)[1]
        groups = joined[region]
        return np.eye(int(groups.max()) + 1)[groups]

    # -- what to ask -----------------------------------------------------------------------------

    def _newcomer(self, known: Known, but: Sequence[int] = ()) -> int | None:
        """Return the cell to ask about next, where many rows are in doubt; None if all were."""
        answered = [*known.order, *but]
        if len(answered) == len(self._cell_of):
            return None
        weights = self.partition.sizes().astype(np.float64)
        if len(known.groups) > 1:
            doubt = 1.0 - self._chances(known).max(axis=1)
            weights *= DOUBT_FLOOR + doubt / max(float(np.average(doubt, weights=weights)), 1e-12)
        return most_telling(self._regions, weights, answered)

    def _leftover(self, known: Known) -> tuple[int, int] | None:
        """Return the closest two rows that nothing is known about, when no newcomers are left."""
        asked = [(self._cell_of.get(a, -1), self._cell_of.get(b, -1)) for a, b, _ in self._log]
        cells = closest_open(self._views[0], known.cells, self.links, asked)
        return None if cells is None else self._rows(*cells)

    def _rows(self, i: int, j: int) -> tuple[int, int]:
        """Return the rows that stand for two cells, the smaller one first."""
        left, right = sorted(int(r) for r in self.partition.representatives[[i, j]])
        return left, right
