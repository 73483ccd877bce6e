"""The row that stands for a group: the one with the smallest sum of distances to the others."""

from __future__ import annotations

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


def medoid(points: NDArray[Any]) -> int:
    """Return the point with the least sum of distances; of over 2000, try the 64 most central."""
    if len(points) <= EXACT_LIMIT:
        candidates = np.arange(len(points))
    else:
        median = geometric_median(points)
        away = _distances(points, median)
        candidates = np.sort(np.argpartition(away, N_CANDIDATES)[:N_CANDIDATES])
    sums = sums_of_distances(points[candidates], points)
    return int(candidates[np.argmin(sums)])


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


def sums_of_distances(candidates: NDArray[Any], points: NDArray[Any]) -> NDArray[np.float64]:
    """Return, for each candidate, the sum of its distances to all points."""
    candidates = np.asarray(candidates, dtype=np.float64)
    sums = np.zeros(len(candidates))
    block = max(1, _ENTRIES_PER_BLOCK // max(1, len(candidates)))
    for start in range(0, len(points), block):
        sums += cdist(candidates, np.asarray(points[start : start + block], dtype=np.float64)).sum(
            axis=1
        )
    return sums


def _distances(points: NDArray[Any], place: NDArray[np.float64]) -> NDArray[np.float64]:
    return cdist(np.asarray(points, dtype=np.float64), place[None, :])[:, 0]
