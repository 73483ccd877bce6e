"""Going over all rows of a matrix, block by block, as often as needed.

The matrix may be an array, a file or lie on a cluster; it is never held as a whole. Blocks are cut
at fixed row numbers, whatever batches the rows come in, so that every computation on a block, and
every sum over blocks in their order, ends in the same bits from every source.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from likewise.rows.assignment import one_thread_each

BLOCK_BYTES = 2**24
"""A block of rows is about this large."""

BLOCKS_PER_SPAN = 4
"""About so many blocks are one piece of work for a thread or a worker."""

Found = TypeVar("Found")
Progress = Callable[[str, int, int], None]
"""Called as ``progress(phase, rows_done, n_rows)``."""

Kept = list[NDArray[Any]]
"""What a pass found out about the rows of every block of a span, for the passes after it."""


class Rows(Protocol):
    """A matrix that can be gone over again and again."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values: float32 or float64."""

    @property
    def block_rows(self) -> int:
        """Number of rows of a block, by `rows_per_block`."""

    @property
    def cuts(self) -> Sequence[int]:
        """Rows at which reading begins anew; empty if it can begin anywhere at no cost."""

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop` in order, in batches of any size."""

    def where(self, row: int) -> str:
        """Say where a row is, for messages."""


class Pass(Protocol[Found]):
    """What is done with every block while going over the rows once."""

    @property
    def phase(self) -> str:
        """Name of the pass for progress reports."""

    @property
    def keeps(self) -> bool:
        """Whether it finds out something about rows that spares later passes work."""

    def empty(self) -> Found:
        """Return what is found in no rows."""

    def add(
        self, found: Found, start: int, block: NDArray[Any], kept: NDArray[Any] | None, rows: Rows
    ) -> tuple[Found, NDArray[Any] | None]:
        """Return what is found with one block more, and what to keep about its rows.

        `kept` is what an earlier pass kept about them. It may be lost; then it is None.
        """


class Sweeper(Protocol):
    """Goes over the rows, here or on a cluster."""

    @property
    def rows(self) -> Rows:
        """The rows."""

    @property
    def n_jobs(self) -> int | None:
        """Threads of this process for what is done here."""

    def take(self, phase: str, numbers: NDArray[np.intp]) -> NDArray[Any]:
        """Return the rows of increasing numbers."""

    def map(
        self,
        phase: str,
        function: Callable[..., Any],
        shared: Sequence[Any],
        each: Sequence[Sequence[Any]],
    ) -> list[Any]:
        """Return ``function(*shared, *args)`` for each `args`, called where the work is done."""

    def sweep(self, task: Pass[Found]) -> Iterator[Found]:
        """Yield what a pass finds in every span, in the order of rows."""


@dataclass(frozen=True, slots=True)
class ArrayRows:
    """An array as rows to go over."""

    array: NDArray[Any]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.array)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.array.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.array.dtype

    @property
    def block_rows(self) -> int:
        """Number of rows of a block."""
        return rows_per_block(self.n_features, self.dtype)

    @property
    def cuts(self) -> Sequence[int]:
        """Nothing: reading can begin anywhere."""
        return ()

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop` at once."""
        yield self.array[start:stop]

    def where(self, row: int) -> str:
        """Say where a row is."""
        return f"row {row}"


def rows_per_block(n_features: int, dtype: Any) -> int:
    """Return how many rows a block has: a power of two that depends on the size of a row alone.

    Examples
    --------
    >>> rows_per_block(32, "float32"), rows_per_block(768, "float32")
    (131072, 4096)
    """
    rows = BLOCK_BYTES / (max(1, n_features) * np.dtype(dtype).itemsize)
    return int(2 ** np.clip(np.log2(rows) // 1, 10, 17))


def spans(rows: Rows) -> list[tuple[int, int]]:
    """Return the first row of every span, and the row after its last.

    A span that begins in the middle of a Parquet row group must read the group from its start, so
    spans begin with the first block after such a cut where there is one near. The result of a pass
    does not depend on where they begin.
    """
    size = rows.block_rows
    step = BLOCKS_PER_SPAN * size
    good = np.unique(-(-np.asarray(rows.cuts, dtype=np.int64) // size) * size)
    starts = [0]
    while (wanted := starts[-1] + step) < rows.n_rows:
        near = good[slice(*np.searchsorted(good, [wanted - step // 2, wanted + 3 * step]))]
        starts.append(int(near[np.argmin(np.abs(near - wanted))]) if len(near) else wanted)
    if len(starts) > 1 and starts[-1] >= rows.n_rows:
        starts.pop()
    return list(pairwise([*starts, rows.n_rows]))


def blocks(rows: Rows, start: int, stop: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the first row and the rows of every block; `start` is the first row of one."""
    size = rows.block_rows
    waiting: list[NDArray[Any]] = []
    n_waiting = 0
    for batch in rows.batches(start, stop):
        offset = 0
        while offset < len(batch):
            piece = batch[offset : offset + size - n_waiting]
            waiting.append(piece)
            n_waiting += len(piece)
            offset += len(piece)
            if n_waiting == size:
                yield start, _joined(waiting, rows.dtype)
                start += size
                waiting, n_waiting = [], 0
    if n_waiting:
        yield start, _joined(waiting, rows.dtype)


