"""Files in a folder that nobody vouches for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def files_below(folder: Path) -> Iterator[Path]:
    """List the files in a folder and the folders below it, hidden ones and links left out."""
    for parent, folders, files in os.walk(folder, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                yield Path(parent, name)


def name_in(path: Path, folder: Path) -> str:
    """Return a path in a folder as text, also where its bytes are not."""
    return path.relative_to(folder).as_posix().encode("utf-8", "backslashreplace").decode()
