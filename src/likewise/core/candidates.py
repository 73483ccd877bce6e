"""Candidate pairs: the only pairs of rows that may be asked about, the closest first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs of rows, the smaller one left, by distance and then by that row; each pair once."""

    is_in_memory: ClassVar[bool] = True

    n_rows: int
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    distances: NDArray[np.float64]

    @classmethod
    def sorted(cls, n_rows: int, left: Any, right: Any, distances: Any) -> Candidates:
        """Return candidates from pairs in any order; a repeated pair has its smallest distance."""
        code, distances = _code(n_rows, left, right), np.asarray(distances, dtype=np.float64)
        if np.any(np.diff(code) <= 0):
            order = np.argsort(code)
            code, distances = code[order], distances[order]
            first = np.flatnonzero(np.diff(code, prepend=-1))
            code, distances = code[first], np.minimum.reduceat(distances, first)
        order = np.argsort(distances, kind="stable")
        low, high = np.divmod(code[order], max(1, n_rows))
        return cls(n_rows, low.astype(np.intp), high.astype(np.intp), distances[order])

    def take(self, numbers: NDArray[np.intp] | None) -> Candidates:
        """Return all pairs, as `Rows` return all rows; there is no sample of them."""
        if numbers is not None:
            raise InputError("candidate pairs are asked about as a whole, not by a sample of rows")
        return self

    def where(self, is_kept: NDArray[np.bool_]) -> Candidates:
        """Return the pairs that are kept."""
        left, right, distances = self.left[is_kept], self.right[is_kept], self.distances[is_kept]
        return Candidates(self.n_rows, left, right, distances)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix of their distances."""
        return self.n_rows, self.n_rows

    def __len__(self) -> int:
        return self.n_rows

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise InputError(
            "there are candidate pairs here and no features to learn from. "
            'COBRA(metric="precomputed") takes pairs, as a sparse matrix of distances.'
        )

    def __getitem__(self, place: Any) -> NDArray[np.float64]:
        """Return distances between rows, as of a matrix; unlisted pairs are beyond all others."""
        rows, columns = np.broadcast_arrays(*place)
        apart = np.where(rows == columns, 0.0, 1.0 + self.distances.max(initial=0.0))
        codes, order = self._by_code
        wanted = _code(self.n_rows, rows, columns)
        at = np.minimum(np.searchsorted(codes, wanted), max(0, len(codes) - 1))
        if len(codes):
            is_listed = codes[at] == wanted
            apart[is_listed] = self.distances[order[at[is_listed]]]
        return apart

    def neighbors(self, row: int) -> NDArray[np.intp]:
        """Return the rows that a row is a candidate with, the closest first."""
        starts, ends = self._by_row
        at = ends[starts[row] : starts[row + 1]]
        return np.where(at % 2, self.left[at // 2], self.right[at // 2])

    @cached_property
    def _by_row(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For every row where its ends of pairs begin; the end 2k is left of pair k, 2k+1 right."""
        rows = np.stack([self.left, self.right], axis=1).ravel()
        ends = np.argsort(rows, kind="stable")
        starts = np.zeros(self.n_rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=self.n_rows), out=starts[1:])
        return starts, ends

    @cached_property
    def _by_code(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """The pairs as numbers, sorted, and the place of each."""
        codes = _code(self.n_rows, self.left, self.right)
        order = np.argsort(codes)
        return codes[order], order


def _code(n_rows: int, rows: Any, others: Any) -> NDArray[np.int64]:
    """Return one number for every pair, the same for both orders of its rows."""
    low = np.minimum(rows, others).astype(np.int64)
    return np.asarray(low * n_rows + np.maximum(rows, others))
