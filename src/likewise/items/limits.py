"""Limits for untrusted input: files in a folder, and data that would not fit in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from likewise.errors import InputError

SHARE = 0.5
"""Input may take this share of the free memory; features and answers need the rest. A round number;
with .25 large files are read in batches earlier, with 1 memory may run out."""

UNKNOWN_MEMORY = 4 << 30
"""The free memory, in bytes, assumed on systems that do not report it (Windows)."""


def files_below(folder: Path) -> Iterator[Path]:
    """List the files in a folder and the folders below it, hidden ones and links left out."""
    for parent, folders, files in os.walk(folder, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                yield Path(parent, name)


def name_in(path: Path, folder: Path) -> str:
    """Return a path in a folder as text, also if its bytes are not valid UTF-8."""
    return path.relative_to(folder).as_posix().encode("utf-8", "backslashreplace").decode()


def available_memory() -> int:
    """Return how many bytes of memory are free."""
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
