"""Where rows come from: arrays, memory maps, Parquet files or Dask collections.

`open_rows` is the one place that tells them apart. All of them are `Rows`: a sample of them can be
taken, and something can be computed of each. The result is the same wherever the rows are.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.rows.blocks import (
    Check,
    Compute,
    as_matrix,
    blocks_of,
    in_tiles,
    is_long_array,
    map_blocks,
    mapped,
)
from likewise.rows.dask_rows import DaskRows
from likewise.rows.row_files import ParquetRows

OTHER_FILES = frozenset(
    [".csv", ".tsv", ".tab", ".txt", ".json", ".jsonl", ".ndjson", ".npz", ".png", ".jpg", ".jpeg"]
)
"""Suffixes of files that `likewise.open_items` reads and that people often pass as rows."""


class Rows(Protocol):
    """Rows of numbers, wherever they are.

    Attributes
    ----------
    is_in_memory : bool
        Whether they can be looked at without reading a file; so can those of a memory map.
    names : list of str or None
        The names of the columns, where the source of the rows has some.
    """

    is_in_memory: bool
    names: list[str] | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def take(self, numbers: NDArray[np.intp] | None) -> NDArray[Any]:
        """Return the rows of some numbers, which increase; None for all."""

    def map(self, compute: Compute, check: Check, dtype: Any, n_columns: int | None = None) -> Any:
        """Return what a function returns for all rows; it is called with blocks of them.

        Parameters
        ----------
        compute : callable
            From a block of rows to one number for each, or to `n_columns` numbers.
        check : callable
            Called with a block and the number of its first row before it is computed; returns it
            as an array, or raises an error. Workers of a Dask cluster have their own check.
        dtype : dtype
            The type of the numbers.
        n_columns : int, optional
            How many numbers there are for each row, unless it is one.
        """


class ArrayRows:
    """Rows in memory or in a memory map: an array, or what becomes one when it is checked."""

    is_in_memory = True
    names: list[str] | None = None

    def __init__(self, X: Any) -> None:
        self.X = X

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def checked(self, check: Check) -> ArrayRows:
        """Return the rows after a check: as an array or, if that is large, as they are."""
        if not is_long_array(self.X):
            return ArrayRows(check(self.X, 0))
        for first, block in blocks_of(self.X):
            check(block, first)
        return self

    def take(self, numbers: NDArray[np.intp] | None) -> NDArray[Any]:
        """Return the rows of some numbers; None for all."""
        return as_matrix(self.X if numbers is None else self.X[numbers])

    def map(
        self, compute: Compute, check: Check, dtype: Any, n_columns: int | None = None
    ) -> NDArray[Any]:
        """Return what a function returns for all rows, block by block."""
        if not is_long_array(self.X):
            return np.asarray(in_tiles(compute, check(self.X, 0)), dtype=dtype)
        return map_blocks(blocks_of(self.X), self.n_rows, compute, check, dtype, n_columns)


def open_rows(X: Any) -> Any:
    """Return the `Rows` that data stands for; a path is one of Parquet files or a ``.npy`` file."""
    if isinstance(X, str | os.PathLike):
        path = Path(X)
        if path.suffix.lower() in OTHER_FILES:
            raise InputError(
                f"rows are read from Parquet files and .npy files, and {os.fspath(X)!r} is "
                "neither. likewise.open_items reads it: "
                f"model.fit(likewise.open_items({os.fspath(X)!r}), ...)"
            )
        return ArrayRows(mapped(path)) if path.suffix == ".npy" else ParquetRows(X)
    if isinstance(X, ParquetRows | DaskRows | ArrayRows):
        return X
    if hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed"):
        return DaskRows(X)
    return ArrayRows(X)
