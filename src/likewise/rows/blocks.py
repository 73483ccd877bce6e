"""Rows that are read block by block: arrays, memory maps, Parquet files and Dask collections.

This is the only module of the method that knows Dask and pyarrow.
"""

from __future__ import annotations

import glob
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import ClusterLostError, InputError, needs_extra
from likewise.words import plural

BLOCK_ROWS = 2**16
"""How many rows are read and predicted at a time: a few megabytes. With half or twice as many,
reading a Parquet file takes as long."""

TIMEOUT = "300s"
"""How long a Dask cluster may take for one partition before it counts as lost, unless the Dask
setting ``likewise.timeout`` says otherwise. No workers, or workers that die again and again, would
be waited for without end."""

MANIFEST = "_manifest.json"
"""This file is in every folder of labels."""

_TILE = 64
"""Blocks are filled up to a multiple of this many rows before they are predicted. The product of a
matrix and a single row has other last bits than the same row in a block."""

Labels = Callable[[int, NDArray[Any]], NDArray[np.intp]]
"""The labels of the rows of a block, of which the first has the given number."""


def opened(X: Any) -> Any:
    """Return data outside of memory as `ParquetRows`, `NpyRows` or `DaskRows`; other data as is."""
    if isinstance(X, str | os.PathLike):
        path = Path(X)
        return mapped(path) if path.suffix == ".npy" else ParquetRows(X)
    if hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed"):
        return DaskRows(X)
    return X


