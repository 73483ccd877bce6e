"""What is learned from the cells whose group is known: where all the others belong.

A strategy that learns this way says how sure it is, and how complete the groups are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from likewise.core.partition import SuperInstances
from likewise.core.reports import Completeness, Suspect
from likewise.errors import InputError
from likewise.learning.completeness import share_moved, share_right
from likewise.learning.kernel_vote import KernelVote, learn, milestone
from likewise.learning.merge_tree import join_by_guess, merge_tree
from likewise.learning.respect import respecting_labels
from likewise.learning.suspects import surprising_answers
from likewise.learning.views import views_of
from likewise.strategies.coarse_to_fine.groups import Known
from likewise.strategies.coarse_to_fine.regions import Regions
from likewise.strategies.representatives import RepresentativeStrategy

ONE_GROUP = 4
"""So many newcomers that are all the same make one group of everything."""

_MODELS_KEPT = 4


class LearningStrategy(RepresentativeStrategy):
    """Labels every cell by a learner that knows the groups of some.

    Parameters
    ----------
    partition : SuperInstances
        Fine cells, at best one per row, and the rows that stand for them.
    askable : ndarray of bool, optional
        The cells whose rows may be shown. By default all.
    n_regions : sequence of int
        Into how many regions the data are cut, one after the other.
    seed : int
        Decides what is random in finding regions.
    """

    def __init__(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.bool_] | None,
        n_regions: Sequence[int],
        seed: int,
    ) -> None:
        super().__init__(partition)
        if partition.points is None:
            raise InputError(f"{type(self).__name__} learns from features, not from distances")
        self.seed = seed
        self.n_regions = tuple(n_regions)
        n = partition.n_super_instances
        self.is_askable = np.ones(n, dtype=bool) if askable is None else askable
        self._cell_of = {row: cell for row, cell in self._position.items() if self.is_askable[cell]}
        self._views = views_of(partition.points)(partition.points)
        self._regions = Regions(self._views[0], partition.sizes(), self.is_askable, seed)
        self._models: dict[tuple[bytes, bytes], tuple[KernelVote, NDArray[np.float64]]] = {}
        self._groups: NDArray[np.intp] | None = None

    @abstractmethod
    def _what_is_known(self) -> Known:
        """Return what the answers say about cells."""

    # -- labels ----------------------------------------------------------------------------------

    @property
    def n_groups(self) -> int:
        """Number of groups by what is known now."""
        if self._are_all_cells():
            return int(self.group_of_representatives().max()) + 1
        return int(self.labels().max()) + 1

    def labels(self) -> NDArray[np.intp]:
        """Return the group of every row: as answered, else as learned from the answers."""
        if self._are_all_cells():
            return self._spread(self.group_of_representatives())
        chances, decided = self._cell_chances()
        return respecting_labels(chances[self.partition.assignment], self.links, decided)

    def labels_guess(self) -> NDArray[np.intp]:
        """Return `labels`, which are a guess where nothing was answered."""
        return self.labels()

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every cell, the number of its group."""
        if self._groups is None:
            if self._are_all_cells():
                chances, decided = self._cell_chances()
                self._groups = respecting_labels(chances, self.links, decided, self._position)
            else:
                self._groups = self.labels()[self.partition.representatives]
        return self._groups

    def askable(self) -> NDArray[np.intp]:
        """Return the rows that stand for askable cells."""
        return self.partition.representatives[self.is_askable]

    # -- what was learned ------------------------------------------------------------------------

    def examples(self, *, guess: bool = False) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows whose group is known by answers, and their groups from 0."""
        del guess  # what is not known by answers is never an example
        known = self._what_is_known()
        cells, groups = known.examples()
        return self.partition.representatives[cells], groups

    def doubts(self) -> NDArray[np.float64]:
        """Return, for every row, the chance that its label is wrong, by the learner."""
        known = self._what_is_known()
        if len(known.groups) < 2:
            return np.ones(self.n_rows)
        cells, groups = known.examples()
        chances = self._model(cells, groups)[1].copy()
        chances[cells] = np.eye(len(known.groups))[groups]
        doubt: NDArray[np.float64] = 1.0 - chances.max(axis=1)
        return doubt[self.partition.assignment]

    def suspects(self) -> list[Suspect]:
        """Return answers that other known rows speak against, the least credible first."""
        known = self._what_is_known()
        if len(known.groups) < 2:
            return []
        cells, groups = known.examples()
        rows = self.partition.representatives[cells].tolist()
        seen = self._model(cells, groups)[0].seen
        return surprising_answers(self._log, dict(zip(rows, seen, strict=True)))

    def completeness(self) -> Completeness | None:
        """Return how much of the grouping is right, or None while there are not two groups."""
        known = self._what_is_known()
        if len(known.groups) < 2:
            return None
        cells, groups = known.examples()
        vote, chances = self._model(cells, groups)
        estimate, at_least = share_right(vote.seen, groups, len(known.order) - len(cells))
        return Completeness(estimate, at_least, self._moved_by_last_ten(known, chances))

    def _moved_by_last_ten(self, known: Known, chances: NDArray[np.float64]) -> float | None:
        """Return the share of rows that the rows of the last ten answers moved."""
        late = {self._cell_of.get(row) for entry in self._log[-10:] for row in entry[:2]}
        early = {self._cell_of.get(row) for entry in self._log[:-10] for row in entry[:2]}
        cells, groups = known.examples()
        is_early = np.array([int(cell) in early or int(cell) not in late for cell in cells])
        if len(np.unique(groups[is_early])) < 2:
            return None
        names, earlier = np.unique(groups[is_early], return_inverse=True)
        before = self._model(cells[is_early], earlier.astype(np.intp))[1].argmax(axis=1)
        sizes = self.partition.sizes()
        return share_moved(
            np.repeat(names[before], sizes), np.repeat(chances.argmax(axis=1), sizes)
        )

    # -- inside ----------------------------------------------------------------------------------

    def _are_all_cells(self) -> bool:
        """Return whether all answers are about rows that stand for cells."""
        return all(
            left in self._position and right in self._position for left, right, _ in self._log
        )

    def _model(
        self, cells: NDArray[np.intp], groups: NDArray[np.intp]
    ) -> tuple[KernelVote, NDArray[np.float64]]:
        """Return what is learned from cells, and what it says about all cells."""
        key = cells.tobytes(), groups.tobytes()
        if key not in self._models:
            while len(self._models) >= _MODELS_KEPT:
                del self._models[next(iter(self._models))]
            vote = learn((self._views[0][cells], self._views[1][cells]), groups)
            self._models[key] = vote, vote.predict_proba(self._views)
        return self._models[key]

    def _chances(self, known: Known) -> NDArray[np.float64]:
        """Return how likely each cell belongs to each group, learned now or a little earlier.

        Learning anew after every answer changes little once there are many; the last newcomers
        are left out until there are enough of them, unless one of them founded a group.
        """
        cells, groups = known.examples()
        founded = 1 + max(int(np.flatnonzero(groups == g)[0]) for g in range(len(known.groups)))
        n_used = max(milestone(len(cells)), founded)
        return self._model(cells[:n_used], groups[:n_used])[1]

    def _cell_chances(self) -> tuple[NDArray[np.float64], dict[int, int]]:
        """Return how likely each cell belongs to each group, and the groups of roots."""
        known = self._what_is_known()
        if len(known.groups) < 2:
            return self._without_groups(known), {}
        cells, groups = known.examples()
        chances = self._model(cells, groups)[1].copy()
        chances[cells] = np.eye(len(known.groups))[groups]
        return chances, {root: g for g, root in enumerate(known.groups)}

    def _without_groups(self, known: Known) -> NDArray[np.float64]:
        """Return what the data alone suggest: a cut through the tree of the first regions.

        When a few newcomers, or all there are, turned out to be the same, so is all.
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
