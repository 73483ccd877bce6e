"""The values that pass between a session and whoever answers it. All of them are frozen."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from likewise.core.html import card, row_name
from likewise.errors import AnswerError


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
    """Return the `Answer` that a value stands for.

    Parameters
    ----------
    value : Answer, bool, None or str
        True means *same*, False *different*, None *unsure*; a string is the value of an answer.
        Anything else is refused, so that a string such as "no" never counts as a yes.

    Examples
    --------
    >>> as_answer(True), as_answer("different"), as_answer(None)
    (<Answer.SAME: 'same'>, <Answer.DIFFERENT: 'different'>, <Answer.UNSURE: 'unsure'>)
    """
    if isinstance(value, Answer):
        return value
    if value is None:
        return Answer.UNSURE
    if isinstance(value, bool | np.bool_):
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
    """What was said about two rows."""

    left: int
    right: int
    answer: Answer

    @property
    def pair(self) -> tuple[int, int]:
        """The two rows, smaller first."""
        return ordered(self.left, self.right)


@dataclass(frozen=True, slots=True)
class Query:
    """The question whether two rows belong together.

    Attributes
    ----------
    number : int
        1 for the first question of a session, then counting up. Pass it to `Session.tell`, which
        then refuses an answer to a question that is no longer open.
    left, right : int
        Row numbers of the data.
    left_id, right_id : hashable or None
        The rows' `sample_ids`, where the session has them.
    is_check : bool
        Whether earlier answers already imply an answer, so that this question checks them. Only
        strategies that expect wrong answers ask such questions.
    """

    number: int
    left: int
    right: int
    left_id: Hashable | None = None
    right_id: Hashable | None = None
    is_check: bool = False

    @property
    def pair(self) -> tuple[int, int]:
        """The two rows, smaller first."""
        return ordered(self.left, self.right)

    @property
    def about(self) -> str:
        """What it is about, in words."""
        return f"about rows {self.left} and {self.right}"

    def _repr_html_(self) -> str:
        left, right = row_name(self.left, self.left_id), row_name(self.right, self.right_id)
        return card(f"Question {self.number}: do these belong together?", [("", left), ("", right)])

    def links(self, answer: Answer) -> tuple[Link, ...]:
        """Return what an answer to this question says."""
        return (Link(self.left, self.right, answer),)


@dataclass(frozen=True, slots=True)
class Choice:
    """The question to which of some groups a row belongs; it may be none of them.

    Attributes
    ----------
    number : int
        As in `Query`.
    row : int
        The row in question.
    groups : tuple of tuple of int
        The groups to choose from, each shown by one to four of its rows.
    row_id : hashable or None
        The row's `sample_ids` entry, where the session has them.
    group_ids : tuple of tuple of hashable
        The same for the rows of the groups; empty without `sample_ids`.
    is_check : bool
        Whether earlier answers already say where the row belongs, and this one checks them.
    """

    number: int
    row: int
    groups: tuple[tuple[int, ...], ...]
    row_id: Hashable | None = None
    group_ids: tuple[tuple[Hashable, ...], ...] = ()
    is_check: bool = False

    @property
    def about(self) -> str:
        """What it is about, in words."""
        return f"about row {self.row} and {len(self.groups)} groups"

    def _repr_html_(self) -> str:
        ids = self.group_ids or [[None] * len(rows) for rows in self.groups]
        groups = [
            (str(place), ", ".join(map(row_name, rows, names)))
            for place, (rows, names) in enumerate(zip(self.groups, ids, strict=True))
        ]
        row = row_name(self.row, self.row_id)
        return card(f"Question {self.number}: where does {row} belong?", groups)

    def query(self, place: int, member: int = 0) -> Query:
        """Return the question whether the row and a member of a group belong together."""
        other = self.groups[place][member]
        other_id = self.group_ids[place][member] if self.group_ids else None
        return Query(self.number, self.row, other, self.row_id, other_id)

    def links(self, chosen: int | tuple[int, ...] | Answer | None) -> tuple[Link, ...]:
        """Return what choosing a group says.

        Parameters
        ----------
        chosen : int, tuple of int, None or Answer.UNSURE
            The place of a group in `groups`: the row is the same as that group. Several places:
            these groups and the row are all the same. None: the row differs from every group
            shown. *Unsure* says nothing about any of them.
        """
        if chosen is Answer.UNSURE or chosen is None:
            said = Answer.UNSURE if chosen is Answer.UNSURE else Answer.DIFFERENT
            return tuple(Link(self.row, group[0], said) for group in self.groups)
        places: tuple[Any, ...] = chosen if isinstance(chosen, tuple) else (chosen,)
        for place in places:
            is_count = isinstance(place, int | np.integer) and not isinstance(place, bool)
            if not is_count or not 0 <= place < len(self.groups):
                raise AnswerError(
                    f"{place!r} is none of the {len(self.groups)} groups of question "
                    f"{self.number}: choose 0 to {len(self.groups) - 1}, None for none of these, "
                    "or Answer.UNSURE"
                )
        if not places:
            raise AnswerError("no group was chosen; None says that it is none of these")
        return tuple(Link(self.row, self.groups[place][0], Answer.SAME) for place in places)


Question = Query | Choice


@dataclass(frozen=True, slots=True)
class Gesture:
    """One thing a person said: a short list of links, undone and revised as one.

    Attributes
    ----------
    number : int
        Its place among the gestures that count, from 1.
    links : tuple of Link
        What it says: one link for the answer to a `Query`, one or several for a `Choice`.
    source : {"asked", "given", "mended"}
        Whether it answers a session's question, was known beforehand, or mends the result and
        overrules what was said before.
    groups : tuple of tuple of int
        For a `Choice`, the groups that were shown; empty otherwise.
    by, at : str or None
        Who said it and when, where that is known.
    """

    number: int
    links: tuple[Link, ...]
    source: str = "asked"
    groups: tuple[tuple[int, ...], ...] = ()
    by: str | None = None
    at: str | None = None

    @property
    def left(self) -> int:
        """The first row of the first link; the row in question of a choice."""
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
