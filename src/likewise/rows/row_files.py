"""Rows in Parquet and ``.npy`` files, read in batches and never held as a whole."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, needs_extra
from likewise.files import check_regular
from likewise.rows import blocks
from likewise.rows.blocks import Check, Compute, blocks_of, map_blocks, mapped, matrix_type


@dataclass(frozen=True)
class RowFile:
    """A Parquet file as it was when it was opened."""

    path: Path
    size: int
    modified: int
    groups: tuple[int, ...]
    first_row: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.groups)

    def check(self) -> None:
        """Raise `InputError` if the file has changed."""
        try:
            now = self.path.stat()
        except OSError as error:
            raise InputError(
                f"{self.path} has gone since it was opened: {error.strerror}"
            ) from None
        if (now.st_size, now.st_mtime_ns) != (self.size, self.modified):
            raise InputError(f"{self.path} has changed since it was opened; open it again")


class ParquetRows:
    """Columns of numbers in Parquet files, read in batches and never held as a whole.

    Parameters
    ----------
    paths : path, pattern, folder or sequence of them
        ``"events/*.parquet"``, a folder with Parquet files in it or below it, or a list. The files
        of a pattern or a folder are taken in the order of their names.
    columns : sequence of str, optional
        Which columns to use, in this order. By default all, which must then be numbers.

    Examples
    --------
    >>> import tempfile, pyarrow
    >>> from pyarrow import parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pyarrow.table({"a": [1.0, 2.0], "name": ["x", "y"], "b": [3, 4]})
    ...     parquet.write_table(table, f"{folder}/events.parquet")
    ...     ParquetRows(folder, columns=["b", "a"]).take([1])
    array([[4., 2.]])
    """

    is_in_memory = False

    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        columns: Sequence[str] | None = None,
    ) -> None:
        paths = find_files(paths)
        self.files: list[RowFile] = []
        schemas = []
        first_row = 0
        for path in paths:
            with _open(path) as file:
                stat = path.stat()
                metadata = file.metadata
                sizes = [metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
                schemas.append(file.schema_arrow)
                self.names = list(columns if columns is not None else schemas[0].names)
                _check_schema(path, schemas, self.names, is_all=columns is None)
                _refuse_counted_nulls(path, metadata, self.names)
            each = RowFile(path, stat.st_size, stat.st_mtime_ns, tuple(sizes), first_row)
            self.files.append(each)
            first_row += each.n_rows
        self.n_rows = first_row
        self.n_features = len(self.names)
        if not self.n_rows:
            raise InputError(f"there are no rows in {', '.join(map(str, paths))}")
        types = [schemas[0].field(name).type.to_pandas_dtype() for name in self.names]
        self.dtype = matrix_type([np.dtype(t) for t in types])

    def blocks(self, file: RowFile | None = None) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the number of the first row and the rows of every block, of all files or one."""
        for each in self.files if file is None else [file]:
            number = each.first_row
            for batch in self._batches(each, range(len(each.groups)), self.names):
                yield number, self._matrix(batch, each, number)
                number += len(batch)
            if number != each.first_row + each.n_rows:
                raise InputError(f"{each.path} ended after {number - each.first_row} rows")

    def take(self, numbers: Any) -> NDArray[Any]:
        """Return the rows of given numbers, which increase; row groups without any are not read.

        With None, return all rows.
        """
        numbers = np.asarray(range(self.n_rows) if numbers is None else numbers, dtype=np.intp)
        rows = [
            self._matrix(batch.take(places), file, number)
            for file, batch, places, number in self._where(numbers, self.names)
        ]
        return np.concatenate(rows) if rows else np.empty((0, len(self.names)), self.dtype)

    def map(
        self, compute: Compute, check: Check, dtype: Any, n_columns: int | None = None
    ) -> NDArray[Any]:
        """Return what a function returns for all rows, block by block."""
        return map_blocks(self.blocks(), self.n_rows, compute, check, dtype, n_columns)

    def records(
        self, numbers: NDArray[np.intp], columns: Sequence[str] | None = None
    ) -> dict[str, list[Any]]:
        """Return rows as columns of plain values, to be shown; by default all columns."""
        values: dict[str, list[Any]] = {}
        for file, batch, places, _ in self._where(numbers, columns):
            for name in columns or batch.schema.names:
                if name not in batch.schema.names:
                    raise InputError(f"{file.path} has no column {name!r}")
                values.setdefault(name, []).extend(batch.column(name).take(places).to_pylist())
        return values

    def _where(
        self, numbers: NDArray[np.intp], columns: Sequence[str] | None
    ) -> Iterator[tuple[RowFile, Any, NDArray[np.intp], int]]:
        """Yield the batches that rows lie in, their places there, and the batch's first row."""
        for file in self.files:
            low, high = np.searchsorted(numbers, [file.first_row, file.first_row + file.n_rows])
            inside = numbers[low:high] - file.first_row
            ends = np.cumsum(file.groups)
            for group in np.unique(np.searchsorted(ends, inside, side="right")):
                start = int(ends[group]) - file.groups[group]
                for batch in self._batches(file, [int(group)], columns):
                    a, b = np.searchsorted(inside, [start, start + len(batch)])
                    if a < b:
                        yield file, batch, inside[a:b] - start, file.first_row + start
                    start += len(batch)

    def _batches(
        self, file: RowFile, groups: Sequence[int], columns: Sequence[str] | None
    ) -> Iterator[Any]:
        file.check()
        try:
            with _open(file.path) as parquet:
                yield from parquet.iter_batches(
                    batch_size=blocks.BLOCK_ROWS,
                    row_groups=list(groups),
                    columns=list(columns) if columns is not None else None,
                    use_threads=False,
                )
        except OSError as error:
            file.check()
            raise InputError(
                f"{file.path} cannot be read; it is truncated or damaged: {error}"
            ) from error
        file.check()

    def _matrix(self, batch: Any, file: RowFile, number: int) -> NDArray[Any]:
        values = np.empty((len(batch), len(self.names)), dtype=self.dtype)
        for i, name in enumerate(self.names):
            column = batch.column(name)
            if column.null_count:
                row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
                raise _null(name, file.path, f"at row {number - file.first_row + row} or after")
            values[:, i] = column.to_numpy(zero_copy_only=False)
        return values


