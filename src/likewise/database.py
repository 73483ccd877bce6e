"""SQLite files: connecting, making them whole, finding them cut, saying what failed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from likewise.errors import InputError, LikewiseError, SessionFileError
from likewise.files import whole_path

BUSY_SECONDS = 10.0
"""How long a writer waits for another process's transaction, which takes milliseconds."""


IN_MEMORY = Path(":memory:")


def connect(path: Path, *, makes: bool = False) -> sqlite3.Connection:
    """Open an SQLite file for writing, so that a commit is on disk when it returns.

    Parameters
    ----------
    path : Path
        The file, or `IN_MEMORY`.
    makes : bool
        Whether to make the file if it is not there.

    Raises
    ------
    sqlite3.Error
        See `translated`.
    """
    db = sqlite3.connect(
        ":memory:" if path == IN_MEMORY else f"{path.absolute().as_uri()}?mode=rw{'c' * makes}",
        uri=path != IN_MEMORY,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Let the caller fill an empty file, which then takes the name `path`; or leave nothing."""
    if not path.parent.is_dir():
        raise InputError(f"cannot make {path}: there is no folder {path.parent}")
    if path.exists():
        raise InputError(f"{path} exists already: open it, or choose another name")
    leftover = Path(f"{path}-wal")
    # SQLite would replay it into the new file.
    if leftover.exists():
        raise InputError(f"{leftover} is left over from a file that is gone: move it away first")
    with whole_path(path, private=True, replace=False) as new:
        try:
            yield new
        finally:
            for suffix in ("-wal", "-shm"):
                Path(f"{new}{suffix}").unlink(missing_ok=True)


def check_whole(path: Path) -> None:
    """Refuse what is not an SQLite file and what was cut, before SQLite touches it."""
    try:
        is_whole = _has_all_pages(path)
        # While there is a write-ahead log, pages may be missing from the file itself. A process
        # may remove it between two looks, having written them: so look again.
        if not is_whole and not Path(f"{path}-wal").exists() and not _has_all_pages(path):
            raise SessionFileError(f"cannot open {path}: its end is missing; use a copy of it")
    except FileNotFoundError:
        raise SessionFileError(f"cannot open {path}: there is no such file") from None
    except OSError as error:
        raise SessionFileError(f"cannot open {path}: {error.strerror}") from error


def _has_all_pages(path: Path) -> bool:
    """Compare the size of an SQLite file with what its header says."""
    with path.open("rb") as file:
        header = file.read(100)
        size = file.seek(0, os.SEEK_END)
    if not header.startswith(b"SQLite format 3\0"):
        raise SessionFileError(f"cannot open {path}: it is not a likewise project file")
    # Two bytes cannot hold the largest page size, 65536, so it is written as 1.
    page = int.from_bytes(header[16:18]) if header[16:18] != b"\0\1" else 65536
    return size >= page * int.from_bytes(header[28:32])


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, with what to do about them."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        # The low byte is the kind of error, the rest its details.
        kind = None if code is None else code & 0xFF
        if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise SessionFileError(f"{path} is cut or damaged ({error}); use a copy") from error
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
