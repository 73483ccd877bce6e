"""A project in one SQLite file: settings, items, set-up, and the log of what was answered.

The file is in write-ahead mode with ``synchronous=FULL``: when a call that writes has returned,
what it wrote survives a kill and a power cut. Several processes may use one file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from likewise.database import check_whole, connect, new_file, translated
from likewise.errors import InputError, SessionFileError, StaleQueryError
from likewise.project import schema
from likewise.project.changes import Changes


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation in the log.

    Attributes
    ----------
    seq : int
        1 for the first operation, then counting up without gaps.
    op : dict
        The operation as it was appended.
    at : str
        When, in UTC.
    """

    seq: int
    op: dict[str, Any]
    at: str


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

        Parameters
        ----------
        path : path
            Where to make it; nothing may be there yet.
        settings : mapping, optional
            Anything JSON can hold, by name.
        items : mapping of str to str, optional
            The content hash of every item by its id, in order.
        payloads : mapping of str to bytes, optional
            What else belongs to the project, such as its super-instances; stored compressed.
        """
        path = Path(path)
        with new_file(path) as new, cls(path, connect(new)) as store, store._writing() as db:
            db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            schema.migrate(db, schema.MIGRATIONS)
            _put_settings(db, settings or {})
            rows = ((k, i, h) for k, (i, h) in enumerate((items or {}).items()))
            db.executemany("INSERT INTO items VALUES (?, ?, ?)", rows)
            _put_payloads(db, payloads or {})
        return cls.open(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open a project file; one of an older version is brought up to date first.

        Raises
        ------
        SessionFileError
            When the file is not there, is not a project, is damaged, or is of a newer version.
        """
        path = Path(path)
        check_whole(path)
        store = cls(path, connect(path))
        try:
            store._check()
        except BaseException:
            store.close()
            raise
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def last(self) -> int:
        """The number of the latest operation in the log, 0 for none."""
        return int(self._read("SELECT coalesce(max(seq), 0) FROM log")[0][0])

    def append(
        self, op: Mapping[str, Any], *, after: int, payloads: Mapping[str, bytes] | None = None
    ) -> int:
        """Add an operation to the log; it is safe on disk when this returns.

        Parameters
        ----------
        op : mapping
            The operation: anything JSON can hold, such as ``{"do": "undo"}``.
        after : int
            The latest operation the caller knows of: what `last` was when the question was put.
        payloads : mapping of str to bytes, optional
            Payloads to put in the same moment: both are stored or neither.

        Returns
        -------
        int
            The number of the operation, ``after + 1``.

        Raises
        ------
        StaleQueryError
            When the log has moved on, so that the caller answered an old question.
        """
        text = _to_json(op, "an operation")
        with self._writing() as db:
            (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()
            if after != last:
                raise StaleQueryError(
                    f"nothing was saved: this came after operation {after} and the log is at "
                    f"{last}. Somebody answered in another window or process; read what is new."
                )
            db.execute("INSERT INTO log (seq, op) VALUES (?, ?)", (after + 1, text))
            _put_payloads(db, payloads or {})
        return after + 1

    def read(self, since: int = 0) -> list[Entry]:
        """Read the operations after number `since`, in order."""
        rows = self._read("SELECT seq, op, at FROM log WHERE seq > ? ORDER BY seq", since)
        return [Entry(seq, json.loads(op), at) for seq, op, at in rows]

    @property
    def settings(self) -> dict[str, Any]:
        """The project's settings."""
        rows = self._read("SELECT name, value FROM settings ORDER BY rowid")
        return {name: json.loads(value) for name, value in rows}

    def update_settings(self, settings: Mapping[str, Any]) -> None:
        """Set these settings and keep the others."""
        with self._writing() as db:
            _put_settings(db, settings)

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

    def put_payload(self, name: str, data: bytes) -> None:
        """Store a payload, in place of the one of that name if there is one."""
        with self._writing() as db:
            _put_payloads(db, {name: data})

    @property
    def group_names(self) -> dict[str, str]:
        """The names given to groups, by the key the caller chose for the group."""
        return dict(self._read("SELECT key, name FROM group_names ORDER BY rowid"))

    def name_group(self, key: str, name: str) -> None:
        """Name a group, or take its name away with an empty one."""
        with self._writing() as db:
            db.execute("DELETE FROM group_names WHERE key = ?", (key,))
            if name:
                db.execute("INSERT INTO group_names VALUES (?, ?)", (key, name))

    def notes(self, kind: str) -> dict[str, Any]:
        """All notes of one kind, by item id; for instance of kind ``"does not fit"``."""
        rows = self._read("SELECT item, value FROM notes WHERE kind = ? ORDER BY rowid", kind)
        return {item: json.loads(value) for item, value in rows}

    def put_note(self, kind: str, item: str, value: Any = True) -> None:
        """Attach a note to an item, in place of the one of that kind; None takes it away."""
        text = _to_json(value, "a note")
        with self._writing() as db:
            db.execute("DELETE FROM notes WHERE kind = ? AND item = ?", (kind, item))
            if value is not None:
                db.execute("INSERT INTO notes VALUES (?, ?, ?)", (kind, item, text))

    def _read(self, statement: str, *values: Any) -> list[Any]:
        with self._lock, translated(self.path):
            return self._db.execute(statement, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction that takes the write lock at once: all of it is stored or nothing."""
        with self._lock, translated(self.path):
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _check(self) -> None:
        """Refuse what is not a whole project file, and migrate an old one."""
        try:
            (application,) = self._read("PRAGMA application_id")[0]
            if application != schema.APPLICATION_ID:
                raise SessionFileError("it is a database of another program")
            (finding,) = self._read("PRAGMA quick_check(1)")[0]
            if finding != "ok":
                raise SessionFileError(f"it is cut or damaged ({finding}); use a copy of it")
            if not schema.is_current(self._db, schema.MIGRATIONS):
                with self._writing() as db:
                    schema.migrate(db, schema.MIGRATIONS)
        except SessionFileError as error:
            raise SessionFileError(f"cannot open {self.path}: {error}") from error
        except sqlite3.Error as error:
            raise SessionFileError(f"cannot open {self.path}: {error}") from error


def _put_settings(db: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    rows = [(name, _to_json(value, f"setting {name!r}")) for name, value in settings.items()]
    db.executemany(
        "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value=excluded.value",
        rows,
    )


def _put_payloads(db: sqlite3.Connection, payloads: Mapping[str, bytes]) -> None:
    rows: Iterable[tuple[str, bytes]] = (
        (name, zlib.compress(data)) for name, data in payloads.items()
    )
    db.executemany("INSERT OR REPLACE INTO payloads VALUES (?, ?)", rows)


def _to_json(value: Any, what: str) -> str:
    try:
        plain = dict(value) if isinstance(value, Mapping) else value
        return json.dumps(plain, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be plain JSON values: {error}") from error
