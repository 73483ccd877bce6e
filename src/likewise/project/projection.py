"""Two coordinates per item, for a map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.sparse.linalg import svds

from likewise.items import Features

GRID = 1000
"""Coordinates are whole numbers from 0 to this, enough for a screen and short to send."""

MOST_POINTS = 4_000
"""More would only cover each other; representatives are always shown."""

_MOST_FOR_AXES = 5_000
"""The axes are found from at most this many rows."""


def project_rows(
    features: Features, representatives: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which rows to show and their two coordinates.

    The axes are the first two principal components of the features, or classical scaling of the
    distances. Each coordinate is spread over the grid.

    Parameters
    ----------
    features : Features
        The features.
    representatives : ndarray of int
        Rows that must be shown.
    """
    n_rows = len(features.X)
    rng = np.random.default_rng(0)
    shown = representatives
    if n_rows > len(shown):
        others = np.setdiff1d(np.arange(n_rows), representatives)
        n_others = max(0, min(len(others), MOST_POINTS - len(shown)))
        shown = np.sort(np.concatenate([shown, rng.choice(others, n_others, replace=False)]))
    if features.metric == "precomputed":
        place = _classical_scaling(features.X[np.ix_(shown, shown)])
    else:
        sample = shown if len(shown) <= _MOST_FOR_AXES else shown[:: len(shown) // _MOST_FOR_AXES]
        place = _principal_axes(features.X[sample], features.X[shown])
    low, high = place.min(axis=0), place.max(axis=0)
    scale = np.where(high > low, high - low, 1.0)
    return shown, np.rint((place - low) / scale * GRID).astype(np.intp)


def _principal_axes(sample: NDArray[Any], X: NDArray[Any]) -> NDArray[np.float64]:
    mean = sample.mean(axis=0, dtype=np.float64)
    centered = sample.astype(np.float64) - mean
    axes = _two_largest(centered)
    found: NDArray[np.float64] = (X.astype(np.float64) - mean) @ axes.T
    return found


def _two_largest(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return two right singular vectors, each with its largest entry positive."""
    if min(matrix.shape) > 100:
        _, _, axes = svds(matrix, k=2, v0=np.ones(min(matrix.shape)), solver="arpack")
        axes = axes[::-1]
    else:
        _, _, axes = svd(matrix, full_matrices=False)
    axes = np.vstack([axes[:2], np.zeros((2 - len(axes[:2]), matrix.shape[1]))])
    signs = np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])
    found: NDArray[np.float64] = axes * np.where(signs == 0, 1, signs)[:, None]
    return found


def _classical_scaling(distances: NDArray[Any]) -> NDArray[np.float64]:
    squared = distances.astype(np.float64) ** 2
    centered = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    axes = _two_largest(-0.5 * centered)
    found: NDArray[np.float64] = (-0.5 * centered) @ axes.T
    return found
