"""Spreadsheets (.xlsx, .ods): one sheet with data, read without trusting the file.

This is a reader of our own because calamine, the usual library, allocates every cell between the
first and the last one: a file with two cells ends the process. Here, memory grows with the cells
that are there and is limited, no document type is accepted, and nothing outside is looked at.
"""

from __future__ import annotations

import os
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from likewise.errors import InputError
from likewise.files import open_regular
from likewise.items.limits import check_fits, check_methods, check_unpacked
from likewise.words import did_you_mean, plural

SHEET_SUFFIXES = (".xlsx", ".xlsm", ".ods")
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
BYTES_PER_CELL = 100
CHUNK = 1 << 20
DEEPEST = 200
"""The most levels of nested elements; each takes memory until it ends."""
LONGEST_FORMAT = 255
"""How many characters the format of a number has at most in Excel."""

EPOCHS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}
"""Day 0 of Excel, whose 1900 has a 29 February, and of Excel on old Macs."""
DATES = {*range(14, 18), 22, *range(27, 37), *range(50, 59)}
TIMES = {*range(18, 22), *range(45, 48)}
"""Numbers of the formats that a workbook need not define."""
QUOTED = re.compile(r'"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|_.|\*.', re.IGNORECASE)
"""The parts of a number format that are literal text."""
ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?")

Attributes = Mapping[str, str]
Rows = list[list[Any]]


def read_sheet(path: Path, sheet: str | None = None) -> tuple[Rows, tuple[str, ...]]:
    """Return the rows of a sheet, all of one length, and notes.

    Without a name it is the first one with two rows, since a title is no table.
    """
    with open_regular(path) as file:
        package = _Package(path, file)
        try:
            reader = _read_ods if package.is_ods else _read_xlsx
            names, name, rows = reader(package, sheet)
        except InputError:
            raise
        except (
            expat.ExpatError, zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError,
            IndexError, OverflowError, RuntimeError, NotImplementedError, UnicodeDecodeError,
        ) as error:  # fmt: skip
            raise InputError(f"{path} cannot be read as a spreadsheet: {error}") from error
    width = max(map(len, rows), default=0)
    check_fits(path, len(rows) * width * BYTES_PER_CELL)
    full = [[*row, *[None] * (width - len(row))] for row in rows if any(v is not None for v in row)]
    notes = []
    if len(names) > 1 and sheet is None:
        others = [other for other in names if other != name]
        listed = ", ".join(map(repr, others[:5])) + (", …" if others[5:] else "")
        notes.append(
            f"only the sheet {name!r} of {len(names)} was read; for another, use --sheet: {listed}"
        )
    start = _first_line(full)
    if start:
        notes.append(f"{plural(start, 'line')} above the table left out")
    used = [k for k in range(width) if any(row[k] is not None for row in full[start:])]
    return [[row[k] for k in used] for row in full[start:]], tuple(notes)


def _first_line(rows: Rows) -> int:
    """Return how many lines with one cell, such as a title, stand above a wider table."""
    filled = [sum(value is not None for value in row) for row in rows[:20]]
    start = next((k for k, n in enumerate(filled) if n > 1), 0)
    return start if all(n > 1 for n in filled[start : start + 3]) else 0


def _wanted(path: Path, names: Sequence[str], sheet: str | None) -> list[str]:
    """Return the sheets to look at, in order: the one that is named, or all."""
    if sheet is None:
        return list(names)
    if sheet not in names:
        listed = ", ".join(map(repr, names))
        hint = did_you_mean(sheet, names)
        raise InputError(f"{path} has no sheet {sheet!r}; it has {listed}.{hint}")
    return [sheet]


class _Package:
    """A ZIP file of XML files, of which no more is unpacked than a file of its size may hold."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self._size = os.fstat(file.fileno()).st_size
        self._unpacked = 0
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
            raise InputError(
                f"{path} is no spreadsheet: {error}. If it has a password or is an old .xls, save "
                "it as .xlsx or .csv"
            ) from error
        check_methods(path, self._zip)
        self.names = set(self._zip.namelist())
        self.is_ods = "content.xml" in self.names

    def parse(
        self,
        name: str,
        start: Callable[[str, Attributes], object],
        end: Callable[[str], object] = lambda _name: None,
        text: Callable[[str], object] = lambda _text: None,
    ) -> None:
        """Call functions with the elements of a file; their names are without namespaces."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True

        def refuse(*_declaration: object) -> None:
            raise InputError(
                f"{self.path} declares a document type, as spreadsheets never do: is it an attack?"
            )

        parser.StartDoctypeDeclHandler = refuse
        parser.EntityDeclHandler = refuse
        depth = 0

        def begin(name: str, about: Attributes) -> None:
            nonlocal depth
            depth += 1
            if depth > DEEPEST:
                raise ValueError(f"its elements are within each other more than {DEEPEST} times")
            start(name.rpartition(" ")[2], about)

        def finish(name: str) -> None:
            nonlocal depth
            depth -= 1
            end(name.rpartition(" ")[2])

        parser.StartElementHandler, parser.EndElementHandler = begin, finish
        parser.CharacterDataHandler = text
        with self._zip.open(name) as file:
            while chunk := file.read(CHUNK):
                self._unpacked += len(chunk)
                check_unpacked(self.path, self._unpacked, self._size)
                parser.Parse(chunk, False)
        parser.Parse(b"", True)


