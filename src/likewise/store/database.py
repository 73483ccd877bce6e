"""SQLite files: connecting, making them whole, finding them cut, saying what failed.

A file may come from a stranger or from a failing disk, so nothing in it is run, and nothing beside
it is trusted; see `likewise.store.beside`. While a process has a file open through SQLite, only
SQLite opens it: closing another handle to it would cancel SQLite's locks, and two processes could
write at once.
"""

from __future__ import annotations

import hashlib
import os
import random
import secrets
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from likewise.errors import InputError, LikewiseError, SessionFileError
from likewise.files import whole_path
from likewise.store import beside
from likewise.store.beside import JOURNAL, NEVER_OURS

BUSY_SECONDS = 10.0
"""How long to wait for another process's transaction, which takes milliseconds."""
PAUSE = 0.002
"""How many seconds to wait before looking again whether a file is free."""
FULL_BELOW = 1 << 20
"""A disk with fewer free bytes than this counts as full, whichever error SQLite raises."""
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1 << 30,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 10,
    sqlite3.SQLITE_LIMIT_ATTACHED: 1,  # which VACUUM INTO needs
}
"""Limits for one SQL statement; ours need far less."""

STEP = 1024
"""How many pages are copied while others wait, which takes a few milliseconds."""
MOST_RESTARTS = 20
"""How often others may interrupt a copy before it fails."""

IN_MEMORY = Path(":memory:")

_OPEN: weakref.WeakSet[Connection] = weakref.WeakSet()
_LOOKING = threading.Lock()
os.register_at_fork(
    before=_LOOKING.acquire, after_in_parent=_LOOKING.release, after_in_child=_LOOKING.release
)


class Connection(sqlite3.Connection):
    """A connection that is known to this module while it is open."""

    of: tuple[int, int, int] = (0, 0, 0)
    """The process, and the file as the system knows it."""

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        """Execute a statement; wait while others hold the file, but not forever.

        SQLite itself would look again every tenth of a second. If others write without a pause,
        it might then never find the file free.
        """
        end = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                return super().execute(*statement)
            except sqlite3.OperationalError as error:
                if not _is_busy(error.sqlite_errorcode) or time.monotonic() > end:
                    raise
                time.sleep(random.uniform(0.5, 1.5) * PAUSE)

    def close(self) -> None:
        """Close the connection."""
        super().close()
        _OPEN.discard(self)


def _is_busy(code: int) -> bool:
    return code & 0xFF == sqlite3.SQLITE_BUSY


def is_open_here(path: Path) -> bool:
    """Whether this process has a file open through `connect`."""
    info = path.stat()
    return any(one.of == (os.getpid(), info.st_dev, info.st_ino) for one in _OPEN)


def connect(
    path: Path, *, reads_only: bool = False, refuse: beside.Refuse | None = None
) -> sqlite3.Connection:
    """Open an SQLite file; a commit is on disk when it returns. See `translated` for its errors."""
    if path == IN_MEMORY:
        return _connect(":memory:")
    with _LOOKING:
        try:
            beside.look(path, may_read=not is_open_here(path), refuse=refuse)
        except SessionFileError as error:
            raise SessionFileError(f"cannot open {path}: {error}") from error
        db = _connect(f"{path.absolute().as_uri()}?mode={'ro' if reads_only else 'rw'}")
        info = path.stat()
        db.of = os.getpid(), info.st_dev, info.st_ino
        _OPEN.add(db)
    return db


def _connect(address: str) -> Connection:
    db = sqlite3.connect(
        address,
        uri=address != ":memory:",
        timeout=0.0,  # see `Connection.execute`
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )
    try:
        for limit, most in LIMITS.items():
            db.setlimit(limit, most)
        # Tables, views and triggers of a file must not call functions, and lengths in its pages
        # are checked before they are used.
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA cell_size_check = ON")
        # EXTRA also syncs the folder when the journal is gone. Else a power cut could bring the
        # journal back, and SQLite would take back the last write.
        db.execute("PRAGMA synchronous = EXTRA")
        # Text that is no UTF-8 is damage, which a checksum finds.
        db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    except BaseException:
        db.close()
        raise
    return db


