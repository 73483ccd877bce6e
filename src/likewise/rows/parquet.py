"""Parquet files as a source: read batch by batch, never a whole file."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError, needs_extra
from likewise.rows.columns import (
    ROWS_PER_BATCH,
    Columns,
    Nulls,
    arrow_type,
    check_numeric,
    checked_nulls,
    values_between,
)
from likewise.rows.source import FileStamp, Source, check_columns, parts_of_sizes

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def from_parquet(
    paths: Paths,
    columns: Sequence[str] | None = None,
    *,
    nulls: Nulls = "error",
    client: Any = None,
) -> Source:
    """Return numeric columns of Parquet files as a source.

    Schemas, missing columns and nulls are checked now, as far as the metadata of the files allows.

    Parameters
    ----------
    paths : path, pattern, folder or sequence of them
        ``"events/*.parquet"``, a folder with Parquet files in it or below it, or a list. Files of
        a pattern or a folder are taken in the order of their names.
    columns : sequence of str, optional
        Which columns to use, in this order. By default all, which must then be numeric.
    nulls : "error" or float, default="error"
        Refuse missing values, or put this number in their place.
    client : distributed.Client, optional
        The cluster that reads them, whose workers see the same paths; by default this process.
    """
    return ParquetSource(paths, columns, nulls=nulls, client=client)


class ParquetSource(Source):
    """Numeric columns of Parquet files; made by `from_parquet`."""

    _gap_rows = ROWS_PER_BATCH

    def __init__(
        self, paths: Paths, columns: Sequence[str] | None, *, nulls: Nulls, client: Any
    ) -> None:
        nulls = checked_nulls(nulls)
        files = find_files(paths)
        self._stamps = [FileStamp.of(path) for path in files]
        opened = [_open(path) for path in files]
        schemas = [file.schema_arrow for file in opened]
        names = list(columns if columns is not None else schemas[0].names)
        _check_schemas(files, schemas, names, columns is None)
        if nulls == "error":
            for path, file in zip(files, opened, strict=True):
                _refuse_counted_nulls(path, file.metadata, names)
        self._groups = [
            [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
            for file in opened
        ]
        sizes = [sum(groups) for groups in self._groups]
        parts, self._files = parts_of_sizes(sizes, _names(files), [str(path) for path in files])
        if not parts:
            raise InputError(f"there are no rows in {', '.join(str(path) for path in files)}")
        self._columns = Columns(names, arrow_type(schemas[0], names), nulls)
        super().__init__(
            parts,
            len(names),
            self._columns.dtype,
            cuts=np.cumsum([n for groups in self._groups for n in groups]).tolist(),
            columns=names,
            client=client,
        )

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop` in order."""
        for i, part, low, high in self.overlaps(start, stop):
            yield from self._of_file(self._files[i], low - part.start, high - part.start)

    def check_unchanged(self) -> None:
        """Raise `InputError` if a file is not what it was."""
        for stamp in self._stamps:
            stamp.check()

    def records(
        self, numbers: ArrayLike, columns: Sequence[str] | None = None
    ) -> dict[str, list[Any]]:
        """Return some rows as columns of plain values, by default of all columns of the files."""
        import pyarrow

        distinct, position = np.unique(self._row_numbers(numbers), return_inverse=True)
        tables: list[Any] = []
        for part, index in zip(self.parts, self._files, strict=True):
            low, high = np.searchsorted(distinct, [part.start, part.stop])
            if low < high:
                path = self._stamps[index].path
                ends = np.cumsum(self._groups[index])
                tables += _some_rows(path, ends, distinct[low:high] - part.start, columns)
        found = pyarrow.concat_tables(tables, promote_options="default").take(position)
        return {name: found[name].to_pylist() for name in found.column_names}

    def _of_file(self, index: int, start: int, stop: int) -> Iterator[NDArray[Any]]:
        stamp = self._stamps[index]
        stamp.check()
        ends = np.cumsum(self._groups[index])
        first, last = np.searchsorted(ends, [start, stop - 1], side="right")
        with _open(stamp.path) as file:
            batches = file.iter_batches(
                batch_size=ROWS_PER_BATCH,
                row_groups=list(range(first, last + 1)),
                columns=self._columns.names,
                use_threads=False,
            )
            seen = int(ends[first] - self._groups[index][first])
            yield from values_between(batches, self._columns, seen, start, stop, str(stamp.path))


