"""Every answer of a `fit` on disk as it comes, in JSON lines.

The first line is the session as it began, with its rows. Every further line is one answer. A line
that a crash cut is dropped, and the question is asked again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.arrays import as_base64, from_json
from likewise.core.fingerprint import fingerprint
from likewise.core.journal import entry_to_dict
from likewise.core.session import Session
from likewise.errors import InputError, SessionFileError
from likewise.files import write_whole
from likewise.words import plural

RowsOf = Callable[[NDArray[np.intp] | None], NDArray[Any]]
"""From row numbers to rows; None for all."""


class Checkpoint:
    """A file that a `fit` writes its answers to, and from which the next `fit` goes on."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def load(self, rows_of: RowsOf, estimator: str) -> tuple[Session, NDArray[Any]] | None:
        """Return the session in the file and its rows, or None if there is no file."""
        if not self._path.exists():
            return None
        first, *answers = self._whole_lines()
        plain = self._read(first, 1)
        numbers = plain.get("row_numbers")
        try:
            rows = rows_of(None if numbers is None else np.asarray(numbers, dtype=np.intp))
        except IndexError:
            rows = rows_of(None)
        try:
            session = Session.from_dict(plain, digest=fingerprint(rows))
        except SessionFileError as error:
            raise SessionFileError(
                f"{self._path} cannot be continued: {error} Or choose another checkpoint."
            ) from error
        maker = session.strategy.estimator
        if maker != estimator:
            raise InputError(
                f"{self._path} is the checkpoint of a {maker}, not of a {estimator}: choose "
                "another file"
            )
        for number, line in enumerate(answers, start=2):
            session.apply(self._read(line, number))
        return session, rows

    def begin(self, session: Session) -> None:
        """Write down a session as it is now, with what it is about."""
        try:
            line = json.dumps(session.state(), default=_plain)
        except TypeError as error:
            raise InputError(
                f"checkpoint= needs sample_ids that are texts or numbers: {error}"
            ) from error
        write_whole(self._path, line + "\n")

    def append(self, session: Session) -> None:
        """Write down the last answer."""
        line = json.dumps(entry_to_dict(session.events[-1]), default=_plain) + "\n"
        with self._path.open("ab") as file:
            file.write(line.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())

    def _whole_lines(self) -> list[bytes]:
        """Return the lines of the file; the rest of one that was cut is removed from it."""
        data = self._path.read_bytes()
        end = data.rfind(b"\n") + 1
        if not end:
            raise SessionFileError(f"{self._path} is not a checkpoint: it has no whole line")
        if end < len(data):
            with self._path.open("rb+") as file:
                file.truncate(end)
        return data[:end].splitlines()

    def _read(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = from_json(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise SessionFileError(
                f"line {number} of {self._path} is damaged: {error}. The "
                f"{plural(max(0, number - 2), 'answer')} before it can be read: delete the lines "
                "from there on, or choose another checkpoint"
            ) from error
        if not isinstance(entry, dict):
            raise SessionFileError(f"{self._path} is not a checkpoint: line {number} is {entry!r}")
        return entry


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return as_base64(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is a {type(value).__name__}")
