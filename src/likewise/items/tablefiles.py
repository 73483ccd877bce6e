"""Tables from CSV, JSON lines, spreadsheets and Parquet files, and from data frames."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from likewise.errors import InputError, needs_extra
from likewise.files import check_regular, open_regular
from likewise.items.cache import FeatureCache
from likewise.items.fields import as_text, is_missing
from likewise.items.items import Items, shorten
from likewise.items.latent import LatentTexts
from likewise.items.limits import check_fits, check_methods, check_unpacked, most_bytes
from likewise.items.sheets import SHEET_SUFFIXES, read_sheet
from likewise.items.tables import Table, is_number
from likewise.words import escaped, plural

CSV_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
PARQUET_SUFFIXES = (".parquet", ".pq")
TABLE_SUFFIXES = (*CSV_SUFFIXES, *JSON_SUFFIXES, *SHEET_SUFFIXES, *PARQUET_SUFFIXES)
PACKED_SUFFIXES = (".gz", ".zip")
"""What may follow the suffix of a CSV or JSON file."""
READING = ("encoding", "delimiter", "header", "sheet")
"""The options of `read_table`."""

FRAME, MEMORY = Path("the data frame"), Path("memory")
"""What messages call a table from memory."""

BYTES_PER_CELL = 100
"""About how many bytes a cell takes in memory as a Python value."""

DELIMITERS = (",", ";", "\t", "|")
SPACES = "spaces"
"""Stands for columns that are separated by one or more spaces."""
SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
ENCODINGS = {
    "cp1252": "cp1252 (Windows, Western Europe)",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
}
MULTIBYTE = re.compile(rb"[\xc3-\xf4][\x80-\xbf]")
"""A letter of several bytes, as UTF-8 has them; in other encodings such pairs are rare."""
DECIMAL_COMMA = re.compile(r"\s*-?(?:\d+,(?:\d{1,2}|\d{4,})|\d{1,3}(?:\.\d{3})+,\d+|0,\d+)\D{0,9}")
"""A number whose comma cannot separate thousands."""
LARGEST_CELL = 2**31 - 1
"""The largest limit that the csv module takes on every system."""


def is_frame(source: Any) -> bool:
    """Whether this is a data frame of pandas or polars, or a table of pyarrow."""
    package = type(source).__module__.partition(".")[0]
    return package in ("pandas", "polars", "pyarrow") and hasattr(source, "columns")


def is_table(source: Any) -> bool:
    """Whether `read_table` can read this, judging by its type or its suffix."""
    if isinstance(source, Path):
        return not source.is_dir() and table_suffix(source) in TABLE_SUFFIXES
    return is_frame(source)


def table_suffix(path: Path) -> str:
    """Return the suffix that says what kind of table a file is, without one for packing.

    >>> table_suffix(Path("a.b.CSV.gz")), table_suffix(Path("t.zip")), table_suffix(Path("t.xlsx"))
    ('.csv', '.csv', '.xlsx')
    """
    suffix = path.suffix.lower()
    if suffix not in PACKED_SUFFIXES:
        return suffix
    inner = Path(path.stem).suffix.lower()
    if inner in CSV_SUFFIXES + JSON_SUFFIXES:
        return inner
    # What a ZIP file without another suffix holds is known when it is read.
    return CSV_SUFFIXES[0] if suffix == ".zip" and not inner else suffix


class TableItems(Items):
    """Items that are read from a table."""

    option: ClassVar[str | None] = None
    """The option that selects this kind instead of rows."""

    def __init__(
        self, table: Table, ids: Sequence[str], id: str | None = None, **more: Iterable[Any]
    ) -> None:
        super().__init__(table.path, ids, **more)
        self._table, self._id = table, id
        self._cache = FeatureCache(None)
        self.is_numbered = id is None and table.index is None

    @classmethod
    def recognizes(cls, source: Any, options: Mapping[str, Any]) -> bool:
        """Whether this is a table, and the option of this kind is given."""
        return is_table(source) and (cls.option is None or cls.option in options)

    @classmethod
    def open(cls, source: Any, *, cache: FeatureCache, **options: Any) -> Self:
        """Read a table; options that are not for reading go to the class."""
        others = {name: value for name, value in options.items() if name not in READING}
        items = cls(read_table(source, **for_reading(options)), **others)
        items._cache = cache
        return items

    @cached_property
    def _latent(self) -> LatentTexts:
        """What makes features of texts."""
        return LatentTexts(self._cache)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of the table, without the one that has the ids."""
        return {name: v for name, v in self._table.columns.items() if name != self._id}


