"""Super-instances of rows that are not in memory, by a fixed number of passes over them.

1. *sample*: rows chosen by their number;
2. *train*: K-means on a part of the sample;
3. *assign*: every row to its nearest center;
4. *medians*: the geometric median of every cell's part of the sample;
5. *nearest*: the rows of every cell that are nearest to its geometric median;
6. *score*: the sum of distances of each of these to all rows of its cell. The smallest wins.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from itertools import chain
from operator import itemgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.core.partition import StreamedSuperInstances
from likewise.inputs import refuse_overflow
from likewise.rows.assignment import assign, fastest_kernel
from likewise.rows.kmeans import draw_starts, train_from, training_for
from likewise.rows.medoids import N_CANDIDATES, geometric_medians
from likewise.rows.metrics import distances
from likewise.rows.passes import (
    Candidates,
    Cells,
    CountPass,
    NearestPass,
    ScorePass,
    SumPass,
    Sums,
    check_finite,
)
from likewise.rows.source import Source
from likewise.rows.sweep import Sweeper

SAMPLE_PER_CENTER = 4096
"""How many rows per center a sample has, for the geometric medians; at most `SAMPLE_BYTES` in all.
"""

SAMPLE_BYTES = 2**25
"""A sample is no larger than this, unless training needs more."""

N_TYPICAL = 12
"""How many typical rows of every super-instance are kept."""

_TIE = 1e-12
"""Sums of distances with a smaller relative difference count as equal."""

Arrays = dict[str, NDArray[Any]]
Remember = Callable[[str, Callable[[], Arrays]], Mapping[str, NDArray[Any]]]
"""``remember(phase, make)`` returns what an earlier run found in a phase, or else what `make`
returns now."""


def stream_super_instances(
    sweeper: Sweeper,
    n_super_instances: int,
    *,
    train_indices: NDArray[np.intp] | None = None,
    representative: Literal["medoid", "nearest-mean"] = "medoid",
    seed: int = 0,
    remember: Remember = lambda phase, make: make(),  # noqa: ARG005
) -> StreamedSuperInstances:
    """Over-cluster rows, and choose the representative of each group.

    Only increasing `train_indices` may stand for a group. `representative` is that of
    `likewise.rows.build.build_super_instances`. `remember` keeps what every phase found, so that an
    interrupted run goes on after the last one.
    """
    source = sweeper.source
    numbers, used, train_seed = _draw(source, n_super_instances, seed)

    def take_sample() -> Arrays:
        found = sweeper.take(numbers)
        check_finite(found, numbers, source)
        refuse_overflow(found, numbers, source.where)
        return {"sample": found}

    @cache
    def sample() -> NDArray[Any]:
        return remember("sample", take_sample)["sample"]

    def train() -> Arrays:
        n_cells = min(n_super_instances, len(used))
        starts = draw_starts(len(used), n_cells, train_seed)
        runs = sweeper.map("train", train_from, (sample()[used], n_cells), starts)
        _, centers = min(runs, key=itemgetter(0))
        kernel = fastest_kernel(source.n_features, source.dtype)
        return {"centers": centers, "kernel": np.array(kernel)}

    def find_medians() -> Arrays:
        return {"middles": _medians(sweeper, cells, sample(), numbers, train_indices)}

    def find_nearest(middles: NDArray[Any], n: int) -> Candidates:
        nearest = NearestPass(middles, n, train_indices)
        return Candidates(**remember("nearest", lambda: _nearest(sweeper, cells, nearest)))

    trained = remember("train", train)
    cells = Cells(trained["centers"], trained["kernel"].item())
    counts = remember("assign", lambda: {"counts": _counts(sweeper, cells)})["counts"]
    if representative == "nearest-mean":
        means = remember("means", lambda: {"means": _means(sweeper, cells, counts)})["means"]
        candidates = find_nearest(means.astype(source.dtype), N_TYPICAL)
        return _partition(source.n_rows, cells, counts, candidates, candidates.square)
    middles = remember("medians", find_medians)["middles"].astype(source.dtype)
    sample.cache_clear()
    candidates = find_nearest(middles, N_CANDIDATES)
    score = ScorePass(candidates, middles, train_indices)
    scored = remember("score", lambda: {"sums": _total(sweeper.sweep(score, cells))})
    return _partition(source.n_rows, cells, counts, candidates, scored["sums"])


def _draw(
    source: Source, n_super_instances: int, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
    """Return the rows of the sample, which of them to train on, and the seed for that."""
    rng = np.random.default_rng(seed)
    n_rows = source.n_rows
    n_train = min(n_rows, training_for(n_super_instances).rows_per_center * n_super_instances)
    at_most = SAMPLE_BYTES // (source.n_features * source.dtype.itemsize)
    n_sample = max(n_train, min(n_rows, at_most, SAMPLE_PER_CENTER * n_super_instances))
    numbers = np.sort(rng.choice(n_rows, n_sample, replace=False, shuffle=False))
    used = np.sort(rng.choice(n_sample, n_train, replace=False, shuffle=False))
    return numbers, used, int(rng.integers(2**31 - 1))


def _medians(
    sweeper: Sweeper,
    cells: Cells,
    sample: NDArray[Any],
    numbers: NDArray[np.intp],
    allowed: NDArray[np.intp] | None,
) -> NDArray[np.float64]:
    """Return the geometric median of every cell's allowed rows in the sample, or its center."""
    own = np.arange(len(numbers))
    if allowed is not None:
        own = np.flatnonzero(np.isin(numbers, allowed))
    cell = assign(sample[own], cells.centers, kernel=cells.kernel, n_jobs=sweeper.n_jobs)
    own = own[np.argsort(cell, kind="stable")]
    present, counts = np.unique(cell, return_counts=True)
    ends = np.cumsum(counts)
    # Pieces of work of whole cells, with about the same number of rows.
    pieces = np.split(present, np.searchsorted(ends, len(own) * np.arange(1, 8) // 8))
    each = []
    for piece in pieces:
        here = np.isin(present, piece)
        each.append((sample[own[np.repeat(here, counts)]], counts[here]))
    middles = cells.centers.astype(np.float64)
    middles[present] = np.concatenate(sweeper.map("medians", geometric_medians, (), each))
    return middles


def _nearest(sweeper: Sweeper, cells: Cells, task: NearestPass) -> Arrays:
    found = task.empty()
    for more in sweeper.sweep(task, cells):
        found = found.and_those(more, task.n_candidates)
    return {"cell": found.cell, "row": found.row, "square": found.square, "point": found.point}


def _counts(sweeper: Sweeper, cells: Cells) -> NDArray[np.int64]:
    counts = np.zeros(len(cells.centers), dtype=np.int64)
    for found in sweeper.sweep(CountPass(len(cells.centers)), cells):
        counts += found
    return counts


def _means(sweeper: Sweeper, cells: Cells, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    sums = _total(sweeper.sweep(SumPass(len(cells.centers)), cells))
    return np.asarray(sums / np.maximum(counts, 1)[:, None])


def _total(found: Iterable[Sums]) -> NDArray[np.float64]:
    """Add up the sums of all blocks, in their order."""
    return np.asarray(reduce(operator.add, chain.from_iterable(found)))


def _partition(
    n_rows: int,
    cells: Cells,
    counts: NDArray[np.int64],
    candidates: Candidates,
    sums: NDArray[Any],
) -> StreamedSuperInstances:
    """Choose the best candidate of every cell; cells without one join the nearest."""
    standing, first = np.unique(candidates.cell, return_index=True)
    last = np.append(first[1:], len(sums))
    best = np.array(
        [_lowest_row(candidates.row, sums, a, b) for a, b in zip(first, last, strict=True)]
    )
    by_row = np.argsort(candidates.row[best])
    best = best[by_row]
    points = candidates.point[best]
    owner = np.full(len(counts), -1, dtype=np.intp)
    owner[standing[by_row]] = np.arange(len(best))
    orphans = np.flatnonzero(owner < 0)
    if len(orphans):
        owner[orphans] = distances(cells.centers[orphans], points, "euclidean").argmin(axis=1)
    sizes = np.zeros(len(best), dtype=np.int64)
    np.add.at(sizes, owner, counts)
    typical = tuple(candidates.row[first[k] : last[k]][:N_TYPICAL].astype(np.intp) for k in by_row)
    return StreamedSuperInstances(
        n_rows,
        candidates.row[best].astype(np.intp),
        points=points,
        centers=cells.centers,
        cell_owner=owner,
        kernel=cells.kernel,
        row_counts=sizes.astype(np.intp),
        typical=typical,
    )


def _lowest_row(rows: NDArray[np.int64], sums: NDArray[Any], first: int, last: int) -> int:
    own = sums[first:last]
    tied = first + np.flatnonzero(own <= own.min() * (1 + _TIE))
    return int(tied[np.argmin(rows[tied])])
