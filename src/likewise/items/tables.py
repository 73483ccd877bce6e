"""Tables from CSV, JSON lines and Parquet files, and from data frames."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.errors import InputError, needs_extra
from likewise.items.cells import as_text
from likewise.items.csvfiles import read_csv
from likewise.items.items import check_ids
from likewise.items.limits import check_fits, most_bytes
from likewise.words import plural

CSV_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
PARQUET_SUFFIXES = (".parquet", ".pq")
TABLE_SUFFIXES = (*CSV_SUFFIXES, *JSON_SUFFIXES, *PARQUET_SUFFIXES)
READING = ("encoding", "delimiter", "header")
"""The options of `read_table`."""

FRAME = Path("the data frame")
"""What stands for the path of a table that comes from memory."""

FIELD_LENGTH = 2_000
"""A cell is cut here for showing, so that one huge value does not stop the page."""

BYTES_PER_CELL = 100
"""About what a cell takes in memory as a Python value."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, by name.

    They hold strings from CSV, else Python values with None for what is missing.
    `has_decimal_comma` says that 1,5 may be one and a half; `notes`, how the file was understood
    where that was a guess; `index` are names of the rows that came with a data frame.
    """

    path: Path
    columns: dict[str, Sequence[Any]]
    n: int
    has_decimal_comma: bool = False
    notes: tuple[str, ...] = ()
    index: Sequence[str] | None = None

    def column(self, name: str) -> Sequence[Any]:
        """Return a column, or an error that lists those there are."""
        if name not in self.columns:
            raise InputError(
                f"{self.path} has no column {name!r}; it has {', '.join(map(repr, self.columns))}"
            )
        return self.columns[name]

    def ids(self, column: str | None) -> list[str]:
        """Return the ids of the rows: a column's values, the index, or numbers from 0."""
        if column is None:
            return [str(i) for i in range(self.n)] if self.index is None else list(self.index)
        ids = [as_text(value).strip() for value in self.column(column)]
        check_ids(ids, f"{self.path}, column {column!r}")
        return ids

    def fields(self, names: Sequence[str], i: int) -> list[list[str]]:
        """Return the named cells of row `i` as pairs of name and text, long ones cut."""
        shown = []
        for name in names:
            text = as_text(self.columns[name][i])
            if len(text) > FIELD_LENGTH:
                text = f"{text[:FIELD_LENGTH]}… ({len(text)} characters)"
            shown.append([name, text])
        return shown


def is_frame(source: Any) -> bool:
    """Whether this is a data frame of pandas or polars, or a table of pyarrow."""
    package = type(source).__module__.partition(".")[0]
    return package in ("pandas", "polars", "pyarrow") and hasattr(source, "columns")


def is_table(source: Any) -> bool:
    """Whether `read_table` reads this, by its type or its suffix."""
    if isinstance(source, Path):
        return source.is_file() and source.suffix.lower() in TABLE_SUFFIXES
    return is_frame(source)


def from_frame(frame: Any) -> Table:
    """Return a data frame as a table, with None for what is missing.

    A pandas index that is more than a count, without repetitions, names the rows.
    """
    index = None
    if hasattr(frame, "to_pydict"):  # pyarrow
        names, columns = frame.column_names, [column.to_pylist() for column in frame.columns]
    elif hasattr(frame, "get_columns"):  # polars
        names, columns = frame.columns, [column.to_list() for column in frame.get_columns()]
    else:
        names = list(frame.columns)
        columns = [frame.iloc[:, k].astype(object).tolist() for k in range(len(names))]
        # pandas has several values for what is missing, of which some are not even comparable.
        gaps = frame.isna()
        for k, column in enumerate(columns):
            for i in gaps.iloc[:, k].to_numpy().nonzero()[0].tolist():
                column[i] = None
        if type(frame.index).__name__ != "RangeIndex" and frame.index.is_unique:
            index = [as_text(name) for name in frame.index.tolist()]
    if not names or not len(frame):
        shape = f"{plural(len(names), 'column')} and {plural(len(frame), 'row')}"
        raise InputError(f"{FRAME} has {shape}; at least one of each is needed")
    named = _column_names(FRAME, [as_text(name) for name in names])
    return Table(FRAME, dict(zip(named, columns, strict=True)), len(frame), index=index)


