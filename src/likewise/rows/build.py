"""From rows to super-instances and the rows that stand for them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.core.partition import StreamedSuperInstances, SuperInstances
from likewise.errors import InputError
from likewise.inputs import refuse_overflow
from likewise.rows.arrays import ArraySource
from likewise.rows.checkpoint import Checkpoint
from likewise.rows.kmeans import FULL_LIMIT, Engine, kmeans, training_for
from likewise.rows.medoids import medoid, nearest_to_mean
from likewise.rows.metrics import EUCLIDEAN, distances
from likewise.rows.passes import check_finite
from likewise.rows.source import Source
from likewise.rows.streaming import (
    SAMPLE_BYTES,
    SAMPLE_PER_CENTER,
    Arrays,
    stream_super_instances,
)
from likewise.rows.sweep import LocalSweeper, Progress, sweeper_for
from likewise.rows.threads import map_in_threads

Representative = Literal["medoid", "nearest-mean"]

MAX_PAIRWISE_ROWS = 20_000
"""Metrics other than the Euclidean need the distances between all rows: 3.2 GB at this size."""


def build_super_instances(
    X: NDArray[Any],
    n_super_instances: int,
    *,
    train_indices: NDArray[np.intp] | None = None,
    representative: Representative = "medoid",
    metric: str = "euclidean",
    engine: Engine = "auto",
    exact_medoids: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
) -> SuperInstances:
    """Over-cluster rows and choose the row that stands for each small group.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features) or (n_rows, n_rows)
        The rows, or the distances between them if `metric` is "precomputed".
    n_super_instances : int
        At most this many groups.
    train_indices : ndarray of int, optional
        The rows that may stand for a group. A group without any joins the nearest that has one.
    representative : {"medoid", "nearest-mean"}
        The member with the smallest sum of distances to the group's members in `train_indices`,
        or the one nearest to the mean of all its members.
    metric : str
        Euclidean distances use K-means; any other metric of scikit-learn, or "precomputed", uses
        agglomerative clustering with average linkage on the distances between all rows.
    engine : {"auto", "full", "sample"}
        "full" is K-means on all rows, from 10 starts if there are fewer than 500 groups; "sample"
        trains it on up to 256 rows per group and then goes over all rows as if they did not fit
        in memory; "auto" is "full" up to 50 000 rows.
    exact_medoids : bool
        Try every member as the medoid also in groups of more than 2000.
    seed : int
        Decides everything random.
    n_jobs : int, optional
        Never changes the result.
    """
    may_stand = np.ones(len(X), dtype=bool)
    if train_indices is not None:
        may_stand[:] = False
        may_stand[train_indices] = True
    if metric in EUCLIDEAN:
        if is_sampled(len(X), n_super_instances, engine):
            sweeper = LocalSweeper(ArraySource(X), n_jobs=n_jobs)
            streamed = stream_super_instances(
                sweeper,
                n_super_instances,
                train_indices=train_indices,
                representative=representative,
                seed=seed,
            )
            found = np.concatenate(list(sweeper.kept()))
            if not exact_medoids:
                return _held(streamed, found)
            assert streamed.centers is not None
            used, assignment = np.unique(found, return_inverse=True)
            centers = streamed.centers[used]
        else:
            assignment, centers = kmeans(X, n_super_instances, seed=seed, n_jobs=n_jobs)

        def choose(members: NDArray[np.intp], allowed: NDArray[np.intp]) -> int:
            if representative == "medoid":
                return int(allowed[medoid(X[allowed], exact=exact_medoids)])
            return int(allowed[nearest_to_mean(X[allowed], X[members].mean(0, dtype=np.float64))])

        def to_rows(members: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
            mean = X[members].mean(axis=0, dtype=np.float64)
            found: NDArray[np.float64] = distances(mean[None, :], X[rows], "euclidean")[0]
            return found

        cells, reps, owner = _choose_representatives(assignment, may_stand, choose, to_rows, n_jobs)
        return SuperInstances(
            cells, reps, points=X[reps].copy(), metric=metric, centers=centers, cell_owner=owner
        )

    all_distances = _pairwise(X, metric)
    assignment = _agglomerate(all_distances, n_super_instances)

    def choose_by_distance(members: NDArray[np.intp], allowed: NDArray[np.intp]) -> int:
        compared = allowed if representative == "medoid" else members
        return int(allowed[np.argmin(all_distances[np.ix_(allowed, compared)].sum(axis=1))])

    def mean_to_rows(members: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = all_distances[np.ix_(members, rows)].mean(axis=0)
        return found

    cells, reps, _ = _choose_representatives(
        assignment, may_stand, choose_by_distance, mean_to_rows, 1
    )
    if metric == "precomputed":
        between = np.ascontiguousarray(all_distances[np.ix_(reps, reps)])
        return SuperInstances(cells, reps, distances=between, metric=metric)
    return SuperInstances(cells, reps, points=X[reps].copy(), metric=metric)


def super_instances_of(
    source: Source,
    n_super_instances: int,
    *,
    engine: Engine = "auto",
    metric: str = "euclidean",
    exact_medoids: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> SuperInstances:
    """Return the super-instances of a source, as `build_super_instances` does of an array.

    Up to 50 000 rows are read into memory; more are read in several passes.

    Parameters
    ----------
    source : Source
        The rows.
    n_super_instances, engine, metric, exact_medoids, seed, n_jobs
        As for `build_super_instances`, which has the other options too.
    checkpoint : path, optional
        A folder that keeps finished passes, so that an interrupted run can continue.
    progress : callable, optional
        Called as ``progress(phase, rows_done, n_rows)``.
    """
    if metric not in EUCLIDEAN or not is_sampled(source.n_rows, n_super_instances, engine):
        _refuse_large(source, f"metric={metric!r}" if metric not in EUCLIDEAN else 'engine="full"')
        array = source.to_array()
        check_finite(array, range(len(array)), source)
        refuse_overflow(array, range(len(array)), source.where)
        return build_super_instances(
            array,
            n_super_instances,
            engine=engine,
            metric=metric,
            exact_medoids=exact_medoids,
            seed=seed,
            n_jobs=n_jobs,
            **options,
        )
    if exact_medoids:
        _refuse_large(source, "exact_medoids=True")
    keep = None
    if checkpoint is not None:
        keep = Checkpoint(checkpoint, _plan(source, n_super_instances, seed, options))

    def remember(phase: str, make: Any) -> Mapping[str, NDArray[Any]]:
        def watched() -> Arrays:
            source.check_unchanged()
            found: Arrays = make()
            source.check_unchanged()
            return found

        return watched() if keep is None else keep(phase, watched)

    return stream_super_instances(
        sweeper_for(source, n_jobs=n_jobs, progress=progress),
        n_super_instances,
        seed=seed,
        remember=remember,
        **options,
    )


def is_sampled(n_rows: int, n_super_instances: int, engine: Engine) -> bool:
    """Return whether K-means is trained on a sample of the rows."""
    if n_super_instances >= n_rows:
        return False
    return engine == "sample" or (engine == "auto" and n_rows > FULL_LIMIT)


def _held(streamed: StreamedSuperInstances, cells: NDArray[Any]) -> SuperInstances:
    """Return streamed super-instances as ones in memory, with the super-instance of every row."""
    assert streamed.cell_owner is not None
    return SuperInstances(
        streamed.cell_owner[cells],
        streamed.representatives,
        points=streamed.points,
        metric=streamed.metric,
        centers=streamed.centers,
        cell_owner=streamed.cell_owner,
    )


def _choose_representatives(
    assignment: NDArray[np.intp],
    may_stand: NDArray[np.bool_],
    choose: Callable[[NDArray[np.intp], NDArray[np.intp]], int],
    to_rows: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]],
    n_jobs: int | None,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows' super-instances, the representatives, and the cells' super-instances."""
    order = np.argsort(assignment, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(assignment))[:-1])
    allowed = [members[may_stand[members]] for members in groups]
    standing = [cell for cell, rows in enumerate(allowed) if len(rows)]
    chosen = map_in_threads(lambda cell: choose(groups[cell], allowed[cell]), standing, n_jobs)
    by_row = np.argsort(chosen)
    reps = np.array(chosen, dtype=np.intp)[by_row]
    owner = np.full(len(groups), -1, dtype=np.intp)
    owner[np.array(standing)[by_row]] = np.arange(len(reps))
    for cell, members in enumerate(groups):
        if owner[cell] < 0:
            owner[cell] = int(np.argmin(to_rows(members, reps)))
    return owner[assignment], reps, owner


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

        found = pairwise_distances(X, metric=metric)
    except ValueError as error:
        raise InputError(f"metric={metric!r} cannot be used: {error}") from error
    found = np.asarray(found, dtype=np.float64)
    if not np.isfinite(found).all():
        i, j = np.argwhere(~np.isfinite(found))[0]
        raise InputError(f"metric={metric!r} gives no finite distance between rows {i} and {j}")
    return found


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


def _refuse_large(source: Source, option: str) -> None:
    if source.n_rows > FULL_LIMIT:
        raise InputError(
            f"{option} needs all rows in memory, and a source of {source.n_rows} rows is not read "
            f"into it (at most {FULL_LIMIT} are). Pass an array, or leave the option out."
        )


def _plan(
    source: Source, n_super_instances: int, seed: int, options: Mapping[str, Any]
) -> dict[str, Any]:
    train = options.get("train_indices")
    return {
        "data": source.fingerprint(),
        "n_super_instances": n_super_instances,
        "seed": seed,
        "representative": options.get("representative", "medoid"),
        "train_indices": None if train is None else hashlib.blake2b(train.tobytes()).hexdigest(),
        "training": asdict(training_for(n_super_instances)),
        "sample": [SAMPLE_PER_CENTER, SAMPLE_BYTES],
    }
