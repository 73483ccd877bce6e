"""Passes over a source on a Dask cluster, with the same blocks and the same computations.

A span of blocks is one task. Its rows, if there is memory for them, and their cells stay on the
worker; what the task finds comes back, in the order of rows, and is put together here. Tasks of a
worker that is lost are done again by another.
"""

from __future__ import annotations

import ctypes
import os
import uuid
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError as FutureCancelledError
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

from likewise.errors import ClusterLostError
from likewise.rows.blocks import blocks, whole_blocks
from likewise.rows.dask_source import HeldRows
from likewise.rows.labels import Labeling, Written, write_parts
from likewise.rows.passes import Cells, Found, Pass, sweep_span
from likewise.rows.source import Part, Source
from likewise.rows.sweep import Progress, Sweeper
from likewise.rows.threads import one_thread_each

HELD_SHARE = 0.25
"""Rows stay on the workers if they take at most this share of their free memory. Dask begins to
write to disk at 60 % of a worker's memory, and the computations need some, too."""


class DaskSweeper(Sweeper):
    """Runs passes on the cluster of a source; all workers see its files at the same paths."""

    def __init__(self, source: Source, *, progress: Progress | None = None) -> None:
        super().__init__(source, n_jobs=-1, progress=progress)
        self.client = source.client
        self._held: dict[tuple[int, int], Any] | None = None
        self._kept: list[Any] = []
        self._name = f"likewise-{uuid.uuid4().hex[:8]}"

    def sweep(self, task: Pass[Found], cells: Cells | None = None) -> Iterator[Found]:
        """Yield what a pass finds in every span, in the order of rows."""
        with self._connected():
            if self._held is None:
                self._held = self._hold_rows()
            what = self._hold(task.phase, (task, cells))
            kept = self._kept if cells is not None and self._kept else [None] * len(self._spans)
            work = [
                (_sweep_span, span, (what, *span, about))
                for span, about in zip(self._spans, kept, strict=True)
            ]
            done = self._submit(task.phase, work, self._held)
            found = [self.client.submit(itemgetter(0), future) for future in done]
            if cells is not None and not self._kept:
                self._kept = [self.client.submit(itemgetter(1), future) for future in done]
            del done
            yield from self._in_order(task.phase, found, [stop for _, stop in self._spans])

    def map(
        self,
        phase: str,
        function: Callable[..., Any],
        shared: Sequence[Any],
        each: Sequence[Sequence[Any]],
    ) -> list[Any]:
        """Return ``function(*shared, *args)`` for each `args`, called on the workers."""
        with self._connected():
            held = self._hold(phase, (function, *shared))
            futures: list[Any] = [None] * len(each)
            with _large_graphs():
                for worker, own in self._shares([1] * len(each)):
                    for i in own:
                        futures[i] = self.client.submit(
                            _apply,
                            held,
                            tuple(each[i]),
                            key=self._key(phase),
                            workers=[worker],
                            allow_other_workers=True,
                        )
            n_rows = self.source.n_rows
            done = [(i + 1) * n_rows // len(each) for i in range(len(each))]
            return list(self._in_order(phase, futures, done))

    def write(
        self, bundles: Sequence[Sequence[Part]], labeling: Labeling, folder: str, run: str
    ) -> Iterator[Written]:
        """Write the labels of every bundle of parts on the workers."""
        with self._connected():
            held = self._hold("write", labeling)
            work = []
            for bundle in bundles:
                bounds = whole_blocks(self.source, bundle[0].start, bundle[-1].stop)
                work.append((_write_parts, bounds, (list(bundle), held, folder, run)))
            done = self._submit("write", work, {})
            yield from self._in_order("write", done, [bundle[-1].stop for bundle in bundles])

    def _in_order(self, phase: str, futures: list[Any], done: Sequence[int]) -> Iterator[Any]:
        """Yield results as they come, then free them; `done` are the rows after each."""
        self._report(phase, 0)
        for i, n_rows in enumerate(done):
            result = futures[i].result()
            futures[i] = None
            self._report(phase, n_rows)
            yield result

    def _submit(
        self,
        phase: str,
        work: Sequence[tuple[Callable[..., Any], tuple[int, int], Any]],
        held_rows: dict[tuple[int, int], Any],
    ) -> list[Any]:
        """Return futures of ``function(rows, *args)``, each with the rows within its bounds."""
        import dask

        shares = self._shares([stop - start for _, (start, stop), _ in work])
        worker_of = {i: worker for worker, own in shares for i in own}
        tasks = []
        held = None
        for i, (function, bounds, args) in enumerate(work):
            run = dask.delayed(function, pure=False, traverse=False)
            name = self._key(phase)
            reader = held_rows.get(bounds) or self.source.reader(*bounds)
            if reader is not self.source:
                # Rows are on some worker, or are read by one that Dask chooses; the task runs
                # there.
                tasks.append(run(reader, *args, dask_key_name=name))
                continue
            # One copy for all tasks: the list of files may be long.
            held = held or self._hold("source", self.source)
            with dask.annotate(workers=[worker_of[i]], allow_other_workers=True):
                tasks.append(run(held, *args, dask_key_name=name))
        with _large_graphs():
            futures: list[Any] = self.client.compute(tasks, optimize_graph=False)
        return futures

    def _hold_rows(self) -> dict[tuple[int, int], Any]:
        """Keep the rows of every span on a worker, if reading is slow and there is memory."""
        source = self.source
        if not source.cuts:
            return {}
        needed = source.n_rows * source.n_features * source.dtype.itemsize
        if needed > HELD_SHARE * self.client.run_on_scheduler(_free_memory):
            return {}
        futures = self._submit("read", [(_read_span, span, span) for span in self._spans], {})
        return dict(zip(self._spans, futures, strict=True))

    def _shares(self, sizes: Sequence[int]) -> list[tuple[str, list[int]]]:
        """Return which worker should do which pieces of work, by their sizes.

        The scheduler knows neither sizes nor durations. It would give most pieces to the worker
        that already has their common input. A worker that is lost is replaced by any other.
        """
        threads = self.client.nthreads()
        if not threads:
            raise ClusterLostError("the cluster has no workers; start some and try again")
        load = dict.fromkeys(threads, 0.0)
        shares: dict[str, list[int]] = {worker: [] for worker in threads}
        for i in sorted(range(len(sizes)), key=lambda i: (-sizes[i], i)):
            worker = min(load, key=lambda w: load[w] + sizes[i] / threads[w])
            load[worker] += sizes[i] / threads[worker]
            shares[worker].append(i)
        return [(worker, sorted(own)) for worker, own in shares.items() if own]

    def _hold(self, phase: str, value: Any) -> Any:
        """Put a value on the cluster such that it survives the loss of a worker."""
        with _large_graphs():
            return self.client.submit(_same, value, key=self._key(f"{phase}-input"))

    def _key(self, phase: str) -> str:
        return f"{self._name}-{phase}-{uuid.uuid4().hex}"

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Turn whatever is raised when the scheduler is lost into one error."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError as Lost
        from distributed.comm import CommClosedError

        lost = (CancelledError, FutureCancelledError, Lost, CommClosedError, TimeoutError)
        try:
            yield
        except KilledWorker as error:
            raise ClusterLostError(
                f"workers died again and again on the same work: {error}. They may lack memory; "
                "nothing was written, and no answer is lost."
            ) from error
        except lost as error:
            raise ClusterLostError(
                "the cluster's scheduler was lost in the middle of the work "
                f"({type(error).__name__}: {error}). Nothing was written, and no answer is lost: "
                "connect to a scheduler and start this step again."
            ) from error


def _same(value: Any) -> Any:
    return value


def _free_memory(dask_scheduler: Any) -> float:
    """Return how many bytes the workers have left; those without a limit count nothing."""
    workers = dask_scheduler.workers.values()
    return float(sum(max(0, w.memory_limit - w.metrics.get("memory", 0)) for w in workers))


def _apply(held: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    function, *shared = held
    with one_thread_each(), freed_memory_kept():
        return function(*shared, *args)


def _read_span(source: Source, start: int, stop: int) -> HeldRows:
    with one_thread_each(), freed_memory_kept():
        parts = [part for _, part, _, _ in source.overlaps(start, stop)]
        values = [block for _, block in blocks(source, start, stop)]
        return HeldRows(values, start, parts, source.block_rows)


def _sweep_span(
    source: Source, what: tuple[Pass[Any], Cells | None], start: int, stop: int, kept: Any
) -> Any:
    with one_thread_each(), freed_memory_kept():
        return sweep_span(*what, source, blocks(source, start, stop), kept)


def _write_parts(
    source: Source, parts: Sequence[Part], labeling: Labeling, folder: str, run: str
) -> Written:
    with one_thread_each(), freed_memory_kept():
        return write_parts(source, parts, labeling, folder, run)


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Let this process reuse memory that it has freed, instead of asking the system for more.

    Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``, by which glibc gives every array
    back at once. For blocks that come and go, fresh pages cost half as much again as the work
    itself. Afterwards the worker is as Dask wants it.
    """
    trim = os.environ.get("MALLOC_TRIM_THRESHOLD_")
    if trim is None or not trim.isdecimal():
        yield
        return
    try:
        libc = ctypes.CDLL(None)
        libc.mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
    except (AttributeError, TypeError):  # no glibc
        yield
        return
    try:
        yield
    finally:
        libc.mallopt(_TRIM_THRESHOLD, int(trim))
        libc.mallopt(_MMAP_THRESHOLD, _DEFAULT_LARGE_BYTES)
        libc.malloc_trim(0)


# Of <malloc.h>: what mallopt sets, and the threshold that glibc has by itself.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_DEFAULT_LARGE_BYTES = 2**17
_KEPT_BYTES = 2**28
"""How much freed memory a worker keeps for itself."""
_LARGE_BYTES = 2**25
"""The largest threshold that glibc accepts; larger arrays come from the system as before."""


@contextmanager
def _large_graphs() -> Iterator[None]:
    """Send centers and candidates with the graph, so that they survive the loss of a worker."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "16GiB"}):
        yield
