"""What a model replied, kept in a file beside a session.

The file is not trusted: a reply in it counts only if it is one of the labels offered, as with a
reply of the model itself, and its key is a hash of all that the model was asked.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from likewise.errors import InputError
from likewise.files import open_regular, whole_file

MOST_BYTES = 64 * 2**20
"""A larger file is not read."""
AT_ONCE = 16
"""The file is written after this many new replies, and at the end."""


class ReplyCache:
    """Replies by the hash of what was asked; without a path they are kept in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._n_new = path, 0
        self._replies: dict[str, str] = {} if path is None else _read(path)

    @staticmethod
    def key(*asked: Any) -> str:
        """Return the hash of what was asked."""
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    def get(self, key: str) -> str | None:
        """Return a reply that was kept."""
        return self._replies.get(key)

    def put(self, key: str, reply: str) -> None:
        """Keep a reply."""
        self._replies[key] = reply
        self._n_new += 1
        if self._n_new >= AT_ONCE:
            self.save()

    def save(self) -> None:
        """Write the file, as a whole."""
        if self._path is not None and self._n_new:
            replies = self._replies.copy()  # others may come meanwhile
            with whole_file(self._path, private=True) as file:
                file.write(json.dumps(replies, indent=0).encode())
            self._n_new = 0


def _read(path: Path) -> dict[str, str]:
    """Return what a file has, or nothing if it cannot be ours."""
    if not path.exists() and not path.is_symlink():
        return {}
    if path.is_symlink():
        raise InputError(f"{path} is a link: move it away")
    with open_regular(path) as file:
        data = file.read(MOST_BYTES + 1)
    try:
        replies = json.loads(data) if len(data) <= MOST_BYTES else {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(replies, dict):
        return {}
    return {key: value for key, value in replies.items() if isinstance(value, str)}
