"""How far apart two points can be under a metric: the scale of a violated cannot-link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from likewise.lab.baselines.mpck.metric import Metric

Array = NDArray[np.float64]

ROWS, COLUMNS = 64, 512
"""The size of a tile of distances. It changes the time only."""
CHUNK = 8192
"""How many rows are compared at a time. It changes the time only."""
SLACK = 0.1
"""Pairs are kept whose distance is at most this share below the farthest. A larger share means
fewer searches, which keep more pairs. It changes the time only."""
MAX_KEPT = 20_000
"""The most pairs that are kept."""
FIRST_STEPS, LATER_STEPS = 10, 3
"""Steps toward the center of the smallest enclosing ball, the first time and later. They change the
time only."""
# Rounding must not rule out a pair.
SAFETY = 1e-9


class FarthestPair:
    """The two rows that are farthest apart, for one metric after the other.

    A search keeps all pairs that are nearly as far apart as the farthest. As long as no later
    metric stretches distances enough for another pair to become the farthest, the answer is one of
    these pairs; otherwise there is a new search. Either way it is exact.
    """

    def __init__(self, X: Array) -> None:
        self._X = X
        self._pairs = np.empty((0, 2), dtype=np.intp)
        self._differences = np.empty((0, X.shape[1]))
        self._floor = 0.0
        self._center: Array | None = None
        self._searched_under: Metric | None = None

    def at_least(self, metric: Metric) -> float:
        """Return a lower bound on the squared distance of the farthest pair, without a search."""
        if self._searched_under is None:
            self.difference(metric)
        return float(metric.squared_norms(self._differences).max())

    def difference(self, metric: Metric) -> Array:
        """Return the difference vector of the farthest pair under this metric."""
        start = None
        if self._searched_under is not None:
            squared = metric.squared_norms(self._differences)
            best = int(squared.argmax())
            if squared[best] >= metric.growth_since(self._searched_under) * self._floor:
                return np.asarray(self._differences[best])
            start = (int(self._pairs[best, 0]), int(self._pairs[best, 1]))
        norms = np.concatenate([metric.squared_norms(rows) for rows in _chunks(self._X)])
        start, self._center = far_pair_and_center(self._X, metric, norms, start, self._center)
        self._pairs, self._floor = farthest_pairs(self._X, metric, norms, start, self._center)
        self._differences = self._X[self._pairs[:, 0]] - self._X[self._pairs[:, 1]]
        self._searched_under = metric
        return np.asarray(self._differences[0])


def farthest_pairs(
    X: Array,
    metric: Metric,
    norms: Array,
    start: tuple[int, int],
    center: Array,
    *,
    slack: float = SLACK,
    max_kept: int = MAX_KEPT,
) -> tuple[NDArray[np.intp], float]:
    """Return the pairs of rows that are farthest apart, the farthest first.

    No pair can be farther apart than the sum of the two distances to a common center. So with the
    rows sorted by that distance, all but few pairs are ruled out unseen, and the rest is computed
    in tiles: memory is linear in the rows. The time is quadratic only where most rows lie on one
    sphere. Pairs down to a squared distance of ``1 - slack`` times the largest are kept, at most
    about twice `max_kept`; the second value is one that no other pair exceeds.
    """
    best = float(metric.squared_norms(X[start[0]] - X[start[1]][None])[0])
    if best == 0:
        return np.array([start]), 0.0
    kept = _Kept((1 - slack) * best, max_kept)
    radii = np.sqrt(np.maximum(_relative(X, metric, norms, center) + _square(metric, center), 0))
    reach = radii * (1 + SAFETY) + SAFETY * radii.max()
    order = np.flatnonzero(reach >= np.sqrt(kept.floor) - reach.max())
    order = order[np.argsort(-reach[order], kind="stable")]
    reach, Y = reach[order], metric.embed(X[order] - center)
    squares, ones = np.einsum("ij,ij->i", Y, Y), np.ones(len(Y))
    # The product of these two is the matrix of squared distances.
    left = np.column_stack((-2 * Y, squares, ones))
    right = np.column_stack((Y, ones, squares))
    for a in range(0, len(Y), ROWS):
        if 2 * reach[a] < np.sqrt(kept.floor):
            break
        for b in range(a - a % COLUMNS, len(Y), COLUMNS):
            if reach[a] + reach[b] < np.sqrt(kept.floor):
                break
            tile = left[a : a + ROWS] @ right[b : b + COLUMNS].T
            largest = float(tile.max())
            if largest > kept.floor:
                kept.raise_floor((1 - slack) * largest)
                rows, columns = np.nonzero(tile > kept.floor)
                upper = a + rows < b + columns
                kept.add(a + rows[upper], b + columns[upper], tile[rows, columns][upper])
    return order[kept.pairs()], kept.floor


def far_pair_and_center(
    X: Array,
    metric: Metric,
    norms: Array,
    pair: tuple[int, int] | None = None,
    center: Array | None = None,
) -> tuple[tuple[int, int], Array]:
    """Return a pair that is far apart, and nearly the center of the smallest enclosing ball.

    Given a pair and a center for a similar metric, only the center is made a little better.
    """

    def farthest_from(point: Array) -> int:
        return int(np.argmax(_relative(X, metric, norms, point)))

    n_steps = LATER_STEPS
    if pair is None or center is None:
        n_steps = FIRST_STEPS
        left = farthest_from(X.mean(axis=0))
        right = farthest_from(X[left])
        pair = (right, farthest_from(X[right]))
        center = (X[pair[0]] + X[pair[1]]) / 2
    # Badoiu and Clarkson's steps; any center is correct, a good one rules out more pairs.
    for step in range(n_steps):
        center = center + (X[farthest_from(center)] - center) / (step + 3 + FIRST_STEPS - n_steps)
    return pair, np.asarray(center)


def _relative(X: Array, metric: Metric, norms: Array, point: Array) -> Array:
    """Return the squared distances to a point, less the squared norm of the point."""
    return np.asarray(norms - 2 * (X @ metric.apply(point[None])[0]))


def _square(metric: Metric, point: Array) -> float:
    return float(metric.squared_norms(point[None])[0])


def _chunks(X: Array) -> Iterator[Array]:
    for start in range(0, len(X), CHUNK):
        yield X[start : start + CHUNK]


class _Kept:
    """The farthest pairs seen so far, and the squared distance that a new one must exceed."""

    def __init__(self, floor: float, max_kept: int) -> None:
        self.floor = floor
        self._max_kept = max_kept
        self._left = np.empty(0, dtype=np.intp)
        self._right = np.empty(0, dtype=np.intp)
        self._squared = np.empty(0)

    def raise_floor(self, floor: float) -> None:
        self.floor = max(self.floor, floor)

    def add(self, left: NDArray[np.intp], right: NDArray[np.intp], squared: Array) -> None:
        self._left = np.concatenate((self._left, left))
        self._right = np.concatenate((self._right, right))
        self._squared = np.concatenate((self._squared, squared))
        if len(self._squared) > 2 * self._max_kept:
            stays = np.argpartition(self._squared, -self._max_kept)[-self._max_kept :]
            self._left, self._right = self._left[stays], self._right[stays]
            self._squared = self._squared[stays]
            self.raise_floor(float(self._squared.min()))

    def pairs(self) -> NDArray[np.intp]:
        order = np.argsort(-self._squared, kind="stable")
        return np.column_stack((self._left[order], self._right[order]))


class FarthestPairs:
    """The farthest pairs under several metrics, each searched for when it is needed."""

    def __init__(self, X: Array) -> None:
        self._first = FarthestPair(X)
        self._searches: dict[int, FarthestPair] = {}

    def differences(self, metrics: Sequence[Metric], is_needed: NDArray[np.bool_]) -> Array:
        """Return the difference vectors of the farthest pairs, zeros where they are not needed."""
        found = np.zeros((len(metrics), len(metrics[0].weights)))
        for place in np.flatnonzero(is_needed).tolist():
            found[place] = self._search(place, metrics[place]).difference(metrics[place])
        return found

    def at_least(self, metrics: Sequence[Metric]) -> Array:
        """Return lower bounds on the squared distances of the farthest pairs."""
        bounds = [
            self._search(place, metric).at_least(metric) for place, metric in enumerate(metrics)
        ]
        return np.array(bounds)

    def _search(self, place: int, metric: Metric) -> FarthestPair:
        if place not in self._searches:
            # All metrics are the same at first, so one search is enough.
            self._first.difference(metric)
            self._searches[place] = copy(self._first)
        return self._searches[place]


class BoxDiagonals:
    """The diagonals of a box, in place of the farthest pairs."""

    def __init__(self, span: Array) -> None:
        self._span = span

    def differences(
        self,
        metrics: Sequence[Metric],
        is_needed: NDArray[np.bool_],  # noqa: ARG002  (they cost nothing)
    ) -> Array:
        """Return the longest diagonal under each metric."""
        return np.stack([box_difference(self._span, metric) for metric in metrics])

    def at_least(self, metrics: Sequence[Metric]) -> Array:
        """Return their squared lengths."""
        return squared_lengths(
            metrics, self.differences(metrics, np.ones(len(metrics), dtype=bool))
        )


def squared_lengths(metrics: Sequence[Metric], differences: Array) -> Array:
    """Return the squared length of each vector under its metric."""
    pairs = zip(metrics, differences, strict=True)
    return np.array([metric.squared_norms(z[None])[0] for metric, z in pairs])


def box_difference(span: Array, metric: Metric) -> Array:
    """Return a diagonal of the box with these sides: a bound on all distances inside the box.

    Under a diagonal metric all diagonals are equally long. Under a full one it is the longest
    that flipping one side after the other leads to, from the leading direction of the metric.
    """
    if metric.is_diagonal:
        return span
    scaled = metric.weights * np.outer(span, span)
    signs = np.where(np.linalg.eigh(scaled)[1][:, -1] < 0, -1.0, 1.0)
    for _ in range(10 * len(span)):
        gains = np.diag(scaled) - signs * (scaled @ signs)
        side = int(gains.argmax())
        if gains[side] <= 1e-12 * abs(np.trace(scaled)):
            break
        signs[side] *= -1
    return np.asarray(signs * span)
