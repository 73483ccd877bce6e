"""Features of single items kept on disk, so that one item more does not cost all of them."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

FILE = "items.sqlite"
TABLE = """
CREATE TABLE IF NOT EXISTS rows (recipe TEXT, hash TEXT, data BLOB, PRIMARY KEY (recipe, hash))
"""
AT_ONCE = 500
"""How many items one question to the database is about."""


class ItemCache:
    """Rows of features under what made them and a hash of what each was made from.

    One file in a folder, which may be deleted at any time. What cannot be read counts as missing.

    Parameters
    ----------
    folder : Path or None
        Where; None keeps nothing.

    Attributes
    ----------
    fault : str
        Why rows could not be kept, if they could not.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / FILE
        self.fault = ""

    def find(self, recipe: str, hashes: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the rows that are kept, by hash."""
        found: dict[str, np.ndarray] = {}

        def look(db: sqlite3.Connection) -> None:
            for start in range(0, len(hashes), AT_ONCE):
                some = hashes[start : start + AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = db.execute(
                    f"SELECT hash, data FROM rows WHERE recipe = ? AND hash IN ({marks})",
                    (recipe, *some),
                )
                for name, data in rows:
                    row = _unpack(data)
                    if row is not None:
                        found[name] = row

        self._with(look)
        return found

    def keep(self, recipe: str, rows: Mapping[str, np.ndarray]) -> None:
        """Keep rows of float32, by hash."""

        def put(db: sqlite3.Connection) -> None:
            entries = [(recipe, name, _pack(row)) for name, row in rows.items()]
            db.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", entries)
            db.commit()

        self._with(put)

    def _with(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do something with the file, which is made if need be; throw a damaged one away."""
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=10)) as db:
                db.execute(TABLE)
                work(db)
        except (OSError, sqlite3.OperationalError) as error:
            self.fault = f"these features could not be kept for the next start: {error}"
        except sqlite3.DatabaseError:
            self._path.unlink(missing_ok=True)


def _pack(row: np.ndarray) -> bytes:
    values = row.astype("<f4").tobytes()
    return zlib.crc32(values).to_bytes(4) + values


def _unpack(data: bytes) -> np.ndarray | None:
    if len(data) % 4 or zlib.crc32(data[4:]).to_bytes(4) != data[:4]:
        return None
    return np.frombuffer(data, dtype="<f4", offset=4).astype(np.float32)
