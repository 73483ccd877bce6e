"""A project in one SQLite file: settings, items, the first session, and the log of what was done.

The file is in write-ahead mode with ``synchronous=FULL``: when a call that writes has returned,
what it wrote survives a kill and a power cut. Several processes may use one file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import weakref
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from likewise.database import IN_MEMORY, check_whole, connect, new_file, translated
from likewise.errors import InputError, SessionFileError, StaleQueryError
from likewise.project import schema

SAMPLE = 65_536
"""How many bytes are compressed to see whether that is worthwhile."""
WORTH = 0.8
"""A payload is compressed only if a sample from its middle shrinks below this share. Features of
5000 pictures would shrink by a tenth, and that would take half a second."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One entry of the log, as it stands in the file: entries count from 1, without gaps.

    `at` is when it was done, in UTC; `is_old` says that it was written in the first schema.
    """

    seq: int
    op: dict[str, Any]
    at: str
    is_old: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between the items of a project and those there are now, as ids.

    Examples
    --------
    >>> found = Changes.between({"a": "1", "b": "2"}, {"b": "9", "c": "3"})
    >>> found.missing, found.added, found.changed
    (('a',), ('c',), ('b',))
    >>> print(found)
    1 missing (a), 1 changed (b), 1 added (c)
    """

    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @classmethod
    def between(cls, before: Mapping[str, str], now: Mapping[str, str]) -> Changes:
        """Compare two mappings of id to content hash; the order of the ids does not matter."""
        return cls(
            missing=tuple(item for item in before if item not in now),
            added=tuple(item for item in now if item not in before),
            changed=tuple(item for item in before if now.get(item, before[item]) != before[item]),
        )

    def __bool__(self) -> bool:
        return bool(self.missing or self.added or self.changed)

    def __str__(self) -> str:
        parts = [("missing", self.missing), ("changed", self.changed), ("added", self.added)]
        return ", ".join(f"{len(ids)} {word} ({_some(ids)})" for word, ids in parts if ids)


def _some(ids: tuple[str, ...], at_most: int = 5) -> str:
    more = f" and {len(ids) - at_most} more" if len(ids) > at_most else ""
    return ", ".join(ids[:at_most]) + more