class NpyRows:
    """The rows of a ``.npy`` file, which is mapped into memory; has what `ParquetRows` has."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        array = mapped(self.path)
        if array.ndim != 2 or array.dtype.kind not in "fiub" or not array.size:
            raise InputError(f"{path} must hold rows of numbers, got {array.dtype} {array.shape}")
        stat = self.path.stat()
        self.n_rows, self.n_features = array.shape
        self.dtype = matrix_type([array.dtype])
        self.names = [str(k) for k in range(self.n_features)]
        self.files = [RowFile(self.path, stat.st_size, stat.st_mtime_ns, (self.n_rows,), 0)]

    def blocks(self, file: RowFile) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the number of the first row and the rows of every block."""
        for number, block in blocks_of(mapped(self.path)):
            # Touching a page beyond the end of a file that was cut would end the process.
            file.check()
            yield number, np.ascontiguousarray(block, dtype=self.dtype)
        file.check()

    def take(self, numbers: Any) -> NDArray[Any]:
        """Return the rows of given numbers."""
        self.files[0].check()
        return np.ascontiguousarray(mapped(self.path)[np.asarray(numbers)], dtype=self.dtype)

    def records(
        self, numbers: NDArray[np.intp], columns: Sequence[str] | None = None
    ) -> dict[str, list[Any]]:
        """Return rows as columns of plain values, to be shown; by default all columns."""
        values = self.take(numbers)
        for name in columns or ():
            if name not in self.names:
                raise InputError(f"{self.path} has no column {name!r}; they are numbered from 0")
        return {name: values[:, int(name)].tolist() for name in columns or self.names}


