"""Where results live: one SQLite file, a row for every cell, written as the cell ends."""

from __future__ import annotations

import csv
import gzip
import io
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from likewise.database import connect
from likewise.errors import InputError
from likewise.files import whole_file

_SQL_TYPE = {str: "TEXT", int: "INTEGER", float: "REAL"}


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
        *("ms_median", "ms_p95", "code"),
    }
)
"""The columns that differ from run to run; all others are the same every time."""
LATER = ("ami_test", "v_test", "f1_test", "rows_read")
"""The columns that rows of earlier versions do not have."""
CSV = (".csv", ".csv.gz")


class ResultStore:
    """A file of results; only one process writes to it."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        try:
            if self.path != ":memory:":
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                Path(path).touch()
            self._db = connect(Path(path))
            tables = self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if (others := {name for (name,) in tables}) and "results" not in others:
                self._db.close()
                raise InputError(
                    f"{path} is a database of something else: it has the tables "
                    f"{', '.join(sorted(others))}. Choose another file with --store."
                )
            columns = ", ".join(map(_column, COLUMNS))
            self._db.execute(
                f"CREATE TABLE IF NOT EXISTS results ({columns}, PRIMARY KEY ({', '.join(KEY)}))"
            )
            names = self._names()
            if names == COLUMNS[: -len(LATER)]:
                for name in LATER:
                    self._db.execute(f"ALTER TABLE results ADD COLUMN {_column(name)}")
                names = self._names()
        except (OSError, sqlite3.OperationalError) as error:
            raise InputError(
                f"{path} cannot be opened: {error}. Choose a file in a folder that can be written."
            ) from error
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path} is not a file of results: {error}") from error
        if names != COLUMNS:
            raise InputError(
                f"{path} has the columns of another version; start a new file with --store"
            )

    def add(self, row: Row) -> None:
        """Write a row at once; it replaces an earlier one of the same cell."""
        marks = ", ".join("?" for _ in COLUMNS)
        self._db.execute(f"INSERT OR REPLACE INTO results VALUES ({marks})", astuple(row))

    def get(self, cell: Cell) -> Row | None:
        """Return the row of a cell, or None."""
        where = " AND ".join(f"{name} = ?" for name in KEY)
        values = [getattr(cell, name) for name in KEY]
        columns = self._db.execute(f"SELECT * FROM results WHERE {where}", values).fetchone()
        return None if columns is None else Row(*columns)

    def __iter__(self) -> Iterator[Row]:
        order = ", ".join(KEY)
        for values in self._db.execute(f"SELECT * FROM results ORDER BY {order}").fetchall():
            yield Row(*values)

    def _names(self) -> tuple[str, ...]:
        """Return the columns of the file."""
        columns = self._db.execute("SELECT name FROM pragma_table_info('results')")
        return tuple(name for (name,) in columns)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def write_results(rows: Iterable[Row], path: str | Path) -> None:
    """Write rows to a CSV file, the same bytes for the same rows, or add them to a store."""
    if not str(path).endswith(CSV):
        with closing(ResultStore(path)) as store:
            for row in rows:
                store.add(row)
        return
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(astuple(row) for row in sorted(rows, key=lambda row: row.cell))
    content = buffer.getvalue().encode()
    with whole_file(Path(path)) as file:
        file.write(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


def read_results(path: str | Path) -> list[Row]:
    """Return the rows of a CSV file that `write_results` wrote, or of a store."""
    if not Path(path).is_file():
        raise InputError(f"there are no results at {path}. Run `likewise bench run` first.")
    if not str(path).endswith(CSV):
        with closing(ResultStore(path)) as store:
            return list(store)
    content = Path(path).read_bytes()
    try:
        text = (gzip.decompress(content) if str(path).endswith(".gz") else content).decode()
        return [
            Row(**{name: _parsed(value, _KINDS[name]) for name, value in line.items()})
            for line in csv.DictReader(io.StringIO(text, newline=""))
        ]
    except (OSError, EOFError, zlib.error, csv.Error, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is not a file of results, or is damaged ({type(error).__name__}: {error}). "
            "`likewise bench export` writes such files."
        ) from error


def _parsed(text: str, kinds: tuple[Any, ...]) -> Any:
    return None if text == "" and type(None) in kinds else kinds[0](text)


def _column(name: str) -> str:
    """Return how a column is declared in SQL."""
    kind, *or_none = _KINDS[name]
    return f"{name} {_SQL_TYPE[kind]}{'' if or_none else ' NOT NULL'}"
