"""Over-clustering by K-means, and the nearest center of rows, the same on any number of cores.

Lloyd's algorithm is done by NumPy, with the result of scikit-learn's for the same seed. Importing
scikit-learn takes two seconds of CPU, longer than cutting most data into regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from likewise.rows.threads import map_in_threads, one_thread_each

MANY_CENTERS = 500
"""From this many centers on, starts differ by less than a percent, so one is enough."""

N_INIT = 10
"""Starts of K-means on all rows. Our choice: the paper names no number."""

START_ROWS_PER_CENTER, FEW_STEPS = 8, 5
"""From 500 centers on, k-means++ looks for a start among this many rows per center, and Lloyd's
algorithm takes this many steps. 64 rows and 30 steps take three to nine times as long, and the
cells are hardly purer (97.5 % instead of 97.4 % on 12 of the paper's datasets, enlarged)."""

MAX_ITER = 300
"""The most iterations, as in scikit-learn's K-means."""
TOLERANCE = 1e-4
"""The iteration ends when centers move less than this share of the columns' mean variance, as in
scikit-learn."""

_SCORES_PER_BLOCK = 2**18
"""Scores of one small block of rows against all centers: they stay in the processor's cache."""

_ROWS_PER_THREAD = 2**16
"""How many rows a thread takes at a time. The number of threads changes no bit of the result."""


def kmeans(
    X: NDArray[Any], n_clusters: int, *, seed: int = 0, n_jobs: int | None = None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the cell of every row and the centers, by the best of a few k-means++ starts."""
    if n_clusters >= len(X):
        return _distinct(X)
    if n_clusters < MANY_CENTERS:
        seeds = np.random.default_rng(seed).integers(2**31 - 1, size=N_INIT)
        runs = map_in_threads(partial(from_one_start, X, n_clusters), seeds.tolist(), n_jobs)
        best = min(runs, key=lambda run: run.inertia)
        assignment, centers = best.labels, best.centers
    else:
        centers = _one_start(X, n_clusters, seed)
        assignment = assign(X, centers, n_jobs=n_jobs)
    used, renumbered = np.unique(assignment, return_inverse=True)
    if len(used) < n_clusters:
        distinct = _distinct(X)
        if len(distinct[1]) <= n_clusters:
            return distinct
    return renumbered.astype(np.intp), centers[used]


def _one_start(X: NDArray[Any], n_clusters: int, seed: int) -> NDArray[Any]:
    """Return the centers that a few steps of Lloyd's algorithm find from one start."""
    rng = np.random.default_rng(seed)
    n_part = min(len(X), START_ROWS_PER_CENTER * n_clusters)
    part = np.sort(rng.choice(len(X), n_part, replace=False, shuffle=False))
    rng = np.random.default_rng(int(rng.integers(2**31 - 1)))
    with one_thread_each():
        first = int(rng.integers(len(part)))
        start = X[part[plusplus(X[part], n_clusters, rng, first)]]
        return lloyd(X, start, max_iter=FEW_STEPS).centers


def _distinct(X: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Make every distinct row a cell of its own."""
    centers, assignment = np.unique(X, axis=0, return_inverse=True)
    return assignment.reshape(-1).astype(np.intp), centers


@dataclass(frozen=True, slots=True)
class Clustering:
    """The nearest center of every row, the centers, and the sum of squared distances."""

    labels: NDArray[np.intp]
    centers: NDArray[Any]
    inertia: float


def from_one_start(X: NDArray[Any], n_clusters: int, seed: int) -> Clustering:
    """Return the clustering from a greedy k-means++ start."""
    rng = np.random.RandomState(seed)
    ones = np.ones(len(X), X.dtype)
    with one_thread_each():
        first = int(rng.choice(len(X), p=ones / ones.sum()))
        return lloyd(X, X[plusplus(X, n_clusters, rng, first, ones)])


def lloyd(X: NDArray[Any], start: NDArray[Any], *, max_iter: int = MAX_ITER) -> Clustering:
    """Move centers to the means of their rows until they stop; an empty one to the farthest row."""
    middle = X.mean(axis=0)
    least_shift = TOLERANCE * X.var(axis=0).mean()
    X, centers = X - middle, start - middle
    ones = np.ones(len(X), X.dtype)
    labels = np.full(len(X), -1, dtype=np.intp)
    # Reused in every step, because new memory costs as much time as the scores.
    scores = np.empty((min(rows_per_block(len(start)), len(X)), len(start)), dtype=X.dtype)
    for _ in range(max_iter):
        before, labels = labels, _nearest(X, centers, scores)
        moved = _means(X, ones, labels, centers)
        shift = float(np.square(moved - centers).sum())
        centers = moved
        if np.array_equal(labels, before):
            break
        if shift <= least_shift:
            labels = _nearest(X, centers, scores)
            break
    else:
        labels = _nearest(X, centers, scores)
    away = X - centers[labels]
    inertia = np.einsum("ij,ij,i->", away, away, ones, dtype=np.float64)
    return Clustering(labels, centers + middle, float(inertia))


def plusplus(
    X: NDArray[Any],
    n_clusters: int,
    rng: np.random.Generator | np.random.RandomState,
    first: int,
    ones: NDArray[Any] | None = None,
) -> NDArray[np.intp]:
    """Return rows to start K-means from, by greedy k-means++, with one matrix product per step.

    With `ones`, sums are products with them, as in scikit-learn, and end in its last bits.
    """
    n_trials = 2 + int(np.log(n_clusters))
    moved = X - X.mean(axis=0)
    norms = np.einsum("ij,ij->i", moved, moved)
    # |x - y|² = -2 x·y + |x|²·1 + 1·|y|², all in one product.
    factors = np.vstack([moved.T, np.ones_like(norms), norms])
    tried = np.ones((n_trials, len(factors)), dtype=X.dtype)
    squares = np.empty((n_trials, len(X)), dtype=X.dtype)
    nearest = np.full(len(X), np.inf, dtype=X.dtype)
    chosen = np.empty(n_clusters, dtype=np.intp)
    trials = np.full(n_trials, first)
    for k in range(n_clusters):
        if k:
            running = np.cumsum(nearest, dtype=np.float64)
            drawn = np.searchsorted(running, rng.random(n_trials) * running[-1], side="right")
            trials = np.minimum(drawn, len(X) - 1)
        np.multiply(moved[trials], -2.0, out=tried[:, :-2])
        tried[:, -2] = norms[trials]
        np.matmul(tried, factors, out=squares)
        np.minimum(squares, nearest, out=squares)
        sums = squares.sum(axis=1) if ones is None else squares @ ones
        best = int(np.argmin(sums))
        np.maximum(squares[best], 0, out=nearest)
        chosen[k] = trials[best]
    return chosen


def _nearest(X: NDArray[Any], centers: NDArray[Any], scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the nearest center of every row: the one with the largest x·c - |c|²/2."""
    half_norms = 0.5 * np.einsum("ij,ij->i", centers, centers)
    labels = np.empty(len(X), dtype=np.intp)
    for first in range(0, len(X), len(scores)):
        rows = X[first : first + len(scores)]
        of_block = np.matmul(rows, centers.T, out=scores[: len(rows)])
        of_block -= half_norms
        of_block.argmax(axis=1, out=labels[first : first + len(rows)])
    return labels


def _means(
    X: NDArray[Any], ones: NDArray[Any], labels: NDArray[np.intp], before: NDArray[Any]
) -> NDArray[Any]:
    """Return the mean of every cluster's rows, after giving a row to each empty cluster."""
    members = csc_array((ones, labels, np.arange(len(X) + 1)), shape=(len(before), len(X)))
    sums = members @ X
    counts = np.bincount(labels, minlength=len(before)).astype(X.dtype)
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        squares = np.square(X - before[labels]).sum(axis=1)
        if squares.any():
            farthest = np.argpartition(squares, -len(empty))[: -len(empty) - 1 : -1]
            for cluster, row in zip(empty, farthest, strict=True):
                sums[labels[row]] -= X[row]
                counts[labels[row]] -= 1
                sums[cluster], counts[cluster] = X[row], 1
    is_full = counts > 0
    sums[is_full] *= (1 / counts[is_full])[:, None]
    sums[~is_full] = sums[np.argmax(counts)]
    return np.asarray(sums)


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
