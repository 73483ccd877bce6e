"""Features kept on disk, by the recipe that made them and a hash of their input."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from likewise.core.arrays import array_to_json, from_json
from likewise.errors import SessionFileError
from likewise.files import cache_folder
from likewise.store.beside import JOURNAL
from likewise.store.database import connect

FILE = "features.sqlite"
TABLE = """
CREATE TABLE IF NOT EXISTS arrays (recipe TEXT, hash TEXT, data BLOB, PRIMARY KEY (recipe, hash))
"""
FIND = """
SELECT hash, data FROM arrays WHERE recipe = ? AND hash IN (SELECT value FROM json_each(?))
"""


def package_versions(*names: str) -> str:
    """Return the versions of packages that features depend on, as a part of their recipe."""
    versions = []
    for name in names:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:  # making the features will raise the error
            versions.append(name)
    return ", ".join(versions)


def feature_cache(cache: bool | str | os.PathLike[str]) -> FeatureCache:
    """Return a cache: in the user's cache folder, in a given folder, or one that keeps nothing."""
    if cache is True:
        return FeatureCache(cache_folder() / "features")
    return FeatureCache(None if cache is False else Path(cache))


class FeatureCache:
    """Arrays in one SQLite file, which can be deleted at any time; `notes` says what failed."""

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / FILE
        self.notes: tuple[str, ...] = ()

    def find(self, recipe: str, hashes: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the arrays that are kept, by hash."""
        wanted = recipe, json.dumps(list(hashes))
        rows = self._with(lambda db: db.execute(FIND, wanted).fetchall()) or []
        arrays = {name: _unpack(data) for name, data in rows}
        return {name: array for name, array in arrays.items() if array is not None}

    def keep(self, recipe: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep arrays by hash."""
        entries = [(recipe, name, _pack(array)) for name, array in arrays.items()]

        def put(db: sqlite3.Connection) -> None:
            db.execute("BEGIN")
            db.executemany("INSERT OR REPLACE INTO arrays VALUES (?, ?, ?)", entries)
            db.execute("COMMIT")

        self._with(put)

    def get(self, recipe: str, hash: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """Return the array kept under a hash, or make and keep it."""
        stored = self.find(recipe, [hash])
        if not stored:
            stored = {hash: make()}
            self.keep(recipe, stored)
        return stored[hash]

    def get_plain(self, recipe: str, hash: str, make: Callable[[], Any]) -> Any:
        """Return plain values and arrays kept under a hash, or make and keep them."""

        def packed() -> np.ndarray:
            return np.frombuffer(json.dumps(make(), default=array_to_json).encode(), np.uint8)

        if self._path is None:
            return make()
        return from_json(json.loads(self.get(recipe, hash, packed).tobytes()))

    def _with(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """Run a function on the file; create the file if missing, delete it if damaged."""
        if self._path is None:
            return None
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(connect(self._path)) as db:
                db.execute(TABLE)
                return work(db)
        except (OSError, sqlite3.OperationalError, sqlite3.DataError) as error:
            self.notes = (f"these features could not be kept for the next start: {error}",)
        except (sqlite3.DatabaseError, SessionFileError):
            for name in (self._path, Path(f"{self._path}{JOURNAL}")):
                name.unlink(missing_ok=True)
        return None


def _pack(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    data = file.getvalue()
    return zlib.crc32(data).to_bytes(4) + data


def _unpack(data: bytes) -> np.ndarray | None:
    if zlib.crc32(data[4:]).to_bytes(4) != data[:4]:
        return None
    array: np.ndarray = np.load(io.BytesIO(data[4:]), allow_pickle=False)
    return array
