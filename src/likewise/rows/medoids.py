"""The row that stands for a group: the one with the smallest sum of distances to the others.

All distances are in double precision, to which `cdist` brings its arguments.
"""

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
        away = cdist(points, geometric_median(points)[None])[:, 0]
        candidates = np.sort(np.argpartition(away, N_CANDIDATES)[:N_CANDIDATES])
    sums = sums_of_distances(points[candidates], points)
    return int(candidates[np.argmin(sums)])


def geometric_median(points: NDArray[Any]) -> NDArray[np.float64]:
    """Return approximately the point with the smallest sum of distances, by Weiszfeld's steps."""
    points = np.asarray(points, dtype=np.float64)
    place: NDArray[np.float64] = points.mean(axis=0)
    for _ in range(_WEISZFELD_STEPS):
        away = cdist(points, place[None])[:, 0]
        if not away.any():
            break
        # A step from one of the points would divide by zero.
        weights = 1.0 / np.maximum(away, max(1e-12 * away.max(), 1e-150))
        place = np.asarray((weights @ points) / weights.sum(), dtype=np.float64)
    return place


def sums_of_distances(candidates: NDArray[Any], points: NDArray[Any]) -> NDArray[np.float64]:
    """Return, for each candidate, the sum of its distances to all points."""
    sums = np.zeros(len(candidates))
    block = max(1, _ENTRIES_PER_BLOCK // max(1, len(candidates)))
    for start in range(0, len(points), block):
        sums += cdist(candidates, points[start : start + block]).sum(axis=1)
    return sums
