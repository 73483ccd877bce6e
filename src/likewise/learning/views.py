"""Two ways to look at rows: with the features' own scales, and with equal ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_FEATURES = 100
"""With more features than this, the main axes stand for them."""

N_AXES = 50
_ROWS_FOR_AXES = 5000
_ROWS_PER_BLOCK = 4096


@dataclass(frozen=True, eq=False, slots=True)
class Views:
    """Two ways to look at rows: with the features' own scales, and with equal ones.

    Make it with `views_of`; calling it takes rows and returns both views of them.
    """

    mean: NDArray[np.float64]
    axes: NDArray[np.float64] | None
    scale: float
    deviations: NDArray[np.float64]

    def __call__(self, rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the rows as they are, centered, and with all features equally wide."""
        centered = np.asarray(rows, dtype=np.float64) - self.mean
        if self.axes is not None:
            centered = centered @ self.axes
        return centered * self.scale, centered * self.deviations


def views_of(X: NDArray[Any]) -> Views:
    """Return how to look at rows like those of `X`.

    Both views are scaled to a mean square norm of 1. Features that never change are left out.
    """
    mean = X.mean(axis=0, dtype=np.float64)
    axes = None
    if X.shape[1] > MAX_FEATURES:
        some = X[:: max(1, -(-len(X) // _ROWS_FOR_AXES))] - mean
        axes = np.linalg.svd(some, full_matrices=False)[2][:N_AXES].T
    variances = np.zeros(X.shape[1] if axes is None else axes.shape[1])
    for start in range(0, len(X), _ROWS_PER_BLOCK):
        block = X[start : start + _ROWS_PER_BLOCK] - mean
        variances += ((block if axes is None else block @ axes) ** 2).sum(axis=0)
    variances /= len(X)
    total = variances.sum()
    is_alive = variances > 1e-18 * max(float(total), 1e-300)
    deviations = np.zeros(len(variances))
    deviations[is_alive] = 1.0 / np.sqrt(variances[is_alive] * is_alive.sum())
    return Views(mean, axes, float(1.0 / np.sqrt(total)) if total > 0 else 1.0, deviations)
