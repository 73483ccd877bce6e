"""The values that pass between a session and whoever answers it. All of them are frozen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from likewise.errors import AnswerError, InputError


class Answer(Enum):
    """What can be said about two things: the same group, different groups, or not sure."""

    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"

    @property
    def is_link(self) -> bool:
        """Whether the answer constrains the grouping; *unsure* never does."""
        return self is not Answer.UNSURE


def as_answer(value: Any) -> Answer:
    """Return the `Answer` that a value stands for: a bool, 0, 1, None, or its value as text."""
    if isinstance(value, Answer):
        return value
    if value is None:
        return Answer.UNSURE
    if isinstance(value, bool | np.bool_ | int | np.integer) and value in (0, 1):
        return Answer.SAME if value else Answer.DIFFERENT
    if isinstance(value, str) and value in {answer.value for answer in Answer}:
        return Answer(value)
    raise AnswerError(
        f"{value!r} is no answer: say True, False or None, an Answer, or one of "
        f"{', '.join(repr(answer.value) for answer in Answer)}"
    )


def ordered(left: int, right: int) -> tuple[int, int]:
    """Return two rows, the smaller one first."""
    return (left, right) if left < right else (right, left)


@dataclass(frozen=True, slots=True)
class Link:
    """The answer about two rows."""

    left: int
    right: int
    answer: Answer

    @property
    def pair(self) -> tuple[int, int]:
        """The two rows, smaller first."""
        return ordered(self.left, self.right)


def checked_links(links: Any) -> tuple[Link, ...]:
    """Return links as a tuple with at least one, or raise `InputError`."""
    checked = tuple(links) if isinstance(links, Iterable) else (links,)
    if not checked:
        raise InputError("a gesture has at least one link")
    for link in checked:
        if not (isinstance(link, Link) and isinstance(link.answer, Answer)):
            raise InputError(f"a link is likewise.Link(left, right, Answer.SAME), got {link!r}")
    return checked


@dataclass(frozen=True, slots=True)
class Gesture:
    """One thing a person said: a short list of links, undone and revised as one.

    Attributes
    ----------
    number : int
        Its place among the gestures that count, from 1.
    links : tuple of Link
        What it says: one link for a pair or a chosen group, several for *none of these*.
    source : {"asked", "given", "mended"}
        Whether it answers a session's question, was known beforehand, or mends the result and
        overrules earlier answers.
    groups : tuple of tuple of int
        The groups that were shown, if the question was not a pair; otherwise empty.
    by, at : str or None
        Who said it and when, where that is known.
    seconds : float or None
        How long the person took, if that was measured.
    """

    number: int
    links: tuple[Link, ...]
    source: str = "asked"
    groups: tuple[tuple[int, ...], ...] = ()
    by: str | None = None
    at: str | None = None
    seconds: float | None = None

    @property
    def left(self) -> int:
        """The row in question: the first row of the first link."""
        return self.links[0].left

    @property
    def right(self) -> int:
        """The second row of the first link."""
        return self.links[0].right

    @property
    def answer(self) -> Answer:
        """What the first link says."""
        return self.links[0].answer

    @property
    def pair(self) -> tuple[int, int]:
        """The two rows of the first link, smaller first."""
        return self.links[0].pair

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows it is about, each once."""
        return tuple(dict.fromkeys(r for link in self.links for r in (link.left, link.right)))
