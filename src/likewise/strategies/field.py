"""Distances between cells, and the row that is nearest to the most doubt.

Of many cells, only a sample is compared with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from likewise.core.partition import SuperInstances
from likewise.learning.given import suspicion_of
from likewise.learning.learner import Learned, Learner
from likewise.learning.merge_tree import join_by_guess, merge_tree
from likewise.learning.views import weighed
from likewise.learning.voters import squared_distances
from likewise.rows.threads import one_thread_each

MAX_CANDIDATES = 2000
"""Of more rows, a random sample of this many is compared with each other."""

MOST_GUESSED = 200
"""Of more rows, a random sample of this many is grouped where nothing is known."""

BLOCK = 64
"""How many rows are compared with the others at a time; they stay in the processor's cache."""


class Field:
    """The cells as points, with what is computed from them once: the learner and distances.

    Parameters
    ----------
    partition : SuperInstances
        The cells.
    is_askable : ndarray of bool
        The cells that may be asked about.
    seed : int
        Decides which cells are compared, where there are many.
    given : ndarray of int, optional
        The number of the group that each cell was given beforehand, -1 for none.
    aspects : mapping of str to ndarray of int, optional
        The columns of each aspect.
    main_aspect : str, optional
        The aspect that weighs most while there are few answers.
    """

    def __init__(
        self,
        partition: SuperInstances,
        is_askable: NDArray[np.bool_],
        seed: int,
        given: NDArray[np.intp] | None,
        aspects: Mapping[str, NDArray[np.intp]] | None = None,
        main_aspect: str | None = None,
    ) -> None:
        assert partition.points is not None
        self.learner = Learner(partition.points, partition.sizes(), given, aspects, main_aspect)
        self.points = partition.points
        self._askable, self._seed = np.flatnonzero(is_askable), seed
        self.n_first = len(self.points)
        cells = np.arange(self.n_first, dtype=np.intp)
        if self.n_first > MAX_CANDIDATES:
            cells = _drawn(self._askable, MAX_CANDIDATES, seed)
        self._first = self.asked = Sample(self.points, cells, _weights(partition, cells))
        self._weighed: dict[tuple[bool, bytes], Sample] = {}
        self._guessed: list[Learned | None] = []  # one, as soon as it is needed
        if given is not None:
            suspicion = np.zeros(self.n_first)
            distances = self._by_aspects(self.asked, None).distances
            suspicion[cells] = suspicion_of(distances, given[cells])
            self.learner.doubt_given(suspicion)

    def grown(self, partition: SuperInstances, is_askable: NDArray[np.bool_]) -> Field:
        """Return the field with the further cells of a partition.

        Only what is asked next depends on them: labels follow from the first cells and the answers.
        Cells that may not be asked about do not even change that.
        """
        assert partition.points is not None
        if len(partition.points) == len(self.points):
            return self
        other = copy(self)
        other.learner = self.learner.grown(partition.points[len(self.points) :])
        # What was computed of fewer cells does not hold for more.
        other.points, other._weighed, other._guessed = partition.points, {}, []
        other._first = self._first.among(other.points)
        later = _drawn(
            self.n_first + np.flatnonzero(is_askable[self.n_first :]), MAX_CANDIDATES, self._seed
        )
        cells = np.append(self._first.cells, later)
        other.asked = Sample(other.points, cells, _weights(partition, cells))
        return other

    @property
    def guess(self) -> Learned | None:
        """What is learned from Ward's tree, cut in its widest gap; None if that is one group."""
        if not self._guessed:
            self._guessed.append(self._guess())
        return self._guessed[0]

    def _guess(self) -> Learned | None:
        cells = _drawn(self._askable, MOST_GUESSED, self._seed)
        rows = weighed(self.learner.rows, self.learner.first_weights)
        tree = merge_tree(pdist(rows[cells]), is_euclidean=True)
        names = join_by_guess(tree, [])
        while len(np.unique(names)) > 1:
            groups = np.unique(names, return_inverse=True)[1].astype(np.intp)
            learned = self.learner.learn(cells, groups)
            is_used = np.isin(groups, learned.proba[: self.n_first].argmax(axis=1))
            if is_used.all():
                return learned
            cells, names = cells[is_used], names[is_used]
        return None

    def suspicion(self) -> NDArray[np.float64]:
        """Return how much each cell seems to belong to another given group; see `suspicion_of`."""
        found = self.learner.suspicion
        n_later = len(self.points) - self.n_first
        return np.zeros(len(self.points)) if found is None else np.pad(found, (0, n_later))

    def nearest_to_doubt(
        self,
        is_open: NDArray[np.bool_],
        removed: frozenset[int],
        known: Sequence[int],
        doubt: NDArray[np.float64] | None,
        aspects: NDArray[np.float64] | None = None,
    ) -> int:
        """Return the open cell that, once known, is nearest to the most doubt; None is 1 for all.

        `aspects` says how much each weighs; if None, as much as before any answer.
        """
        sample = self._by_aspects(self.asked, aspects)
        candidates = np.flatnonzero(is_open[sample.cells])
        if not len(candidates):  # all of the sample was asked about
            return int(np.flatnonzero(is_open)[0])
        weights = sample.weights
        if removed:
            weights = weights * ~np.isin(sample.cells, sorted(removed))
        if doubt is not None:
            weights = weights * doubt[sample.cells].astype(np.float32)
        distance_to_known = sample.distance_to_known(known)
        gains = gain_of_rows(sample.distances, candidates, distance_to_known, weights)
        return int(sample.cells[candidates[int(np.argmax(gains))]])

    def likely_new(self, learned: Learned, new: float, *, only_far: bool) -> list[int]:
        """Return cells likely to be the first of groups not met yet, as many as are expected.

        With `only_far`, only those that are at least as far from known cells as two of these in
        different groups are from each other.
        """
        sample = self._by_aspects(self._first, learned.aspects)
        distance_to_known = sample.distance_to_known(learned.known.tolist())
        rows = nearest_to_most(sample.distances, distance_to_known, sample.weights)
        found = []
        least = (
            least_between_groups(sample.everything[learned.known], learned.groups)
            if only_far
            else 0.0
        )
        for row in islice(rows, round(new * learned.n_groups)):
            if distance_to_known[row] < least:
                break
            distance_to_known = np.minimum(distance_to_known, sample.distances[row])
            found.append(row)
        cells = sample.cells[found]
        is_new = new > (1.0 - new) * learned.proba[cells].max(axis=1)
        return [int(cell) for cell in cells[is_new & (self.learner.rows.given[cells] < 0)]]

    def _by_aspects(self, sample: Sample, aspects: NDArray[np.float64] | None) -> Sample:
        """Return a sample with distances by weighed aspects; the latest are kept."""
        rows = self.learner.rows
        if not rows.alone:
            return sample
        aspects = self.learner.first_weights if aspects is None else aspects
        key = sample is self.asked, aspects.tobytes()
        if key not in self._weighed:
            # The weights change only when kernels are tuned again.
            self._weighed = {k: s for k, s in self._weighed.items() if k[1] == key[1]}
            self._weighed[key] = sample.at(weighed(rows, aspects))
        return self._weighed[key]


