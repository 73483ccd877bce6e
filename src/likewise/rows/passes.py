"""The passes over all rows that make super-instances: assign, means, nearest, score.

Each finds the cell of a row by comparing it to the centers, unless an earlier pass kept it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.rows.assignment import Kernel, assign_block
from likewise.rows.sweep import Rows

_ROWS_PER_PRODUCT = 1024


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of K-means, and which rows may stand for one.

    Attributes
    ----------
    centers : ndarray of shape (n_cells, n_features)
        A row belongs to the nearest.
    kernel : {"numpy", "faiss"}
        What finds the nearest.
    allowed : ndarray of int or None
        The rows that may stand for a cell, increasing; None if all may.
    """

    centers: NDArray[Any]
    kernel: Kernel
    allowed: NDArray[np.intp] | None = None

    def of(self, block: NDArray[Any], kept: NDArray[Any] | None) -> NDArray[Any]:
        """Return the cell of every row of a block, as small numbers."""
        if kept is not None:
            return kept
        cells = assign_block(block, self.centers, self.kernel)
        return cells.astype(np.min_scalar_type(len(self.centers) - 1))

    def may_stand(self, start: int, n: int) -> NDArray[np.intp] | None:
        """Return which of `n` rows from `start` on are allowed, or None if all are."""
        if self.allowed is None:
            return None
        low, high = np.searchsorted(self.allowed, [start, start + n])
        return self.allowed[low:high] - start


@dataclass(frozen=True, slots=True)
class AssignPass:
    """Count the rows of every cell, and refuse rows that are not finite."""

    cells: Cells
    phase: str = "assign"
    keeps: bool = True

    def empty(self) -> NDArray[np.int64]:
        """Return counts of nothing."""
        return np.zeros(len(self.cells.centers), dtype=np.int64)

    def add(
        self,
        found: NDArray[np.int64],
        start: int,
        block: NDArray[Any],
        kept: NDArray[Any] | None,
        rows: Rows,
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the counts with one block more, and the cells of its rows."""
        check_finite(block, range(start, start + len(block)), rows)
        cells = self.cells.of(block, kept)
        return found + np.bincount(cells, minlength=len(found)), cells


@dataclass(frozen=True, slots=True)
class MeansPass:
    """Add up the rows of every cell."""

    cells: Cells
    phase: str = "means"
    keeps: bool = True

    def empty(self) -> list[NDArray[np.float64]]:
        """Return no sums."""
        return []

    def add(
        self,
        found: list[NDArray[np.float64]],
        start: int,  # noqa: ARG002
        block: NDArray[Any],
        kept: NDArray[Any] | None,
        rows: Rows,  # noqa: ARG002
    ) -> tuple[list[NDArray[np.float64]], NDArray[Any]]:
        """Return the sums of every block: added later in their order, they have the same bits."""
        cells = self.cells.of(block, kept)
        sums = np.zeros(self.cells.centers.shape)
        order = np.argsort(cells, kind="stable")
        present, first = np.unique(cells[order], return_index=True)
        sums[present] = np.add.reduceat(block[order], first, axis=0, dtype=np.float64)
        return [*found, sums], cells


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows of every cell, nearest to its middle first.

    Attributes
    ----------
    cell, row, square, point : ndarray
        For every candidate its cell, its number, its squared distance to the middle, itself.
    """

    cell: NDArray[Any]
    row: NDArray[np.int64]
    square: NDArray[Any]
    point: NDArray[Any]

    def nearest(self, n: int) -> Candidates:
        """Return the `n` nearest of every cell, the lower row on a tie."""
        order = np.lexsort((self.row, self.square, self.cell))
        cell = self.cell[order]
        present, first, count = np.unique(cell, return_index=True, return_counts=True)
        del present
        rank = np.arange(len(cell)) - np.repeat(first, count)
        order = order[rank < n]
        return Candidates(self.cell[order], self.row[order], self.square[order], self.point[order])

    def and_those(self, other: Candidates, n: int) -> Candidates:
        """Return the `n` nearest of every cell among these and others."""
        return Candidates(
            np.concatenate([self.cell, other.cell]),
            np.concatenate([self.row, other.row]),
            np.concatenate([self.square, other.square]),
            np.concatenate([self.point, other.point]),
        ).nearest(n)

    def reach(self, n_cells: int, n: int) -> NDArray[Any]:
        """Return beyond which squared distance a row is not among the `n` nearest of its cell."""
        count = np.bincount(self.cell, minlength=n_cells)
        reach = np.full(n_cells, np.inf, dtype=self.square.dtype)
        full = np.flatnonzero(count >= n)
        reach[full] = self.square[np.cumsum(count)[full] - 1]
        return reach


@dataclass(frozen=True, slots=True)
class NearestPass:
    """Find the rows of every cell that are nearest to its middle."""

    cells: Cells
    middles: NDArray[Any]
    n_candidates: int
    phase: str = "nearest"
    keeps: bool = True

    def empty(self) -> Candidates:
        """Return no candidates."""
        middles = self.middles
        nothing = np.empty(0, dtype=np.int64)
        squares = np.empty(0, dtype=middles.dtype)
        return Candidates(nothing.astype(np.int32), nothing, squares, middles[:0])

    def add(
        self,
        found: Candidates,
        start: int,
        block: NDArray[Any],
        kept: NDArray[Any] | None,
        rows: Rows,  # noqa: ARG002
    ) -> tuple[Candidates, NDArray[Any]]:
        """Return the candidates with those of one block more, and the cells of its rows."""
        cells = self.cells.of(block, kept)
        squares = _squares(block, self.middles, cells)
        reach = found.reach(len(self.middles), self.n_candidates)
        chosen = np.flatnonzero(squares <= reach[cells])
        allowed = self.cells.may_stand(start, len(block))
        if allowed is not None:
            chosen = np.intersect1d(chosen, allowed, assume_unique=True)
        more = Candidates(
            cells[chosen].astype(np.int32), chosen + start, squares[chosen], block[chosen]
        )
        return found.and_those(more, self.n_candidates), cells


@dataclass(frozen=True, slots=True)
class ScorePass:
    """Add up, for every candidate, its distances to the allowed rows of its cell."""

    cells: Cells
    candidates: Candidates
    middles: NDArray[Any]
    phase: str = "score"
    keeps: bool = True

    def empty(self) -> list[NDArray[np.float64]]:
        """Return no sums."""
        return []

    def add(
        self,
        found: list[NDArray[np.float64]],
        start: int,
        block: NDArray[Any],
        kept: NDArray[Any] | None,
        rows: Rows,  # noqa: ARG002
    ) -> tuple[list[NDArray[np.float64]], NDArray[Any]]:
        """Return the sums of every block: added later in their order, they have the same bits."""
        cells = self.cells.of(block, kept)
        allowed = self.cells.may_stand(start, len(block))
        order = np.argsort(cells, kind="stable")
        if allowed is not None:
            order = order[np.isin(order, allowed)]
        numbers = np.arange(len(self.middles) + 1)
        first = np.searchsorted(cells[order], numbers)
        bounds = np.searchsorted(self.candidates.cell, numbers)
        sums = np.zeros(len(self.candidates.cell))
        scratch = Scratch.of(block, int(np.diff(bounds).max(initial=0)))
        for cell in np.flatnonzero(np.diff(first)):
            here = slice(bounds[cell], bounds[cell + 1])
            members = order[first[cell] : first[cell + 1]]
            middle = self.middles[cell].astype(np.float64)
            points = self.candidates.point[here]
            sums[here] = distance_sums(points, block, members, middle, scratch)
        return [*found, sums], cells


@dataclass(frozen=True, slots=True)
class Scratch:
    """Room that is used again and again: fresh memory costs as much as the sums themselves."""

    part: NDArray[Any]
    extended: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, block: NDArray[Any], n_points: int) -> Scratch:
        """Return room for rows like those of a block, compared to so many points."""
        n_features = block.shape[1]
        return cls(
            np.empty((_ROWS_PER_PRODUCT, n_features), dtype=block.dtype),
            np.ones((_ROWS_PER_PRODUCT, n_features + 2)),
            np.empty(_ROWS_PER_PRODUCT * n_points),
        )


