"""All pairs of rows in order of distance, without sorting all of them at once.

Ten thousand representatives have fifty million pairs, and most sessions end after the closest of
them. So pairs are sorted piece by piece, when they are needed. The order is exact: by float64
distance, then by the smaller row, then by the larger one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError

Between = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]
"""Distances between rows, by their places in a list; the same for both orders of a pair."""

MAX_ROWS = 20_000
"""Above this, distances between all representatives would take more than 1.6 GB."""

PIECE = 2**18
"""About how many pairs are sorted at a time."""

_ROWS_PER_BLOCK = 256
"""How many rows of distances are computed at a time. It changes the time and memory only."""


class ClosestPairs:
    """All pairs of sorted rows, the closest first.

    Parameters
    ----------
    rows : ndarray of int
        The rows, increasing.
    between : callable
        Returns the distances between rows, by their places in `rows`.
    """

    def __init__(self, rows: NDArray[np.intp], between: Between) -> None:
        n_rows, n_pairs = len(rows), len(rows) * (len(rows) - 1) // 2
        if n_rows > MAX_ROWS:
            raise InputError(
                f"{n_rows} representatives are too many: the distances between them would take "
                f"{8 * n_pairs / 1e9:.1f} GB. Use at most {MAX_ROWS} super-instances."
            )
        self._rows = rows
        places = np.arange(n_rows, dtype=np.int64)
        # The pair of the rows at i < j lies at _starts[i] + j - i - 1.
        self._starts = places * n_rows - places * (places + 1) // 2
        self._distances = np.empty(n_pairs)
        self._fill(places, between)
        step = 1 + n_pairs // PIECE
        sample = np.sort(self._distances[::step])[PIECE // step :: PIECE // step]
        self._bounds = [-1.0, *sample.tolist(), np.finfo(np.float64).max]
        self._pieces: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []

    def piece(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """Return the rows of the pairs of one piece, the smaller left; None after the last."""
        while len(self._pieces) <= k < len(self._bounds) - 1:
            low, high = self._bounds[len(self._pieces) : len(self._pieces) + 2]
            slots = np.flatnonzero((self._distances > low) & (self._distances <= high))
            slots = slots[np.argsort(self._distances[slots], kind="stable")]
            left = np.searchsorted(self._starts, slots, side="right") - 1
            right = slots - self._starts[left] + left + 1
            self._pieces.append((self._rows[left], self._rows[right]))
        return self._pieces[k] if k < len(self._pieces) else None

    def _fill(self, places: NDArray[np.intp], between: Between) -> None:
        for start in range(0, len(places) - 1, _ROWS_PER_BLOCK):
            rows = places[start : start + _ROWS_PER_BLOCK]
            block = between(rows, places[start:])
            if not np.isfinite(block.max()):
                i, j = np.argwhere(~np.isfinite(block))[0] + start
                raise InputError(f"the distance between representatives {i} and {j} is not finite")
            for i in rows.tolist():
                ahead = block[i - start, i - start + 1 :]
                self._distances[self._starts[i] : self._starts[i] + len(ahead)] = ahead
