"""How far apart two points can be under a metric: the scale of a violated cannot-link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.cluster._mpck_metric import Metric

Array = NDArray[np.float64]

ROWS, COLUMNS = 256, 2048
SLACK = 0.1
MAX_KEPT = 20_000
CENTER_STEPS = 10


class FarthestPair:
    """The two rows that are farthest apart, for one metric after the other.

    A search keeps all pairs that are nearly as far apart as the farthest. While a later metric
    stretches no distance so much that another pair could overtake the best of these, the answer
    is read off them; otherwise it is searched anew. Either way it is exact.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    """

    def __init__(self, X: Array) -> None:
        self._X = X
        self._differences = np.empty((0, X.shape[1]))
        self._floor = 0.0
        self._searched_under: Metric | None = None

    def difference(self, metric: Metric) -> Array:
        """Return the difference vector of the farthest pair under this metric."""
        if self._searched_under is not None:
            squared = metric.squared_norms(self._differences)
            best = int(squared.argmax())
            if squared[best] >= metric.growth_since(self._searched_under) * self._floor:
                return np.asarray(self._differences[best])
        pairs, self._floor = farthest_pairs(metric.embed(self._X))
        self._differences = self._X[pairs[:, 0]] - self._X[pairs[:, 1]]
        self._searched_under = metric
        return np.asarray(self._differences[0])


def farthest_pairs(
    Z: Array, slack: float = SLACK, max_kept: int = MAX_KEPT
) -> tuple[NDArray[np.intp], float]:
    """Return the pairs of rows that are farthest apart, the farthest first.

    No pair can be farther apart than the sum of the two distances to a common center. So with the
    rows sorted by that distance, all but few pairs are ruled out unseen, and the rest is computed
    in tiles: memory is linear in the rows. The time is quadratic only where most rows lie on one
    sphere.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
    slack : float
        Keep pairs down to a squared distance of ``1 - slack`` times the largest.
    max_kept : int
        Keep about this many pairs at most.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2)
    floor : float
        No pair that is not returned has a squared distance above this.
    """
    start, center = _far_pair_and_center(Z)
    best = _squared(Z, *start)
    if best == 0:
        return np.array([start]), 0.0
    Y = Z - center
    radii = np.sqrt(np.einsum("ij,ij->i", Y, Y))
    floor = (1 - slack) * best
    order = np.flatnonzero(radii >= np.sqrt(floor) - radii.max())
    order = order[np.argsort(-radii[order], kind="stable")]
    radii, Y = radii[order], Y[order]
    ones = np.ones(len(Y))
    # The product of these two is the matrix of squared distances.
    left = np.column_stack((-2 * Y, radii**2, ones))
    right = np.column_stack((Y, ones, radii**2))
    kept = _Kept(floor, max_kept)
    for a in range(0, len(Y), ROWS):
        if 2 * radii[a] < np.sqrt(kept.floor):
            break
        for b in range(a - a % COLUMNS, len(Y), COLUMNS):
            if radii[a] + radii[b] < np.sqrt(kept.floor):
                break
            tile = left[a : a + ROWS] @ right[b : b + COLUMNS].T
            largest = float(tile.max())
            if largest > kept.floor:
                kept.raise_floor((1 - slack) * largest)
                rows, columns = np.nonzero(tile > kept.floor)
                upper = a + rows < b + columns
                kept.add(a + rows[upper], b + columns[upper], tile[rows, columns][upper])
    return order[kept.pairs()], kept.floor


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


def _far_pair_and_center(Z: Array) -> tuple[tuple[int, int], Array]:
    """Return a pair that is far apart, and nearly the center of the smallest enclosing ball."""
    norms = np.einsum("ij,ij->i", Z, Z)

    def farthest_from(point: Array) -> int:
        return int(np.argmax(norms - 2 * (Z @ point)))

    left = farthest_from(Z.mean(axis=0))
    right = farthest_from(Z[left])
    while (other := farthest_from(Z[right])) != left and _squared(Z, other, right) > _squared(
        Z, left, right
    ):
        left, right = right, other
    center = (Z[left] + Z[right]) / 2
    # Badoiu and Clarkson's steps; any center is correct, a good one rules out more pairs.
    for step in range(CENTER_STEPS):
        center = center + (Z[farthest_from(center)] - center) / (step + 3)
    return (left, right), center


def _squared(Z: Array, left: int, right: int) -> float:
    difference = Z[left] - Z[right]
    return float(difference @ difference)


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
