"""Over-clustering by K-means, with the same result on any number of cores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.rows.assignment import assign
from likewise.rows.lloyd import best_of_starts, lloyd, plusplus
from likewise.rows.threads import map_in_threads, one_thread_each

FULL_LIMIT = 50_000
"""Up to this many rows, K-means runs over all of them ten times; above, over a sample once."""

MANY_CENTERS = 500
"""From this many centers on, starts differ by less than a percent, so one is enough."""

N_INIT = 10
"""Starts of K-means on all rows, as in the paper."""

Engine = Literal["auto", "full", "sample"]


@dataclass(frozen=True, slots=True)
class Training:
    """How K-means is trained on a sample of the rows.

    Attributes
    ----------
    n_starts : int
        The best of this many starts is kept.
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
    """Return how K-means is trained for a number of centers."""
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
    rng = np.random.default_rng(seed)
    with one_thread_each():
        first = int(rng.integers(len(part)))
        start = sample[part[plusplus(sample[part], n_clusters, rng, first)]]
        found = lloyd(sample, start, max_iter=training_for(n_clusters).max_iter)
    return found.inertia, found.centers


def _best_of_ten(
    X: NDArray[Any], n_clusters: int, seed: int, n_jobs: int | None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    seeds = np.random.default_rng(seed).integers(2**31 - 1, size=N_INIT)
    runs = map_in_threads(partial(best_of_starts, X, n_clusters, 1), seeds.tolist(), n_jobs)
    best = min(runs, key=lambda run: run.inertia)
    return best.labels, best.centers


def _distinct(X: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Make every distinct row a cell of its own."""
    centers, assignment = np.unique(X, axis=0, return_inverse=True)
    return assignment.reshape(-1).astype(np.intp), centers
