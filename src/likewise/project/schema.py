"""The tables of a project file, as an ordered list of named migrations.

A new file goes through all of them, an older file through those it has not seen, when it is first
written to. A migration that has been released is never edited: a change of the tables is a new
function at the end of the list.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from likewise.errors import SessionFileError

APPLICATION_ID = 0x6C696B65
"""Stands in the header of every project file: "like" in ASCII."""

OLD_ENTRIES = "entries of schema 1"
"""The setting that says how many entries of the log are of the first schema."""

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


def names_and_notes(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return what the first schema kept beside the log, as entries of the log."""
    names = db.execute(
        "SELECT position, name FROM group_names JOIN items ON key = id ORDER BY group_names.rowid"
    ).fetchall()
    notes = db.execute(
        "SELECT position FROM notes JOIN items ON item = id ORDER BY notes.rowid"
    ).fetchall()
    found: list[dict[str, Any]] = [{"do": "mark", "row": row} for (row,) in notes]
    if names:
        found.append({"do": "name", "names": [list(row) for row in names]})
    return found


def _names_and_notes_in_the_log(db: sqlite3.Connection) -> None:
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()
    if last:
        db.execute("INSERT INTO settings VALUES (?, ?)", (OLD_ENTRIES, json.dumps(last)))
    for entry in names_and_notes(db):
        db.execute("INSERT INTO log (op) VALUES (?)", (json.dumps(entry),))
    db.execute("DROP TABLE group_names")
    db.execute("DROP TABLE notes")


MIGRATIONS: list[Migration] = [
    ("first tables", _first_tables),
    ("names and notes in the log", _names_and_notes_in_the_log),
]


def migrate(db: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Apply, inside the caller's transaction, the migrations that a file has not seen."""
    db.execute(
        "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)"
    )
    n_seen = n_migrations(db, migrations)
    for number, (name, change) in enumerate(migrations[n_seen:], start=n_seen + 1):
        change(db)
        db.execute("INSERT INTO migrations VALUES (?, ?)", (number, name))
        db.execute(f"PRAGMA user_version = {number}")


def n_migrations(db: sqlite3.Connection, migrations: Sequence[Migration]) -> int:
    """Return how many migrations a file has seen; reads only.

    Raises
    ------
    SessionFileError
        When the file has seen one that is not in the list: a newer version made it.
    """
    applied = [row[0] for row in db.execute("SELECT name FROM migrations ORDER BY number")]
    known = [name for name, _ in migrations]
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > len(known) or applied != known[: len(applied)]:
        raise SessionFileError(
            f"it was made by a newer version of likewise (schema {version}, "
            f"this one knows up to {len(known)}): pip install --upgrade likewise"
        )
    return len(applied)