def for_reading(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options that `read_table` takes."""
    return {name: value for name, value in options.items() if name in READING}


def read_table(
    source: Any,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
) -> Table:
    """Read a file with one of `TABLE_SUFFIXES`, a data frame, or a list as the only column."""
    if not isinstance(source, Path):
        if any(value is not None for value in (encoding, delimiter, header, sheet)):
            raise InputError(f"{', '.join(READING)} are for files, not for what is in memory")
        if isinstance(source, list):
            return Table(MEMORY, {"text": source}, len(source))
        table = _from_frame(FRAME, source)
    elif not is_table(source):
        raise InputError(f"{source} is not a table ({', '.join(TABLE_SUFFIXES)})")
    elif sheet is not None and table_suffix(source) not in SHEET_SUFFIXES:
        raise InputError(f"--sheet is for spreadsheets ({', '.join(SHEET_SUFFIXES)}), not {source}")
    elif table_suffix(source) in PARQUET_SUFFIXES:
        table = _from_frame(source, _read_parquet(source))
    elif table_suffix(source) in SHEET_SUFFIXES:
        if encoding is not None or delimiter is not None:
            raise InputError(f"--encoding and --delimiter are for texts, not for {source}")
        rows, said = read_sheet(source, sheet)
        table = _with_names(source, rows, header, list(said))
    else:
        text, suffix, notes = _read_text(source, encoding)
        if suffix in JSON_SUFFIXES:
            table = _read_json(source, text, suffix, notes)
        else:
            table = _read_csv(source, text, suffix, delimiter, header, notes)
    if not table.columns or not table.n:
        shape = f"{plural(len(table.columns), 'column')} and {plural(table.n, 'row')}"
        raise InputError(f"{table.path} has {shape}; at least one of each is needed")
    return table


def _from_frame(path: Path, frame: Any) -> Table:
    """Return a data frame as a table with None for missing; a unique pandas index names rows."""
    index = None
    if hasattr(frame, "to_pydict"):  # pyarrow
        names, columns = frame.column_names, [column.to_pylist() for column in frame.columns]
    elif hasattr(frame, "get_columns"):  # polars
        names, columns = frame.columns, [column.to_list() for column in frame.get_columns()]
    else:
        names = list(frame.columns)
        columns = [frame.iloc[:, k].astype(object).tolist() for k in range(len(names))]
        # pandas has several values for missing data, and some of them cannot be compared.
        gaps = frame.isna()
        for k, column in enumerate(columns):
            for i in gaps.iloc[:, k].to_numpy().nonzero()[0].tolist():
                column[i] = None
        if type(frame.index).__name__ != "RangeIndex" and frame.index.is_unique:
            index = [as_text(name) for name in frame.index.tolist()]
    named = _column_names(path, [as_text(name) for name in names])
    return Table(path, dict(zip(named, columns, strict=True)), len(frame), index=index)


def _read_text(path: Path, encoding: str | None) -> tuple[str, str, list[str]]:
    """Return the text of a file, the suffix that says what it is, and notes."""
    data, suffix = _read_bytes(path)
    notes: list[str] = []
    if encoding is None:
        has_utf16_mark = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        encoding = "utf-16" if has_utf16_mark else "utf-8-sig"
        guess = "" if has_utf16_mark else _guessed_encoding(data)
        if guess:
            encoding = guess
            notes.append(
                f"{path.name} is not UTF-8 and was read as {ENCODINGS[guess]}, a guess; if letters "
                "are wrong, give its encoding, such as --encoding cp1250"
            )
    try:
        text = data.decode(encoding)
    except (LookupError, UnicodeEncodeError):  # the latter if the name itself is not text
        raise InputError(f"there is no encoding {encoding!r}; try utf-8 or cp1252") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path} is not {encoding.removesuffix('-sig')}: byte 0x{data[error.start]:02x} at "
            f"offset {error.start} (line {line}). Give its encoding, "
            "for instance --encoding cp1252 (Windows, Western Europe) or --encoding latin-1."
        ) from error
    except ValueError as error:  # some encodings do not say where
        raise InputError(
            f"{path} is not {encoding!r}: {error}. Give its encoding, such as --encoding utf-8 "
            "or --encoding cp1252."
        ) from error
    if not text.strip():
        raise InputError(f"{path} is empty")
    return text, suffix, notes


def _guessed_encoding(data: bytes) -> str:
    """Return the encoding of what is not UTF-8, or nothing if it is or cannot be told."""
    # Without a mark, UTF-16 of Latin letters has a zero in every second byte.
    sample = data[:4096]
    for encoding, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[::2])):
        if len(zeros) > 1 and zeros.count(0) > 0.7 * len(zeros):
            return encoding
    with suppress(UnicodeDecodeError):
        data.decode("utf-8")
        return ""
    if MULTIBYTE.search(data):  # damaged UTF-8, or a script with several bytes a letter
        return ""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return ""
    foreign = [one for one in text if one > "\x7f"]
    # Letters with accents and signs stand alone among others; letters of other scripts do not.
    runs = sum(len(run) for run in re.findall(r"[\x80-\U0010ffff]{3,}", text))
    return "cp1252" if runs <= 0.1 * len(foreign) else ""


def _read_bytes(path: Path) -> tuple[bytes, str]:
    """Return the content of a file, unpacked, and the suffix that says what it is."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        check_fits(path, size)
        packing = path.suffix.lower()
        if packing not in PACKED_SUFFIXES:
            return file.read(), packing
        try:
            if packing == ".gz":
                with gzip.open(file) as unpacked:
                    return _unpacked_bytes(path, unpacked, size), table_suffix(path)
            with zipfile.ZipFile(file) as archive:
                check_methods(path, archive)
                name = _only_member(path, archive)
                with archive.open(name) as unpacked:
                    return _unpacked_bytes(path, unpacked, size), Path(name).suffix.lower()
        except (
            zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError,
        ) as error:  # fmt: skip
            if isinstance(error, InputError):
                raise
            raise InputError(f"{path} cannot be unpacked: {error}") from error


def _only_member(path: Path, archive: zipfile.ZipFile) -> str:
    """Return the name of the only table in a ZIP file."""
    names = [
        name
        for name in archive.namelist()
        if not name.endswith("/") and not name.startswith("__MACOSX/")
    ]
    tables = [name for name in names if name.lower().endswith(CSV_SUFFIXES + JSON_SUFFIXES)]
    if len(tables) != 1:
        listed = ", ".join(escaped(name, in_lines=True) for name in names[:5])
        raise InputError(
            f"{path} holds {plural(len(names), 'file')} ({listed}), and exactly one CSV or JSON "
            "file is needed. Unpack it and give one of them"
        )
    return tables[0]


def _unpacked_bytes(path: Path, file: Any, packed: int) -> bytes:
    """Read a compressed file in pieces, no further than a file of its size may hold."""
    pieces, n = list[bytes](), 0
    while piece := file.read(1 << 20):
        n += len(piece)
        check_unpacked(path, n, packed)
        pieces.append(piece)
    return b"".join(pieces)


def _read_csv(
    path: Path,
    text: str,
    suffix: str,
    delimiter: str | None,
    header: bool | None,
    notes: list[str],
) -> Table:
    if delimiter is not None and len(delimiter) != 1:
        raise InputError(f"a delimiter is one character, not {delimiter!r}")
    said = SEPARATOR_LINE.match(text)  # which Excel writes and reads
    if said is not None:
        text, delimiter = text[said.end() :], delimiter or said[1]
    with _large_cells():
        delimiter = delimiter or _sniff(text, suffix)
        if delimiter == SPACES:
            rows = [line.split() for line in text.splitlines() if line.strip()]
        else:
            rows = _records(path, text, delimiter)
    if not rows:
        raise InputError(f"{path} is empty")
    table = _with_names(path, rows, header, notes)
    has_commas = delimiter != "," and _has_decimal_commas(rows)
    return replace(table, has_decimal_comma=has_commas)


def _with_names(path: Path, rows: list[list[Any]], header: bool | None, notes: list[str]) -> Table:
    """Return rows as a table, whose first line names the columns or is a row."""
    if not rows:
        raise InputError(f"{path} is empty")
    texts = [[as_text(value) for value in row] for row in rows[:101]]
    if header is None:
        header = not _is_data(texts)
        if not header:
            holds = "holds only numbers" if all(map(is_number, texts[0])) else "is like the others"
            notes.append(
                f"the first line {holds}, so it is a row and the columns have no names; "
                "if these are names, use --header"
            )
        elif value := _value_among_names(texts):
            notes.append(
                f"the first line names the columns, although {value!r} looks like a value; if it "
                "is a row, use --no-header"
            )
    names = _column_names(path, texts[0] if header else [""] * len(rows[0]))
    rows = rows[1:] if header else rows
    cells: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else ([] for _ in names)
    columns = dict(zip(names, cells, strict=True))
    return Table(path, columns, len(rows), notes=tuple(notes))


def _has_decimal_commas(rows: Sequence[Sequence[str]], n_looked_at: int = 1000) -> bool:
    """Whether some cell is a number that needs a decimal comma."""
    return any(DECIMAL_COMMA.fullmatch(cell) for row in rows[:n_looked_at] for cell in row)


def _records(path: Path, text: str, delimiter: str) -> list[list[str]]:
    """Read the records that are not blank; all have as many fields as the first."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if rows and row and len(row) != len(rows[0]):
                raise InputError(
                    f"{path}, line {reader.line_num}: {plural(len(row), 'field')} where the first "
                    f"line has {len(rows[0])}, separated by {delimiter!r}. Mend the line, put "
                    "quotation marks around fields that contain the separator, or give another "
                    "with --delimiter."
                )
            if row:
                rows.append(row)
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}: {error}. Is a quotation mark missing or too many?"
        ) from error
    return rows


def _is_data(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first line is a row, judged by the lines below; 0, 1, 2... are names of pandas."""
    first = list(rows[0])
    if first == [str(k) for k in range(len(first))]:
        return False
    if all(map(is_number, first)):
        return True
    recurs = is_counted = False
    for name, *cells in zip(*rows, strict=True):
        present = [cell for cell in cells if not is_missing(cell)]
        if present and is_number(name) and all(map(is_number, present)):
            if "." in name:  # 5.1 is no name
                return True
            is_counted = True
        elif name.strip() and name in present:
            recurs = True
    return recurs and is_counted


def _value_among_names(rows: Sequence[list[str]], n_compared: int = 100) -> str:
    """Return a column name that looks like a value of its own column, or ""."""
    first = rows[0]
    if first == [str(k) for k in range(len(first))]:
        return ""
    for name, *cells in zip(*rows[: 1 + n_compared], strict=True):
        if name.strip() and (name in cells or (cells and all(map(is_number, [name, *cells])))):
            return shorten(name)
    return ""


def _sniff(text: str, suffix: str) -> str:
    """Choose the delimiter that gives the most fields, the same number in every record."""
    if suffix in (".tsv", ".tab"):
        return "\t"
    sample = text[:65536]
    best, most = ",", 1
    for delimiter in DELIMITERS:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        widths = [len(row) for row, _ in zip(reader, range(50), strict=False) if row]
        if len(sample) < len(text) and len(widths) > 1:
            widths.pop()
        if len(set(widths)) == 1 and widths[0] > most:
            best, most = delimiter, widths[0]
    if most > 1:
        return best
    if _is_aligned(sample.splitlines()[:50]):
        return SPACES
    first = sample.splitlines()[0]
    return max(DELIMITERS, key=first.count)


def _is_aligned(lines: Sequence[str]) -> bool:
    """Whether all lines have equally many words, and a column of them are numbers."""
    rows = [line.split() for line in lines if line.strip()]
    if len(rows) < 2 or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        return False
    return any(all(map(is_number, column)) for column in zip(*rows[1:], strict=True))


@contextmanager
def _large_cells() -> Iterator[None]:
    """Allow very long cells; the limit of the csv module is 128 kB."""
    before = csv.field_size_limit(LARGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _column_names(path: Path, names: Sequence[str]) -> list[str]:
    stripped = [name.strip() or f"column {k}" for k, name in enumerate(names, 1)]
    twice = sorted(name for name, n in Counter(stripped).items() if n > 1)
    if twice:
        raise InputError(
            f"{path} has several columns of the same name: {', '.join(map(repr, twice))}. "
            "Rename them, or use --no-header (header=False) if the first line is a row."
        )
    return stripped


def _read_json(path: Path, text: str, suffix: str, notes: Sequence[str]) -> Table:
    if suffix == ".json":
        place, whole = "element", _parse(path, 1, text)
        if not isinstance(whole, list):
            raise InputError(f"{path} must hold a list of objects, not one {_json_type(whole)}")
        numbered = list(enumerate(whole, 1))
    else:
        # Not splitlines: a JSON string may contain the other characters that it splits at.
        lines = enumerate(text.split("\n"), 1)
        place = "line"
        numbered = [(k, _parse(path, k, line)) for k, line in lines if line.strip()]
    for k, record in numbered:
        if not isinstance(record, dict):
            raise InputError(f"{path}, {place} {k}: an object is needed, not {_json_type(record)}")
    records = [record for _, record in numbered]
    names = dict.fromkeys(name for record in records for name in record)
    columns: dict[str, Sequence[Any]] = {
        as_text(name): [record.get(name) for record in records] for name in names
    }
    return Table(path, columns, len(records), notes=tuple(notes))


def _parse(path: Path, line: int, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}, line {line + error.lineno - 1}, character {error.colno}: {error.msg}"
        ) from error
    except RecursionError as error:
        raise InputError(f"{path}, line {line}: lists or objects are nested too deeply") from error
    except ValueError as error:
        raise InputError(f"{path}, line {line}: {error}") from error


def _json_type(value: Any) -> str:
    names = {dict: "object", list: "list", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def parquet_bytes(path: Path) -> int:
    """Return about how many bytes a Parquet file takes as Python values, by its metadata."""
    with _opened_parquet(path) as file:
        n_cells = file.metadata.num_rows * file.metadata.num_columns
        return int(n_cells * BYTES_PER_CELL + _unpacked(file.metadata))


def parquet_columns(path: Path, choose: Callable[[list[str]], Sequence[str]]) -> list[Any]:
    """Return the chosen columns of a Parquet file as Arrow arrays."""
    with _opened_parquet(path) as file:
        names = choose(file.schema_arrow.names)
        check_fits(path, _unpacked(file.metadata))
        table = file.read(columns=list(names))
        return [table[name].combine_chunks() for name in names]


def _read_parquet(path: Path) -> Any:
    """Return a Parquet file as an Arrow table, in memory only if it fits."""
    check_fits(path, parquet_bytes(path))
    with _opened_parquet(path) as file:
        import pyarrow

        # A value that a million rows share is stored once but takes memory for every row. No
        # value is larger than all pages, so this many rows of a column stay within the limit.
        n_rows = most_bytes() // max(1, _unpacked(file.metadata))
        batches: list[Any] = []
        size = 0
        for batch in file.iter_batches(min(max(1, n_rows), 65_536)):
            size += batch.nbytes
            check_fits(path, size)
            batches.append(batch)
        return pyarrow.Table.from_batches(batches, file.schema_arrow)


@contextmanager
def _opened_parquet(path: Path) -> Iterator[Any]:
    """Yield a `ParquetFile`; what cannot be read is an `InputError`."""
    with needs_extra("reading Parquet files", "tables"):
        import pyarrow
        import pyarrow.parquet
    try:
        # A ParquetFile, because read_table takes hints from the names of folders.
        check_regular(path)
        with pyarrow.parquet.ParquetFile(path) as file:
            yield file
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from error


def _unpacked(metadata: Any) -> int:
    """Return the uncompressed size of the pages of a Parquet file."""
    groups = (metadata.row_group(k) for k in range(metadata.num_row_groups))
    return sum(max(0, group.total_byte_size) for group in groups)
