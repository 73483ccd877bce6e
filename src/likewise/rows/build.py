"""From rows to super-instances and the rows that stand for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from likewise.core.partition import SuperInstances
from likewise.errors import InputError
from likewise.rows.kmeans import assign, kmeans
from likewise.rows.metrics import EUCLIDEAN, distances
from likewise.rows.threads import map_in_threads

MAX_PAIRWISE_ROWS = 20_000
"""Metrics other than the Euclidean need the distances between all rows: 3.2 GB at this size."""

EXACT_LIMIT = 2_000
"""Up to this many members, all are tried; of more, only those nearest the geometric median."""

N_CANDIDATES = 64
"""How many members are tried in a large group, those nearest to its geometric median."""
_WEISZFELD_STEPS = 10
"""Steps toward the geometric median."""
_ENTRIES_PER_BLOCK = 4_000_000
"""How many distances are in memory at a time."""


def build_super_instances(
    X: NDArray[Any],
    n_super_instances: int,
    *,
    train_indices: NDArray[np.intp] | None = None,
    metric: str = "euclidean",
    seed: int = 0,
    n_jobs: int | None = None,
) -> SuperInstances:
    """Over-cluster rows and choose the row that stands for each small group.

    Euclidean distances use K-means; any other metric of scikit-learn, or "precomputed" distances,
    use agglomerative clustering with average linkage. Only rows in `train_indices` may stand for
    a group, by the smallest sum of distances to the others of them in it. A group without any
    joins the nearest that has one.
    """
    may_stand = np.ones(len(X), dtype=bool)
    if train_indices is not None:
        may_stand[:] = False
        may_stand[train_indices] = True
    centers: NDArray[Any] | None = None
    if metric in EUCLIDEAN:
        assignment, centers = kmeans(X, n_super_instances, seed=seed, n_jobs=n_jobs)

        def choose(allowed: NDArray[np.intp]) -> int:
            return int(allowed[medoid(X[allowed])])

        def to_rows(members: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
            mean = X[members].mean(axis=0, dtype=np.float64)
            return np.asarray(distances(mean[None, :], X[rows], "euclidean")[0])
    else:
        between = _pairwise(X, metric)
        assignment = _agglomerate(between, n_super_instances)

        def choose(allowed: NDArray[np.intp]) -> int:
            return int(allowed[np.argmin(between[np.ix_(allowed, allowed)].sum(axis=1))])

        def to_rows(members: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
            return np.asarray(between[np.ix_(members, rows)].mean(axis=0))

    cells, reps, owner = _choose_representatives(assignment, may_stand, choose, to_rows, n_jobs)
    if metric == "precomputed":
        of_reps = np.ascontiguousarray(between[np.ix_(reps, reps)])
        return SuperInstances(cells, reps, distances=of_reps, metric=metric)
    cell_owner = None if centers is None else owner
    return SuperInstances(cells, reps, X[reps].copy(), None, metric, centers, cell_owner)


def nearest_super_instance(partition: SuperInstances, rows: NDArray[Any]) -> NDArray[np.intp]:
    """Return the super-instances of new rows: by K-means cell, or by the nearest representative."""
    if partition.centers is not None and partition.cell_owner is not None:
        return partition.cell_owner[assign(rows, partition.centers)]
    if partition.points is None:
        return np.asarray(np.argmin(rows[:, partition.representatives], axis=1))
    return np.asarray(np.argmin(distances(rows, partition.points, partition.metric), axis=1))


def _choose_representatives(
    assignment: NDArray[np.intp],
    may_stand: NDArray[np.bool_],
    choose: Callable[[NDArray[np.intp]], int],
    to_rows: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]],
    n_jobs: int | None,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows' super-instances, the representatives, and the cells' super-instances."""
    order = np.argsort(assignment, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(assignment))[:-1])
    allowed = [members[may_stand[members]] for members in groups]
    standing = [cell for cell, rows in enumerate(allowed) if len(rows)]
    chosen = map_in_threads(lambda cell: choose(allowed[cell]), standing, n_jobs)
    by_row = np.argsort(chosen)
    reps = np.array(chosen, dtype=np.intp)[by_row]
    owner = np.full(len(groups), -1, dtype=np.intp)
    owner[np.array(standing)[by_row]] = np.arange(len(reps))
    for cell, members in enumerate(groups):
        if owner[cell] < 0:
            owner[cell] = int(np.argmin(to_rows(members, reps)))
    return owner[assignment], reps, owner