def read_table(
    source: Any,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Table:
    """Read a file whose name ends in one of `TABLE_SUFFIXES`, or a data frame.

    By default the encoding of CSV and JSON is UTF-8, or UTF-16 with a byte order mark; the
    delimiter of CSV is comma, semicolon, tab or bar, whichever fits; and the first line of a CSV is
    its header unless every field of it is a number. What cannot be read is refused with the line
    and the remedy.
    """
    if is_frame(source):
        if encoding is not None or delimiter is not None or header is not None:
            raise InputError(f"{', '.join(READING)} are for files, not for data frames")
        return from_frame(source)
    path: Path = source
    if not is_table(path):
        raise InputError(f"{path} is not a table ({', '.join(TABLE_SUFFIXES)})")
    suffix = path.suffix.lower()
    if suffix in PARQUET_SUFFIXES:
        table = _read_parquet(path)
    elif suffix in JSON_SUFFIXES:
        table = _read_json(path, encoding)
    else:
        table = _read_csv(path, encoding, delimiter, header)
    if not table.n:
        raise InputError(f"{path} has column names but no rows")
    return table


def _read_text(path: Path, encoding: str | None) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if encoding is None:
        has_utf16_mark = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        encoding = "utf-16" if has_utf16_mark else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except LookupError:
        raise InputError(f"there is no encoding {encoding!r}; try utf-8 or cp1252") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path} is not {encoding.removesuffix('-sig')}: byte 0x{data[error.start]:02x} at "
            f"offset {error.start} (line {line}). Give its encoding, "
            "for instance --encoding cp1252 (Windows, Western Europe) or --encoding latin-1."
        ) from error
    if not text.strip():
        raise InputError(f"{path} is empty")
    return text


def _read_csv(
    path: Path, encoding: str | None, delimiter: str | None, header: bool | None
) -> Table:
    names, rows, found, notes = read_csv(path, _read_text(path, encoding), delimiter, header)
    names = _column_names(path, names)
    cells: Iterable[Sequence[str]] = zip(*rows, strict=True) if rows else ([] for _ in names)
    return Table(path, dict(zip(names, cells, strict=True)), len(rows), found == ";", tuple(notes))


def _column_names(path: Path, names: Sequence[str]) -> list[str]:
    stripped = [name.strip() or f"column {k}" for k, name in enumerate(names, 1)]
    twice = sorted({name for name in stripped if stripped.count(name) > 1})
    if twice:
        raise InputError(
            f"{path} has several columns of the same name: {', '.join(map(repr, twice))}. "
            "Rename them, or use --no-header if the first line is a row."
        )
    return stripped


def _read_json(path: Path, encoding: str | None) -> Table:
    text = _read_text(path, encoding)
    records: list[dict[str, Any]] = []
    if path.suffix.lower() == ".json":
        whole = _parse(path, 1, text)
        if not isinstance(whole, list):
            raise InputError(f"{path} must hold a list of objects, not one {_json_type(whole)}")
        numbered = list(enumerate(whole, 1))
        place = "element"
    else:
        # Not splitlines: a JSON string may contain the other characters that it splits at.
        lines = ((k, line) for k, line in enumerate(text.split("\n"), 1) if line.strip())
        numbered = [(k, _parse(path, k, line)) for k, line in lines]
        place = "line"
    for k, record in numbered:
        if not isinstance(record, dict):
            raise InputError(f"{path}, {place} {k}: an object is needed, not {_json_type(record)}")
        records.append(record)
    names = dict.fromkeys(name for record in records for name in record)
    if records and not names:
        raise InputError(f"{path} has only empty objects")
    columns: dict[str, Sequence[Any]] = {
        as_text(name): [record.get(name) for record in records] for name in names
    }
    return Table(path, columns, len(records))


def _parse(path: Path, line: int, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}, line {line + error.lineno - 1}, character {error.colno}: {error.msg}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}, line {line}: {error}") from error


def _json_type(value: Any) -> str:
    names = {dict: "object", list: "list", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def parquet_bytes(path: Path) -> int:
    """Return about how many bytes a Parquet file takes as Python values, by its metadata."""
    pyarrow = _pyarrow()
    try:
        found = pyarrow.parquet.read_metadata(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from error
    return int(found.num_rows * found.num_columns * BYTES_PER_CELL + _unpacked(found))


def _unpacked(metadata: Any) -> int:
    """Return the size of the pages of a Parquet file when they are no longer compressed."""
    groups = (metadata.row_group(k) for k in range(metadata.num_row_groups))
    return sum(max(0, group.total_byte_size) for group in groups)


def _read_parquet(path: Path) -> Table:
    pyarrow = _pyarrow()
    check_fits(path, parquet_bytes(path))
    try:
        # A ParquetFile, because read_table takes hints from the names of folders.
        with pyarrow.parquet.ParquetFile(path) as file:
            # A value that a million rows share is stored once but takes memory for every row. No
            # value is larger than all pages, so this many rows of a column stay within the limit.
            n_rows = most_bytes() // max(1, _unpacked(file.metadata))
            batches: list[Any] = []
            size = 0
            for batch in file.iter_batches(min(max(1, n_rows), 65_536)):
                size += batch.nbytes
                check_fits(path, size)
                batches.append(batch)
            table = pyarrow.Table.from_batches(batches, file.schema_arrow)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from error
    names = _column_names(path, [as_text(name) for name in table.column_names])
    if not names:
        raise InputError(f"{path} has no columns")
    columns = {name: column.to_pylist() for name, column in zip(names, table.columns, strict=True)}
    return Table(path, columns, table.num_rows)


def _pyarrow() -> Any:
    with needs_extra("reading Parquet files", "tables"):
        import pyarrow
        import pyarrow.parquet
    return pyarrow
