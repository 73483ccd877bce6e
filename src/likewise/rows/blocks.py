"""Rows by blocks: arrays and memory maps, and what all sources of rows share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.files import check_regular

Compute = Callable[[NDArray[Any]], NDArray[Any]]
"""From a block of rows to what is computed of each."""

Check = Callable[[Any, int], NDArray[Any]]
"""From a block of rows and the number of the first to an array; raises if they cannot be used."""

BLOCK_ROWS = 2**16
"""How many rows are read and predicted at a time: a few megabytes. With half or twice as many,
reading a Parquet file takes as long."""

_TILE = 64
"""Blocks are filled up to a multiple of this many rows before they are predicted. The product of a
matrix and a single row has other last bits than the same row in a block."""


def mapped(path: Path) -> NDArray[Any]:
    """Return the array in a ``.npy`` file, mapped into memory."""
    try:
        check_regular(path)
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot open {path}: {error.strerror or error}") from error
    except Exception as error:  # numpy reads the header as Python text, which can fail in any way
        raise InputError(
            f"{path} is not a .npy file of numbers, or is truncated: {error}. Write it again with "
            "numpy.save"
        ) from error
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path} is an archive; save one array with numpy.save")
    return array


def is_long_array(X: Any) -> bool:
    """Return whether this is an array of more than one block of rows."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and len(X) > BLOCK_ROWS


def blocks_of(X: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the number of the first row and the rows of every block of an array."""
    for start in range(0, len(X), BLOCK_ROWS):
        yield start, X[start : start + BLOCK_ROWS]


def map_blocks(
    blocks: Iterable[tuple[int, NDArray[Any]]],
    n_rows: int,
    compute: Compute,
    check: Check,
    dtype: Any,
    n_columns: int | None = None,
) -> NDArray[Any]:
    """Return the results of a function for all rows; it gets each block and its first row."""
    out = np.empty((n_rows,) if n_columns is None else (n_rows, n_columns), dtype=dtype)
    for first, block in blocks:
        out[first : first + len(block)] = in_tiles(compute, check(block, first))
    return out


def as_matrix(rows: NDArray[Any], first: int = 0) -> NDArray[Any]:  # noqa: ARG001  (a `Check`)
    """Return rows in the order and type that functions of rows take."""
    return np.ascontiguousarray(rows, dtype=matrix_type([rows.dtype]))


def in_tiles(function: Compute, rows: NDArray[Any]) -> NDArray[Any]:
    """Apply a function to rows, with the same bits whatever the block size."""
    n_rows = len(rows)
    n_lacking = -n_rows % _TILE
    if n_lacking and n_rows:
        rows = np.concatenate([rows, np.broadcast_to(rows[-1:], (n_lacking, rows.shape[1]))])
    return function(rows)[:n_rows]


def matrix_type(dtypes: Sequence[Any]) -> np.dtype[Any]:
    """Return float32 if that is the type of all columns, otherwise float64."""
    return np.dtype(np.float32 if all(t == np.float32 for t in dtypes) else np.float64)
