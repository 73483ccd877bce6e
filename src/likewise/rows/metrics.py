"""Distances by the name of a metric, the same for a pair in either order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from likewise.errors import InputError

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


def unit_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """Return rows brought to unit length."""
    refuse_zeros(rows)
    # By its largest value first, since the square of a very small number is 0.
    scaled = rows / np.abs(rows).max(axis=1, keepdims=True)
    unit: NDArray[Any] = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return unit


def refuse_zeros(rows: NDArray[Any], first: int = 0) -> None:
    """Refuse a row of zeros, which has no direction; `first` is the number of the first row."""
    zeros = np.flatnonzero(~rows.any(axis=1))
    if len(zeros):
        others = f" ({len(zeros)} such rows in all)" if len(zeros) > 1 else ""
        raise InputError(
            f'row {first + zeros[0]} of X is all zeros{others}, and metric="cosine" needs a '
            'direction. Leave such rows out, or use metric="euclidean"'
        )