def whole_blocks(rows: Rows, start: int, stop: int) -> tuple[int, int]:
    """Return the first row of the first block, and the row after the last, that rows lie in."""
    size = rows.block_rows
    return start // size * size, min(-(-stop // size) * size, rows.n_rows)


def _joined(pieces: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return np.ascontiguousarray(whole, dtype=dtype)


def sweep_span(
    task: Pass[Found],
    rows: Rows,
    in_blocks: Iterable[tuple[int, NDArray[Any]]],
    kept: Kept | None,
) -> tuple[Found, Kept | None]:
    """Return what a pass finds in the blocks of one span, and what it keeps of them."""
    found = task.empty()
    keep: Kept = []
    for i, (start, block) in enumerate(in_blocks):
        found, about = task.add(found, start, block, kept[i] if kept else None, rows)
        if about is not None:
            keep.append(about)
    return found, keep or None


class LocalSweeper:
    """Go over rows in this process.

    Parameters
    ----------
    rows : Rows
        What to go over.
    n_jobs : int, optional
        Threads; never changes the result.
    progress : callable, optional
        Called after every span.
    """

    def __init__(
        self, rows: Rows, *, n_jobs: int | None = None, progress: Progress | None = None
    ) -> None:
        self.rows = rows
        self.n_jobs = n_jobs
        self.progress = progress
        self._spans = spans(rows)
        self._kept: dict[int, Kept | None] = {}

    def take(self, phase: str, numbers: NDArray[np.intp]) -> NDArray[Any]:
        """Return the rows of increasing numbers."""
        parts = list(self.sweep(TakePass(phase, numbers)))
        return np.concatenate([part for found in parts for part in found])

    def map(
        self,
        phase: str,
        function: Callable[..., Any],
        shared: Sequence[Any],
        each: Sequence[Sequence[Any]],
    ) -> list[Any]:
        """Return ``function(*shared, *args)`` for each `args`."""
        self._report(phase, 0)
        n_threads = min(effective_n_jobs(self.n_jobs), len(each))
        with one_thread_each(), ThreadPoolExecutor(max(1, n_threads)) as pool:
            results = list(pool.map(lambda args: function(*shared, *args), each))
        self._report(phase, self.rows.n_rows)
        return results

    def kept(self) -> Iterator[NDArray[Any]]:
        """Yield what the passes kept of the rows, in order."""
        for span in sorted(self._kept):
            yield from self._kept[span] or ()

    def sweep(self, task: Pass[Found]) -> Iterator[Found]:
        """Yield what a pass finds in every span, in the order of rows."""
        self._report(task.phase, 0)
        n_threads = min(effective_n_jobs(self.n_jobs), len(self._spans))
        with one_thread_each():
            results = self._in_turn(task) if n_threads <= 1 else self._at_once(task, n_threads)
            for i, (found, keep) in enumerate(results):
                if keep is not None:
                    self._kept[i] = keep
                self._report(task.phase, self._spans[i][1])
                yield found

    def _in_turn(self, task: Pass[Found]) -> Iterator[tuple[Found, Kept | None]]:
        # One run through the source, for sources that must read from the start of a group.
        stream = blocks(self.rows, 0, self.rows.n_rows)
        for i, (start, stop) in enumerate(self._spans):
            own = islice(stream, -(-(stop - start) // self.rows.block_rows))
            yield sweep_span(task, self.rows, own, self._kept.get(i))

    def _at_once(self, task: Pass[Found], n_threads: int) -> Iterator[tuple[Found, Kept | None]]:
        waiting: deque[Future[tuple[Found, Kept | None]]] = deque()
        with ThreadPoolExecutor(n_threads) as pool:
            try:
                for i, (start, stop) in enumerate(self._spans):
                    if len(waiting) > n_threads:
                        yield waiting.popleft().result()
                    stream = blocks(self.rows, start, stop)
                    kept = self._kept.get(i)
                    waiting.append(pool.submit(sweep_span, task, self.rows, stream, kept))
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def _report(self, phase: str, done: int) -> None:
        if self.progress is not None:
            self.progress(phase, done, self.rows.n_rows)


@dataclass(frozen=True, slots=True)
class TakePass:
    """Collect the rows of increasing numbers."""

    phase: str
    numbers: NDArray[np.intp]
    keeps: bool = False

    def empty(self) -> list[NDArray[Any]]:
        """Return no rows."""
        return []

    def add(
        self,
        found: list[NDArray[Any]],
        start: int,
        block: NDArray[Any],
        kept: NDArray[Any] | None,  # noqa: ARG002
        rows: Rows,  # noqa: ARG002
    ) -> tuple[list[NDArray[Any]], None]:
        """Return the rows with those of one block more."""
        low, high = np.searchsorted(self.numbers, [start, start + len(block)])
        return [*found, block[self.numbers[low:high] - start]], None
