"""Arrays and ``.npy`` files as sources."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError
from likewise.rows.source import FileStamp, Source, check_matrix, cut_in_parts, value_type

_MAPPED_ROWS = 2**17
"""How many rows of a mapped file are yielded at a time."""


class ArraySource(Source):
    """An array in memory as a source."""

    def __init__(self, X: ArrayLike) -> None:
        self._array = check_matrix(np.asarray(X), "the array")
        n_rows, n_features = self._array.shape
        super().__init__(
            cut_in_parts(n_rows, "the array"), n_features, value_type([self._array.dtype])
        )

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop`."""
        yield self._array[start:stop]

    def where(self, row: int) -> str:
        """Say where a row is."""
        return f"row {row}"


class NpySource(Source):
    """A ``.npy`` file as a source; it is mapped, not read."""

    def __init__(self, path: str | os.PathLike[str], *, client: Any = None) -> None:
        self._stamp = FileStamp.of(Path(path))
        self._map: NDArray[Any] | None = None
        array = check_matrix(self._mapped(), str(path))
        n_rows, n_features = array.shape
        super().__init__(
            cut_in_parts(n_rows, str(path)), n_features, value_type([array.dtype]), client=client
        )

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop`."""
        array = self._mapped()
        for first in range(start, stop, _MAPPED_ROWS):
            # Touching a page beyond the end of a file that was cut would end the process.
            self._stamp.check()
            yield array[first : min(first + _MAPPED_ROWS, stop)]

    def check_unchanged(self) -> None:
        """Raise `InputError` if the file is not what it was."""
        self._stamp.check()

    def where(self, row: int) -> str:
        """Say where a row is."""
        return f"row {row} of {self._stamp.path}"

    def _mapped(self) -> NDArray[Any]:
        if self._map is None:
            path = self._stamp.path
            try:
                self._map = np.load(path, mmap_mode="r", allow_pickle=False)
            except (ValueError, EOFError, OSError) as error:
                raise InputError(
                    f"{path} is no .npy file of numbers, or is cut: {error}. Write it again with "
                    "numpy.save."
                ) from error
        if not isinstance(self._map, np.ndarray):
            raise InputError(f"{self._stamp.path} is an archive; save one array with numpy.save")
        return self._map

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_map": None}


def from_array(X: ArrayLike) -> Source:
    """Return an array in memory as a source.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Numbers.
    """
    return ArraySource(X)


def from_npy(path: str | os.PathLike[str], *, client: Any = None) -> Source:
    """Return a ``.npy`` file as a source; `likewise.scale.from_npy` also names damaged headers."""
    return NpySource(path, client=client)