class Sample:
    """Some cells, how much each counts, and the distances between them."""

    def __init__(
        self, points: NDArray[Any], cells: NDArray[np.intp], weights: NDArray[np.float32]
    ) -> None:
        self.cells, self.weights = cells, weights
        self.everything, self._points = points, points[cells]
        self._place = {int(cell): k for k, cell in enumerate(cells)}

    @cached_property
    def distances(self) -> NDArray[np.float32]:
        """The distances between the cells; see `root_distances`."""
        return root_distances(self._points, self._points)

    def among(self, points: NDArray[Any]) -> Sample:
        """Return the same sample of more cells, with the points of all of them."""
        other = copy(self)
        other.everything = points
        return other

    def at(self, points: NDArray[Any]) -> Sample:
        """Return the sample with other points, one for each cell, sampled or not."""
        return Sample(points, self.cells, self.weights)

    def distance_to_known(self, known: Sequence[int]) -> NDArray[np.float32]:
        """Return how far each cell is from the nearest known one."""
        if not known:
            return np.full(len(self.cells), self.distances.max(), dtype=np.float32)
        places = [self._place[cell] for cell in known if cell in self._place]
        nearest = self.distances[places].min(axis=0, initial=np.inf)
        outside = [cell for cell in known if cell not in self._place]
        if outside:
            others = root_distances(self._points, self.everything[outside]).min(axis=1)
            nearest = np.minimum(nearest, others)
        return np.asarray(nearest)


