"""Limits for untrusted input: files in a folder, and data that would not fit in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from likewise.errors import InputError
from likewise.words import escaped

SHARE = 0.5
"""Input may take this share of the free memory; features and answers need the rest. A round number;
with .25 large files are read in batches earlier, with 1 memory may run out."""

UNKNOWN_MEMORY = 4 << 30
"""The free memory, in bytes, assumed on systems that do not report it (Windows)."""


UNLIMITED = 1 << 62

SMALL = 64 << 20
"""What unpacks to at most this many bytes is not called a bomb, however well it is packed."""
MOST_PACKED = 64
"""Anything larger may be this many times as large as its file. Real numbers pack to a half or a
tenth; zeros pack to a thousandth, and a file of them is a bomb."""
METHODS = (ZIP_STORED, ZIP_DEFLATED)


def _ignore(_path: Path, _why: str) -> None:
    """Say nothing about what is left out."""


def files_below(folder: Path, left_out: Callable[[Path, str], object] = _ignore) -> Iterator[Path]:
    """List the files in a folder and the folders below it, without hidden ones.

    `left_out` is called with the path of everything else that is not listed, and the reason:
    folders that cannot be read, links to folders, and links that lead nowhere or outside.
    """
    root = folder.resolve()

    def unreadable(error: OSError) -> None:
        left_out(Path(error.filename), f"a folder that cannot be read ({error.strerror})")

    for parent, folders, files in os.walk(folder, followlinks=False, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in folders:
            if Path(parent, name).is_symlink():
                left_out(Path(parent, name), "a link to a folder")
        for name in sorted(files):
            path = Path(parent, name)
            if name.startswith("."):
                continue
            try:
                if path.resolve(strict=True).is_relative_to(root):
                    yield path
                else:
                    left_out(path, "a link to outside of the folder")
            except (OSError, RuntimeError):  # Python up to 3.12 raises the latter for a loop
                left_out(path, "a link that leads nowhere")


def names_in(paths: Sequence[Path], folder: Path) -> list[str]:
    """Return paths in a folder as texts that can be stored and shown, all of them different."""
    names: dict[str, None] = {}
    for path in paths:
        first = name_in(path, folder)
        name, k = first, 1
        while name in names:  # a name may look just like the replacement of another
            k += 1
            name = f"{first} ({k})"
        names[name] = None
    return list(names)


def name_in(path: Path, folder: Path) -> str:
    """Return a path in a folder as text that can be stored and shown, whatever its bytes are."""
    return escaped(path.relative_to(folder).as_posix())


def available_memory() -> int:
    """Return how many bytes of memory are free, and may be used by this process."""
    return min(_free_memory(), _left_by_limit())


def _left_by_limit() -> int:
    """Return how much more memory the process may ask for (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # on Windows and in a browser
        return UNLIMITED
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return UNLIMITED
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        used = 0
    return max(0, limit - used)


def _free_memory() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            entry = next(line for line in file if line.startswith("MemAvailable"))
            return int(entry.split()[1]) * 1024
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return UNKNOWN_MEMORY


def most_bytes() -> int:
    """Return how many bytes of memory input may take."""
    return int(SHARE * available_memory())


def fits(needed: int) -> bool:
    """Whether input that needs this many bytes may be read into memory."""
    return needed <= most_bytes()


def check_fits(path: Path, needed: int) -> None:
    """Raise `InputError` if a file needs more memory than it may take."""
    if not fits(needed):
        raise InputError(
            f"{path} would take {needed / 2**20:,.1f} MiB of memory, and "
            f"{available_memory() / 2**20:,.1f} MiB are free. Is it damaged? Otherwise make it "
            "smaller: fewer rows, fewer columns."
        )


def check_unpacked(path: Path, unpacked: int, packed: int) -> None:
    """Raise `InputError` if a compressed file is a bomb, or does not fit in memory."""
    if unpacked > max(SMALL, MOST_PACKED * packed):
        raise InputError(
            f"{path} has {packed / 2**20:,.1f} MiB and would unpack to {unpacked / 2**20:,.1f} "
            f"MiB, more than {MOST_PACKED} times as much. Is it damaged, or a decompression bomb? "
            "If you trust it, save it again without compression."
        )
    check_fits(path, unpacked)


def check_methods(path: Path, archive: ZipFile) -> None:
    """Raise `InputError` if a ZIP file is packed in an unusual way (bzip2, LZMA).

    Python unpacks what is deflated no further than it is asked to, but all others at once.
    """
    if any(member.compress_type not in METHODS for member in archive.infolist()):
        raise InputError(
            f"{path} is packed by another method than usual in ZIP files. Unpack it, or save it "
            "again."
        )
