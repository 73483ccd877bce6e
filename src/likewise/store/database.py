"""SQLite files: connecting, making them whole, finding them cut, saying what failed.

A file may come from a stranger or from a failing disk, so nothing in it is run. Only SQLite opens
it: closing another handle to the same file would cancel SQLite's locks, and two processes could
write at once.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from likewise.errors import InputError, LikewiseError, SessionFileError
from likewise.files import whole_path

BUSY_SECONDS = 10.0
"""How long a writer waits for another process's transaction, which takes milliseconds."""
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

IN_MEMORY = Path(":memory:")
JOURNAL = "-journal"
"""Ends the name of the file with what a write replaces, which SQLite keeps until it is done."""


def connect(path: Path) -> sqlite3.Connection:
    """Open an SQLite file; a commit is on disk when it returns. See `translated` for its errors."""
    db = sqlite3.connect(
        ":memory:" if path == IN_MEMORY else f"{path.absolute().as_uri()}?mode=rw",
        uri=path != IN_MEMORY,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
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
    for suffix in ("-wal", JOURNAL):
        leftover = Path(f"{path}{suffix}")
        # SQLite would replay it into the new file.
        if leftover.exists():
            raise InputError(
                f"{leftover} is left over from a file that is gone: move it away first"
            )
    with whole_path(path, private=True, replace=False) as new:
        try:
            yield new
        finally:
            Path(f"{new}{JOURNAL}").unlink(missing_ok=True)


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
    except UnicodeDecodeError as error:  # SQLite's message quotes bytes of the file
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
            sqlite3.SQLITE_BUSY: "another process is writing to it. Do it again",
            sqlite3.SQLITE_READONLY: "it may not be written. Change its permissions or copy it",
            sqlite3.SQLITE_CANTOPEN: "it cannot be opened. Is its folder writable?",
        }.get(-1 if kind is None else kind, "see the message in brackets")
        raise LikewiseError(
            f"nothing was saved in {path}: {remedy}; all that was saved before is there. ({error})"
        ) from error


def _is_full(path: Path) -> bool:
    """Whether the disk of a file is full; SQLite calls some writes failed that found no room."""
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < FULL_BELOW
    return False
