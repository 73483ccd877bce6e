"""What is done with every block of rows: count, add up, find the nearest, score.

A pass reads all rows once. The cell of every row is found in the first pass and kept for the
others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.inputs import refuse_overflow
from likewise.rows.assignment import Kernel, assign_block
from likewise.rows.medoids import Scratch, distance_sums, squares_to_own
from likewise.rows.source import Source

Found = TypeVar("Found")

Kept = list[NDArray[Any]]
"""The cells of the rows of every block of a span, for the passes that come later."""

Sums = list[NDArray[np.float64]]
"""The sums of every block; they are added later in the order of blocks, which gives the same bits.
"""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of K-means: a row belongs to the nearest center, which the kernel finds."""

    centers: NDArray[Any]
    kernel: Kernel

    def of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the cell of every row of a block, as small numbers."""
        cells = assign_block(rows, self.centers, self.kernel)
        return cells.astype(np.min_scalar_type(len(self.centers) - 1))


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive rows of a source, from number `start` on, and their cells, if there are any."""

    source: Source
    start: int
    rows: NDArray[Any]
    cells: NDArray[Any]

    def those_in(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the places of the rows whose numbers are among `numbers`, which increase."""
        low, high = np.searchsorted(numbers, [self.start, self.start + len(self.rows)])
        return numbers[low:high] - self.start


class Pass(ABC, Generic[Found]):
    """What is done with every block while all rows are read once."""

    phase: str
    """Name of the pass, for progress reports."""

    @abstractmethod
    def empty(self) -> Found:
        """Return what is found in no rows."""

    @abstractmethod
    def add(self, found: Found, block: Block) -> Found:
        """Return what was found so far and in one more block."""


def sweep_span(
    task: Pass[Found],
    cells: Cells | None,
    source: Source,
    in_blocks: Iterable[tuple[int, NDArray[Any]]],
    kept: Kept | None,
) -> tuple[Found, Kept | None]:
    """Return what a pass finds in the blocks of one span, and the cells of their rows.

    Rows with missing or infinite values are refused before they are compared to centers.
    """
    found = task.empty()
    keep: Kept = []
    own = np.empty(0, dtype=np.intp)
    for i, (start, rows) in enumerate(in_blocks):
        if cells is not None:
            if kept is None:
                check_finite(rows, range(start, start + len(rows)), source)
                refuse_overflow(rows, range(start, start + len(rows)), source.where)
            own = cells.of(rows) if kept is None else kept[i]
            keep.append(own)
        found = task.add(found, Block(source, start, rows, own))
    return found, keep or None


@dataclass(frozen=True)
class TakePass(Pass[list[NDArray[Any]]]):
    """Collect the rows of given numbers, which increase."""

    numbers: NDArray[np.intp]
    phase: str = "sample"

    def empty(self) -> list[NDArray[Any]]:
        """Return no rows."""
        return []

    def add(self, found: list[NDArray[Any]], block: Block) -> list[NDArray[Any]]:
        """Return the rows found so far and those of one more block."""
        return [*found, block.rows[block.those_in(self.numbers)]]


@dataclass(frozen=True)
class CountPass(Pass[NDArray[np.int64]]):
    """Count the rows of every cell."""

    n_cells: int
    phase: str = "assign"

    def empty(self) -> NDArray[np.int64]:
        """Return counts of nothing."""
        return np.zeros(self.n_cells, dtype=np.int64)

    def add(self, found: NDArray[np.int64], block: Block) -> NDArray[np.int64]:
        """Return the counts so far plus those of one more block."""
        return found + np.bincount(block.cells, minlength=self.n_cells)


@dataclass(frozen=True)
class SumPass(Pass[Sums]):
    """Add up the rows of every cell."""

    n_cells: int
    phase: str = "means"

    def empty(self) -> Sums:
        """Return no sums."""
        return []

    def add(self, found: Sums, block: Block) -> Sums:
        """Return the sums so far and those of one more block."""
        sums = np.zeros((self.n_cells, block.rows.shape[1]))
        order = np.argsort(block.cells, kind="stable")
        present, first = np.unique(block.cells[order], return_index=True)
        sums[present] = np.add.reduceat(block.rows[order], first, axis=0, dtype=np.float64)
        return [*found, sums]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows of every cell, nearest to its middle first.

    Each has its cell, its number, its squared distance to the middle, and itself.
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
        """Return, for every cell, the squared distance of its `n`-th nearest candidate.

        A row farther away is not among the `n` nearest. It is infinite for a cell with fewer.
        """
        count = np.bincount(self.cell, minlength=n_cells)
        reach = np.full(n_cells, np.inf, dtype=self.square.dtype)
        full = np.flatnonzero(count >= n)
        reach[full] = self.square[np.cumsum(count)[full] - 1]
        return reach


@dataclass(frozen=True)
class NearestPass(Pass[Candidates]):
    """Find the allowed rows (None for all) of every cell that are nearest to its middle."""

    middles: NDArray[Any]
    n_candidates: int
    allowed: NDArray[np.intp] | None
    phase: str = "nearest"

    def empty(self) -> Candidates:
        """Return no candidates."""
        middles = self.middles
        nothing = np.empty(0, dtype=np.int64)
        squares = np.empty(0, dtype=middles.dtype)
        return Candidates(nothing.astype(np.int32), nothing, squares, middles[:0])

    def add(self, found: Candidates, block: Block) -> Candidates:
        """Return the candidates so far and those of one more block."""
        squares = squares_to_own(block.rows, self.middles, block.cells)
        reach = found.reach(len(self.middles), self.n_candidates)
        chosen = np.flatnonzero(squares <= reach[block.cells])
        if self.allowed is not None:
            chosen = np.intersect1d(chosen, block.those_in(self.allowed), assume_unique=True)
        cells = block.cells[chosen].astype(np.int32)
        more = Candidates(cells, chosen + block.start, squares[chosen], block.rows[chosen])
        return found.and_those(more, self.n_candidates)


@dataclass(frozen=True)
class ScorePass(Pass[Sums]):
    """Add up, for every candidate, its distances to the allowed rows of its cell."""

    candidates: Candidates
    middles: NDArray[Any]
    allowed: NDArray[np.intp] | None
    phase: str = "score"

    def empty(self) -> Sums:
        """Return no sums."""
        return []

    def add(self, found: Sums, block: Block) -> Sums:
        """Return the sums so far and those of one more block."""
        order = np.argsort(block.cells, kind="stable")
        if self.allowed is not None:
            order = order[np.isin(order, block.those_in(self.allowed))]
        numbers = np.arange(len(self.middles) + 1)
        first = np.searchsorted(block.cells[order], numbers)
        bounds = np.searchsorted(self.candidates.cell, numbers)
        sums = np.zeros(len(self.candidates.cell))
        scratch = Scratch.of(block.rows, int(np.diff(bounds).max(initial=0)))
        for cell in np.flatnonzero(np.diff(first)):
            here = slice(bounds[cell], bounds[cell + 1])
            members = order[first[cell] : first[cell + 1]]
            middle = self.middles[cell].astype(np.float64)
            points = self.candidates.point[here]
            sums[here] = distance_sums(points, block.rows, members, middle, scratch)
        return [*found, sums]


def check_finite(
    block: NDArray[Any], numbers: Sequence[int] | NDArray[np.intp], source: Source
) -> None:
    """Raise `InputError` if rows, whose numbers are given, have missing or infinite values."""
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum of finite values may overflow, but one of others is never finite.
        if np.isfinite(block.sum()) or np.isfinite(block).all():
            return
    wrong, column = np.argwhere(~np.isfinite(block))[0]
    raise InputError(
        f"{source.where(int(numbers[wrong]))} has {block[wrong, column]} in column {column}. "
        "Fill in or leave out rows with missing or infinite values first."
    )
