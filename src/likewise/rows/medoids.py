"""The row that stands for a group: the one with the smallest sum of distances to the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

EXACT_LIMIT = 2_000
"""Up to this many members all are tried; above, the candidates nearest the geometric median."""

N_CANDIDATES = 64
"""How many members are tried in a large group, those nearest to its geometric median."""
_WEISZFELD_STEPS = 10
"""Steps toward the geometric median."""
_ENTRIES_PER_BLOCK = 4_000_000
"""How many distances are in memory at a time."""
_ROWS_PER_PRODUCT = 1024
"""How many rows are in one matrix product, which fits in the processor's cache."""


def medoid(points: NDArray[Any], *, exact: bool = False) -> int:
    """Return the index of the point with the smallest sum of Euclidean distances to all.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        The members of one group.
    exact : bool, default=False
        Try every point however many there are. Otherwise, above 2000 points, only the 64 nearest
        to their geometric median are tried. That misses the medoid only if 64 others are nearer
        to that median.

    Examples
    --------
    >>> import numpy as np
    >>> medoid(np.array([[0.0], [1.0], [5.0]]))
    1
    """
    if exact or len(points) <= EXACT_LIMIT:
        candidates = np.arange(len(points))
    else:
        median = geometric_median(points)
        away = _distances(points, median)
        candidates = np.sort(np.argpartition(away, N_CANDIDATES)[:N_CANDIDATES])
    sums = sums_of_distances(points[candidates], points)
    return int(candidates[np.argmin(sums)])


def nearest_to_mean(points: NDArray[Any], mean: NDArray[np.float64]) -> int:
    """Return the index of the point nearest to a mean, the first on a tie."""
    return int(np.argmin(_distances(points, mean)))


def geometric_median(points: NDArray[Any]) -> NDArray[np.float64]:
    """Return approximately the point with the smallest sum of distances, by Weiszfeld's steps."""
    points = np.asarray(points, dtype=np.float64)
    place: NDArray[np.float64] = points.mean(axis=0)
    for _ in range(_WEISZFELD_STEPS):
        away = _distances(points, place)
        if not away.any():
            break
        # A step from one of the points would divide by zero.
        weights = 1.0 / np.maximum(away, max(1e-12 * away.max(), 1e-150))
        place = np.asarray((weights @ points) / weights.sum(), dtype=np.float64)
    return place


def geometric_medians(points: NDArray[Any], counts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the geometric median of every group of points that follow each other."""
    medians = np.empty((len(counts), points.shape[1]))
    for k, group in enumerate(np.split(points, np.cumsum(counts)[:-1])[: len(counts)]):
        medians[k] = geometric_median(group)
    return medians


def sums_of_distances(some: NDArray[Any], points: NDArray[Any]) -> NDArray[np.float64]:
    """Return, for each of some points, the sum of its distances to all points."""
    some = np.asarray(some, dtype=np.float64)
    sums = np.zeros(len(some))
    block = max(1, _ENTRIES_PER_BLOCK // max(1, len(some)))
    for start in range(0, len(points), block):
        sums += cdist(some, np.asarray(points[start : start + block], dtype=np.float64)).sum(axis=1)
    return sums


def _distances(points: NDArray[Any], place: NDArray[np.float64]) -> NDArray[np.float64]:
    return cdist(np.asarray(points, dtype=np.float64), place[None, :])[:, 0]


@dataclass(frozen=True, slots=True)
class Scratch:
    """Reused memory, because new memory costs as much time as the sums."""

    part: NDArray[Any]
    extended: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, block: NDArray[Any], n_points: int) -> Scratch:
        """Return memory for comparing the rows of a block to a number of points."""
        n_features = block.shape[1]
        return cls(
            np.empty((_ROWS_PER_PRODUCT, n_features), dtype=block.dtype),
            np.ones((_ROWS_PER_PRODUCT, n_features + 2)),
            np.empty(_ROWS_PER_PRODUCT * n_points),
        )


def distance_sums(
    points: NDArray[Any],
    block: NDArray[Any],
    members: NDArray[np.intp],
    middle: NDArray[np.float64],
    scratch: Scratch,
) -> NDArray[np.float64]:
    """Return the sum of distances of every point to some rows of a block, by float64 products.

    All are moved by a place in their middle first, so that the products lose no digits.
    """
    points = points - middle
    n_features = points.shape[1]
    # |x - y|² = -2 x·y + 1·|y|² + |x|²·1, all in one product.
    norms = np.einsum("ij,ij->i", points, points)
    factors = np.vstack([-2.0 * points.T, norms, np.ones(len(points))])
    sums = np.zeros(len(points))
    for start in range(0, len(members), _ROWS_PER_PRODUCT):
        own = members[start : start + _ROWS_PER_PRODUCT]
        n = len(own)
        part = np.take(block, own, axis=0, out=scratch.part[:n], mode="clip")
        moved = np.subtract(part, middle, out=scratch.extended[:n, :n_features])
        np.einsum("ij,ij->i", moved, moved, out=scratch.extended[:n, n_features + 1])
        away = scratch.squares[: n * len(points)].reshape(n, len(points))
        np.matmul(scratch.extended[:n], factors, out=away)
        np.maximum(away, 0.0, out=away)
        sums += np.sqrt(away, out=away).sum(axis=0)
    return sums


def squares_to_own(block: NDArray[Any], middles: NDArray[Any], cells: NDArray[Any]) -> NDArray[Any]:
    """Return the squared distance of every row to the middle of its cell."""
    squares = np.empty(len(block), dtype=block.dtype)
    room = np.empty((_ROWS_PER_PRODUCT, block.shape[1]), dtype=block.dtype)
    for start in range(0, len(block), _ROWS_PER_PRODUCT):
        part = block[start : start + _ROWS_PER_PRODUCT]
        own = cells[start : start + len(part)]
        away = np.take(middles, own, axis=0, out=room[: len(part)], mode="clip")
        np.subtract(part, away, out=away)
        np.einsum("ij,ij->i", away, away, out=squares[start : start + len(part)])
    return squares
