"""Read regular files only, write files that are complete or absent, and find the cache folder."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from likewise.errors import InputError, WriteError

TEMPORARY = ".likewise.tmp"
"""How the names of temporary files end."""
LEFT_OVER = re.compile(r"\..+\.[a-z0-9_]{8}\.likewise\.tmp(-wal|-shm|-journal)?")
"""The names of temporary files, and of those that SQLite keeps beside them."""
OLD = 24 * 60 * 60
"""A temporary file older than this, in seconds, is left over and not being written."""


def cache_folder() -> Path:
    """Return the folder for what can be made again: ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "likewise"


KINDS_OF_FILES = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""What a path can lead to that is not a regular file."""


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file to read it; raise `InputError` for anything that may block or never end.

    Opened without waiting, because a pipe that nobody writes to would block forever.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        check_regular(path)
        handle = os.open(path, flags)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    file = os.fdopen(handle, "rb")
    try:
        _refuse_kind(path, os.fstat(handle).st_mode)
    except BaseException:
        file.close()
        raise
    return file


def check_regular(path: str | os.PathLike[str]) -> None:
    """Raise `InputError` if a path leads to a pipe, a socket, a device or a folder."""
    _refuse_kind(path, os.stat(path).st_mode)


def _refuse_kind(
    path: str | os.PathLike[str], mode: int, remedy: str = "Copy what it holds to a file"
) -> None:
    if not stat.S_ISREG(mode):
        kind = next((kind for is_kind, kind in KINDS_OF_FILES if is_kind(mode)), "something else")
        raise InputError(f"{path} is {kind}, not a regular file. {remedy}.")


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file that is renamed to `path` when the block ends without an error."""
    with whole_path(path, private=private) as temporary, temporary.open("wb") as file:
        yield file


def write_whole(path: Path, text: str) -> None:
    """Write a text file as a whole or not at all; see `whole_file`."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8"))


@contextmanager
def whole_path(path: Path, *, private: bool = False, replace: bool = True) -> Iterator[Path]:
    """Yield the name of a temporary file that becomes `path` when the block ends."""
    with _named_errors(path):
        if path.exists():  # a device would be replaced like a file
            _refuse_kind(path, path.stat().st_mode, "Choose another name")
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=TEMPORARY, dir=path.parent)
        os.close(handle)
    temporary = Path(name)
    try:
        with _named_errors(path, only_full=True):
            yield temporary
        with _named_errors(path):
            if not private:
                os.chmod(temporary, 0o666 & ~_umask())
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            _rename(temporary, path, replace=replace)
            _sync_folder(path.parent)
    finally:
        # If it cannot be removed now, `sweep` does it later; `path` is as it should be.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove temporary files of ours that a killed process left in a folder more than a day ago."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if LEFT_OVER.fullmatch(entry.name):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < time.time() - OLD:
                        os.unlink(entry.path)


def _rename(old: Path, new: Path, *, replace: bool = True) -> None:
    """Rename a file within a folder; with ``replace=False`` an existing one is never lost."""
    if replace:
        os.replace(old, new)
        return
    exists = InputError(f"{new} exists already: open it, or choose another name")
    try:
        os.link(old, new)
    except FileExistsError:
        raise exists from None
    except OSError:  # a file system without hard links
        if new.exists():
            raise exists from None
        os.replace(old, new)


def _sync_folder(folder: Path) -> None:
    """Flush the names of the files in a folder to disk, where the system can do that."""
    if os.name != "posix":
        return
    # Some network file systems cannot do this for a folder; the files themselves are safe.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_FULL = {errno.ENOSPC: "free some space", getattr(errno, "EDQUOT", -1): "ask for more space"}


def remedy(error: OSError) -> str:
    """Return what to do after an error of writing."""
    return _FULL.get(error.errno or 0, "choose a folder that can be written")


@contextmanager
def _named_errors(path: Path, *, only_full: bool = False) -> Iterator[None]:
    """Turn errors of the system into a `WriteError`; in a caller's block, only a full disk."""
    try:
        yield
    except OSError as error:
        if isinstance(error, WriteError) or (only_full and error.errno not in _FULL):
            raise
        is_below_a_file = isinstance(error, FileExistsError | NotADirectoryError)
        reason = "its folder is a file" if is_below_a_file else error.strerror or str(error)
        raise WriteError(
            f"{path} cannot be written: {reason}. Nothing was changed; {remedy(error)} and try "
            "again."
        ) from error
