"""A project in one SQLite file: settings, items, the first session, and the log of what was done.

When a call that writes has returned, what it wrote is in the file and survives a kill and a power
cut: SQLite keeps a rollback journal, with ``synchronous=EXTRA``. So a plain copy of the file has
all of it, too. A write that a kill interrupts is rolled back by the next process that opens the
file.
Everything in it has a checksum; see `likewise.store.schema`. Several processes may use one file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from likewise.core.arrays import deflated, inflated
from likewise.errors import InputError, LikewiseError, SessionFileError, StaleQueryError
from likewise.store import schema
from likewise.store.database import (
    IN_MEMORY,
    begin,
    check_whole,
    connect,
    digest,
    is_interrupted,
    name_anew,
    new_file,
    note_sum,
    snapshot,
    translated,
)

SETTINGS: dict[str, Any] = {
    "path": str,
    "paths": [str],
    "options": {str: object},
    "strategy": (str, type(None)),
    "questions": (str, type(None)),
    "n_super_instances": (int, type(None)),
    "groups": (str, type(None)),
    "group_names": ([str], type(None)),
    "seed": int,
    "low": [float],
    "high": [float],
    "n_rows": int,
    "copies": {str: [str]},
    "unshown": [int],
    "renamed": {str: str},
    "joined": [str],
    "rest": bool,
}
"""The types of the settings that projects read, and of what is in them; several in brackets."""


SUMS = "SELECT name, sum FROM sums ORDER BY name"
PIECE = 2 << 20
"""A longer payload is stored in pieces of this many bytes. Others wait while one piece is read,
which takes a few milliseconds."""
PART = " / "
"""Comes before the number in the names of further pieces."""
IS_PIECE = f"substr(name, 1, length(?1) + {len(PART)}) = ?1 || '{PART}'"

SETUP = "setup 0"
"""The payload with the session as it was begun."""

Row = tuple[int, str, str, str, float | None, str]
"""An entry of the log as it stands in the file: its number, its JSON, who did it, when, how many
seconds it took, and its checksum."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One entry of the log: what was done, who did it, when (in UTC), and how long it took."""

    seq: int
    op: dict[str, Any]
    by: str | None
    at: str
    seconds: float | None


