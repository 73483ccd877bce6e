"""The nearest center of every row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.partition import SuperInstances
from likewise.rows.metrics import distances
from likewise.rows.threads import map_in_threads

_SCORES_PER_BLOCK = 2**18
"""Scores of one small block of rows against all centers: they stay in the processor's cache."""

_ROWS_PER_THREAD = 2**16
"""How many rows a thread takes at a time. The number of threads changes no bit of the result."""


def assign(
    X: NDArray[Any], centers: NDArray[Any], *, n_jobs: int | None = None
) -> NDArray[np.intp]:
    """Return the nearest center of every row."""
    # Moved to the origin, data far from it loses no digits.
    shift = centers.mean(axis=0, dtype=np.float64).astype(centers.dtype)
    nearest = np.empty(len(X), dtype=np.intp)

    def assign_rows(start: int) -> None:
        part = slice(start, start + _ROWS_PER_THREAD)
        _by_product(X[part], centers - shift, shift, nearest[part])

    map_in_threads(assign_rows, range(0, len(X), _ROWS_PER_THREAD), n_jobs)
    return nearest


def nearest_super_instance(partition: SuperInstances, rows: NDArray[Any]) -> NDArray[np.intp]:
    """Return the super-instances of new rows: by K-means cell, or by the nearest representative."""
    if partition.centers is not None and partition.cell_owner is not None:
        return partition.cell_owner[assign(rows, partition.centers)]
    if partition.points is None:
        return np.asarray(np.argmin(rows[:, partition.representatives], axis=1))
    return np.asarray(np.argmin(distances(rows, partition.points, partition.metric), axis=1))


def rows_per_block(n_centers: int) -> int:
    """Return for how many rows the scores against the centers fit in the cache."""
    return int(2 ** np.clip(np.log2(_SCORES_PER_BLOCK / n_centers) // 1, 6, 12))


def _by_product(
    rows: NDArray[Any], centers: NDArray[Any], shift: NDArray[Any], nearest: NDArray[np.intp]
) -> None:
    """Fill in `nearest` by a matrix product: the nearest center has the largest x·c - |c|²/2."""
    half_norms = 0.5 * np.einsum("ij,ij->i", centers, centers)
    # A column of ones subtracts the norms within the product.
    factors = np.ascontiguousarray(np.vstack([centers.T, -half_norms]))
    n_features = centers.shape[1]
    n_block = min(rows_per_block(len(centers)), len(rows))
    extended = np.ones((n_block, n_features + 1), dtype=centers.dtype)
    scores = np.empty((n_block, len(centers)), dtype=centers.dtype)
    for start in range(0, len(rows), n_block):
        block = rows[start : start + n_block]
        n = len(block)
        np.subtract(block, shift, out=extended[:n, :n_features])
        np.matmul(extended[:n], factors, out=scores[:n])
        scores[:n].argmax(axis=1, out=nearest[start : start + n])
