"""Lloyd's K-means by NumPy, with the result of scikit-learn's for the same seed.

Importing scikit-learn takes two seconds of CPU, longer than cutting most data into regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from likewise.rows.assignment import rows_per_block
from likewise.rows.threads import one_thread_each

MAX_ITER = 300
"""The most iterations, as in scikit-learn's K-means."""
TOLERANCE = 1e-4
"""The iteration ends when centers move less than this share of the columns' mean variance, as in
scikit-learn."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """The nearest center of every row, the centers, and the weighted sum of squared distances."""

    labels: NDArray[np.intp]
    centers: NDArray[Any]
    inertia: float


def best_of_starts(
    X: NDArray[Any],
    n_clusters: int,
    n_starts: int,
    seed: int,
    weights: NDArray[Any] | None = None,
) -> Clustering:
    """Return the clustering of least inertia from a few greedy k-means++ starts."""
    rng = np.random.RandomState(seed)
    weights = np.ones(len(X), X.dtype) if weights is None else weights.astype(X.dtype)
    shares = weights / weights.sum()
    best: Clustering | None = None
    with one_thread_each():
        for _ in range(n_starts):
            first = int(rng.choice(len(X), p=shares))
            start = X[plusplus(X, n_clusters, rng, first, weights)]
            clustering = lloyd(X, start, weights=weights)
            # Rounding must not decide between two runs with the same clusters.
            if best is None or (
                clustering.inertia < best.inertia and not _are_same(clustering, best)
            ):
                best = clustering
    assert best is not None
    return best


def lloyd(
    X: NDArray[Any],
    start: NDArray[Any],
    *,
    weights: NDArray[Any] | None = None,
    max_iter: int = MAX_ITER,
) -> Clustering:
    """Move centers to the means of their rows until they stop; an empty one to the farthest row."""
    middle = X.mean(axis=0)
    least_shift = TOLERANCE * X.var(axis=0).mean()
    X, centers = X - middle, start - middle
    weights = np.ones(len(X), X.dtype) if weights is None else weights
    labels = np.full(len(X), -1, dtype=np.intp)
    # Reused in every step, because new memory costs as much time as the scores.
    scores = np.empty((min(rows_per_block(len(start)), len(X)), len(start)), dtype=X.dtype)
    for _ in range(max_iter):
        before, labels = labels, _nearest(X, centers, scores)
        moved = _means(X, weights, labels, centers)
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
    inertia = np.einsum("ij,ij,i->", away, away, weights, dtype=np.float64)
    return Clustering(labels, centers + middle, float(inertia))


def plusplus(
    X: NDArray[Any],
    n_clusters: int,
    rng: np.random.Generator | np.random.RandomState,
    first: int,
    weights: NDArray[Any] | None = None,
) -> NDArray[np.intp]:
    """Return rows to start K-means from, by greedy k-means++, with one matrix product per step."""
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
            each = nearest if weights is None else nearest * weights
            running = np.cumsum(each, dtype=np.float64)
            drawn = np.searchsorted(running, rng.random(n_trials) * running[-1], side="right")
            trials = np.minimum(drawn, len(X) - 1)
        np.multiply(moved[trials], -2.0, out=tried[:, :-2])
        tried[:, -2] = norms[trials]
        np.matmul(tried, factors, out=squares)
        np.minimum(squares, nearest, out=squares)
        sums = squares.sum(axis=1) if weights is None else squares @ weights
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
    X: NDArray[Any], weights: NDArray[Any], labels: NDArray[np.intp], before: NDArray[Any]
) -> NDArray[Any]:
    """Return the mean of every cluster's rows, after each empty one has got a row."""
    members = csc_array((weights, labels, np.arange(len(X) + 1)), shape=(len(before), len(X)))
    sums = members @ X
    counts = np.bincount(labels, weights, minlength=len(before)).astype(X.dtype)
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        squares = np.square(X - before[labels]).sum(axis=1)
        if squares.any():
            farthest = np.argpartition(squares, -len(empty))[: -len(empty) - 1 : -1]
            for cluster, row in zip(empty, farthest, strict=True):
                share = X[row] * weights[row]
                sums[labels[row]] -= share
                counts[labels[row]] -= weights[row]
                sums[cluster], counts[cluster] = share, weights[row]
    is_full = counts > 0
    sums[is_full] *= (1 / counts[is_full])[:, None]
    sums[~is_full] = sums[np.argmax(counts)]
    return np.asarray(sums)


def _are_same(one: Clustering, other: Clustering) -> bool:
    """Whether two clusterings differ in the numbers of their clusters only."""
    pairs = one.labels * len(other.centers) + other.labels
    return len(np.unique(pairs)) == len(np.unique(one.labels))
