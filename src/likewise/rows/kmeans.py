"""Over-clustering by K-means, with the same result on any number of cores."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.rows.assignment import assign
from likewise.rows.threads import map_in_threads, one_thread_each

FULL_LIMIT = 50_000
"""Up to this many rows, K-means runs over all of them ten times; above, over a sample once."""

MANY_CENTERS = 500
"""From so many centers on, starts differ by less than a percent, and one is enough."""

N_INIT = 10
MAX_ITER = 300

Engine = Literal["auto", "full", "sample"]


@dataclass(frozen=True, slots=True)
class Training:
    """How K-means is trained on a sample of the rows.

    Attributes
    ----------
    n_starts : int
        The best of so many starts is kept.
    rows_per_center : int
        Rows of the sample per center.
    start_rows_per_center : int
        Rows per center among which k-means++ looks for a start.
    max_iter : int
        Iterations of Lloyd's algorithm.
    """

    n_starts: int
    rows_per_center: int
    start_rows_per_center: int
    max_iter: int


FEW = Training(n_starts=4, rows_per_center=256, start_rows_per_center=64, max_iter=30)
"""For fewer than 500 centers. Single starts differ by several percent of inertia; 1024 rows per
center would lower it by 0.5 %, 256 rows to start from by nothing, more iterations by 0.1 %."""

MANY = Training(n_starts=1, rows_per_center=64, start_rows_per_center=8, max_iter=5)
"""For 500 centers or more, whose training would take most of the time. One start of `FEW` takes
three to nine times as long and has 2 to 9 % less inertia, but its cells are hardly purer: 97.5 %
instead of 97.4 % of the rows are in the largest class of their cell (12 of the paper's datasets,
enlarged to 20 000 rows). Half the rows per center cost 2 to 7 % inertia; 30 iterations
gain up to 1 %."""


def kmeans(
    X: NDArray[Any], n_clusters: int, *, seed: int = 0, n_jobs: int | None = None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Partition rows by Lloyd's algorithm: the best of 10 k-means++ starts, as in the paper.

    From 500 clusters on it is one start.

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
    if n_clusters < MANY_CENTERS:
        assignment, centers = _best_of_ten(X, n_clusters, seed, n_jobs)
    else:
        (part, start_seed), *_ = draw_starts(len(X), n_clusters, seed)
        _, centers = train_from(X, n_clusters, part, start_seed)
        assignment = assign(X, centers, n_jobs=n_jobs)
    used, renumbered = np.unique(assignment, return_inverse=True)
    if len(used) < n_clusters:
        distinct = _distinct(X)
        if len(distinct[1]) <= n_clusters:
            return distinct
    return renumbered.astype(np.intp), centers[used]


def training_for(n_clusters: int) -> Training:
    """Return how K-means is trained for so many centers."""
    return FEW if n_clusters < MANY_CENTERS else MANY


def draw_starts(n_sample: int, n_clusters: int, seed: int) -> list[tuple[NDArray[np.intp], int]]:
    """Return, for each start on a sample, where k-means++ looks for centers, and its seed."""
    plan = training_for(n_clusters)
    n_part = min(n_sample, plan.start_rows_per_center * n_clusters)
    rng = np.random.default_rng(seed)
    return [
        (
            np.sort(rng.choice(n_sample, n_part, replace=False, shuffle=False)),
            int(rng.integers(2**31 - 1)),
        )
        for _ in range(plan.n_starts)
    ]


def train_from(
    sample: NDArray[Any], n_clusters: int, part: NDArray[np.intp], seed: int
) -> tuple[float, NDArray[Any]]:
    """Return the inertia and the centers that Lloyd's algorithm finds in a sample from a start."""
    with one_thread_each():
        start = sample[part[plusplus(sample[part], n_clusters, seed)]]
        found = _lloyd(sample, n_clusters, start, training_for(n_clusters).max_iter)
    return float(found.inertia_), np.asarray(found.cluster_centers_)


def plusplus(X: NDArray[Any], n_clusters: int, seed: int) -> NDArray[np.intp]:
    """Return rows to start K-means from, by greedy k-means++.

    Row after row is drawn, each with a chance in proportion to its squared distance to the nearest
    row drawn before; of a few that are drawn at a time, the best is taken. scikit-learn's function
    does the same. This one takes a third of the time, for it has one matrix product per step.
    """
    n_trials = 2 + int(np.log(n_clusters))
    rng = np.random.default_rng(seed)
    moved = X - X.mean(axis=0)
    norms = np.einsum("ij,ij->i", moved, moved)
    # |x - y|² = -2 x·y + |x|²·1 + 1·|y|², all in one product.
    factors = np.vstack([moved.T, norms, np.ones_like(norms)])
    tried = np.ones((n_trials, len(factors)), dtype=X.dtype)
    squares = np.empty((n_trials, len(X)), dtype=X.dtype)
    nearest = np.full(len(X), np.inf, dtype=X.dtype)
    chosen = np.empty(n_clusters, dtype=np.intp)
    for k in range(n_clusters):
        if k == 0:
            trials = np.full(n_trials, rng.integers(len(X)))
        else:
            running = np.cumsum(nearest, dtype=np.float64)
            drawn = np.searchsorted(running, rng.random(n_trials) * running[-1], side="right")
            trials = np.minimum(drawn, len(X) - 1)
        np.multiply(moved[trials], -2.0, out=tried[:, :-2])
        tried[:, -1] = norms[trials]
        np.matmul(tried, factors, out=squares)
        np.minimum(squares, nearest, out=squares)
        best = int(np.argmin(squares.sum(axis=1)))
        np.maximum(squares[best], 0, out=nearest)
        chosen[k] = trials[best]
    return chosen


def _best_of_ten(
    X: NDArray[Any], n_clusters: int, seed: int, n_jobs: int | None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    seeds = np.random.default_rng(seed).integers(2**31 - 1, size=N_INIT)
    start = partial(_lloyd, X, n_clusters, "k-means++", MAX_ITER)
    runs = map_in_threads(start, seeds.tolist(), n_jobs)
    best = min(runs, key=lambda run: run.inertia_)
    return best.labels_.astype(np.intp), best.cluster_centers_


def _lloyd(X: NDArray[Any], n_clusters: int, start: Any, max_iter: int, seed: int = 0) -> Any:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    model = KMeans(n_clusters, init=start, n_init=1, max_iter=max_iter, random_state=seed)
    # Here, for only now scikit-learn's own threads are surely known.
    with one_thread_each(), warnings.catch_warnings():
        # Fewer distinct rows than clusters: handled by the caller.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


def _distinct(X: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Make every distinct row a cell of its own."""
    centers, assignment = np.unique(X, axis=0, return_inverse=True)
    return assignment.reshape(-1).astype(np.intp), centers