class Store:
    """A project file. Make one with `create`, open it with `open`, close it after use.

    The methods may be called from several threads, and several processes may have the file open.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "photos.likewise"
    >>> hashes = {"a.png": "5f", "b.png": "e1"}
    >>> with Store.create(path, settings={"seed": 0}, items=hashes) as store:
    ...     store.append({"do": "tell", "left": 0, "right": 1, "answer": "same"}, after=0)
    1
    >>> with Store.open(path) as store:
    ...     store.last, store.read()[0].op["answer"]
    (1, 'same')
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._lock = threading.RLock()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        settings: Mapping[str, Any] | None = None,
        items: Mapping[str, str] | None = None,
        payloads: Mapping[str, bytes] | None = None,
    ) -> Store:
        """Make a project file and open it. It appears whole or not at all.

        Settings are JSON values by name. Items are content hashes by id, in order. Payloads are
        bytes by name, such as the super-instances; they are compressed.
        """
        path = Path(path)
        with (
            new_file(path) as new,
            translated(path),
            cls(path, connect(new)) as store,
            store._writing() as db,
        ):
            db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            named = [(k, _to_json(v, f"setting {k!r}")) for k, v in (settings or {}).items()]
            db.executemany("INSERT INTO settings VALUES (?, ?)", named)
            rows = ((k, i, h) for k, (i, h) in enumerate((items or {}).items()))
            db.executemany("INSERT INTO items VALUES (?, ?, ?)", rows)
            _put_payloads(db, payloads or {})
        return cls.open(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open a project file; one of an older version is brought up to date by the first write.

        Raises `SessionFileError` if the file is missing, damaged, of a newer version, or no
        project.
        """
        path = Path(path)
        check_whole(path)
        with translated(path):
            store = cls(path, connect(path))
        try:
            store._check()
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
        with new_file(Path(path)) as new, self._lock, translated(Path(path)):
            self._db.execute("VACUUM INTO ?", (str(new),))

    def close(self) -> None:
        """Close the file. The last one to close it folds the write-ahead log into it."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def last(self) -> int:
        """The number of the latest entry of the log, 0 for none."""
        (last,) = self._read("SELECT coalesce(max(seq), 0) FROM log")[0]
        return int(last) + len(self._beside_the_log())

    def append(
        self, op: Mapping[str, Any], *, after: int, payloads: Mapping[str, bytes] | None = None
    ) -> int:
        """Add an entry to the log, together with payloads; both are on disk when this returns.

        The entry is anything JSON can hold, such as ``{"do": "undo"}``; its "at" is when it was
        done, by default now. `after` is the latest entry that the caller has seen. If the log is
        longer by now, the caller answered an old question, and `StaleQueryError` is raised. Returns
        the number of the entry, ``after + 1``.
        """
        entry = dict(op)
        at = entry.pop("at", None)
        text = _to_json(entry, "an entry of the log")
        with self._writing() as db:
            (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()
            if after != last:
                raise StaleQueryError(
                    f"nothing was saved: this came after entry {after} and the log is at "
                    f"{last}. Somebody answered in another window or process; read what is new."
                )
            given = {"seq": after + 1, "op": text} | ({} if at is None else {"at": at})
            marks = ", ".join("?" * len(given))
            db.execute(f"INSERT INTO log ({', '.join(given)}) VALUES ({marks})", [*given.values()])
            _put_payloads(db, payloads or {})
        return after + 1

    def read(self, since: int = 0) -> list[Stored]:
        """Read the entries after number `since`, in order."""
        rows = self._read("SELECT seq, op, at FROM log WHERE seq > ? ORDER BY seq", since)
        (last,) = self._read("SELECT coalesce(max(seq), 0) FROM log")[0]
        beside = self._beside_the_log()
        n_old = last if self._version == 1 else self.settings.get(schema.OLD_ENTRIES, 0)
        found = [Stored(seq, json.loads(op), at, seq <= n_old) for seq, op, at in rows]
        more = [Stored(last + k, op, "") for k, op in enumerate(beside, start=1)]
        return found + [entry for entry in more if entry.seq > since]

    @property
    def settings(self) -> dict[str, Any]:
        """The project's settings."""
        rows = self._read("SELECT name, value FROM settings ORDER BY rowid")
        return {name: json.loads(value) for name, value in rows}

    def set(self, name: str, value: Any) -> None:
        """Change one of the settings."""
        text = _to_json(value, f"setting {name!r}")
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, text))

    @property
    def items(self) -> dict[str, str]:
        """The content hash of every item by its id, as they were when the project was made."""
        return dict(self._read("SELECT id, hash FROM items ORDER BY position"))

    def changes(self, now: Mapping[str, str]) -> Changes:
        """Compare the items of the project with those there are now, as id to content hash."""
        return Changes.between(self.items, now)

    @property
    def payload_names(self) -> list[str]:
        """The names of all payloads."""
        return [name for (name,) in self._read("SELECT name FROM payloads ORDER BY name")]

    def payload(self, name: str) -> bytes:
        """Return a payload as it was put."""
        rows = self._read("SELECT data FROM payloads WHERE name = ?", name)
        if not rows:
            raise InputError(f"{self.path} has no payload {name!r}, only {self.payload_names}")
        try:
            return zlib.decompress(rows[0][0])
        except zlib.error as error:
            raise SessionFileError(f"{self.path} is damaged: payload {name!r}: {error}") from error

    @property
    def _version(self) -> int:
        """The number of migrations that the file has seen."""
        return int(self._read("PRAGMA user_version")[0][0])

    def _beside_the_log(self) -> list[dict[str, Any]]:
        """Return what the first write will move into the log of a file of the first schema."""
        if self._version > 1:
            return []
        with self._lock, translated(self.path):
            return schema.names_and_notes(self._db)

    def _read(self, statement: str, *values: Any) -> list[Any]:
        with self._lock, translated(self.path):
            return self._db.execute(statement, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, with the write lock from its beginning: all is stored or nothing.

        A file of an older version is brought up to date in it.
        """
        with self._lock, translated(self.path):
            try:
                self._db.execute("BEGIN IMMEDIATE")
                if self._version < len(schema.MIGRATIONS):
                    schema.migrate(self._db)
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _check(self) -> None:
        """Refuse what is not a whole project file, or one of a newer version."""
        try:
            (application,) = self._read("PRAGMA application_id")[0]
            if application != schema.APPLICATION_ID:
                raise SessionFileError("it is a database of another program")
            (finding,) = self._read("PRAGMA quick_check(1)")[0]
            if finding != "ok":
                raise SessionFileError(f"it is cut or damaged ({finding}); use a copy of it")
            schema.n_migrations(self._db)
        except (SessionFileError, sqlite3.Error) as error:
            raise SessionFileError(f"cannot open {self.path}: {error}") from error


def _put_payloads(db: sqlite3.Connection, payloads: Mapping[str, bytes]) -> None:
    rows = [(name, _compressed(data)) for name, data in payloads.items()]
    db.executemany("INSERT OR REPLACE INTO payloads VALUES (?, ?)", rows)


def _compressed(data: bytes) -> bytes:
    """Return data compressed, or only wrapped where compression gains little, as for features."""
    middle = len(data) // 2
    sample = data[middle : middle + SAMPLE]
    gains = len(data) <= 2 * SAMPLE or len(zlib.compress(sample, 1)) < WORTH * len(sample)
    return zlib.compress(data, 1 if gains else 0)


def _to_json(value: Any, what: str) -> str:
    try:
        plain = dict(value) if isinstance(value, Mapping) else value
        return json.dumps(plain, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be plain JSON values: {error}") from error
