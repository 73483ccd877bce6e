"""Blocks and spans of rows, cut at fixed row numbers.

Whatever batches the rows come in, every block begins at the same row. So every computation on a
block, and every sum over blocks in their order, ends in the same bits from every source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from likewise.rows.source import Source

BLOCK_BYTES = 2**24
"""The size of a block of rows. Larger ones do not fit in the processor's cache, smaller ones need
more calls."""

BLOCKS_PER_SPAN = 4
"""A span is one piece of work for a thread or a worker, of about this many blocks. With more blocks
the work is spread less evenly; with fewer there are more messages."""


def rows_per_block(n_features: int, dtype: Any) -> int:
    """Return how many rows a block has: a power of two that depends on the size of a row alone.

    Examples
    --------
    >>> rows_per_block(32, "float32"), rows_per_block(768, "float32")
    (131072, 4096)
    """
    rows = BLOCK_BYTES / (max(1, n_features) * np.dtype(dtype).itemsize)
    return int(2 ** np.clip(np.log2(rows) // 1, 10, 17))


def spans(source: Source) -> list[tuple[int, int]]:
    """Return the first row of every span, and the row after its last.

    A span that begins in the middle of a Parquet row group must read the group from its start. So
    spans begin at the first block after such a cut if there is one near. Results do not depend on
    where they begin.
    """
    size = source.block_rows
    step = BLOCKS_PER_SPAN * size
    good = np.unique(-(-np.asarray(source.cuts, dtype=np.int64) // size) * size)
    starts = [0]
    while (wanted := starts[-1] + step) < source.n_rows:
        near = good[slice(*np.searchsorted(good, [wanted - step // 2, wanted + 3 * step]))]
        starts.append(int(near[np.argmin(np.abs(near - wanted))]) if len(near) else wanted)
    if len(starts) > 1 and starts[-1] >= source.n_rows:
        starts.pop()
    return list(pairwise([*starts, source.n_rows]))


def blocks(source: Source, start: int, stop: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the first row and the rows of every block; `start` is the first row of one."""
    size = source.block_rows
    waiting: list[NDArray[Any]] = []
    n_waiting = 0
    for batch in source.batches(start, stop):
        offset = 0
        while offset < len(batch):
            piece = batch[offset : offset + size - n_waiting]
            waiting.append(piece)
            n_waiting += len(piece)
            offset += len(piece)
            if n_waiting == size:
                yield start, _joined(waiting, source.dtype)
                start += size
                waiting, n_waiting = [], 0
    if n_waiting:
        yield start, _joined(waiting, source.dtype)


def whole_blocks(source: Source, start: int, stop: int) -> tuple[int, int]:
    """Return where the first of the blocks that rows lie in begins, and where the last ends."""
    size = source.block_rows
    return start // size * size, min(-(-stop // size) * size, source.n_rows)


def _joined(pieces: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return np.ascontiguousarray(whole, dtype=dtype)
