"""The tables of a session file, their checksums, and the migrations between releases.

A new file gets all migrations in order. A file of an earlier release gets those it lacks when it is
first written to. A migration that has been released is never edited: a change of the tables is a
new function at the end of the list.

The checksum of an entry of the log includes that of the entry before it, so that no entry can be
changed, lost or moved without notice. Checksums find damage, not forgery: whoever can write the
file can also compute them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Any

from likewise.errors import SessionFileError
from likewise.store.database import digest, note_sum

if TYPE_CHECKING:
    from likewise.store.store import Stored

APPLICATION_ID = 0x4C494B45
"""The number in the header of every session file: "LIKE" in ASCII."""
UNPUBLISHED_ID = 0x6C696B65
"""The number in the header of files of development versions: "like"."""

LOG = "log"
"""The name of the sum with the number of entries, and the checksum of the last one."""
FIRST = ""
"""What stands for the checksum of the entry before the first."""
CONTENT = {
    "settings": "SELECT name, value FROM settings ORDER BY rowid",
    "items": "SELECT position, id, hash FROM items ORDER BY position",
}
"""Tables with one checksum for all rows, by its name."""
PAYLOAD = "payload "
"""The checksum of a payload is called this and the name of the payload."""
ENTRY = "seq, op, person, at, seconds"
"""The columns of the log that its checksums are about."""

Migration = tuple[str, Callable[[sqlite3.Connection], None]]
Load = Callable[[str], Any]


def _first_tables(db: sqlite3.Connection) -> None:
    for statement in (
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        "CREATE TABLE items (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " hash TEXT NOT NULL)",
        "CREATE TABLE payloads (name TEXT PRIMARY KEY, data BLOB NOT NULL)",
        # "by" is a word of SQL. Who is not known is '', and how long is NULL.
        "CREATE TABLE log (seq INTEGER PRIMARY KEY CHECK (seq > 0), op TEXT NOT NULL,"
        " person TEXT NOT NULL, at TEXT NOT NULL, seconds REAL, sum TEXT NOT NULL)",
        "CREATE TRIGGER log_keeps_entries BEFORE DELETE ON log"
        " BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END",
        "CREATE TRIGGER log_keeps_content BEFORE UPDATE ON log"
        " BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END",
        # Without a row id it is one tree, so that a copy taken during a write has one state of it.
        "CREATE TABLE sums (name TEXT PRIMARY KEY, sum TEXT NOT NULL) WITHOUT ROWID",
    ):
        db.execute(statement)
    sign_content(db)
    sign_log(db)


MIGRATIONS: list[Migration] = [("first tables", _first_tables)]


def refuse_header(header: bytes) -> None:
    """Refuse a file that is not ours by its first bytes, before it is opened for writing."""
    refuse_application(int.from_bytes(header[68:72]))


def refuse_application(number: int) -> None:
    """Refuse a file of another program, or of a development version."""
    if number == UNPUBLISHED_ID:
        raise SessionFileError(
            "it is of an unpublished development version of likewise, whose files cannot be read. "
            "Begin a new session"
        )
    if number != APPLICATION_ID:
        raise SessionFileError("it is not a likewise project file")


def content(db: sqlite3.Connection, table: str) -> tuple[list[tuple[Any, ...]], str]:
    """Return the rows of one of the tables of `CONTENT`, and their checksum."""
    rows = db.execute(CONTENT[table]).fetchall()
    return rows, digest(*chain(*rows))


def sign(db: sqlite3.Connection, table: str) -> None:
    """Note the checksum of one of the tables of `CONTENT`."""
    note_sum(db, table, content(db, table)[1])


def sign_content(db: sqlite3.Connection) -> None:
    """Note the checksums of everything but the log."""
    for table in CONTENT:
        sign(db, table)
    for (name,) in db.execute("SELECT name FROM payloads").fetchall():
        (data,) = db.execute("SELECT data FROM payloads WHERE name = ?", (name,)).fetchone()
        note_sum(db, f"{PAYLOAD}{name}", digest(name, data))


def sign_log(db: sqlite3.Connection) -> None:
    """Note the checksums of all entries; the log must be open to changes."""
    before, seq = FIRST, 0
    for seq, *rest in db.execute(f"SELECT {ENTRY} FROM log ORDER BY seq").fetchall():
        before = digest(before, seq, *rest)
        db.execute("UPDATE log SET sum = ? WHERE seq = ?", (before, seq))
    note_sum(db, LOG, f"{seq} {before}")


def migrate(db: sqlite3.Connection, up_to: int | None = None) -> None:
    """Apply, inside the caller's transaction, the migrations that a file has not seen."""
    db.execute(
        "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)"
    )
    n_seen = n_migrations(db)
    for number, (name, change) in enumerate(MIGRATIONS[n_seen:up_to], start=n_seen + 1):
        change(db)
        db.execute("INSERT INTO migrations VALUES (?, ?)", (number, name))
        db.execute(f"PRAGMA user_version = {number}")


def n_migrations(db: sqlite3.Connection) -> int:
    """Return how many migrations a file has seen; refuse one of a newer version. Reads only."""
    applied = [row[0] for row in db.execute("SELECT name FROM migrations ORDER BY number")]
    known = [name for name, _ in MIGRATIONS]
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > len(known) or len(applied) > len(known):
        raise SessionFileError(
            f"it was made by a newer version of likewise (schema {version}, "
            f"this one knows up to {len(known)}): pip install --upgrade likewise"
        )
    if version != len(applied) or applied != known[: len(applied)]:
        raise SessionFileError("what it says about its version is damaged")
    return len(applied)


def check_tables(db: sqlite3.Connection) -> None:
    """Refuse a file whose tables, views or triggers are not exactly ours."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as ours:
        migrate(ours, up_to=n_migrations(db))
        expected = _tables(ours)
    if other := sorted(set(_tables(db)) ^ set(expected)):
        kind, name, *_ = other[0]
        raise SessionFileError(
            f"its {str(kind)[:20]} {str(name)[:80]!r} is not that of a project file. It is damaged,"
            " or somebody changed it"
        )


def _tables(db: sqlite3.Connection) -> list[tuple[str, ...]]:
    rows = db.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")
    return [tuple(map(str, row)) for row in rows]


def understood(entries: Sequence[Stored], load: Load) -> Iterator[tuple[Stored, dict[str, Any]]]:
    """Yield the entries with what `Session.apply` takes; `load` returns a payload by its name."""
    for entry in entries:
        try:
            yield entry, _understood(entry, load)
        except (KeyError, TypeError) as error:
            raise SessionFileError(
                f"the log has an entry that cannot be read: {entry.op}"
            ) from error


def _understood(entry: Stored, load: Load) -> dict[str, Any]:
    op = {**entry.op, "by": entry.by, "at": entry.at, "seconds": entry.seconds}
    if op["do"] == "grow":
        return {**op, "rows": load(op["rows"]["payload"])["rows"]}
    if op["do"] == "rebuild":
        return {**op, "strategy": load(op["strategy"]["payload"])}
    return op