class _Cells:
    """The cells of a sheet, row by row, of which only those with a value take memory."""

    def __init__(self, path: Path) -> None:
        self.rows: Rows = []
        self._path, self._n, self._n_in_row = path, 0, 0
        self._row: list[Any] = []

    def put(self, column: int, value: Any) -> None:
        """Put a value into the current row, at or behind the place of the last one."""
        if not 0 <= column < MOST_COLUMNS:
            raise ValueError(f"a sheet has at most {MOST_COLUMNS} columns")
        n = column + 1 - len(self._row)
        if value is None or n <= 0:
            return
        # A text may stand in many cells and take memory once, but not where the table is used.
        n_more = n + (len(value) // BYTES_PER_CELL if isinstance(value, str) else 0)
        self._count(n_more)
        self._n_in_row += n_more
        self._row += [None] * n
        self._row[column] = value

    def end_row(self, times: int = 1) -> None:
        """End the current row, which may stand for several equal ones."""
        if not self._row:
            return
        if len(self.rows) + times > MOST_ROWS:
            raise ValueError(f"a sheet has at most {MOST_ROWS} rows")
        if times > 1:
            self._count((times - 1) * self._n_in_row)
        self.rows += [list(self._row) for _ in range(times)]
        self._row, self._n_in_row = [], 0

    def _count(self, n: int) -> None:
        before, self._n = self._n, self._n + n
        if before // 10_000 != self._n // 10_000:
            check_fits(self._path, self._n * BYTES_PER_CELL)


# -- Excel -------------------------------------------------------------------------------------


def _read_xlsx(package: _Package, wanted: str | None) -> tuple[list[str], str, Rows]:
    """Return the names of the sheets, that of the one that is read, and its rows."""
    sheets: dict[str, str] = {}
    targets: dict[str, str] = {}
    is_1904 = False

    def workbook(name: str, about: Attributes) -> None:
        nonlocal is_1904
        if name == "workbookPr":
            is_1904 = about.get("date1904") in ("1", "true")
        elif name == "sheet" and about.get("state", "visible") == "visible":
            sheets[about["name"]] = next((v for k, v in about.items() if k.endswith(" id")), "")

    def relation(name: str, about: Attributes) -> None:
        if name == "Relationship" and about.get("TargetMode") != "External":
            targets[about["Id"]] = posixpath.normpath(posixpath.join("/xl", about["Target"]))[1:]

    package.parse("xl/workbook.xml", workbook)
    package.parse("xl/_rels/workbook.xml.rels", relation)
    shared = _shared_texts(package)
    kinds = _kinds_of_styles(package)
    for name in _wanted(package.path, list(sheets), wanted):
        place = targets[sheets[name]]
        rows = _read_worksheet(package, place, shared, kinds, EPOCHS[is_1904])
        if len(rows) > 1 or wanted is not None:
            return list(sheets), name, rows
    return [], "", []


def _shared_texts(package: _Package) -> list[str]:
    texts: list[str] = []
    if "xl/sharedStrings.xml" not in package.names:
        return texts
    parts: list[str] = []
    inside: list[str] = []

    def start(name: str, _about: Attributes) -> None:
        inside.append(name)
        if name == "si":
            parts.clear()

    def end(name: str) -> None:
        inside.pop()
        if name == "si":
            texts.append(_plain("".join(parts)).strip())

    def text(some: str) -> None:
        if inside[-1] == "t" and "rPh" not in inside:  # how to pronounce it
            parts.append(some)

    package.parse("xl/sharedStrings.xml", start, end, text)
    return texts


def _plain(text: str) -> str:
    return ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def _kinds_of_styles(package: _Package) -> list[str]:
    """Return for every style whether its numbers are dates, times or numbers."""
    formats: dict[int, str] = {}
    numbers: list[int] = []
    inside = ""
    if "xl/styles.xml" not in package.names:
        return []

    def start(name: str, about: Attributes) -> None:
        nonlocal inside
        if name in ("cellXfs", "cellStyleXfs", "dxfs"):
            inside = name
        elif name == "numFmt":
            formats[int(about["numFmtId"])] = about.get("formatCode", "")[:LONGEST_FORMAT]
        elif name == "xf" and inside == "cellXfs":
            numbers.append(int(about.get("numFmtId", 0)))

    package.parse("xl/styles.xml", start)
    kinds = {number: _kind_of(number, formats) for number in set(numbers)}
    return [kinds[number] for number in numbers]


def _kind_of(number: int, formats: Mapping[int, str]) -> str:
    if number in formats:
        letters = QUOTED.sub("", formats[number].partition(";")[0]).lower()
        if "y" in letters or "d" in letters:
            return "date"
        return "time" if "h" in letters or "s" in letters else "number"
    return "date" if number in DATES else "time" if number in TIMES else "number"


def _read_worksheet(
    package: _Package, name: str, shared: list[str], kinds: list[str], epoch: datetime
) -> Rows:
    cells = _Cells(package.path)
    parts: list[str] = []
    column, type, style, takes = -1, "n", 0, False

    def start(name: str, about: Attributes) -> None:
        nonlocal column, type, style, takes
        if name == "row":
            column = -1
        elif name == "c":
            place = PLACE.fullmatch(about.get("r", ""))
            column = column + 1 if place is None else _column(place[1])
            type, style = about.get("t", "n"), int(about.get("s", 0))
            parts.clear()
        takes = name in ("v", "t")

    def end(name: str) -> None:
        nonlocal takes
        takes = False
        if name == "c" and parts:
            kind = kinds[style] if style < len(kinds) else "number"
            cells.put(column, _value("".join(parts), type, kind, shared, epoch))
        elif name == "row":
            cells.end_row()

    def text(some: str) -> None:
        if takes:
            parts.append(some)

    package.parse(name, start, end, text)
    return cells.rows


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _value(text: str, type: str, kind: str, shared: list[str], epoch: datetime) -> Any:
    """Return the value of a cell."""
    if type == "s":
        place = int(text)
        if place < 0:
            raise ValueError(f"there is no text {place}")
        return shared[place] or None
    if type in ("str", "inlineStr", "d"):
        return _plain(text).strip() or None
    if type == "e":
        return None
    number = float(text)
    return bool(number) if type == "b" else _amount(number, kind, epoch)


def _amount(number: float, kind: str, epoch: datetime) -> Any:
    """Return a number as what its style makes of it."""
    if kind == "date":
        return epoch + timedelta(days=number)
    if kind == "time":
        passed = timedelta(days=number)
        return (datetime.min + passed).time() if 0 <= number < 1 else passed
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


# -- OpenDocument --------------------------------------------------------------------------------


def _read_ods(package: _Package, wanted: str | None) -> tuple[list[str], str, Rows]:
    """Return the names of the sheets, that of the one that is read, and its rows."""
    found: list[tuple[str, _Cells]] = []
    column, depth, times_row = 0, 0, 1
    about_cell: Attributes = {}
    parts: list[str] = []
    inside: list[str] = []

    def start(name: str, about: Attributes) -> None:
        nonlocal column, about_cell, times_row, depth
        inside.append(name)
        if name == "table" and depth == 0:
            found.append((about.get(f"{TABLE} name", ""), _Cells(package.path)))
        depth += name == "table"
        if name == "table-row":
            column, times_row = 0, int(about.get(f"{TABLE} number-rows-repeated", 1))
        elif name in ("table-cell", "covered-table-cell"):
            about_cell = about
            parts.clear()
        elif name == "p" and parts:
            parts.append("\n")
        elif name == "s":
            parts.append(" ")

    def end(name: str) -> None:
        nonlocal column, depth
        inside.pop()
        depth -= name == "table"
        if name == "table-row" and found:
            found[-1][1].end_row(times_row)
        elif name in ("table-cell", "covered-table-cell") and found:
            times = int(about_cell.get(f"{TABLE} number-columns-repeated", 1))
            value = _ods_value(about_cell, "".join(parts))
            if value is not None:
                for k in range(min(times, MOST_COLUMNS + 1)):
                    found[-1][1].put(column + k, value)
            column += times

    def text(some: str) -> None:
        if "p" in inside and "annotation" not in inside:
            parts.append(some)

    package.parse("content.xml", start, end, text)
    names = [name for name, _ in found]
    looked_at = _wanted(package.path, names, wanted)
    for name, cells in found:
        if name in looked_at and (len(cells.rows) > 1 or wanted is not None):
            return names, name, cells.rows
    return [], "", []


def _ods_value(about: Attributes, text: str) -> Any:
    type = about.get(f"{OFFICE} value-type")
    if type in ("float", "percentage", "currency"):
        number = float(about[f"{OFFICE} value"])
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if type == "date":
        return datetime.fromisoformat(about[f"{OFFICE} date-value"])
    if type == "boolean":
        return about[f"{OFFICE} boolean-value"] == "true"
    if type == "time":
        match = DURATION.fullmatch(about[f"{OFFICE} time-value"])
        if match is None:
            return text.strip() or None
        hours, minutes, seconds = (float((one or "0").replace(",", ".")) for one in match.groups())
        passed = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return (datetime.min + passed).time() if passed < timedelta(days=1) else passed
    return text.strip() or None
