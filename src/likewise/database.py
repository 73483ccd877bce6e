"""SQLite files: connecting, making them whole, finding them cut, saying what failed.

A file may come from a stranger or from a failing disk, so its header and its write-ahead log are
looked at before SQLite touches them, and nothing in it is run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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
COMPANIONS = ("-wal", "-shm", "-journal")
"""The files that SQLite keeps beside a file while it is in use."""


def connect(
    path: Path, *, mode: Literal["ro", "rw", "rwc"] = "rw", writes_ahead: bool = True
) -> sqlite3.Connection:
    """Open an SQLite file; a commit is on disk when it returns. See `translated` for its errors."""
    db = sqlite3.connect(
        ":memory:" if path == IN_MEMORY else f"{path.absolute().as_uri()}?mode={mode}",
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
        db.execute("PRAGMA synchronous = FULL")
        # Text that is no UTF-8 is damage, which a checksum finds.
        db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        if writes_ahead:
            write_ahead(db)
    except BaseException:
        db.close()
        raise
    return db


def write_ahead(db: sqlite3.Connection) -> None:
    """Switch to write-ahead mode, which the file's header shows until `write_in_place`."""
    # SQLite does not wait for other processes that change the mode at the same moment.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def write_in_place(db: sqlite3.Connection) -> bool:
    """Fold the write-ahead log into the file unless others use it; return whether it is whole."""
    db.execute("PRAGMA busy_timeout = 0")
    try:
        (mode,) = db.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite3.OperationalError:  # somebody else has it open, or it cannot be written
        return False
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    return bool(mode == "delete")


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield an empty file that is renamed to `path` in the end, or removed after an error."""
    if not path.parent.is_dir():
        raise InputError(f"cannot make {path}: there is no folder {path.parent}")
    if path.exists():
        raise InputError(f"{path} exists already: open it, or choose another name")
    for suffix in ("-wal", "-journal"):
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
            for suffix in COMPANIONS:
                Path(f"{new}{suffix}").unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Header:
    """What the first bytes of an SQLite file say, and whether a write-ahead log lies beside it."""

    has_all_pages: bool
    is_in_use: bool
    has_log: bool


def check_whole(path: Path) -> Header:
    """Refuse a file that is truncated or not SQLite, before SQLite touches it."""
    try:
        header = _header(path)
        # While there is a write-ahead log, pages may be missing from the file itself.
        if not header.has_all_pages and not header.has_log:
            raise SessionFileError(f"cannot open {path}: its end is missing; use a copy of it")
        return header
    except FileNotFoundError:
        raise SessionFileError(f"cannot open {path}: there is no such file") from None
    except OSError as error:
        raise SessionFileError(f"cannot open {path}: {error.strerror}") from error


def _header(path: Path) -> Header:
    """Read the header of an SQLite file, its size, and whether there is a write-ahead log."""
    # Another process may begin or end its log between two looks, which changes the header or the
    # size: then look again. SQLite marks the header before a log begins and after it is removed.
    header, size = _start(path)
    while True:
        has_log = has_log_beside(path)
        before, (header, size) = (header, size), _start(path)
        if before == (header, size):
            break
    if not header.startswith(b"SQLite format 3\0"):
        raise SessionFileError(f"cannot open {path}: it is not a likewise project file")
    return Header(size >= promised_size(header), is_in_use=header[19:20] == b"\2", has_log=has_log)


def _start(path: Path) -> tuple[bytes, int]:
    """Return the first bytes of a file and its size."""
    with path.open("rb") as file:
        return file.read(100), file.seek(0, os.SEEK_END)


def has_log_beside(path: Path) -> bool:
    """Whether a write-ahead log that is not empty lies beside a file."""
    with suppress(FileNotFoundError):
        return Path(f"{path}-wal").stat().st_size > 0
    return False


def promised_size(header: bytes) -> int:
    """Return how many bytes a file has by its header."""
    # Two bytes cannot hold the largest page size, 65536, so it is written as 1.
    page = int.from_bytes(header[16:18]) if header[16:18] != b"\0\1" else 65536
    return page * int.from_bytes(header[28:32])


def check_log(path: Path) -> None:
    """Refuse a write-ahead log damaged in the middle: SQLite would drop all that follows."""
    log = Path(f"{path}-wal")
    try:
        data = log.read_bytes()
        # A process may begin it anew while it is read.
        if _is_broken(data) and _is_broken(again := log.read_bytes()) and again == data:
            raise SessionFileError(
                f"{log} is damaged, and the latest answers are in it. likewise check --repair "
                f"{path} writes what can be read to another file."
            )
    except FileNotFoundError:
        return
    except OSError as error:
        raise SessionFileError(f"cannot open {log}: {error.strerror}") from error


def _is_broken(data: bytes) -> bool:
    """Whether a write-ahead log has a commit behind a bad frame, or no good header."""
    if not data:
        return False
    magic, _, page, _, salts = struct.unpack_from(">IIII8s", data.ljust(32, b"\0"))
    order = {0x377F0682: "<", 0x377F0683: ">"}.get(magic)
    if len(data) < 32 or order is None or page < 512 or page & (page - 1):
        return True
    sums = _log_sum(data[:24], (0, 0), order)
    if sums != struct.unpack_from(">II", data, 24):
        return True
    is_good, step = True, page + 24
    for start in range(32, len(data) - step + 1, step):
        is_ours = data[start + 8 : start + 16] == salts  # others are from before
        if is_good and is_ours:
            sums = _log_sum(data[start : start + 8], sums, order)
            sums = _log_sum(data[start + 24 : start + step], sums, order)
            is_good = sums == struct.unpack_from(">II", data, start + 16)
        elif is_ours and data[start + 4 : start + 8] != bytes(4):
            return True
        is_good = is_good and is_ours
    return False


def _log_sum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """Return the checksum of SQLite's write-ahead log, continued from the previous sums."""
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for k in range(0, len(words), 2):
        first = (first + words[k] + second) & 0xFFFFFFFF
        second = (second + words[k + 1] + first) & 0xFFFFFFFF
    return first, second


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
        if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT):
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