def distance_sums(
    points: NDArray[Any],
    block: NDArray[Any],
    members: NDArray[np.intp],
    middle: NDArray[np.float64],
    scratch: Scratch,
) -> NDArray[np.float64]:
    """Return the sum of distances of every point to some rows of a block, by float64 products.

    All are moved by a place in their middle first, so that the products lose no digits.
    """
    points = points - middle
    n_features = points.shape[1]
    # |x - y|² = -2 x·y + 1·|y|² + |x|²·1, all in one product.
    norms = np.einsum("ij,ij->i", points, points)
    factors = np.vstack([-2.0 * points.T, norms, np.ones(len(points))])
    sums = np.zeros(len(points))
    for start in range(0, len(members), _ROWS_PER_PRODUCT):
        own = members[start : start + _ROWS_PER_PRODUCT]
        n = len(own)
        part = np.take(block, own, axis=0, out=scratch.part[:n], mode="clip")
        moved = np.subtract(part, middle, out=scratch.extended[:n, :n_features])
        np.einsum("ij,ij->i", moved, moved, out=scratch.extended[:n, n_features + 1])
        away = scratch.squares[: n * len(points)].reshape(n, len(points))
        np.matmul(scratch.extended[:n], factors, out=away)
        np.maximum(away, 0.0, out=away)
        sums += np.sqrt(away, out=away).sum(axis=0)
    return sums


def _squares(block: NDArray[Any], middles: NDArray[Any], cells: NDArray[Any]) -> NDArray[Any]:
    """Return the squared distance of every row to the middle of its cell."""
    squares = np.empty(len(block), dtype=block.dtype)
    room = np.empty((_ROWS_PER_PRODUCT, block.shape[1]), dtype=block.dtype)
    for start in range(0, len(block), _ROWS_PER_PRODUCT):
        part = block[start : start + _ROWS_PER_PRODUCT]
        own = cells[start : start + len(part)]
        away = np.take(middles, own, axis=0, out=room[: len(part)], mode="clip")
        np.subtract(part, away, out=away)
        np.einsum("ij,ij->i", away, away, out=squares[start : start + len(part)])
    return squares


def check_finite(
    block: NDArray[Any], numbers: Sequence[int] | NDArray[np.intp], rows: Rows
) -> None:
    """Refuse rows of these numbers if they have values that are missing or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum of finite values may overflow, but one of others is never finite.
        if np.isfinite(block.sum()) or np.isfinite(block).all():
            return
    wrong, column = np.argwhere(~np.isfinite(block))[0]
    raise InputError(
        f"{rows.where(int(numbers[wrong]))} has {block[wrong, column]} in column {column}. "
        "Fill in or leave out rows with missing or infinite values first."
    )
