"""Checksums of a project file: of every entry of the log, its settings, its items, its payloads.

The checksum of an entry includes that of the entry before it, so that no entry can be changed,
lost or moved without notice. They find damage, not forgery: whoever can write the file can also
compute them.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from typing import Any

FIRST = ""
"""What stands for the checksum of the entry before the first."""
LOG, SETTINGS, ITEMS = "log", "settings", "items"
"""Names of sums; `LOG` holds how many entries there are, and the checksum of the last."""


def digest(*parts: Any) -> str:
    """Return the checksum of numbers, texts and bytes, and of where each of them ends."""
    state = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogateescape")
        state.update(len(data).to_bytes(8) + data)
    return state.hexdigest()[:32]


def of_entry(before: str, seq: int, op: Any, at: Any) -> str:
    """Return the checksum of an entry of the log."""
    return digest(before, seq, op, at)


def of_rows(rows: Iterable[tuple[Any, ...]]) -> str:
    """Return the checksum of rows of a table."""
    return digest(*(part for row in rows for part in row))


def of_payload(name: str) -> str:
    """Return the name of the checksum of a payload."""
    return f"payload {name}"


def of_log(n_entries: int, last: str) -> str:
    """Return the note about the end of the log."""
    return f"{n_entries} {last}"


def put(db: sqlite3.Connection, name: str, value: str) -> None:
    """Note a checksum."""
    db.execute("INSERT OR REPLACE INTO sums VALUES (?, ?)", (name, value))


def settings_of(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """Return the settings as they stand in a file."""
    return db.execute("SELECT name, value FROM settings ORDER BY rowid").fetchall()


def items_of(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """Return the items as they stand in a file."""
    return db.execute("SELECT position, id, hash FROM items ORDER BY position").fetchall()


def sign_content(db: sqlite3.Connection) -> None:
    """Note the checksums of everything but the log."""
    put(db, SETTINGS, of_rows(settings_of(db)))
    put(db, ITEMS, of_rows(items_of(db)))
    for (name,) in db.execute("SELECT name FROM payloads").fetchall():
        (data,) = db.execute("SELECT data FROM payloads WHERE name = ?", (name,)).fetchone()
        put(db, of_payload(name), digest(name, data))


def sign_log(db: sqlite3.Connection) -> None:
    """Note the checksums of all entries; the log must be open to changes."""
    before, seq = FIRST, 0
    for seq, op, at in db.execute("SELECT seq, op, at FROM log ORDER BY seq").fetchall():
        before = of_entry(before, seq, op, at)
        db.execute("UPDATE log SET sum = ? WHERE seq = ?", (before, seq))
    put(db, LOG, of_log(seq, before))
