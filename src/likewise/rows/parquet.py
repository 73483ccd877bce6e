"""Parquet files as a source: read batch by batch, never a whole file."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError, MissingExtraError
from likewise.rows.source import FileStamp, Part, Source, value_type
from likewise.rows.sweep import rows_per_block

_ROWS_PER_BATCH = 2**16

Nulls = Literal["error"] | float
"""What to do about missing values: refuse them, or put this number in their place."""

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class ParquetSource(Source):
    """Numeric columns of Parquet files; see `likewise.scale.from_parquet`."""

    def __init__(
        self,
        paths: Paths,
        columns: Sequence[str] | None = None,
        *,
        nulls: Nulls = "error",
        client: Any = None,
    ) -> None:
        self.nulls = checked_nulls(nulls)
        self.client = client
        files = find_files(paths)
        self._stamps = [FileStamp.of(path) for path in files]
        opened = [_open(path) for path in files]
        self.columns = list(columns if columns is not None else opened[0].schema_arrow.names)
        _check_columns(files, [file.schema_arrow for file in opened], self.columns, columns is None)
        self.n_features = len(self.columns)
        schema = opened[0].schema_arrow
        types = [schema.field(name).type.to_pandas_dtype() for name in self.columns]
        self.dtype = value_type([np.dtype(t) for t in types])
        self.block_rows = rows_per_block(self.n_features, self.dtype)
        if nulls == "error":
            for path, file in zip(files, opened, strict=True):
                _refuse_counted_nulls(path, file.metadata, self.columns)
        self._groups = [
            [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
            for file in opened
        ]
        self.parts, self._files = _parts(files, [sum(groups) for groups in self._groups])
        self.cuts = np.cumsum([n for groups in self._groups for n in groups]).tolist()

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop` in order."""
        for part, index in zip(self.parts, self._files, strict=True):
            low, high = max(start, part.start), min(stop, part.stop)
            if low < high:
                yield from self._of_file(index, low - part.start, high - part.start)

    def check_unchanged(self) -> None:
        """Raise `InputError` if a file is not what it was."""
        for stamp in self._stamps:
            stamp.check()

    def records(
        self, numbers: ArrayLike, columns: Sequence[str] | None = None
    ) -> dict[str, list[Any]]:
        """Return some rows as columns of plain values, by default of all columns of the files."""
        import pyarrow

        wanted = np.asarray(numbers, dtype=np.intp).reshape(-1)
        distinct, position = np.unique(wanted, return_inverse=True)
        tables: list[Any] = []
        for part, index in zip(self.parts, self._files, strict=True):
            low, high = np.searchsorted(distinct, [part.start, part.stop])
            if low < high:
                path = self._stamps[index].path
                ends = np.cumsum(self._groups[index])
                inside = distinct[low:high] - part.start
                tables += _some_rows(path, ends, inside, columns)
        found = pyarrow.concat_tables(tables, promote_options="default").take(position)
        return {name: found[name].to_pylist() for name in found.column_names}

    def _of_file(self, index: int, start: int, stop: int) -> Iterator[NDArray[Any]]:
        stamp = self._stamps[index]
        stamp.check()
        ends = np.cumsum(self._groups[index])
        first, last = np.searchsorted(ends, [start, stop - 1], side="right")
        seen = int(ends[first] - self._groups[index][first])
        names = list(self.columns or ())
        try:
            with _open(stamp.path) as file:
                for batch in file.iter_batches(
                    batch_size=_ROWS_PER_BATCH,
                    row_groups=list(range(first, last + 1)),
                    columns=names,
                    use_threads=False,
                ):
                    low, high = max(start - seen, 0), min(stop - seen, len(batch))
                    if low < high:
                        where = f"{stamp.path}, rows {seen} to {seen + len(batch) - 1}"
                        piece = batch.slice(low, high - low)
                        yield batch_values(piece, names, self.dtype, self.nulls, where)
                    seen += len(batch)
                    if seen >= stop:
                        break
        except OSError as error:
            raise InputError(
                f"{stamp.path} cannot be read; it is cut or damaged: {error}"
            ) from error
        if seen < stop:
            raise InputError(f"{stamp.path} ended after {seen} rows; it is cut or damaged")

    def _stretch_rows(self) -> int:
        return _ROWS_PER_BATCH

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "client": None}


