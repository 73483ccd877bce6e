"""A source with every column scaled to the range from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.rows.passes import Block, Pass, check_finite
from likewise.rows.source import Source
from likewise.rows.sweep import Progress, sweeper_for

Range = tuple[NDArray[Any], NDArray[Any]]


class ScaledSource(Source):
    """The rows of files, with every column scaled from [low, high] to [0, 1].

    Parameters
    ----------
    source : Source
        The files.
    low, high : ndarray of shape (n_features,)
        What becomes 0 and what becomes 1. A column in which they are equal becomes 0.
    """

    def __init__(self, source: Source, low: NDArray[Any], high: NDArray[Any]) -> None:
        super().__init__(
            source.parts,
            source.n_features,
            source.dtype,
            cuts=source.cuts,
            columns=source.columns,
            client=source.client,
        )
        self.source = source
        self.low = low.astype(source.dtype)
        self.width = np.where(high > low, high - low, 1).astype(source.dtype)

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop` in order."""
        for batch in self.source.batches(start, stop):
            yield (batch - self.low) / self.width

    def check_unchanged(self) -> None:
        """Raise `InputError` if a file is not what it was."""
        self.source.check_unchanged()


def scaled(
    source: Source, *, n_jobs: int | None = None, progress: Progress | None = None
) -> ScaledSource:
    """Return a source of files with every column scaled to [0, 1], by one pass over its rows.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.scale import from_array
    >>> scaled(from_array(np.array([[1.0, 7], [5, 7], [2, 7]]))).to_array()
    array([[0.  , 0.  ],
           [1.  , 0.  ],
           [0.25, 0.  ]])
    """
    sweeper = sweeper_for(source, n_jobs=n_jobs, progress=progress)
    ends = list(sweeper.sweep(RangePass(source.n_features, source.dtype)))
    low = np.min([low for low, _ in ends], axis=0)
    high = np.max([high for _, high in ends], axis=0)
    return ScaledSource(source, low, high)


@dataclass(frozen=True)
class RangePass(Pass[Range]):
    """Find the smallest and the largest value of every column."""

    n_features: int
    dtype: np.dtype[Any]
    phase: str = "range"

    def empty(self) -> Range:
        """Return the range of nothing."""
        nothing = np.full(self.n_features, np.inf, dtype=self.dtype)
        return nothing, -nothing

    def add(self, found: Range, block: Block) -> Range:
        """Return the range of what was seen so far and one more block."""
        rows = block.rows
        check_finite(rows, range(block.start, block.start + len(rows)), block.source)
        return np.minimum(found[0], rows.min(axis=0)), np.maximum(found[1], rows.max(axis=0))
