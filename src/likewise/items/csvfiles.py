"""CSV files as they come: any of the usual delimiters, with or without names of columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from likewise.errors import InputError
from likewise.items.cells import is_number
from likewise.items.items import shorten
from likewise.words import plural

DELIMITERS = (",", ";", "\t", "|")
_LARGEST_CELL = 2**31 - 1


def read_csv(
    path: Path, text: str, delimiter: str | None, header: bool | None
) -> tuple[list[str], list[list[str]], str, list[str]]:
    """Read the text of a CSV file; `delimiter` and `header` are those of `read_table`.

    Returns the names of the columns, the cells of every row, what separates them, and notes on how
    the file was understood where that was a guess.
    """
    if delimiter is None:
        delimiter = _sniff(text, path.suffix.lower())
    elif len(delimiter) != 1:
        raise InputError(f"a delimiter is one character, not {delimiter!r}")
    with _large_cells():
        rows = [row for _, row in _records(path, text, delimiter)]
        if any(len(row) != len(rows[0]) for row in rows):
            _raise_ragged(path, text, delimiter)
    notes = []
    if header is None:
        header = not _is_data(rows[0])
        if not header:
            notes.append(
                "the first line holds only numbers, so it is a row and the columns have no names; "
                "if these are names, use --header"
            )
        elif value := _value_among_names(rows):
            notes.append(
                f"the first line names the columns, although {value!r} looks like a value; if it "
                "is a row, use --no-header"
            )
    if header:
        return rows[0], rows[1:], delimiter, notes
    return [f"column {k}" for k in range(1, len(rows[0]) + 1)], rows, delimiter, notes


def _records(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Read the records that are not blank, each with the line it ends on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}: {error}. Is a quotation mark missing or too many?"
        ) from error


def _raise_ragged(path: Path, text: str, delimiter: str) -> None:
    width = None
    for line, row in _records(path, text, delimiter):
        width = width or len(row)
        if len(row) != width:
            raise InputError(
                f"{path}, line {line}: {plural(len(row), 'field')} where the first line has "
                f"{width}, separated by {delimiter!r}. Mend the line, put quotation marks around "
                "fields that contain the separator, or give another with --delimiter."
            )


def _is_data(first: list[str]) -> bool:
    """Whether a first line is numbers rather than names; 0, 1, 2... are names from pandas."""
    return all(map(is_number, first)) and first != [str(k) for k in range(len(first))]


def _value_among_names(rows: Sequence[list[str]], n_compared: int = 100) -> str:
    """Return a name that is like the values below it: one of them, or a number above numbers."""
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
        with _large_cells():
            widths = [len(row) for row, _ in zip(reader, range(50), strict=False) if row]
        if len(sample) < len(text) and len(widths) > 1:
            widths.pop()
        if len(set(widths)) == 1 and widths[0] > most:
            best, most = delimiter, widths[0]
    if most > 1:
        return best
    first = sample.splitlines()[0]
    return max(DELIMITERS, key=first.count)


@contextmanager
def _large_cells() -> Iterator[None]:
    """Let a cell be a whole book; the csv module's own limit is 128 kB."""
    before = csv.field_size_limit(_LARGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
