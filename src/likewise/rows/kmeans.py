"""Over-clustering by K-means, with the same result on any number of cores."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning

from likewise.rows.assignment import one_thread_each

FULL_LIMIT = 50_000
"""Up to this many rows, K-means runs over all of them ten times; above, over a sample once."""

TRAIN_PER_CENTER = 256
"""Rows per center that K-means is trained on when it is trained on a sample."""

TRAIN_STARTS = 4
"""Starts on a sample, of which the best is kept: single ones differ by several percent."""

START_PER_CENTER = 64
"""Rows per center among which k-means++ looks for a start: four times as many find none better."""

TRAIN_ITER = 30
"""Iterations on a sample: to convergence they would lower the inertia by less than 0.1 %."""

MANY_CENTERS = 500
"""From so many centers on, starts differ by less than a percent, and one is enough."""

N_INIT = 10
MAX_ITER = 300

Engine = Literal["auto", "full", "sample"]


def kmeans(
    X: NDArray[Any], n_clusters: int, *, seed: int = 0, n_jobs: int | None = None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Partition rows by Lloyd's algorithm: the best of 10 k-means++ starts, as in the paper.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.
    n_clusters : int
        At most this many cells; fewer if the data have fewer distinct rows.
    seed : int
        Decides everything random.
    n_jobs : int, optional
        Threads for the starts. The result does not depend on it.

    Returns
    -------
    assignment : ndarray of shape (n_rows,)
        The cell of every row.
    centers : ndarray of shape (n_cells, n_features)
        The cells' centers; every cell has a row.
    """
    if n_clusters >= len(X):
        return _distinct(X)
    seeds = np.random.default_rng(seed).integers(2**31 - 1, size=N_INIT)
    # Threads, for nearly all of the work is done outside of the interpreter's lock. Limited out
    # here as well, since the first start that ends would lift the limit for the others.
    with one_thread_each():
        starts = (delayed(_from_scratch)(X, n_clusters, int(s)) for s in seeds)
        runs = Parallel(n_jobs=n_jobs, prefer="threads")(starts)
    best = min(range(N_INIT), key=lambda k: runs[k].inertia_)
    assignment, centers = runs[best].labels_.astype(np.intp), runs[best].cluster_centers_
    used, renumbered = np.unique(assignment, return_inverse=True)
    if len(used) < n_clusters:
        distinct = _distinct(X)
        if len(distinct[1]) <= n_clusters:
            return distinct
    return renumbered.astype(np.intp), centers[used]


def draw_starts(n_sample: int, n_clusters: int, seed: int) -> list[tuple[NDArray[np.intp], int]]:
    """Return, for each start on a sample, where k-means++ looks for centers, and its seed."""
    n_starts = TRAIN_STARTS if n_clusters < MANY_CENTERS else 1
    n_part = min(n_sample, START_PER_CENTER * n_clusters)
    rng = np.random.default_rng(seed)
    return [
        (
            np.sort(rng.choice(n_sample, n_part, replace=False, shuffle=False)),
            int(rng.integers(2**31 - 1)),
        )
        for _ in range(n_starts)
    ]


def train_from(
    sample: NDArray[Any], n_clusters: int, part: NDArray[np.intp], seed: int
) -> tuple[float, NDArray[Any]]:
    """Return the inertia and the centers that Lloyd's algorithm finds in a sample from a start."""
    with one_thread_each():
        start, _ = kmeans_plusplus(sample[part], n_clusters, random_state=seed)
        found = _lloyd(sample, n_clusters, start, TRAIN_ITER)
    return float(found.inertia_), np.asarray(found.cluster_centers_)


def _from_scratch(X: NDArray[Any], n_clusters: int, seed: int) -> Any:
    return _lloyd(X, n_clusters, "k-means++", MAX_ITER, seed)


def _lloyd(X: NDArray[Any], n_clusters: int, start: Any, max_iter: int, seed: int = 0) -> Any:
    model = KMeans(n_clusters, init=start, n_init=1, max_iter=max_iter, random_state=seed)
    with one_thread_each(), warnings.catch_warnings():
        # Fewer distinct rows than clusters: handled by the caller.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


def _distinct(X: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Make every distinct row a cell of its own."""
    centers, assignment = np.unique(X, axis=0, return_inverse=True)
    return assignment.reshape(-1).astype(np.intp), centers
