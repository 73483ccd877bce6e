"""Check what lies beside a session file before SQLite opens the file.

SQLite trusts the journal that it finds beside a file: it writes the pages of the journal into the
file, sets the file's length, and deletes the file that the journal may name. So a journal that
comes with a file could do all that, and one that is left over from another state of the file would
damage it. `look` refuses every journal that a killed process of ours cannot have left.

Our transactions begin with page 1 (`likewise.store.database.begin`), whose header has a counter
of changes and a number that is drawn for every new file. By these a journal belongs to a file, or
not. The layout of both is part of SQLite's file format, which does not change.
"""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from likewise.errors import LikewiseError, SessionFileError

JOURNAL = "-journal"
"""The suffix of the file with what a write replaces, which SQLite keeps until the write is done."""
NEVER_OURS = ("-wal", "-shm")
"""Endings of files that SQLite would read, too, but that no session file of ours has."""

MAGIC = bytes.fromhex("d9d505f920a163d7")
HEAD = struct.Struct(">8sIIIII")
"""A journal begins with this, its number of pages, a nonce, the file's pages before the write, and
the sizes of a sector and a page."""
ALL_PAGES = 0xFFFFFFFF
"""As the number of pages: as many as the journal holds."""
SMALLEST, LARGEST = 512, 65_536
"""The sizes that a page can have, and a sector of a journal of ours."""
START = b"SQLite format 3\0"
N_HEADER = 100
"""How many bytes the header of a database has."""
MOST_CHANGES = 100
"""How many tables a migration may change."""
Refuse = Callable[[bytes], None]
"""Raises an error unless the first bytes of a file are as they should be."""
PATIENCE = 10.0
"""How many seconds to look at a journal again while other processes write."""


def look(path: Path, *, may_read: bool = True, refuse: Refuse | None = None) -> None:
    """Refuse what lies beside a file unless it is nothing, or a journal that belongs to it.

    Nothing is changed or waited for. With ``may_read=False`` the file itself is not opened, as a
    process must not do that while it has the file open through SQLite: closing it would cancel
    SQLite's locks. `refuse` is called with the first bytes of the file.
    """
    path = Path(os.path.realpath(path))  # SQLite, too, follows links before it adds an ending
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise SessionFileError("it is not a regular file")
    for ending in NEVER_OURS:
        if os.path.lexists(f"{path}{ending}"):
            raise SessionFileError(
                f"{path}{ending} lies beside the file, and likewise writes no such file. It may be "
                "of another program or of an unpublished version: move it away"
            )
    if may_read and (header := _first_bytes(path)):
        _refuse_header(header)
        if refuse is not None:
            refuse(header)
    journal = Path(f"{path}{JOURNAL}")
    end = time.monotonic() + PATIENCE
    while (before := _stamp(journal)) is not None:
        why = _why_not(journal, path, may_read=may_read)
        if not why:
            return
        # Another process may be writing. Then this was of several moments: look again.
        if _stamp(journal) == before:
            raise SessionFileError(
                f"{journal} lies beside the file and {why}. SQLite would damage the file with it: "
                "move it away, then see what the file has: likewise check"
            )
        if time.monotonic() > end:
            raise LikewiseError(f"{path} is written to without a pause: try again")


def is_there(path: Path) -> bool:
    """Whether a file has a journal."""
    return os.path.lexists(f"{os.path.realpath(path)}{JOURNAL}")


def _refuse_header(header: bytes) -> None:
    """Refuse what is not of SQLite, or is in write-ahead mode, with more files beside it."""
    if not header.startswith(START):
        raise SessionFileError("it is not a likewise project file")
    if header[18:20] != b"\1\1":
        raise SessionFileError(
            "it is of an unpublished development version of likewise, or of another program, and "
            "cannot be read. Begin a new session"
        )


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(N_HEADER)
    except OSError as error:
        raise SessionFileError(f"{path} cannot be read: {error.strerror}") from error