def _some_rows(
    path: Path, ends: NDArray[np.intp], rows: NDArray[np.intp], columns: Sequence[str] | None
) -> Iterator[Any]:
    """Yield tables of some rows of a file, one for every row group they lie in."""
    with _open(path) as file:
        check_columns(columns or (), file.schema_arrow.names, str(path))
        groups = np.searchsorted(ends, rows, side="right")
        for group in np.unique(groups):
            start = int(ends[group - 1]) if group else 0
            own = rows[groups == group] - start
            yield file.read_row_group(int(group), columns=columns, use_threads=False).take(own)


def find_files(paths: Paths) -> list[Path]:
    """Return the files that a path, a pattern, a folder or a list of them means, sorted.

    A list keeps its order.
    """
    if not isinstance(paths, str | os.PathLike):
        listed = [file for path in paths for file in find_files(path)]
        if not listed:
            raise InputError("no path was given: name Parquet files, a pattern or a folder")
        return listed
    text = os.fspath(paths)
    path = Path(text)
    if path.is_dir():
        found = sorted(
            p
            for p in path.rglob("*.parquet")
            if not any(name.startswith((".", "_")) for name in p.relative_to(path).parts)
        )
        if not found:
            raise InputError(f"the folder {text} has no .parquet files")
        return found
    if glob.has_magic(text) and not path.exists():
        found = sorted(Path(name) for name in glob.glob(text, recursive=True))
        if not found:
            raise InputError(f"no file matches {text}")
        return found
    return [path]


def _check_schemas(
    files: Sequence[Path], schemas: Sequence[Any], columns: Sequence[str], is_all: bool
) -> None:
    if not columns:
        raise InputError(f"{files[0]} has no columns to use")
    if len(set(columns)) < len(columns):
        raise InputError(f"columns must differ from each other, got {list(columns)}")
    for path, schema in zip(files, schemas, strict=True):
        check_columns(columns, schema.names, str(path))
        check_numeric(schema, columns, str(path))
        extra = [name for name in schema.names if name not in columns]
        if is_all and extra:
            raise InputError(
                f"{path} has a column {extra[0]!r} that {files[0]} does not have. Say which to use "
                "with columns=[...]"
            )
        for name in columns:
            kind, expected = schema.field(name).type, schemas[0].field(name).type
            if kind != expected:
                raise InputError(
                    f"column {name!r} holds {kind} in {path} but {expected} in {files[0]}. Write "
                    "the files with one schema."
                )


def _refuse_counted_nulls(path: Path, metadata: Any, columns: Sequence[str]) -> None:
    """Raise `InputError` for nulls that the statistics of the file report."""
    wanted = set(columns)
    for g in range(metadata.num_row_groups):
        group = metadata.row_group(g)
        for c in range(group.num_columns):
            chunk = group.column(c)
            counts = chunk.statistics
            if chunk.path_in_schema in wanted and counts is not None and counts.null_count:
                raise InputError(
                    f"column {chunk.path_in_schema!r} of {path} has {counts.null_count} nulls in "
                    f"row group {g}. Give a number to put there, as in nulls=0.0, or leave such "
                    "rows out."
                )


def _names(files: Sequence[Path]) -> list[str]:
    """Return the names of files relative to the folder they share, without their endings."""
    whole = [path.resolve() for path in files]
    common = Path(os.path.commonpath([str(path.parent) for path in whole]))
    names = [str(path.relative_to(common).with_suffix("")) for path in whole]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the file {twice} was given more than once")
    return names


def _open(path: Path) -> Any:
    with needs_extra("reading Parquet", "tables"):
        from pyarrow import ArrowInvalid, parquet
    try:
        # Reading ahead, pyarrow's default, holds whole files in memory.
        return parquet.ParquetFile(path, pre_buffer=False)
    except (ArrowInvalid, OSError) as error:
        raise InputError(f"{path} is no Parquet file, or is cut: {error}") from error
