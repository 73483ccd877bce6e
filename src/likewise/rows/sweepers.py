"""Who goes over a source: this process, or the cluster that the source came with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol

from joblib import effective_n_jobs

from likewise.rows.assignment import one_thread_each
from likewise.rows.dask_sweeper import ClusterSweeper
from likewise.rows.labels import Labeling, Written, write_each, write_parts
from likewise.rows.source import Part, Source
from likewise.rows.sweep import LocalSweeper, Progress, Sweeper


class SourceSweeper(Sweeper, Protocol):
    """Goes over a source, and writes labels where it does so."""

    def write(
        self, bundles: Sequence[Sequence[Part]], labeling: Labeling, folder: str, run: str
    ) -> Iterator[Written]:
        """Write the labels of every bundle of parts."""


class LocalSourceSweeper(LocalSweeper):
    """Go over a source in this process."""

    def __init__(
        self, source: Source, *, n_jobs: int | None = None, progress: Progress | None = None
    ) -> None:
        super().__init__(source, n_jobs=n_jobs, progress=progress)
        self.source = source

    def write(
        self, bundles: Sequence[Sequence[Part]], labeling: Labeling, folder: str, run: str
    ) -> Iterator[Written]:
        """Write the labels of every bundle of parts."""
        self._report("write", 0)
        n_threads = min(effective_n_jobs(self.n_jobs), len(bundles))
        with one_thread_each():
            if n_threads <= 1:
                # One run through the source: rows at the ends of bundles would be read twice.
                parts = [part for bundle in bundles for part in bundle]
                written = write_each(self.source, parts, labeling, folder, run)
                for part, files in zip(parts, written, strict=True):
                    self._report("write", part.stop)
                    yield files
                return
            write = partial(write_parts, self.source, labeling=labeling, folder=folder, run=run)
            with ThreadPoolExecutor(n_threads) as pool:
                for bundle, files in zip(bundles, pool.map(write, bundles), strict=True):
                    self._report("write", bundle[-1].stop)
                    yield files


def sweeper_for(
    source: Source, *, n_jobs: int | None = None, progress: Progress | None = None
) -> SourceSweeper:
    """Return who goes over a source."""
    if source.client is not None:
        return ClusterSweeper(source, progress=progress)
    return LocalSourceSweeper(source, n_jobs=n_jobs, progress=progress)
