"""What a session asks of a strategy, which decides about pairs. A session knows no more of it."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph


class Strategy(Protocol):
    """Which pair to ask about next, and what the answers so far make of the rows.

    A strategy is deterministic: the same records in the same order give the same state. It is
    told of every answer by `record` and of every answer taken back by `rewind`. One that takes
    answers that contradict others has ``weighs_answers = True``, and in `links` those it accepts;
    it may have a method `record_given`, like `record`, for links that are certain.
    """

    name: ClassVar[str]
    links: LinkGraph

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""

    @property
    def n_groups(self) -> int:
        """Number of groups by what is known now."""

    def next_pair(self) -> tuple[int, int] | None:
        """Return the two rows to ask about now, or None when nothing is left to ask."""

    def record(self, left: int, right: int, answer: Answer) -> None:
        """Take in an answer about two rows, asked for or not."""

    def rewind(self) -> None:
        """Take back the last record."""

    def remaining(self) -> tuple[int, int]:
        """Return how many yes/no questions are left at the most, and an estimate of how many."""

    def labels(self) -> NDArray[np.intp]:
        """Return the group of every row by what is known now, numbered from 0."""

    def labels_guess(self) -> NDArray[np.intp]:
        """Return the group of every row if what is undecided is guessed."""

    def open_pairs(self) -> list[tuple[int, int]]:
        """Return pairs of rows, one for every two groups that cannot be told apart or joined."""

    def askable(self) -> NDArray[np.intp]:
        """Return the rows that questions may be about."""

    def to_dict(self) -> dict[str, Any]:
        """Return what `load` needs to make this strategy anew, as plain values."""


class Completeness(Protocol):
    """What a strategy may say about how complete the groups are; as a text, one short line."""

    @property
    def estimate(self) -> float:
        """About this share of the rows is in the right group."""

    @property
    def at_least(self) -> float:
        """A share that is hardly less."""

    @property
    def next_ten(self) -> float | None:
        """About the share of rows that ten more answers would move, if that is known."""