class Store:
    """A project file, for several threads and processes. Use `create` or `open`, then close it."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._is_current = False
        self._known: tuple[Any, dict[str, Any]] | None = None
        self._upgraded: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        settings: Mapping[str, Any] | None = None,
        items: Mapping[str, str] | None = None,
        payloads: Mapping[str, bytes] | None = None,
        log: Sequence[Row] = (),
    ) -> Store:
        """Make a project file, whole or not at all; items are content hashes by id."""
        path = Path(path)
        with (
            new_file(path) as new,
            translated(path),
            cls(path, connect(new)) as store,
            store._writing() as db,
        ):
            db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            _put(db, settings or {}, items or {}, payloads or {})
            for row in log:
                _put_entry(db, row)
            name_anew(db)
        return cls.open(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open a session file; the first write brings one of an earlier release up to date."""
        path = Path(path)
        if not path.is_file():
            why = "it is not a regular file" if path.exists() else "there is no such file"
            raise SessionFileError(f"cannot open {path}: {why}")
        with translated(path):
            if is_interrupted(path, schema.refuse_header):
                # SQLite's checksums of a journal are weak. If taking the write back damages the
                # file, let it be a copy.
                with snapshot(path) as copy, cls(path, connect(copy)) as store:
                    store.check(full=True)
                    store.check_content()
            store = cls(path, connect(path, refuse=schema.refuse_header))
        try:
            store.check()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def in_memory(cls) -> Store:
        """Return a project that is only in memory."""
        store = cls(IN_MEMORY, connect(IN_MEMORY))
        # The project of a widget or an app is never closed, and Python 3.13 warns about that.
        weakref.finalize(store, store._db.close)
        with store._writing():
            pass
        return store

    def copy_to(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the project to one new file, also while others write to this one."""
        path = Path(path)
        with (
            new_file(path) as new,
            translated(path),
            type(self)(path, connect(new)) as copy,
            copy._writing() as db,
        ):
            db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            # Payloads are most of a file. They are read one by one, and only those that changed
            # since are read again with the rest, so that nobody waits for long.
            copied = {}
            for (name,) in self._read("SELECT name FROM payloads"):
                for row in self._read("SELECT name, data FROM payloads WHERE name = ?", name):
                    db.execute("INSERT INTO payloads VALUES (?, ?)", row)
                    copied[name] = digest(*row)
            # Others wait while this is read, but not while it is written: the disk may be busy.
            with self._one_state() as source:
                rest = _read_rest(source, copied)
            _put_rest(db, rest)
            name_anew(db)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
            if self._upgraded is not None:
                self._upgraded.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def last(self) -> int:
        """The number of the latest entry of the log, 0 for none."""
        return int(self._read("SELECT coalesce(max(seq), 0) FROM log")[0][0])

    def append(
        self,
        op: Mapping[str, Any],
        *,
        after: int,
        payloads: Mapping[str, bytes] | None = None,
        settings: Mapping[str, Any] | None = None,
        items: Mapping[str, str] | None = None,
    ) -> int:
        """Add an entry to the log, in one transaction with the rest; return its number.

        `after` is the latest entry that the caller has seen. If the log is longer by now, the
        caller answered an old question, and `StaleQueryError` is raised.
        """
        entry = dict(op)
        by, at = entry.pop("by", None) or "", entry.pop("at", None) or now()
        seconds = entry.pop("seconds", None)
        seconds = None if seconds is None else float(seconds)
        text = _to_json(entry, "an entry of the log")
        with self._writing() as db:
            last, before = self._end_of_log()
            if after != last:
                raise StaleQueryError(
                    f"nothing was saved: this came after entry {after} and the log is at "
                    f"{last}. Somebody answered in another window or process; read what is new."
                )
            signed = after + 1, text, by, at, seconds
            _put_entry(db, (*signed, digest(before, *signed)))
            _put(db, settings, items, payloads or {})
            self._known = None if settings else self._known
        return after + 1

    def read(self, since: int = 0) -> list[Stored]:
        """Read the entries after number `since`, in order; name the first one that is damaged."""
        with self._one_state():
            entries = [
                Stored(seq, json.loads(op), by or None, at, seconds)
                for seq, op, by, at, seconds, _ in self.rows(since)
            ]
            if damage := self._damage_after(since + len(entries)):
                raise SessionFileError(damage)
            return entries

    def rows(self, since: int = 0) -> Iterator[Row]:
        """Yield the entries after number `since` as they stand, up to the first damage."""
        before = schema.FIRST
        with translated(self.path):
            for row in self._current().execute(
                f"SELECT {schema.ENTRY}, sum FROM log WHERE seq >= ? ORDER BY seq", (since,)
            ):
                *signed, checksum = row
                if row[0] > since:
                    is_good = checksum == digest(before, *signed) and _is_object(row[1])
                    if row[0] != since + 1 or not is_good:
                        return
                    yield row
                since, before = row[0], checksum

    def _damage_after(self, n: int) -> str:
        """Return what is wrong with the log after its first `n` entries, or nothing."""
        last, n_noted = self.last, self.n_noted()
        if n == last == n_noted:
            return ""
        exists = self._read("SELECT 1 FROM log WHERE seq = ?", n + 1)
        what = f"entry {n + 1} of {max(last, n_noted)} is {'damaged' if exists else 'missing'}"
        if n > n_noted:  # a copy that was taken during a write may have some pages from before it
            what = f"its log has {n} entries, but should have {n_noted}"
        return (
            f"{self.path}: {what}; {n} can be read. Write them to another file: "
            f"likewise check --repair {self.path}"
        )

    def n_noted(self) -> int:
        """Return how many entries the file should have."""
        return self._end_of_log()[0]

    def _end_of_log(self) -> tuple[int, str]:
        """Return the number of the last entry and its checksum, as they were noted."""
        rows = self._read("SELECT sum FROM sums WHERE name = ?", schema.LOG)
        number, _, last = str(rows[0][0] if rows else "").partition(" ")
        if not number.isdecimal() or len(number) > 18:
            raise self._damaged("what it notes about the end of its log")
        return int(number), last

    @property
    def settings(self) -> dict[str, Any]:
        """The project's settings."""
        rows = self._content("settings", "its settings")
        try:
            settings = {name: json.loads(value) for name, value in rows}
        except (TypeError, ValueError, RecursionError) as error:
            raise self._damaged("its settings", error) from error
        for name, kind in SETTINGS.items():
            if name in settings and not _is_of(kind, settings[name]):
                raise self._damaged(f"its setting {name!r}, which is {str(settings[name])[:80]!r}")
        return settings

    def setting(self, name: str) -> Any:
        """Return one of the settings, or None; they are read again when the file has changed."""
        state = self._read("PRAGMA data_version")
        if self._known is None or self._known[0] != state:
            self._known = state, self.settings
        return self._known[1].get(name)

    def set(self, name: str, value: Any) -> None:
        """Change one of the settings."""
        with self._writing() as db:
            _put(db, {name: value}, None, {})
            self._known = None

    @property
    def items(self) -> dict[str, str]:
        """The content hash of every item by its id, as they were when they were last taken in."""
        return {item: hash for _, item, hash in self._content("items", "its list of items")}

    @property
    def payload_names(self) -> list[str]:
        """The names of all payloads, also of one that was lost."""
        names = {name for (name,) in self._read("SELECT name FROM payloads")}
        noted = (str(name) for (name,) in self._read("SELECT name FROM sums"))
        start = schema.PAYLOAD
        names |= {name.removeprefix(start) for name in noted if name.startswith(start)}
        return sorted({str(name).partition(PART)[0] for name in names})

    def payload(self, name: str) -> bytes:
        """Return a payload by its name."""
        what = f"its payload {name!r}"
        pieces = []
        further = f"SELECT count(*) FROM sums WHERE {IS_PIECE}"
        for k in range(1 + self._read(further, f"{schema.PAYLOAD}{name}")[0][0]):
            stored = f"{name}{PART}{k}" if k else name
            rows = self._read("SELECT data FROM payloads WHERE name = ?", stored)
            if not rows:
                if name in self.payload_names:
                    raise self._damaged(f"{what} is missing")
                raise InputError(f"{self.path} has no payload {name!r}, only {self.payload_names}")
            pieces.append(rows[0][0])
            self._compare(f"{schema.PAYLOAD}{stored}", digest(stored, pieces[-1]), what)
        try:
            return inflated(b"".join(pieces))
        except (TypeError, SessionFileError) as error:
            raise self._damaged(what, error) from error

    def _content(self, table: str, what: str) -> list[tuple[Any, ...]]:
        """Return the rows of a table, which must have the checksum that was noted."""
        with self._one_state() as db:
            rows, checksum = schema.content(db, table)
            self._compare(table, checksum, what)
        return rows

    def _compare(self, name: str, checksum: str, what: str) -> None:
        """Refuse content whose checksum differs from the one that was noted."""
        if self._read("SELECT sum FROM sums WHERE name = ?", name) != [(checksum,)]:
            raise self._damaged(what)

    def _damaged(self, what: str, error: Exception | None = None) -> SessionFileError:
        why = "" if error is None else f" ({error})"
        return SessionFileError(f"{self.path} is damaged: {what}{why}. Use a copy of it.")

    @property
    def version(self) -> int:
        """The number of migrations that the file has seen."""
        with self._lock, translated(self.path):
            return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _current(self) -> sqlite3.Connection:
        """Return the file or, if it lacks migrations until the first write, an upgraded copy."""
        # Nobody takes migrations back, so this is read until they are all there.
        self._is_current = self._is_current or self.version == len(schema.MIGRATIONS)
        if self._is_current:
            return self._db
        if self._upgraded is None:
            self._upgraded = connect(IN_MEMORY)
            self._db.backup(self._upgraded)
        schema.migrate(self._upgraded)
        return self._upgraded

    @contextmanager
    def _one_state(self) -> Iterator[sqlite3.Connection]:
        """Let several statements read one state of the file, whatever others write meanwhile."""
        with self._lock, translated(self.path):
            db = self._current()
            if db.in_transaction:
                yield db
                return
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("ROLLBACK")

    def _read(self, statement: str, *values: Any) -> list[Any]:
        with self._lock, translated(self.path):
            return self._current().execute(statement, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Run one transaction that holds the write lock throughout, with migrations if need be."""
        with self._lock, translated(self.path):
            try:
                if begin(self._db) != len(schema.MIGRATIONS):
                    schema.migrate(self._db)
                yield self._db
                sums = self._db.execute(SUMS).fetchall()
                self._commit(sums)
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _commit(self, sums: list[Any]) -> None:
        """End a transaction that leaves these checksums in the file; report if that is in doubt."""
        try:
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:  # others are reading
                raise
            # The disk failed. That may have been after the last step that counts.
            after = f"the disk failed ({error}). See to it before you go on"
            try:
                is_saved = self._db.execute(SUMS).fetchall() == sums
            except sqlite3.Error:
                raise LikewiseError(
                    f"whether this was saved in {self.path} shows when it is opened again: {after}"
                ) from error
            if is_saved:
                raise LikewiseError(f"this was saved in {self.path}, but then {after}") from error
            raise

    def check_content(self) -> int:
        """Refuse a file in which an item, a payload or an entry is damaged; count the entries."""
        _ = self.items
        for name in self.payload_names:
            self.payload(name)
        return len(self.read())

    def check(self, *, full: bool = False) -> None:
        """Refuse a file that is damaged, of a newer version, or not ours; indexes only if full."""
        try:
            with translated(self.path):
                (application,) = self._db.execute("PRAGMA application_id").fetchone()
                schema.refuse_application(application)
                check_whole(self._db, self.path)
                schema.check_tables(self._db)
                way = "integrity_check" if full else "quick_check"
                (finding,) = self._db.execute(f"PRAGMA {way}(1)").fetchone()
                if finding != "ok":
                    why = str(finding).splitlines()[-1]
                    raise SessionFileError(
                        f"it is cut or damaged ({why}). Use a copy of it, or write what can be "
                        f"read to another file: likewise check --repair {self.path}"
                    )
        except SessionFileError as error:
            raise SessionFileError(f"cannot open {self.path}: {error}") from error
        _ = self.settings


def _put(
    db: sqlite3.Connection,
    settings: Mapping[str, Any] | None,
    items: Mapping[str, str] | None,
    payloads: Mapping[str, bytes],
) -> None:
    """Write settings, all items, and payloads, with their checksums; None changes nothing."""
    if settings is not None:
        named = [(name, _to_json(value, f"setting {name!r}")) for name, value in settings.items()]
        db.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", named)
        schema.sign(db, "settings")
    if items is not None:
        db.execute("DELETE FROM items")
        rows = ((k, name, content) for k, (name, content) in enumerate(items.items()))
        db.executemany("INSERT INTO items VALUES (?, ?, ?)", rows)
        schema.sign(db, "items")
    for name, data in payloads.items():
        small = deflated(data)
        db.execute(f"DELETE FROM payloads WHERE {IS_PIECE}", (name,))
        db.execute(f"DELETE FROM sums WHERE {IS_PIECE}", (f"{schema.PAYLOAD}{name}",))
        for k, start in enumerate(range(0, len(small), PIECE)):
            stored, piece = f"{name}{PART}{k}" if k else name, small[start : start + PIECE]
            db.execute("INSERT OR REPLACE INTO payloads VALUES (?, ?)", (stored, piece))
            note_sum(db, f"{schema.PAYLOAD}{stored}", digest(stored, piece))


def _read_rest(
    source: sqlite3.Connection, copied: Mapping[str, str]
) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows but the payloads that were copied and still have the same checksum."""
    sums = source.execute(SUMS).fetchall()
    noted = dict(sums)
    rows: dict[str, list[tuple[Any, ...]]] = {"payloads": []}
    for (name,) in source.execute("SELECT name FROM payloads").fetchall():
        if noted.get(f"{schema.PAYLOAD}{name}") != copied.get(name):
            found = source.execute("SELECT name, data FROM payloads WHERE name = ?", (name,))
            rows["payloads"] += found.fetchall()
    for table in ("settings", "items", "log"):
        rows[table] = source.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
    return {**rows, "sums": sums}


def _put_rest(db: sqlite3.Connection, rest: Mapping[str, list[tuple[Any, ...]]]) -> None:
    """Write rows to a copy that has payloads only."""
    db.execute("DELETE FROM sums")
    for table, rows in rest.items():
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            db.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)


def _put_entry(db: sqlite3.Connection, row: Row) -> None:
    """Write an entry of the log, and note that it is the last one."""
    db.execute(f"INSERT INTO log ({schema.ENTRY}, sum) VALUES (?, ?, ?, ?, ?, ?)", row)
    note_sum(db, schema.LOG, f"{row[0]} {row[-1]}")


def _is_of(kind: Any, value: Any) -> bool:
    """Whether a JSON value has a type of `SETTINGS`, and all that is in it."""
    if isinstance(kind, tuple):
        return any(_is_of(one, value) for one in kind)
    if isinstance(kind, list):
        return isinstance(value, list) and all(_is_of(kind[0], one) for one in value)
    if isinstance(kind, dict):
        return isinstance(value, dict) and all(_is_of(kind[str], one) for one in value.values())
    is_whole = kind is float and type(value) is int
    return kind is object or type(value) is kind or is_whole


def _is_object(text: Any) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError, RecursionError):
        return False


def now() -> str:
    """Return the time in UTC, as it stands in the log."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _to_json(value: Any, what: str) -> str:
    try:
        plain = dict(value) if isinstance(value, Mapping) else value
        return json.dumps(plain, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be plain JSON values: {error}") from error