def begin(db: sqlite3.Connection) -> int:
    """Begin to write, and return the version of the file.

    The version is written again, so that the journal begins with page 1, by which `beside.look`
    recognizes it.
    """
    db.execute("BEGIN IMMEDIATE")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.execute(f"PRAGMA user_version = {version}")
    return int(version)


def name_anew(db: sqlite3.Connection) -> None:
    """Draw a number for a new file, so that the journal of no other file seems to be its own."""
    # SQLite compares it to know whether the tables have changed; any number will do.
    db.execute(f"PRAGMA schema_version = {secrets.randbelow(1 << 30)}")


def check_whole(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is shorter than it should be: SQLite reads zeros there."""
    (n_pages,) = db.execute("PRAGMA page_count").fetchone()
    (page_size,) = db.execute("PRAGMA page_size").fetchone()
    # In this order: another process may add pages meanwhile.
    if path.stat().st_size < n_pages * page_size:
        raise SessionFileError("its end is missing; use a copy of it")


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield an empty file that is renamed to `path` in the end, or removed after an error."""
    if not path.parent.is_dir():
        raise InputError(f"cannot make {path}: there is no folder {path.parent}")
    if path.exists():
        raise InputError(f"{path} exists already: open it, or choose another name")
    for ending in (JOURNAL, *NEVER_OURS):
        leftover = Path(f"{path}{ending}")
        # SQLite would replay it into the new file.
        if os.path.lexists(leftover):
            raise InputError(
                f"{leftover} is left over from a file that is gone: move it away first"
            )
    with whole_path(path, private=True, replace=False) as new:
        try:
            yield new
        finally:
            with suppress(OSError):
                Path(f"{new}{JOURNAL}").unlink(missing_ok=True)


def copy_into(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy a file in short steps, so that others can write meanwhile; the copy is of one moment.

    A write by others makes the copy start over, but not forever.
    """
    n_left, n_restarts, end = sys.maxsize, 0, time.monotonic() + BUSY_SECONDS

    def watch(status: int, remaining: int, _total: int) -> None:
        nonlocal n_left, n_restarts, end
        if not _is_busy(status):
            end = time.monotonic() + BUSY_SECONDS
        elif time.monotonic() > end:
            source.execute("SELECT count(*) FROM sqlite_master")  # raises what SQLite says
        n_restarts += remaining > n_left
        n_left = remaining
        if n_restarts == MOST_RESTARTS:
            raise LikewiseError(
                "others write to it without a pause. Do it again, or do it with a copy that "
                "likewise backup makes"
            )

    source.backup(target, pages=STEP, progress=watch, sleep=PAUSE)


def is_interrupted(path: Path, refuse: beside.Refuse) -> bool:
    """Whether a kill interrupted a write, which the next process that opens the file rolls back."""
    if not beside.is_there(path):
        return False
    try:
        with closing(connect(path, reads_only=True, refuse=refuse)) as db:
            db.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode == sqlite3.SQLITE_READONLY_ROLLBACK
    return False


@contextmanager
def snapshot(path: Path) -> Iterator[Path]:
    """Yield a copy of a file as it is at one moment, which is removed in the end.

    The file is not changed: a write that a kill interrupted is taken back in the copy alone.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copy = Path(folder, "copy")
        copy.touch()
        try:
            _copy(path, copy, reads_only=True)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
                raise
            copy_by_hand(path, copy)
        yield copy


def _copy(path: Path, copy: Path, *, reads_only: bool) -> None:
    with closing(connect(path, reads_only=reads_only)) as db, closing(connect(copy)) as target:
        _refuse_without_room(path, copy)
        target.execute("PRAGMA synchronous = OFF")
        copy_into(db, target)


def copy_by_hand(path: Path, copy: Path) -> None:
    """Copy a file, which may be damaged, with the journal that a killed process left."""
    with _LOOKING:
        is_ours = is_open_here(path)
        for _ in range(0 if is_ours else MOST_RESTARTS):
            beside.look(path)
            _refuse_without_room(path, copy)
            before = _stamps(path)
            shutil.copyfile(path, copy)
            with suppress(FileNotFoundError):
                shutil.copyfile(_journal(path), f"{copy}{JOURNAL}")
            if _stamps(path) == before:
                return
    # This process has the file open, or others are busy with it. Then SQLite takes the write back.
    Path(f"{copy}{JOURNAL}").unlink(missing_ok=True)
    copy.write_bytes(b"")
    _copy(path, copy, reads_only=False)


def _refuse_without_room(path: Path, copy: Path) -> None:
    """Refuse to fill the disk: a file can say that it is longer than any disk."""
    needed = path.stat().st_size
    if needed > shutil.disk_usage(copy.parent).free:
        raise LikewiseError(
            f"{path} has {needed / 2**30:.1f} GiB, and a copy of it, in which it is read, does not "
            f"fit into {copy.parent.parent}. Free some space, or name another folder in TMPDIR"
        )


def _journal(path: Path) -> Path:
    return Path(f"{os.path.realpath(path)}{JOURNAL}")


def _stamps(path: Path) -> list[tuple[int, int, int]]:
    infos = [one.stat() for one in (path, _journal(path)) if one.exists()]
    return [(info.st_ino, info.st_size, info.st_mtime_ns) for info in infos]


def digest(*parts: Any) -> str:
    """Return the checksum of numbers, texts and bytes, and of where each of them ends."""
    state = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogateescape")
        state.update(len(data).to_bytes(8) + data)
    return state.hexdigest()[:32]


def note_sum(db: sqlite3.Connection, name: str, value: str) -> None:
    """Note a checksum in the table of checksums."""
    db.execute("INSERT OR REPLACE INTO sums VALUES (?, ?)", (name, value))


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, with what to do about them."""
    try:
        yield
    except UnicodeError as error:  # text of the file that is no UTF-8, in a message or a name
        raise SessionFileError(f"{path} is cut or damaged; use a copy") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        # The low byte is the kind of error, the rest its details.
        kind = None if code is None else code & 0xFF
        if kind == sqlite3.SQLITE_NOTADB:
            raise SessionFileError(
                f"cannot open {path}: it is not a likewise project file"
            ) from error
        if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT):
            raise SessionFileError(
                f"{path} is cut or damaged ({error}). Use a copy, or write what can be read to "
                f"another file: likewise check --repair {path}"
            ) from error
        if kind == sqlite3.SQLITE_IOERR and _is_full(path):
            kind = sqlite3.SQLITE_FULL
        remedy = {
            sqlite3.SQLITE_FULL: "the disk is full. Free some space and do it again",
            sqlite3.SQLITE_IOERR: "the disk failed. See to it and do it again",
            sqlite3.SQLITE_BUSY: "another process writes to it, or was stopped in it. Do it again",
            sqlite3.SQLITE_READONLY: "it may not be written. Change its permissions or copy it",
            sqlite3.SQLITE_CANTOPEN: "it cannot be opened. Is its folder writable?",
        }.get(-1 if kind is None else kind, "see the message in brackets")
        if code == sqlite3.SQLITE_READONLY_DBMOVED:
            raise LikewiseError(
                f"nothing was saved: {path} was moved, renamed or deleted while it was open. Put "
                "it back and do it again, or open it where it is now."
            ) from error
        raise LikewiseError(
            f"nothing was saved in {path}: {remedy}; all that was saved before is there. ({error})"
        ) from error


def _is_full(path: Path) -> bool:
    """Whether the disk of a file is full; SQLite reports some such writes as other failures."""
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < FULL_BELOW
    return False