def _weights(partition: SuperInstances, cells: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return how many rows each of some cells has."""
    return partition.sizes().astype(np.float32)[cells]


def _drawn(cells: NDArray[np.intp], n: int, seed: int) -> NDArray[np.intp]:
    """Return all cells or, of more than `n`, as many at random, increasing."""
    if len(cells) <= n:
        return cells
    return np.sort(np.random.default_rng(seed).choice(cells, n, replace=False))


def root_distances(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float32]:
    """Return square roots of distances; those too small for single precision are exactly 0.

    `nearest_to_most` relies on the zeros: a row is at distance 0 from itself and its copies.
    """
    center = columns.mean(axis=0)
    one, other = (np.asarray(x - center, dtype=np.float32) for x in (rows, columns))
    with one_thread_each():
        squares = squared_distances(one, other)
    squares[squares < 1e-5 * squares.mean()] = 0.0
    return np.asarray(np.sqrt(np.sqrt(squares, out=squares), out=squares))


def least_between_groups(points: NDArray[Any], groups: NDArray[np.intp]) -> float:
    """Return the smallest distance between two rows of different groups."""
    between = root_distances(points, points)
    return float(between[groups[:, None] != groups].min(initial=np.inf))


def margin_doubt(proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 minus the difference of the two largest probabilities of every row."""
    two = np.partition(proba, -2, axis=1)[:, -2:]
    return np.asarray(1.0 - (two[:, 1] - two[:, 0]))


def gain_of_rows(
    distances: NDArray[np.float32],
    candidates: NDArray[np.intp],
    distance_to_known: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return by how much each candidate, if it were known, would bring the others nearer.

    For a candidate r that is the sum over x of weights(x) max(0, distance_to_known(x) -
    distances(x, r)).
    """
    gains = np.empty(len(candidates), dtype=np.float32)
    for start in range(0, len(candidates), BLOCK):
        rows = candidates[start : start + BLOCK]
        nearer = np.subtract(distance_to_known, distances[rows])
        np.maximum(nearer, 0.0, out=nearer)
        gains[start : start + BLOCK] = nearer @ weights
    return gains


def nearest_to_most(
    distances: NDArray[np.float32],
    distance_to_known: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> Iterator[int]:
    """Yield the rows with the largest gain, one after the other, each known from then on.

    A gain only shrinks as more rows are known. So its last value bounds it, and only the blocks
    that may hold the largest gain are computed again.

    It ends because distances are exactly 0 between a row and itself (see `root_distances`): a row
    that was yielded has gained all it can, and its `distance_to_known` is 0. When the row with the
    largest gain is such a row, all gains are 0.
    """
    rows = np.arange(len(distance_to_known))
    gains = gain_of_rows(distances, rows, distance_to_known, weights)
    is_new = np.ones(len(distance_to_known), dtype=bool)
    while True:
        while not is_new[row := int(np.argmax(gains))]:
            block = rows[row // BLOCK * BLOCK :][:BLOCK]
            gains[block] = gain_of_rows(distances, block, distance_to_known, weights)
            is_new[block] = True
        if distance_to_known[row] <= 0.0:
            return
        yield row
        distance_to_known = np.minimum(distance_to_known, distances[row])
        is_new[:] = False