def mapped(path: Path) -> NDArray[Any]:
    """Return the array in a ``.npy`` file, mapped into memory."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot open {path}: {error.strerror or error}") from error
    except Exception as error:  # numpy reads the header as Python text, which can fail in any way
        raise InputError(
            f"{path} is no .npy file of numbers, or is cut: {error}. Write it again with numpy.save"
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


def in_tiles(function: Callable[[NDArray[Any]], NDArray[Any]], rows: NDArray[Any]) -> NDArray[Any]:
    """Apply a function to rows, with the same bits whatever the block size."""
    n_rows = len(rows)
    n_lacking = -n_rows % _TILE
    if n_lacking and n_rows:
        rows = np.concatenate([rows, np.broadcast_to(rows[-1:], (n_lacking, rows.shape[1]))])
    return function(rows)[:n_rows]


def matrix_type(dtypes: Sequence[Any]) -> np.dtype[Any]:
    """Return float32 if that is the type of all columns, otherwise float64."""
    return np.dtype(np.float32 if all(t == np.float32 for t in dtypes) else np.float64)


# -- Parquet -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """A Parquet file as it was when it was opened."""

    path: Path
    size: int
    modified: int
    groups: tuple[int, ...]
    first_row: int

    @property
    def n_rows(self) -> int:
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

    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        columns: Sequence[str] | None = None,
    ) -> None:
        paths = find_files(paths)
        self.files: list[_File] = []
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
            each = _File(path, stat.st_size, stat.st_mtime_ns, tuple(sizes), first_row)
            self.files.append(each)
            first_row += each.n_rows
        self.n_rows = first_row
        self.n_features = len(self.names)
        if not self.n_rows:
            raise InputError(f"there are no rows in {', '.join(map(str, paths))}")
        types = [schemas[0].field(name).type.to_pandas_dtype() for name in self.names]
        self.dtype = matrix_type([np.dtype(t) for t in types])

    def blocks(self, file: _File | None = None) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the number of the first row and the rows of every block, of all files or one."""
        for each in self.files if file is None else [file]:
            number = each.first_row
            for batch in self._batches(each, range(len(each.groups))):
                yield number, self._matrix(batch, each, number)
                number += len(batch)
            if number != each.first_row + each.n_rows:
                raise InputError(f"{each.path} ended after {number - each.first_row} rows")

    def take(self, numbers: Any) -> NDArray[Any]:
        """Return the rows of given numbers, which increase; row groups without any are not read."""
        numbers = np.asarray(numbers, dtype=np.intp)
        rows = [
            self._matrix(batch.take(places), file, number)
            for file, batch, places, number in self._where(numbers, self.names)
        ]
        return np.concatenate(rows) if rows else np.empty((0, len(self.names)), self.dtype)

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
    ) -> Iterator[tuple[_File, Any, NDArray[np.intp], int]]:
        """Yield the batches that rows lie in, their places there, and the batch's first row."""
        for file in self.files:
            low, high = np.searchsorted(numbers, [file.first_row, file.first_row + file.n_rows])
            own = numbers[low:high] - file.first_row
            ends = np.cumsum(file.groups)
            for group in np.unique(np.searchsorted(ends, own, side="right")):
                start = int(ends[group]) - file.groups[group]
                for batch in self._batches(file, [int(group)], columns):
                    a, b = np.searchsorted(own, [start, start + len(batch)])
                    if a < b:
                        yield file, batch, own[a:b] - start, file.first_row + start
                    start += len(batch)

    def _batches(
        self, file: _File, groups: Sequence[int], columns: Sequence[str] | None = None
    ) -> Iterator[Any]:
        file.check()
        try:
            with _open(file.path) as parquet:
                yield from parquet.iter_batches(
                    batch_size=BLOCK_ROWS,
                    row_groups=list(groups),
                    columns=list(columns) if columns is not None else None,
                    use_threads=False,
                )
        except OSError as error:
            file.check()
            raise InputError(
                f"{file.path} cannot be read; it is cut or damaged: {error}"
            ) from error
        file.check()

    def _matrix(self, batch: Any, file: _File, number: int) -> NDArray[Any]:
        values = np.empty((len(batch), len(self.names)), dtype=self.dtype)
        for i, name in enumerate(self.names):
            column = batch.column(name)
            if column.null_count:
                row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
                raise InputError(
                    f"column {name!r} of {file.path} has a null, at row "
                    f"{number - file.first_row + row} or after. Fill in what is missing, or leave "
                    "out these rows."
                )
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
        self.files = [_File(self.path, stat.st_size, stat.st_mtime_ns, (self.n_rows,), 0)]

    def blocks(self, file: _File) -> Iterator[tuple[int, NDArray[Any]]]:
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
        inside = _in_order(
            file
            for file in path.rglob("*.parquet")
            if not any(name.startswith((".", "_")) for name in file.relative_to(path).parts)
        )
        if not inside:
            raise InputError(f"the folder {path} has no .parquet files")
        return inside
    if glob.has_magic(str(path)) and not path.exists():
        inside = _in_order(map(Path, glob.glob(str(path), recursive=True)))
        if not inside:
            raise InputError(f"no file matches {path}")
        return inside
    return [path]


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
        # Reading ahead, pyarrow's default, holds whole files in memory.
        return parquet.ParquetFile(path, pre_buffer=False)
    except (ArrowInvalid, OSError) as error:
        raise InputError(
            f"{path} is no Parquet file, is cut or is not there: {error}. Rows in files are read "
            "from Parquet files and .npy files"
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
                raise InputError(
                    f"column {chunk.path_in_schema!r} of {path} has {plural(n, 'null')} in row "
                    f"group {g}. Fill in what is missing, or leave out these rows."
                )


def write_labels(
    rows: ParquetRows | NpyRows,
    labels_of: Labels,
    folder: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    is_on_cluster: bool = False,
    watch: NDArray[np.intp] | None = None,
    check: Callable[[NDArray[Any]], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write the labels to Parquet files, unless `check` refuses the rows in `watch` as read."""
    target = Path(os.path.abspath(folder))
    _check_folder(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    files = [file.path.resolve() for file in rows.files]
    common = Path(os.path.commonpath([path.parent for path in files]))
    names = [str(path.relative_to(common).with_suffix(".parquet")) for path in files]
    if len(set(names)) < len(names):
        raise InputError(f"two files differ only in their endings, such as {names[0]}; rename one")
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as place:
        new = Path(place, "labels")
        new.mkdir()
        watch = np.empty(0, dtype=np.intp) if watch is None else watch
        write = partial(_write_file, rows, labels_of, new, watch)
        results: Iterator[tuple[set[int], NDArray[Any]]] = map(write, rows.files, names)
        if is_on_cluster:
            import dask

            lazy = dask.delayed(write, pure=False)
            tasks = [lazy(*pair) for pair in zip(rows.files, names, strict=True)]
            results = iter(computed(tasks))
        labels: set[int] = set()
        watched: list[NDArray[Any]] = []
        parts: list[dict[str, Any]] = []
        for file, name, (own, rows_read) in zip(rows.files, names, results, strict=True):
            if not Path(new, name).exists():
                raise InputError(
                    f"a worker wrote {Path(new, name)}, but it is not there: the folder must be "
                    "one that all workers and this process share"
                )
            labels |= own
            watched.append(rows_read)
            parts.append({"file": name, "first_row": file.first_row, "n_rows": file.n_rows})
            if progress is not None:
                progress(file.first_row + file.n_rows)
        if check is not None:
            check(np.concatenate(watched))
        about = {"format": "likewise-labels", "n_rows": rows.n_rows, "n_groups": len(labels)}
        text = json.dumps({**about, "parts": parts}, indent=1)
        Path(new, MANIFEST).write_text(text, encoding="utf-8")
        if target.exists():
            os.replace(target, Path(place, "before"))
        os.replace(new, target)
    return len(labels)


def _check_folder(folder: Path, overwrite: bool) -> None:
    """Raise `InputError` for a folder that labels may not be written to."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; labels are written to a folder")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MANIFEST).exists():
            raise InputError(f"the folder {folder} is not empty and has no labels; choose another")
        if not overwrite:
            raise InputError(f"the folder {folder} has labels already: choose another or overwrite")


def _write_file(
    rows: ParquetRows | NpyRows,
    labels_of: Labels,
    folder: Path,
    watch: NDArray[np.intp],
    file: _File,
    name: str,
) -> tuple[set[int], NDArray[Any]]:
    """Write the labels of one file; return the labels, and its rows that are watched."""
    import pyarrow
    from pyarrow import parquet

    final = folder / name
    final.parent.mkdir(parents=True, exist_ok=True)
    schema = pyarrow.schema([("row", pyarrow.int64()), ("label", pyarrow.int32())])
    labels: set[int] = set()
    watched = [np.empty((0, len(rows.names)), rows.dtype)]
    # A cluster may write a file twice, so every attempt has a name of its own.
    descriptor, attempt = tempfile.mkstemp(prefix=".", dir=final.parent)
    os.close(descriptor)
    encodings = {"use_dictionary": ["label"], "column_encoding": {"row": "DELTA_BINARY_PACKED"}}
    with parquet.ParquetWriter(attempt, schema, **encodings) as writer:
        for number, block in rows.blocks(file):
            own = labels_of(number, block).astype(np.int32)
            low, high = np.searchsorted(watch, [number, number + len(block)])
            watched.append(block[watch[low:high] - number])
            labels |= set(np.unique(own).tolist())
            columns = [np.arange(number, number + len(block)), own]
            writer.write_table(pyarrow.table(columns, schema=schema))
    os.chmod(attempt, 0o644)
    os.replace(attempt, final)
    return labels, np.concatenate(watched)


# -- Dask ----------------------------------------------------------------------------------------


class DaskRows:
    """A Dask array or data frame of numbers."""

    def __init__(self, data: Any) -> None:
        with needs_extra("working with Dask", "dask"):
            import dask.array  # noqa: F401
        self.names: list[str] | None = None
        self.is_frame = hasattr(data, "columns") and data.ndim == 2
        if self.is_frame:
            self.names = [str(name) for name in data.columns]
            dtypes = list(data.dtypes)
            for name, dtype in zip(data.columns, dtypes, strict=True):
                if getattr(dtype, "kind", "O") not in "fiub":
                    raise InputError(
                        f"column {name!r} of the Dask data frame holds {dtype}, not numbers. "
                        "Choose the columns of numbers first, as by frame[[...]]"
                    )
        else:
            dtypes = [data.dtype]
            if getattr(data, "ndim", 0) != 2 or data.dtype.kind not in "fiub":
                raise InputError(
                    "a Dask data frame, or a Dask array with rows and columns of numbers, is "
                    f"needed; got {type(data).__name__} of {getattr(data, 'dtype', 'no')} numbers"
                )
            data = data.rechunk({1: -1})
        self.data = data
        self.dtype = matrix_type(dtypes)
        self._sizes: list[int] | None = None

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.data.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows; unless a Dask array knows it, all partitions are counted."""
        if self._sizes is None:
            sizes = None if self.is_frame else self.data.chunks[0]
            if sizes is None or np.isnan(sizes).any():
                import dask

                # One column is enough to count rows, where columns are read separately.
                counted = self.data.iloc[:, :1] if self.is_frame else self.data
                length = dask.delayed(len)
                sizes = computed([length(part) for part in np.ravel(counted.to_delayed())])
            self._sizes = [int(n) for n in sizes]
        if not sum(self._sizes):
            raise InputError("the Dask collection has no rows")
        return sum(self._sizes)

    def take(self, numbers: Any) -> NDArray[Any]:
        """Return the rows of given numbers, which increase; only these are sent."""
        import dask

        numbers = np.asarray(numbers, dtype=np.intp)
        ends = np.cumsum([0, *(self._sizes or [self.n_rows])])
        assert self._sizes is not None
        pick = dask.delayed(_pick)
        parts = np.ravel(self.data.to_delayed())
        tasks = []
        for k, (part, size) in enumerate(zip(parts, self._sizes, strict=True)):
            low, high = np.searchsorted(numbers, ends[k : k + 2])
            if low < high:
                tasks.append(pick(part, numbers[low:high] - ends[k], k, size, self.dtype))
        return np.concatenate(computed(tasks))

    def map(
        self,
        function: Callable[[NDArray[Any]], NDArray[Any]],
        dtype: Any,
        n_columns: int | None = None,
    ) -> Any:
        """Return, lazily, what a function of a block of rows returns for all rows."""
        like = np.empty((0,) if n_columns is None else (0, n_columns), dtype=dtype)
        if self.is_frame:
            like = _framed(like, self.data._meta.index[:0])
            return self.data.map_partitions(_map_frame, function, self.dtype, meta=like)
        shape: dict[str, Any] = {"drop_axis": 1}
        if n_columns is not None:
            shape = {"chunks": (self.data.chunks[0], (n_columns,))}
        return self.data.map_blocks(_map_array, function, self.dtype, meta=like, **shape)


def _pick(
    part: Any, places: NDArray[np.intp], k: int, size: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return rows of a partition, which must have as many rows as it had when it was counted."""
    if len(part) != size:
        raise InputError(
            f"partition {k} had {plural(size, 'row')} and has {len(part)} now: the Dask collection "
            "gives other rows each time it is computed. Write it to Parquet first, or persist it."
        )
    return _values(part, dtype)[places]


def _values(part: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    if hasattr(part, "columns"):
        return np.ascontiguousarray(part.to_numpy(dtype=dtype, na_value=np.nan))
    return np.ascontiguousarray(part, dtype=dtype)


def _map_array(part: Any, function: Callable[..., Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.asarray(function(_values(part, dtype)))


def _map_frame(part: Any, function: Callable[..., Any], dtype: np.dtype[Any]) -> Any:
    return _framed(function(_values(part, dtype)), part.index)


def _framed(values: NDArray[Any], index: Any) -> Any:
    import pandas

    if values.ndim == 1:
        return pandas.Series(values, index=index, name="label")
    return pandas.DataFrame(values, index=index)


def connect(address: str | None) -> Any:
    """Return a client of the Dask scheduler at an address, or None without one."""
    if address is None:
        return None
    with needs_extra("working on a cluster", "dask"):
        from distributed import Client
    try:
        return Client(address, timeout="10s")
    except OSError as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from error


def computed(tasks: Sequence[Any]) -> list[Any]:
    """Return the results of Dask tasks; a cluster has ``likewise.timeout`` for each."""
    import dask
    from dask.utils import parse_timedelta

    client = getattr(dask.base.get_scheduler(), "__self__", None)
    if client is None:
        try:
            return list(dask.compute(*tasks))
        except ValueError as error:
            if "Missing dependency" not in str(error):
                raise
            raise ClusterLostError(
                f"the Dask cluster that held the rows is closed: {error}"
            ) from error
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    limit = dask.config.get("likewise.timeout", TIMEOUT)
    futures: list[Any] = []
    try:
        futures = client.compute(list(tasks))
        return [future.result(timeout=parse_timedelta(limit)) for future in futures]
    except TimeoutError as error:
        raise ClusterLostError(
            f"no result came from the Dask cluster within {limit}: has it workers, and do they "
            "live? dask.config.set({'likewise.timeout': '1h'}) waits longer."
        ) from error
    except (CancelledError, KilledWorker, CommClosedError, OSError) as error:
        raise ClusterLostError(
            f"the Dask cluster is closed, or its workers died: {type(error).__name__}: {error}"
        ) from error
    finally:
        for future in futures:
            future.release()
