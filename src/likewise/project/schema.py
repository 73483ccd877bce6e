"""The tables of a project file, as an ordered list of named migrations.

A new file goes through all of them, an older file through those it has not seen. A migration that
has been released is never edited: a change of the tables is a new function at the end of the list.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from likewise.errors import SessionFileError

APPLICATION_ID = 0x6C696B65
"""Stands in the header of every project file: "like" in ASCII."""

Migration = tuple[str, Callable[[sqlite3.Connection], None]]


def _first_tables(db: sqlite3.Connection) -> None:
    for statement in (
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        "CREATE TABLE items (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " hash TEXT NOT NULL)",
        "CREATE TABLE payloads (name TEXT PRIMARY KEY, data BLOB NOT NULL)",
        "CREATE TABLE log (seq INTEGER PRIMARY KEY CHECK (seq > 0), op TEXT NOT NULL,"
        " at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))",
        "CREATE TRIGGER log_keeps_entries BEFORE DELETE ON log"
        " BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END",
        "CREATE TRIGGER log_keeps_content BEFORE UPDATE ON log"
        " BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END",
        "CREATE TABLE group_names (key TEXT PRIMARY KEY, name TEXT NOT NULL)",
        "CREATE TABLE notes (kind TEXT NOT NULL, item TEXT NOT NULL, value TEXT NOT NULL,"
        " PRIMARY KEY (kind, item))",
    ):
        db.execute(statement)


MIGRATIONS: list[Migration] = [
    ("first tables", _first_tables),
]


def migrate(db: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Apply, inside the caller's transaction, the migrations that a file has not seen.

    Raises
    ------
    SessionFileError
        When the file has seen one that is not in the list: a newer version made it.
    """
    db.execute(
        "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)"
    )
    applied = [row[0] for row in db.execute("SELECT name FROM migrations ORDER BY number")]
    known = [name for name, _ in migrations]
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > len(known) or applied != known[: len(applied)]:
        raise SessionFileError(
            f"it was made by a newer version of likewise (schema {version}, "
            f"this one knows up to {len(known)}): pip install --upgrade likewise"
        )
    for number, (name, change) in enumerate(migrations[len(applied) :], start=len(applied) + 1):
        change(db)
        db.execute("INSERT INTO migrations VALUES (?, ?)", (number, name))
        db.execute(f"PRAGMA user_version = {number}")


def is_current(db: sqlite3.Connection, migrations: Sequence[Migration]) -> bool:
    """Whether there is nothing to migrate; reads only."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version != len(migrations):
        return False
    applied = [row[0] for row in db.execute("SELECT name FROM migrations ORDER BY number")]
    return applied == [name for name, _ in migrations]
