"""Data that is gone over in batches instead of held: what all kinds have in common."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.core.fingerprint import fingerprint
from likewise.errors import InputError
from likewise.rows.kmeans import FULL_LIMIT
from likewise.rows.sweep import rows_per_block

_ROWS_OF_AN_END = 64


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of rows that belongs together, such as a file.

    Attributes
    ----------
    name : str
        Path of the part relative to the others, without an ending.
    start, stop : int
        Its first row, and the one after its last.
    place : str
        What messages call it: the path of its file.
    """

    name: str
    start: int
    stop: int
    place: str


class Source(ABC):
    """Rows of numbers that can be gone over again and again, in batches, in a fixed order.

    Attributes
    ----------
    parts : sequence of Part
        The stretches of rows it consists of, in order and without gaps; none is empty.
    n_features : int
        Number of columns.
    dtype : dtype
        float32 if all values are, otherwise float64.
    block_rows : int
        Number of rows of a block, by `likewise.rows.sweep.rows_per_block`.
    cuts : sequence of int
        Rows at which reading begins anew, such as those of row groups; empty if it can begin
        anywhere at no cost.
    columns : sequence of str or None
        Names of the columns, if they have any.
    client : distributed.Client or None
        The cluster on which the rows are gone over; None for this process.
    """

    parts: Sequence[Part]
    n_features: int
    dtype: np.dtype[Any]
    block_rows: int
    cuts: Sequence[int] = ()
    columns: Sequence[str] | None = None
    client: Any = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.parts[-1].stop

    @abstractmethod
    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop` in order, in batches of any size."""

    @abstractmethod
    def check_unchanged(self) -> None:
        """Raise `InputError` if a file is not what it was when the source was made."""

    def reader(self, start: int, stop: int) -> Any:  # noqa: ARG002
        """Return what a worker of a cluster reads the rows from `start` up to `stop` with."""
        return self

    def where(self, row: int) -> str:
        """Say where a row is, for messages."""
        part = self.parts[bisect_right([part.start for part in self.parts], row) - 1]
        return f"row {row - part.start} of {part.place}"

    def rows(self, numbers: ArrayLike) -> NDArray[Any]:
        """Return the rows of some numbers, reading no more than what they lie in.

        Examples
        --------
        >>> import numpy as np
        >>> from likewise.scale import from_array
        >>> from_array(np.arange(6.0).reshape(3, 2)).rows([2, 0])
        array([[4., 5.],
               [0., 1.]])
        """
        wanted = np.asarray(numbers, dtype=np.intp).reshape(-1)
        if len(wanted) and (wanted.min() < 0 or wanted.max() >= self.n_rows):
            wrong = wanted[(wanted < 0) | (wanted >= self.n_rows)][0]
            raise InputError(f"there is no row {wrong}: the data has rows 0 to {self.n_rows - 1}")
        distinct, position = np.unique(wanted, return_inverse=True)
        found = np.empty((len(distinct), self.n_features), dtype=self.dtype)
        for first, last in _stretches(distinct, self._stretch_rows()):
            start = int(distinct[first])
            stop = int(distinct[last - 1]) + 1
            seen = start
            for batch in self.batches(start, stop):
                here = slice(*np.searchsorted(distinct, [seen, seen + len(batch)]))
                found[here] = batch[distinct[here] - seen]
                seen += len(batch)
        return found[position]

    def records(
        self, numbers: ArrayLike, columns: Sequence[str] | None = None
    ) -> dict[str, list[Any]]:
        """Return some rows as columns of plain values, as they are shown to a person.

        Parameters
        ----------
        numbers : array-like of int
            Which rows.
        columns : sequence of str, optional
            Which columns, where they have names; by default all, also those that hold no numbers.
        """
        names = [str(name) for name in self.columns or range(self.n_features)]
        wanted = names if columns is None else list(columns)
        for name in wanted:
            if name not in names:
                raise InputError(f"there is no column {name!r}; there are {', '.join(names)}")
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
        ends = [*range(_ROWS_OF_AN_END), *range(n - _ROWS_OF_AN_END, n)]
        digest = hashlib.blake2b(f"{n} {self.n_features} {self.dtype.str}".encode(), digest_size=16)
        digest.update(np.ascontiguousarray(self.rows(ends)).data)
        return digest.hexdigest()

    def _stretch_rows(self) -> int:
        """Return up to how far apart rows are better read in one go."""
        return 1024


class ArraySource(Source):
    """An array in memory as a source."""

    def __init__(self, X: ArrayLike) -> None:
        array = np.asarray(X)
        self._array = check_matrix(array, "the array")
        self.dtype = value_type([array.dtype])
        self.n_features = array.shape[1]
        self.block_rows = rows_per_block(self.n_features, self.dtype)
        self.parts = cut_in_parts(len(array), "the array")

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop`."""
        yield self._array[start:stop]

    def check_unchanged(self) -> None:
        """Do nothing: an array is no file."""

    def where(self, row: int) -> str:
        """Say where a row is."""
        return f"row {row}"


class NpySource(Source):
    """A ``.npy`` file as a source; it is mapped, not read."""

    def __init__(self, path: str | os.PathLike[str], *, client: Any = None) -> None:
        self.stamp = FileStamp.of(Path(path))
        self._map: NDArray[Any] | None = None
        array = check_matrix(self._mapped(), str(path))
        self.dtype = value_type([array.dtype])
        self.n_features = array.shape[1]
        self.block_rows = rows_per_block(self.n_features, self.dtype)
        self.parts = cut_in_parts(len(array), str(path))
        self.client = client

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop`."""
        array = self._mapped()
        for first in range(start, stop, _MAPPED_ROWS):
            # Touching a page beyond the end of a file that was cut would end the process.
            self.stamp.check()
            yield array[first : min(first + _MAPPED_ROWS, stop)]

    def check_unchanged(self) -> None:
        """Raise `InputError` if the file is not what it was."""
        self.stamp.check()

    def where(self, row: int) -> str:
        """Say where a row is."""
        return f"row {row} of {self.stamp.path}"

    def _mapped(self) -> NDArray[Any]:
        if self._map is None:
            path = self.stamp.path
            try:
                self._map = np.load(path, mmap_mode="r", allow_pickle=False)
            except (ValueError, EOFError, OSError) as error:
                raise InputError(
                    f"{path} is no .npy file of numbers, or is cut: {error}. Write it again with "
                    "numpy.save."
                ) from error
        if not isinstance(self._map, np.ndarray):
            raise InputError(f"{self.stamp.path} is an archive; save one array with numpy.save")
        return self._map

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_map": None, "client": None}


_MAPPED_ROWS = 2**17
_ROWS_PER_PART = 2**23


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
                f"{self.path} has changed since it was opened. Open the source anew; a session "
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


def _stretches(numbers: NDArray[np.intp], reach: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of increasing numbers that are at most `reach` apart."""
    cuts = np.flatnonzero(np.diff(numbers) > reach) + 1
    bounds = [0, *cuts.tolist(), len(numbers)]
    yield from ((a, b) for a, b in pairwise(bounds) if a < b)