def find_files(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Return the files that a path, a pattern, a folder or a list of them means."""
    if not isinstance(paths, str | os.PathLike):
        listed = [file for path in paths for file in find_files(path)]
        if not listed:
            raise InputError("no path was given: name Parquet files, a pattern or a folder")
        if len({path.resolve() for path in listed}) < len(listed):
            raise InputError("a Parquet file was given more than once")
        return listed
    path = Path(paths)
    if path.is_dir():
        files = [
            file
            for file in path.rglob("*.parquet")
            if not any(name.startswith((".", "_")) for name in file.relative_to(path).parts)
        ]
    elif glob.has_magic(str(path)) and not path.exists():
        files = list(map(Path, glob.glob(str(path), recursive=True)))
    else:
        files = [path]
    if not files and path.is_dir():
        raise InputError(
            f"no file matches {path / '**/*.parquet'}. likewise.open_items reads a folder of "
            f"pictures: model.fit(likewise.open_items({str(path)!r}), ...)"
        )
    if not files:
        raise InputError(f"no file matches {path}")
    return _in_order(files)


def _in_order(files: Iterable[Path]) -> list[Path]:
    """Return files by their names, with part.2 before part.10, as Dask reads them."""

    def key(path: Path) -> list[Any]:
        tokens = re.split(r"(\d+)", str(path))  # every second one is a number
        return [int(token) if k % 2 else token for k, token in enumerate(tokens)]

    return sorted(files, key=key)


def _open(path: Path) -> Any:
    with needs_extra("reading Parquet", "tables"):
        from pyarrow import ArrowInvalid, parquet
    try:
        check_regular(path)
        # Reading ahead, pyarrow's default, holds whole files in memory.
        return parquet.ParquetFile(path, pre_buffer=False)
    except FileNotFoundError:
        raise InputError(
            f"there is no file or folder {str(path)!r}: X is rows of numbers, or a path to them"
        ) from None
    except (ArrowInvalid, OSError) as error:
        raise InputError(
            f"{path} is not a Parquet file, or is truncated: {error}. Rows in files are read from "
            "Parquet files and .npy files; likewise.open_items opens others"
        ) from error


def _check_schema(
    path: Path, schemas: Sequence[Any], columns: Sequence[str], *, is_all: bool
) -> None:
    """Raise `InputError` unless a file has the columns, all of numbers, as the first file does."""
    from pyarrow import types

    schema, first = schemas[-1], schemas[0]
    if not columns or len(set(columns)) < len(columns):
        raise InputError(f"columns must be one or more different names, got {list(columns)}")
    if is_all and set(schema.names) != set(columns):
        other = sorted(set(schema.names) ^ set(columns))[0]
        raise InputError(f"only some of the files have a column {other!r}, such as not {path}")
    for name in columns:
        if name not in schema.names:
            raise InputError(f"{path} has no column {name!r}; it has {', '.join(schema.names)}")
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise InputError(
                f"column {name!r} of {path} holds {kind}, not numbers. Choose the columns of "
                "numbers: likewise.rows.ParquetRows(path, columns=[...]), or --columns"
            )
        if kind != first.field(name).type:
            raise InputError(
                f"column {name!r} holds {kind} in {path} but {first.field(name).type} in the "
                "first file. Write the files with one schema."
            )


def _refuse_counted_nulls(path: Path, metadata: Any, columns: Sequence[str]) -> None:
    """Raise `InputError` for nulls that the statistics of a file report."""
    for g in range(metadata.num_row_groups):
        group = metadata.row_group(g)
        for c in range(group.num_columns):
            chunk = group.column(c)
            n = 0 if chunk.statistics is None else chunk.statistics.null_count or 0
            if n and chunk.path_in_schema in columns:
                raise _null(chunk.path_in_schema, path, f"in row group {g}, {n} in all")


def _null(name: str, path: Path, place: str) -> InputError:
    remedy = "Fill in what is missing, or leave out these rows"
    return InputError(f"column {name!r} of {path} has a null {place}. {remedy}.")
