"""The values that pass between a session and whoever answers it. All of them are frozen."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum


class Answer(Enum):
    """What can be said about two things: the same group, different groups, or not sure."""

    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"

    @property
    def is_link(self) -> bool:
        """Whether the answer constrains the grouping; *unsure* never does."""
        return self is not Answer.UNSURE


@dataclass(frozen=True, slots=True)
class Query:
    """A question about two rows: do they belong together.

    Attributes
    ----------
    number : int
        1 for the first question of a session, then counting up. Pass it to `Session.tell` to be
        told when the question has changed in the meantime.
    left, right : int
        Rows of the data.
    left_id, right_id : hashable or None
        The rows' `sample_ids`, where the session has them.
    """

    number: int
    left: int
    right: int
    left_id: Hashable | None = None
    right_id: Hashable | None = None

    @property
    def pair(self) -> tuple[int, int]:
        """The two rows, smaller first."""
        return (self.left, self.right) if self.left < self.right else (self.right, self.left)


@dataclass(frozen=True, slots=True)
class Event:
    """An answer in a session's log. The log is the only truth; all else is derived from it.

    Attributes
    ----------
    number : int
        The number of the question.
    left, right : int
        The rows asked about.
    answer : Answer
        What was said.
    source : str
        ``"asked"`` for a session's own question, ``"given"`` for an answer known beforehand.
    """

    number: int
    left: int
    right: int
    answer: Answer
    source: str = "asked"

    @property
    def pair(self) -> tuple[int, int]:
        """The two rows, smaller first."""
        return (self.left, self.right) if self.left < self.right else (self.right, self.left)