def medoid(points: NDArray[Any]) -> int:
    """Return the point with the least sum of float64 distances to all; see `EXACT_LIMIT`."""
    if len(points) <= EXACT_LIMIT:
        candidates = np.arange(len(points))
    else:
        away = cdist(points, geometric_median(points)[None])[:, 0]
        candidates = np.sort(np.argpartition(away, N_CANDIDATES)[:N_CANDIDATES])
    sums = sums_of_distances(points[candidates], points)
    return int(candidates[np.argmin(sums)])


def geometric_median(points: NDArray[Any]) -> NDArray[np.float64]:
    """Return approximately the point with the smallest sum of distances, by Weiszfeld's steps."""
    points = np.asarray(points, dtype=np.float64)
    place: NDArray[np.float64] = points.mean(axis=0)
    for _ in range(_WEISZFELD_STEPS):
        away = cdist(points, place[None])[:, 0]
        if not away.any():
            break
        # A step from one of the points would divide by zero.
        weights = 1.0 / np.maximum(away, max(1e-12 * away.max(), 1e-150))
        place = np.asarray((weights @ points) / weights.sum(), dtype=np.float64)
    return place


def sums_of_distances(candidates: NDArray[Any], points: NDArray[Any]) -> NDArray[np.float64]:
    """Return, for each candidate, the sum of its distances to all points."""
    sums = np.zeros(len(candidates))
    block = max(1, _ENTRIES_PER_BLOCK // max(1, len(candidates)))
    for start in range(0, len(points), block):
        sums += cdist(candidates, points[start : start + block]).sum(axis=1)
    return sums


def _agglomerate(distances: NDArray[np.float64], n_clusters: int) -> NDArray[np.intp]:
    if n_clusters >= len(distances):
        return np.arange(len(distances), dtype=np.intp)
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(n_clusters, metric="precomputed", linkage="average")
    return np.asarray(model.fit(distances).labels_, dtype=np.intp)


def _pairwise(X: NDArray[Any], metric: str) -> NDArray[np.float64]:
    if len(X) > MAX_PAIRWISE_ROWS:
        raise InputError(
            f"metric={metric!r} needs the distances between all {len(X)} rows, which do not fit "
            f'in memory. Use metric="euclidean" or at most {MAX_PAIRWISE_ROWS} rows.'
        )
    if metric == "precomputed":
        return _checked_distances(np.asarray(X, dtype=np.float64))
    try:
        from sklearn.metrics import pairwise_distances

        matrix = pairwise_distances(X, metric=metric)
    except ValueError as error:
        raise InputError(f"metric={metric!r} cannot be used: {error}") from error
    matrix = np.asarray(matrix, dtype=np.float64)
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(f"metric={metric!r} gives no finite distance between rows {i} and {j}")
    return matrix


def _checked_distances(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    n_rows, n_columns = distances.shape
    if n_rows != n_columns:
        raise InputError(
            f'metric="precomputed" needs a square matrix of distances, got {n_rows} x {n_columns}'
        )
    if (distances < 0).any():
        i, j = np.argwhere(distances < 0)[0]
        raise InputError(f"distances must not be negative: entry ({i}, {j}) is {distances[i, j]}")
    if not np.allclose(distances, distances.T):
        i, j = np.argwhere(~np.isclose(distances, distances.T))[0]
        raise InputError(
            f"distances must be symmetric: entry ({i}, {j}) is {distances[i, j]}, "
            f"entry ({j}, {i}) is {distances[j, i]}"
        )
    return distances
