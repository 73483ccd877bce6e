"""Data that is read in batches, several times, instead of being kept in memory."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.core.fingerprint import fingerprint
from likewise.errors import InputError
from likewise.rows.blocks import rows_per_block
from likewise.rows.kmeans import FULL_LIMIT

_FINGERPRINT_ROWS = 64
"""The fingerprint of large data uses this many rows at both ends."""

_ROWS_PER_PART = 2**23
"""Rows of a part, where the data has no parts of its own."""


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive rows that belong together, such as a file.

    Its name is a path relative to the others, without an ending; its place is what messages call
    it.
    """

    name: str
    start: int
    stop: int
    place: str


class Source(ABC):
    """Rows of numbers that can be read again and again, in batches, in a fixed order.

    Attributes
    ----------
    parts : sequence of Part
        The parts it consists of, in order and without gaps; none is empty.
    n_features : int
        Number of columns.
    dtype : dtype
        float32 if all values are, otherwise float64.
    cuts : sequence of int
        Rows at which reading can begin without reading others, such as the first of a row group;
        empty if it can begin anywhere.
    columns : sequence of str or None
        Names of the columns, if they have any.
    client : distributed.Client or None
        The cluster that reads the rows and computes with them; None for this process.
    block_rows : int
        Number of rows of a block, by `likewise.rows.blocks.rows_per_block`.
    """

    _gap_rows: ClassVar[int] = 1024
    """Rows that are at most this far apart are read together."""

    def __init__(
        self,
        parts: Sequence[Part],
        n_features: int,
        dtype: np.dtype[Any],
        *,
        cuts: Sequence[int] = (),
        columns: Sequence[str] | None = None,
        client: Any = None,
    ) -> None:
        self.parts = parts
        self.n_features = n_features
        self.dtype = dtype
        self.cuts = cuts
        self.columns = columns
        self.client = client
        self.block_rows = rows_per_block(n_features, dtype)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.parts[-1].stop

    @abstractmethod
    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop` in order, in batches of any size."""

    def check_unchanged(self) -> None:  # noqa: B027  (nothing to do where there is no file)
        """Raise `InputError` if a file is not what it was when the source was made."""

    def reader(self, start: int, stop: int) -> Any:  # noqa: ARG002
        """Return the source from which a worker reads the rows from `start` up to `stop`."""
        return self

    def where(self, row: int) -> str:
        """Say where a row is, for messages."""
        part = self.parts[bisect_right([part.start for part in self.parts], row) - 1]
        return f"row {row - part.start} of {part.place}"

    def rows(self, numbers: ArrayLike) -> NDArray[Any]:
        """Return the rows of given numbers; only the parts of the data that they lie in are read.

        Examples
        --------
        >>> import numpy as np
        >>> from likewise.scale import from_array
        >>> from_array(np.arange(6.0).reshape(3, 2)).rows([2, 0])
        array([[4., 5.],
               [0., 1.]])
        """
        distinct, position = np.unique(self._row_numbers(numbers), return_inverse=True)
        found = np.empty((len(distinct), self.n_features), dtype=self.dtype)
        for first, last in _stretches(distinct, self._gap_rows):
            seen = int(distinct[first])
            for batch in self.batches(seen, int(distinct[last - 1]) + 1):
                here = slice(*np.searchsorted(distinct, [seen, seen + len(batch)]))
                found[here] = batch[distinct[here] - seen]
                seen += len(batch)
        return found[position]

    def records(
        self, numbers: ArrayLike, columns: Sequence[str] | None = None
    ) -> dict[str, list[Any]]:
        """Return some rows as columns of plain values, as they are shown to a person.

        By default these are all columns, also those that hold no numbers.
        """
        names = [str(name) for name in self.columns or range(self.n_features)]
        wanted = names if columns is None else list(columns)
        check_columns(wanted, names, "the data")
        values = self.rows(numbers)
        return {name: values[:, names.index(name)].tolist() for name in wanted}

    def to_array(self) -> NDArray[Any]:
        """Return all rows. They must fit in memory."""
        whole = np.empty((self.n_rows, self.n_features), dtype=self.dtype)
        seen = 0
        for batch in self.batches(0, self.n_rows):
            whole[seen : seen + len(batch)] = batch
            seen += len(batch)
        return whole

    def fingerprint(self) -> str:
        """Return a digest of shape, type and values; of large data, of the first and last rows."""
        if self.n_rows <= FULL_LIMIT:
            return fingerprint(self.to_array())
        n = self.n_rows
        ends = [*range(_FINGERPRINT_ROWS), *range(n - _FINGERPRINT_ROWS, n)]
        digest = hashlib.blake2b(f"{n} {self.n_features} {self.dtype.str}".encode(), digest_size=16)
        digest.update(np.ascontiguousarray(self.rows(ends)).data)
        return digest.hexdigest()

    def overlaps(self, start: int, stop: int) -> Iterator[tuple[int, Part, int, int]]:
        """Yield the parts that have rows from `start` up to `stop`.

        Each comes with its number before it, and behind it the first of these rows and the row
        after the last.
        """
        for i, part in enumerate(self.parts):
            low, high = max(start, part.start), min(stop, part.stop)
            if low < high:
                yield i, part, low, high

    def _row_numbers(self, numbers: ArrayLike) -> NDArray[np.intp]:
        wanted = np.asarray(numbers, dtype=np.intp).reshape(-1)
        wrong = wanted[(wanted < 0) | (wanted >= self.n_rows)]
        if len(wrong):
            raise InputError(
                f"there is no row {wrong[0]}: the data has rows 0 to {self.n_rows - 1}"
            )
        return wanted

    def __getstate__(self) -> dict[str, Any]:
        # A client stays in its process.
        return {**self.__dict__, "client": None}


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What a file was like when it was first seen."""

    path: Path
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """Return the stamp of a file as it is now."""
        try:
            now = path.stat()
        except OSError as error:
            raise InputError(f"cannot open {path}: {error.strerror}") from error
        return cls(path, now.st_size, now.st_mtime_ns)

    def check(self) -> None:
        """Raise `InputError` if the file has changed."""
        try:
            now = self.path.stat()
        except OSError as error:
            raise InputError(
                f"{self.path} has gone since it was opened: {error.strerror}"
            ) from None
        if (now.st_size, now.st_mtime_ns) != (self.size, self.modified):
            raise InputError(
                f"{self.path} has changed since it was opened. Open the source again; a session "
                "belongs to the data it was started with."
            )


def check_matrix(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return a matrix of numbers with at least one row, or raise `InputError`."""
    if array.ndim != 2:
        raise InputError(f"{name} must have rows and columns, but its shape is {array.shape}")
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} must hold numbers, but its type is {array.dtype}")
    if 0 in array.shape:
        raise InputError(f"{name} is empty: its shape is {array.shape}")
    return array


def check_columns(wanted: Sequence[str], there: Sequence[str], place: str) -> None:
    """Raise `InputError` for a column that is not there."""
    for name in wanted:
        if name not in there:
            raise InputError(f"{place} has no column {name!r}; it has {', '.join(there)}")


def value_type(found: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """Return float32 if that is the type of all, otherwise float64."""
    return np.dtype(np.float32 if all(t == np.float32 for t in found) else np.float64)


def cut_in_parts(n_rows: int, place: str) -> list[Part]:
    """Return parts of about eight million rows, for sources that have none of their own."""
    starts = range(0, n_rows, _ROWS_PER_PART)
    return [
        Part(f"part-{i:05}", start, min(start + _ROWS_PER_PART, n_rows), place)
        for i, start in enumerate(starts)
    ]


def parts_of_sizes(
    sizes: Sequence[int], names: Sequence[str], places: Sequence[str]
) -> tuple[list[Part], list[int]]:
    """Return the parts with at least one row, and the places of these in `sizes`."""
    ends = np.cumsum(sizes).tolist()
    used = [i for i, n in enumerate(sizes) if n]
    return [Part(names[i], ends[i] - sizes[i], ends[i], places[i]) for i in used], used


def _stretches(numbers: NDArray[np.intp], gap: int) -> Iterator[tuple[int, int]]:
    """Cut increasing numbers where two are more than `gap` apart; yield the ends of the pieces."""
    cuts = np.flatnonzero(np.diff(numbers) > gap) + 1
    bounds = [0, *cuts.tolist(), len(numbers)]
    yield from ((a, b) for a, b in pairwise(bounds) if a < b)