def _stamp(journal: Path) -> tuple[object, ...] | None:
    """Return what differs between two journals, or two states of one; None without a journal."""
    try:
        info = os.lstat(journal)
        if not stat.S_ISREG(info.st_mode):
            raise SessionFileError(
                f"{journal} lies beside the file and is not a regular file: move it away"
            )
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(journal, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            head = file.read(HEAD.size)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SessionFileError(f"{journal} cannot be read: {error.strerror}") from error
    return info.st_ino, info.st_size, info.st_mtime_ns, head


@dataclass(frozen=True, slots=True)
class _Part:
    """A header of a journal and where its pages begin; a long journal has several parts."""

    n_pages: int
    nonce: int
    n_before: int
    page_size: int
    start: int


def _why_not(journal: Path, path: Path, *, may_read: bool) -> str:
    """Return why a journal cannot be one that a write to a file has left, or nothing."""
    # No file, if the write has ended meanwhile.
    with suppress(FileNotFoundError), journal.open("rb") as file:
        if why := _why_not_at_all(file, path):
            return why
        parts = list(_parts(file, os.fstat(file.fileno()).st_size))
        # Without a part, a kill or a power cut came before it was written: SQLite does nothing.
        return _why_not_these(parts, file, path, may_read=may_read) if parts else ""
    return ""


def _why_not_at_all(file: IO[bytes], path: Path) -> str:
    """Return why a journal cannot be one of ours by its length, its beginning and its end."""
    info, head = os.fstat(file.fileno()), file.read(HEAD.size)
    if info.st_size > 3 * os.stat(path).st_size + (1 << 20):
        return "is longer than any write to the file can have made it"
    if not MAGIC.startswith(head[: len(MAGIC)].rstrip(b"\0")):
        return "is not a journal of SQLite"
    if info.st_nlink > 1 and not head.startswith(MAGIC[:1]):
        return "has another name, too, whose content the next write would replace"
    file.seek(max(0, info.st_size - len(MAGIC)))
    if info.st_size > len(MAGIC) and file.read() == MAGIC:
        return "names another file, which SQLite would delete"
    # A write puts the first bytes in last, when the rest is on disk.
    if info.st_size >= SMALLEST and head.startswith(MAGIC):
        sector, page_size = HEAD.unpack(head)[-2:]
        if not _is_size(sector) or not _is_size(page_size):
            return f"has sectors of {sector} and pages of {page_size} bytes"
    return ""


def _why_not_these(parts: Sequence[_Part], file: IO[bytes], path: Path, *, may_read: bool) -> str:
    """Return why the parts of a journal cannot be of a write to a file, or nothing."""
    first = parts[0]
    n_now = -(-os.stat(path).st_size // first.page_size)
    if first.n_before > n_now or (not first.n_pages and first.n_before < n_now):
        return f"says that the file has {first.n_before} pages, but it has {n_now}"
    if not first.n_pages and len(parts) == 1:
        return ""
    file.seek(first.start)
    number, page = int.from_bytes(file.read(4)), file.read(first.page_size)
    if number != 1 or not page.startswith(START):
        return "was not written by likewise"
    is_of_now = not may_read or _is_of_one_write(page, _first_bytes(path))
    if not is_of_now or int.from_bytes(page[28:32]) != first.n_before:
        return "is left over from another file, or from another state of this one"
    return "" if all(_is_whole(file, part) for part in parts) else "is cut or damaged"


def _parts(file: IO[bytes], size: int) -> Iterator[_Part]:
    """Yield the parts of a journal as SQLite finds them, up to the first gap."""
    place, sector, page_size = 0, SMALLEST, 0
    while place + sector <= size:
        file.seek(place)
        magic, n_pages, nonce, n_before, own_sector, own_page = HEAD.unpack(file.read(HEAD.size))
        if magic != MAGIC:
            return
        if not place:
            sector, page_size = own_sector, own_page
        start = place + sector
        if n_pages == ALL_PAGES:
            n_pages = max(0, size - start) // (page_size + 8)
        yield _Part(n_pages, nonce, n_before, page_size, start)
        end = start + n_pages * (page_size + 8)
        place = -(-end // sector) * sector


def _is_size(n: int) -> bool:
    return SMALLEST <= n <= LARGEST and n & (n - 1) == 0


def _is_whole(file: IO[bytes], part: _Part) -> bool:
    """Whether a part has all its pages, each with SQLite's checksum."""
    file.seek(part.start)
    size = part.page_size
    for _ in range(part.n_pages):
        record = file.read(size + 8)
        if len(record) < size + 8:
            return False
        page = record[4:-4]
        own = (part.nonce + sum(page[size - 200 : 0 : -200])) & 0xFFFFFFFF
        if own != int.from_bytes(record[-4:]):
            return False
    return True


def _is_of_one_write(before: bytes, now: bytes) -> bool:
    """Whether one write may have led from one state of page 1 to the other."""
    counts = [int.from_bytes(page[24:28]) for page in (before, now)]
    # Grows by one with a change of the tables, which a migration makes.
    names = [int.from_bytes(page[40:44]) for page in (before, now)]
    is_one_write = (counts[1] - counts[0]) & 0xFFFFFFFF <= 1
    return now.startswith(START) and is_one_write and 0 <= names[1] - names[0] <= MOST_CHANGES
