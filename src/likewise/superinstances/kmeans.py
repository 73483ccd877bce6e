"""Over-clustering by K-means, with the same result on any number of cores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

FULL_LIMIT = 50_000
"""Up to this many rows, K-means runs over all of them ten times; above, over a sample once."""

SAMPLE_PER_CENTER = 1024
"""Rows per center that a sample has; 256 do, four times as many cost little."""

N_INIT = 10
MAX_ITER = 300
_ROWS_PER_BLOCK = 16_384

Engine = Literal["auto", "full", "sample"]


def kmeans(
    X: NDArray[Any],
    n_clusters: int,
    *,
    engine: Engine = "auto",
    seed: int = 0,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Partition rows by K-means.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.
    n_clusters : int
        At most this many cells; fewer if the data have fewer distinct rows.
    engine : {"auto", "full", "sample"}, default="auto"
        "full" runs Lloyd's algorithm to convergence from 10 k-means++ starts and keeps the best,
        as in the paper; "sample" trains once on 1024 rows per center and then assigns every row
        in one pass; "auto" is "full" up to 50 000 rows.
    seed : int
        Decides everything random.
    n_jobs : int, optional
        Processes for the starts of "full", threads for the pass of "sample". The result does not
        depend on it.

    Returns
    -------
    assignment : ndarray of shape (n_rows,)
        The cell of every row.
    centers : ndarray of shape (n_cells, n_features)
        The cells' centers; every cell has a row.
    """
    if engine == "auto":
        engine = "full" if len(X) <= FULL_LIMIT else "sample"
    if n_clusters >= len(X):
        return _distinct(X)
    if engine == "full":
        assignment, centers = _full(X, n_clusters, seed, n_jobs)
    else:
        centers = _train_on_sample(X, n_clusters, seed)
        assignment = assign(X, centers, n_jobs=n_jobs)
    if len(np.unique(assignment)) < n_clusters and len(X) <= FULL_LIMIT:
        distinct = _distinct(X)
        if len(distinct[1]) <= n_clusters:
            return distinct
    return _without_empty(assignment, centers)


def assign(
    X: NDArray[Any], centers: NDArray[Any], *, n_jobs: int | None = None
) -> NDArray[np.intp]:
    """Return the nearest center of every row, the lower one on a tie.

    Blocks of rows are compared one at a time, each by one thread, so neither the number of
    threads nor the memory at hand changes a bit of the result.
    """
    half_norms = 0.5 * np.einsum("ij,ij->i", centers, centers)
    assignment = np.empty(len(X), dtype=np.intp)
    transposed = np.ascontiguousarray(centers.T)

    def assign_block(start: int) -> None:
        block = np.asarray(X[start : start + _ROWS_PER_BLOCK], dtype=centers.dtype)
        score = block @ transposed
        score -= half_norms
        assignment[start : start + len(block)] = score.argmax(axis=1)

    starts = range(0, len(X), _ROWS_PER_BLOCK)
    with one_thread_each():
        n_threads = min(effective_n_jobs(n_jobs), len(starts))
        if n_threads <= 1:
            for start in starts:
                assign_block(start)
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(assign_block, starts))
    return assignment


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Keep linear algebra to one thread: sums in another order end in other bits."""
    with threadpool_limits(limits=1):
        yield


def _full(
    X: NDArray[Any], n_clusters: int, seed: int, n_jobs: int | None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    seeds = np.random.default_rng(seed).integers(2**31 - 1, size=N_INIT)
    runs = Parallel(n_jobs=n_jobs)(delayed(_lloyd)(X, n_clusters, int(s)) for s in seeds)
    best = min(range(N_INIT), key=lambda k: runs[k].inertia_)
    return runs[best].labels_.astype(np.intp), runs[best].cluster_centers_


def _train_on_sample(X: NDArray[Any], n_clusters: int, seed: int) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    n_sample = min(len(X), SAMPLE_PER_CENTER * n_clusters)
    rows = np.sort(rng.choice(len(X), n_sample, replace=False))
    model = _lloyd(np.ascontiguousarray(X[rows]), n_clusters, int(rng.integers(2**31 - 1)))
    return np.asarray(model.cluster_centers_)


def _lloyd(X: NDArray[Any], n_clusters: int, seed: int) -> Any:
    model = KMeans(n_clusters, init="k-means++", n_init=1, max_iter=MAX_ITER, random_state=seed)
    with one_thread_each(), warnings.catch_warnings():
        # Fewer distinct rows than clusters: handled by the caller.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


def _distinct(X: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Make every distinct row a cell of its own."""
    centers, assignment = np.unique(X, axis=0, return_inverse=True)
    return assignment.reshape(-1).astype(np.intp), centers


def _without_empty(
    assignment: NDArray[np.intp], centers: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    used, renumbered = np.unique(assignment, return_inverse=True)
    return renumbered.astype(np.intp), centers[used]