def _some_rows(
    path: Path, ends: NDArray[np.intp], rows: NDArray[np.intp], columns: Sequence[str] | None
) -> Iterator[Any]:
    """Yield tables of some rows of a file, one for every row group they lie in."""
    with _open(path) as file:
        for name in columns or ():
            if name not in file.schema_arrow.names:
                raise InputError(
                    f"{path} has no column {name!r}; it has {', '.join(file.schema_arrow.names)}"
                )
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
        return [file for path in paths for file in find_files(path)]
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


def batch_values(
    batch: Any, columns: Sequence[str], dtype: np.dtype[Any], nulls: Nulls, where: str
) -> NDArray[Any]:
    """Return some columns of a batch as a matrix."""
    values = np.empty((len(batch), len(columns)), dtype=dtype)
    for i, name in enumerate(columns):
        column = batch.column(name)
        if column.null_count:
            if nulls == "error":
                row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
                raise InputError(
                    f"column {name!r} has {column.null_count} nulls in {where} (the first is "
                    f"{row} rows on). Give a number to put there, as in nulls=0.0, or leave such "
                    "rows out."
                )
            column = column.fill_null(_like(column.type, nulls))
        values[:, i] = column.to_numpy(zero_copy_only=False)
    return values


def checked_nulls(nulls: Any) -> Nulls:
    """Return a policy for missing values, or raise `InputError`."""
    if nulls == "error" or (isinstance(nulls, int | float) and np.isfinite(nulls)):
        return nulls if nulls == "error" else float(nulls)
    raise InputError(f'nulls must be "error" or a number to put in their place, got {nulls!r}')


def check_numeric(schema: Any, columns: Iterable[str], name: str) -> None:
    """Raise `InputError` for a column that holds no numbers."""
    from pyarrow import types

    for column in columns:
        kind = schema.field(column).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            numeric = [
                f.name for f in schema if types.is_integer(f.type) or types.is_floating(f.type)
            ]
            raise InputError(
                f"column {column!r} of {name} holds {kind}, not numbers. Choose among the numeric "
                f"columns with columns=[...]: {', '.join(numeric) or 'there are none'}"
            )


def _check_columns(
    files: Sequence[Path], schemas: Sequence[Any], columns: Sequence[str], is_all: bool
) -> None:
    if not columns:
        raise InputError(f"{files[0]} has no columns to use")
    if len(set(columns)) < len(columns):
        raise InputError(f"columns must differ from each other, got {list(columns)}")
    for path, schema in zip(files, schemas, strict=True):
        missing = [name for name in columns if name not in schema.names]
        if missing:
            raise InputError(
                f"{path} has no column {missing[0]!r}; it has {', '.join(schema.names)}"
            )
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
    """Raise `InputError` for nulls that the file's own statistics tell of."""
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


def _parts(files: Sequence[Path], counts: Sequence[int]) -> tuple[list[Part], list[int]]:
    """Return the files that have rows as parts, and which files these are."""
    if sum(counts) == 0:
        raise InputError(f"there are no rows in {', '.join(str(path) for path in files)}")
    parents = [str(path.resolve().parent) for path in files]
    common = Path(os.path.commonpath(parents))
    names = [str(path.resolve().relative_to(common).with_suffix("")) for path in files]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the file {twice} was given more than once")
    starts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    used = [i for i, n in enumerate(counts) if n]
    return [Part(names[i], starts[i], starts[i + 1], str(files[i])) for i in used], used


def _open(path: Path) -> Any:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError as error:
        raise MissingExtraError("reading Parquet", "tables") from error
    try:
        # Reading ahead, pyarrow's default, holds whole files in memory.
        return parquet.ParquetFile(path, pre_buffer=False)
    except (ArrowInvalid, OSError) as error:
        raise InputError(f"{path} is no Parquet file, or is cut: {error}") from error


def _like(kind: Any, value: float) -> Any:
    import pyarrow

    return pyarrow.scalar(value).cast(kind)
