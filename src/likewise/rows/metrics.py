"""Distances by the name of a metric, the same for a pair in either order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

EUCLIDEAN = ("euclidean", "l2")

_SCIPY_NAMES = {"l1": "cityblock", "manhattan": "cityblock", "l2": "euclidean"}


def distances(left: ArrayLike, right: ArrayLike, metric: str) -> NDArray[np.float64]:
    """Return the float64 distances between two lists of points, each from its two points alone."""
    a = np.asarray(left, dtype=np.float64)
    b = np.asarray(right, dtype=np.float64)
    if metric == "haversine":
        from sklearn.metrics.pairwise import haversine_distances

        return np.asarray(haversine_distances(a, b))
    name: Any = _SCIPY_NAMES.get(metric, metric)
    between = cdist(a, b, metric=name)
    if metric == "cosine":
        # A row of zeros has no direction; like scikit-learn, call it orthogonal to all others.
        between[np.isnan(between)] = 1.0
    return between
