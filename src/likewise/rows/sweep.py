"""Passes over all rows of a source, span by span."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.rows.blocks import blocks, spans
from likewise.rows.labels import Labeling, Written, write_each, write_parts
from likewise.rows.passes import Cells, Found, Kept, Pass, TakePass, sweep_span
from likewise.rows.source import Part, Source
from likewise.rows.threads import limited, map_in_threads, n_threads

Progress = Callable[[str, int, int], None]
"""Called as ``progress(phase, rows_done, n_rows)``."""


class Sweeper(ABC):
    """Runs passes over the rows of a source, in this process or on a cluster.

    Parameters
    ----------
    source : Source
        The rows.
    n_jobs : int, optional
        Threads of this process; never changes the result.
    progress : callable, optional
        Called after every span.
    """

    def __init__(
        self, source: Source, *, n_jobs: int | None = None, progress: Progress | None = None
    ) -> None:
        self.source = source
        self.n_jobs = n_jobs
        self._progress = progress
        self._spans = spans(source)

    @abstractmethod
    def sweep(self, task: Pass[Found], cells: Cells | None = None) -> Iterator[Found]:
        """Yield what a pass finds in every span, in the order of rows.

        With cells, the pass gets the cell of every row. These are found in the first pass with
        cells, and kept; so pass the same cells every time.
        """

    @abstractmethod
    def map(
        self,
        phase: str,
        function: Callable[..., Any],
        shared: Sequence[Any],
        each: Sequence[Sequence[Any]],
    ) -> list[Any]:
        """Return ``function(*shared, *args)`` for each `args`, called where the work is done."""

    @abstractmethod
    def write(
        self, bundles: Sequence[Sequence[Part]], labeling: Labeling, folder: str, run: str
    ) -> Iterator[Written]:
        """Write the labels of every bundle of parts."""

    def take(self, numbers: NDArray[np.intp]) -> NDArray[Any]:
        """Return the rows of given numbers, which increase."""
        found = list(self.sweep(TakePass(numbers)))
        return np.concatenate([rows for of_span in found for rows in of_span])

    def _report(self, phase: str, done: int) -> None:
        if self._progress is not None:
            self._progress(phase, done, self.source.n_rows)


class LocalSweeper(Sweeper):
    """Runs passes over the rows of a source in this process."""

    def __init__(
        self, source: Source, *, n_jobs: int | None = None, progress: Progress | None = None
    ) -> None:
        super().__init__(source, n_jobs=n_jobs, progress=progress)
        self._kept: dict[int, Kept] = {}

    def kept(self) -> Iterator[NDArray[Any]]:
        """Yield the cells of the rows of every block, in order."""
        for span in sorted(self._kept):
            yield from self._kept[span]

    def sweep(self, task: Pass[Found], cells: Cells | None = None) -> Iterator[Found]:
        """Yield what a pass finds in every span, in the order of rows."""
        self._report(task.phase, 0)
        n = n_threads(self.n_jobs, len(self._spans))
        run = partial(limited, sweep_span, task, cells, self.source)
        results = self._in_turn(run) if n == 1 else self._at_once(run, n)
        for i, (found, keep) in enumerate(results):
            if keep is not None:
                self._kept[i] = keep
            self._report(task.phase, self._spans[i][1])
            yield found

    def map(
        self,
        phase: str,
        function: Callable[..., Any],
        shared: Sequence[Any],
        each: Sequence[Sequence[Any]],
    ) -> list[Any]:
        """Return ``function(*shared, *args)`` for each `args`."""
        self._report(phase, 0)
        results = map_in_threads(lambda args: function(*shared, *args), each, self.n_jobs)
        self._report(phase, self.source.n_rows)
        return results

    def write(
        self, bundles: Sequence[Sequence[Part]], labeling: Labeling, folder: str, run: str
    ) -> Iterator[Written]:
        """Write the labels of every bundle of parts."""
        self._report("write", 0)
        n = n_threads(self.n_jobs, len(bundles))
        if n == 1:
            # One run through the source, since otherwise rows at the ends of bundles are read
            # twice.
            parts = [part for bundle in bundles for part in bundle]
            written = write_each(self.source, parts, labeling, folder, run)
            for part in parts:
                files = limited(next, written)
                self._report("write", part.stop)
                yield files
            return
        write = partial(write_parts, self.source, labeling=labeling, folder=folder, run=run)
        with ThreadPoolExecutor(n) as pool:
            results = pool.map(partial(limited, write), bundles)
            for bundle, files in zip(bundles, results, strict=True):
                self._report("write", bundle[-1].stop)
                yield files

    def _in_turn(self, run: Callable[..., Any]) -> Iterator[tuple[Any, Kept | None]]:
        # One run through the source, for sources that must read from the start of a group.
        stream = blocks(self.source, 0, self.source.n_rows)
        for i, (start, stop) in enumerate(self._spans):
            own = islice(stream, -(-(stop - start) // self.source.block_rows))
            yield run(own, self._kept.get(i))

    def _at_once(self, run: Callable[..., Any], n: int) -> Iterator[tuple[Any, Kept | None]]:
        waiting: deque[Future[tuple[Any, Kept | None]]] = deque()
        with ThreadPoolExecutor(n) as pool:
            try:
                for i, (start, stop) in enumerate(self._spans):
                    if len(waiting) > n:
                        yield waiting.popleft().result()
                    stream = blocks(self.source, start, stop)
                    waiting.append(pool.submit(run, stream, self._kept.get(i)))
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()


def sweeper_for(
    source: Source, *, n_jobs: int | None = None, progress: Progress | None = None
) -> Sweeper:
    """Return what runs passes over a source: this process, or the cluster of the source."""
    if source.client is None:
        return LocalSweeper(source, n_jobs=n_jobs, progress=progress)
    from likewise.rows.dask_sweeper import DaskSweeper

    return DaskSweeper(source, progress=progress)
