"""What a path is to a project: where its session is kept, and which items it has."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from likewise.errors import InputError
from likewise.files import cache_folder
from likewise.items import Items, open_items
from likewise.items.kinds import PathLike
from likewise.words import plural

SUFFIX = ".likewise"

Say = Callable[[str], None]
"""Called with one line of text for everything worth knowing."""


def session_path(path: PathLike) -> Path:
    """Return where the session of an input lives: beside it, with ``.likewise`` added."""
    whole = Path(os.path.abspath(path))
    return whole.with_name(f"{whole.name}{SUFFIX}") if whole.name else Path(f"{whole}root{SUFFIX}")


def place_of_session(path: PathLike, session: PathLike | None, say: Say) -> Path:
    """Return where the session of a path is or will be: beside it, or in the cache."""
    if Path(path).suffix == SUFFIX and Path(path).is_file():
        raise InputError(
            f"{path} is a session. To go on with it, give what it is about, such as "
            f"{Path(path).with_suffix('')}"
        )
    if session is not None:
        return Path(session)
    beside = session_path(path)
    if beside.exists() or os.access(beside.parent, os.W_OK):
        return beside
    name = hashlib.blake2b(os.fsencode(beside), digest_size=8).hexdigest()
    place = cache_folder() / "sessions" / f"{beside.stem}-{name}{SUFFIX}"
    place.parent.mkdir(parents=True, exist_ok=True)
    say(f"{beside.parent} cannot be written to, so the session is kept in {place}")
    return place


def common_path(paths: list[PathLike]) -> PathLike:
    """Return the path beside which the session of several paths is kept: their common folder."""
    if len(paths) == 1:
        return paths[0]
    return os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])


def read_items(path: PathLike, options: Mapping[str, Any], say: Say) -> Items:
    """Return the items at a path; say how many there are and what was left out."""
    items = open_items(path, **options)
    say(f"{plural(items.n, items.noun)} from {path}")
    for note in items.notes:
        say(f"note: {note}")
    for problem in items.problems:
        if problem.item is None:
            say(f"left out: {problem.message}")
    return items
