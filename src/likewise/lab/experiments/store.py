"""Where results are kept: one CSV file with a row for every cell, written when the cell ends."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from likewise.errors import InputError
from likewise.files import whole_file


@dataclass(frozen=True, order=True)
class Cell:
    """One run of one method: the key of a result.

    `n_super_instances` is what COBRA is told; for others, whose COBRA they are compared with.
    `k_shift` is added to the true number of clusters. A `budget` of 0 means as many questions as
    COBRA asked in the same fold.
    """

    experiment: str
    method: str
    task: str
    n_super_instances: int
    fold: int
    k_shift: int = 0
    budget: int = 0

    def __str__(self) -> str:
        more = f" K{self.k_shift:+d}" if self.k_shift else ""
        more += f" {self.budget} questions" if self.budget else ""
        return (
            f"{self.experiment}: {self.method} on {self.task}, fold {self.fold}, "
            f"{self.n_super_instances} super-instances{more}"
        )


@dataclass(frozen=True)
class Row(Cell):
    """What came out of a cell; ``docs/benchmark.md`` explains the columns."""

    seed: int = 0
    features: str = ""
    n_rows: int = 0
    n_classes: int = 0
    n_clusters: int = 0
    allowed: int | None = None
    queries: int | None = None
    must_links: int | None = None
    cannot_links: int | None = None
    groups: int | None = None
    ari_test: float | None = None
    ari_all: float | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: float = 0.0
    status: str = "ok"
    error: str = ""
    settings: str = ""
    curve: str = ""
    versions: str = ""
    machine: str = ""
    finished: str = ""
    ms_median: float | None = None
    ms_p95: float | None = None
    wrong_answers: int | None = None
    code: str = ""
    ami_test: float | None = None
    v_test: float | None = None
    f1_test: float | None = None
    rows_read: int | None = None
    rows_small: int | None = None
    kernel: str = ""

    @property
    def cell(self) -> Cell:
        """The key."""
        return Cell(*(getattr(self, name) for name in KEY))


KEY = tuple(field.name for field in fields(Cell))
COLUMNS = tuple(field.name for field in fields(Row))
_KINDS = {name: get_args(hint) or (hint,) for name, hint in get_type_hints(Row).items()}
"""The type of each column, and that of None where a value may be missing."""
NOT_REPRODUCIBLE = frozenset(
    {
        *("seconds", "cpu_seconds", "peak_mb", "versions", "machine", "finished"),
        *("ms_median", "ms_p95", "code", "kernel"),
    }
)
"""The columns that differ from run to run; all others are the same every time."""
LATER = ("ami_test", "v_test", "f1_test", "rows_read", "rows_small", "kernel")
"""The columns that rows of earlier versions do not have."""


class ResultStore:
    """A CSV file of results, to which every row is added as its cell ends."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.suffix != ".csv":
            raise InputError(
                f"{path} does not end with .csv, as a file must that a run adds rows to. "
                "`likewise bench export` copies other results to such a file."
            )
        rows, can_grow = _read(self.path) if self.path.is_file() else ({}, False)
        self._rows = rows
        if not can_grow:
            write_results(rows.values(), path)

    def add(self, row: Row) -> None:
        """Write a row at once; it replaces an earlier one of the same cell."""
        # In one piece, so that rows of two processes do not mix.
        with self.path.open("ab", buffering=0) as file:
            file.write(_lines([astuple(row)]))
        self._rows[row.cell] = row

    def get(self, cell: Cell) -> Row | None:
        """Return the row of a cell, or None."""
        return self._rows.get(cell)

    def __iter__(self) -> Iterator[Row]:
        return iter(sorted(self._rows.values(), key=lambda row: row.cell))


def write_results(rows: Iterable[Row], path: str | Path) -> None:
    """Write rows to a CSV file, the same bytes for the same rows."""
    in_order = sorted(rows, key=lambda row: row.cell)
    content = _lines([COLUMNS, *map(astuple, in_order)])
    with whole_file(Path(path)) as file:
        file.write(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


def read_results(path: str | Path) -> list[Row]:
    """Return the rows of a CSV file, the last one of every cell."""
    if not Path(path).is_file():
        raise InputError(f"there are no results at {path}. Run `likewise bench run` first.")
    return list(_read(Path(path))[0].values())


def _read(path: Path) -> tuple[dict[Cell, Row], bool]:
    """Return the rows of a file by cell, and whether rows can be added to it as it is."""
    content = path.read_bytes()
    try:
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
        header, *lines = csv.reader(io.StringIO(text, newline=""))
        if tuple(header) != COLUMNS[: max(len(header), len(KEY))]:
            raise ValueError("it has other columns")
        # A run that was killed may have cut its last row.
        is_cut = not text.endswith("\n") or len([header, *lines][-1]) < len(header)
        rows = [_row(header, line) for line in (lines[:-1] if is_cut else lines)]
    except (OSError, EOFError, zlib.error, csv.Error, ValueError, TypeError) as error:
        raise InputError(
            f"{path} is not a file of results, or is damaged ({type(error).__name__}: {error}). "
            "`likewise bench export` writes such files."
        ) from error
    return {row.cell: row for row in rows}, not is_cut and len(header) == len(COLUMNS)


def _row(header: Sequence[str], line: Sequence[str]) -> Row:
    values: dict[str, Any] = {}
    for name, text in zip(header, line, strict=True):
        kind, *or_none = _KINDS[name]
        values[name] = None if text == "" and or_none else kind(text)
    return Row(**values)


def _lines(rows: Iterable[Sequence[object]]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()
