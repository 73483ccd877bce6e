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
from itertools import islice
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from likewise.superinstances.assignment import one_thread_each

BLOCK_BYTES = 2**24
"""A block of rows is about this large."""

BLOCKS_PER_SPAN = 4
"""So many blocks are one piece of work for a thread or a worker."""

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

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop` in order, in batches of any size."""

    def where(self, row: int) -> str:
        """Say where a row is, for messages."""


class Pass(Protocol[Found]):
    """What is done with every block while going over the rows once."""

    @property
    def phase(self) -> str:
        """Name of the pass for progress reports."""

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

    def take(self, phase: str, numbers: NDArray[np.intp]) -> NDArray[Any]:
        """Return the rows of increasing numbers."""

    def call(self, phase: str, function: Callable[..., Any], *args: Any) -> Any:
        """Return what a function returns, called where the work is done."""

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
    """Return the first and the last row but one of every span."""
    step = BLOCKS_PER_SPAN * rows.block_rows
    return [(start, min(start + step, rows.n_rows)) for start in range(0, rows.n_rows, step)]


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
        self._kept: dict[int, Kept | None] = {}

    def take(self, phase: str, numbers: NDArray[np.intp]) -> NDArray[Any]:
        """Return the rows of increasing numbers."""
        parts = list(self.sweep(TakePass(phase, numbers)))
        return np.concatenate([part for found in parts for part in found])

    def call(self, phase: str, function: Callable[..., Any], *args: Any) -> Any:
        """Return what a function returns."""
        self._report(phase, 0)
        result = function(*args)
        self._report(phase, self.rows.n_rows)
        return result

    def kept(self) -> Iterator[NDArray[Any]]:
        """Yield what the passes kept of the rows, in order."""
        for span in sorted(self._kept):
            yield from self._kept[span] or ()

    def sweep(self, task: Pass[Found]) -> Iterator[Found]:
        """Yield what a pass finds in every span, in the order of rows."""
        self._report(task.phase, 0)
        todo = spans(self.rows)
        n_threads = min(effective_n_jobs(self.n_jobs), len(todo))
        with one_thread_each():
            results = self._in_turn(task) if n_threads <= 1 else self._at_once(task, n_threads)
            for i, (found, keep) in enumerate(results):
                if keep is not None:
                    self._kept[i] = keep
                self._report(task.phase, todo[i][1])
                yield found

    def _in_turn(self, task: Pass[Found]) -> Iterator[tuple[Found, Kept | None]]:
        # One run through the source, for sources that must read from the start of a group.
        stream = blocks(self.rows, 0, self.rows.n_rows)
        for i in range(len(spans(self.rows))):
            yield sweep_span(task, self.rows, islice(stream, BLOCKS_PER_SPAN), self._kept.get(i))

    def _at_once(self, task: Pass[Found], n_threads: int) -> Iterator[tuple[Found, Kept | None]]:
        waiting: deque[Future[tuple[Found, Kept | None]]] = deque()
        with ThreadPoolExecutor(n_threads) as pool:
            try:
                for i, (start, stop) in enumerate(spans(self.rows)):
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
