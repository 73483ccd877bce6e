"""Questions and answers: the immutable values that pass between a session and its answerers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from likewise.errors import AnswerError, InputError, SessionFileError
from likewise.words import card, plural

Groups = tuple[tuple[int, ...], ...]
Names = tuple[str | None, ...]

N_LARGE = 6
"""How many groups of a question are drawn large: the likeliest. The others are drawn small, where
they are easier to overlook."""


class Answer(Enum):
    """How two rows are related: in the same group, in different groups, or not sure.

    `NONE` is another name of `DIFFERENT`, for questions with several groups: the row belongs to
    none of these, so it differs from all of them.
    """

    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"
    NONE = DIFFERENT

    @property
    def is_link(self) -> bool:
        """Whether the answer constrains the grouping; *unsure* never does."""
        return self is not Answer.UNSURE


def as_answer(value: Any) -> Answer:
    """Return the `Answer` that a value stands for: a bool, 0, 1, or its value as text."""
    if isinstance(value, Answer):
        return value
    if isinstance(value, bool | np.bool_ | int | np.integer) and value in (0, 1):
        return Answer.SAME if value else Answer.DIFFERENT
    if isinstance(value, str) and value in {answer.value for answer in Answer}:
        return Answer(value)
    raise AnswerError(
        f"{value!r} is not an answer: use True, False, Answer.UNSURE for not sure, or one of "
        f"{', '.join(repr(answer.value) for answer in Answer)}"
    )


SOURCES = ("asked", "extra", "sampled", "known", "mended")
"""Where gestures come from; see `Gesture`."""


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number, of Python or of NumPy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def checked_count(value: Any, subject: str) -> int:
    """Return a whole number from 0 as a Python integer; refuse other values.

    `subject` begins the message of the error, as "max_queries must be".
    """
    if not is_whole(value) or value < 0:
        raise InputError(f"{subject} a whole number from 0, got {value!r}")
    return int(value)


def checked_field(plain: Mapping[str, Any], name: str, least: int, most: int | None = None) -> int:
    """Return a field of a saved session that is a whole number; an error names the field."""
    value = plain[name]
    if not is_whole(value) or value < least or (most is not None and value > most):
        until = "" if most is None else f" to {most}"
        raise SessionFileError(
            f"the saved session is damaged: {name} must be a whole number from {least}{until}, "
            f"got {value!r}"
        )
    return int(value)


def checked_budget(max_queries: Any) -> int | None:
    """Return a number of questions, or None for no limit; refuse other values."""
    subject = "max_queries must be None or"
    return None if max_queries is None else checked_count(max_queries, subject)


def checked_rows(rows: Sequence[Any], n_rows: int, where: str = "") -> list[int]:
    """Return row numbers as Python integers, which JSON can hold; refuse other values."""
    for row in rows:
        if not is_whole(row):
            numbers = f"from 0 to {n_rows - 1}"
            raise InputError(f"{where}rows are numbered {numbers}, got {row!r}")
        if not 0 <= row < n_rows:
            raise InputError(f"{where}there is no row {row}; the rows are 0 to {n_rows - 1}")
    return [int(row) for row in rows]


def ordered(left: int, right: int) -> tuple[int, int]:
    """Return two rows, the smaller one first."""
    return (left, right) if left < right else (right, left)


@dataclass(frozen=True, slots=True)
class Link:
    """The answer about two rows.

    A row that is beside groups without rows, known by name only, is linked with itself: that says
    that it is in a group of its own, or that somebody was not sure about it.
    """

    left: int
    right: int
    answer: Answer

    @property
    def pair(self) -> tuple[int, int]:
        """The two rows, smaller first."""
        return ordered(self.left, self.right)

    def renumbered(self, numbers: Sequence[int] | NDArray[np.intp]) -> Link:
        """Return the link between other rows: row k becomes ``numbers[k]``."""
        return Link(int(numbers[self.left]), int(numbers[self.right]), self.answer)


MODEL, RULE = "model:", "rule:"
"""How the signatures of models and of rules begin; all others are of people."""


def rank_of(by: str | None) -> int:
    """Return the rank of an answerer; the lowest wins: 0 for people, 1 for rules, 2 for models.

    Examples
    --------
    >>> rank_of("Ann"), rank_of(None), rank_of("rule:digits"), rank_of("model:llama3")
    (0, 0, 1, 2)
    """
    if by is None or not by.startswith((MODEL, RULE)):
        return 0
    return 2 if by.startswith(MODEL) else 1


class Signed(TypedDict, total=False):
    """Who did something and when, and how many seconds it took, for the log."""

    by: str | None
    at: str | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Gesture:
    """One answer: a short list of links that are undone and revised together.

    Attributes
    ----------
    number : int
        Its place among the gestures that count, from 1.
    links : tuple of Link
        One link for a pair or a chosen group, several for *none of these*.
    source : {"asked", "extra", "sampled", "known", "mended"}
        Whether it answers a session's question, was known beforehand, or mends the result and
        overrules earlier answers. An extra one answers a question that others had settled in the
        meantime. A sampled one answers a question that was put again to find out how often others
        are right. Both are evidence and cost nothing.
    groups : tuple of tuple of int
        The groups that were shown, if the question was not a pair; otherwise empty.
    by, at : str or None
        Who gave it and when, if known: a person, ``model:NAME`` or ``rule:NAME``.
    seconds : float or None
        How long it took, if that was measured.
    names : tuple of str or None
        The names of the groups that were shown, if one of them was known by its name only.
    name : str or None
        The name of the group that it begins: that of a group known by its name only.
    """

    number: int
    links: tuple[Link, ...]
    source: str = "asked"
    groups: Groups = ()
    by: str | None = None
    at: str | None = None
    seconds: float | None = None
    names: Names = ()
    name: str | None = None

    @property
    def is_certain(self) -> bool:
        """Whether no answer to a question can overrule it: it was known, or it mends the result."""
        return self.source in ("known", "mended")

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
        """The answer of the first link."""
        return self.links[0].answer

    @property
    def pair(self) -> tuple[int, int]:
        """The two rows of the first link, smaller first."""
        return self.links[0].pair

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows it is about, each once."""
        return tuple(dict.fromkeys(r for link in self.links for r in (link.left, link.right)))


Chosen = int | Sequence[int] | Answer


@dataclass(frozen=True, slots=True)
class Question:
    """A row, and the groups that it may belong to.

    Attributes
    ----------
    number : int
        1 for the first question of a session, then counting up. Pass the question, or its number,
        to `Session.choose`, which then refuses an answer to a question that is no longer open.
    row : int
        The number of the row in question.
    groups : tuple of tuple of int
        All groups that the row may belong to, the likeliest first, each by some of its rows. The
        first row of each stands for its group in the log. One group of one row makes the question
        a pair. Groups that are known by name only come last, as empty tuples: choosing one begins
        a group with that name.
    row_id : hashable or None
        The row's `sample_ids`, where the session has them.
    group_ids : tuple of tuple of hashable
        The ids of the rows in `groups`, or empty.
    names : tuple of str or None
        The name of each of the `groups`, None for those without.

    Examples
    --------
    >>> Question(1, 7, ((2, 5), (3,))).links(1)
    (Link(left=7, right=3, answer=<Answer.SAME: 'same'>),)
    >>> pair = Question(1, 7, ((2,),))
    >>> pair.left, pair.right
    (7, 2)
    """

    number: int
    row: int
    groups: Groups
    row_id: Hashable | None = None
    group_ids: tuple[tuple[Hashable, ...], ...] = ()
    names: Names = field(default=(), compare=False)

    @property
    def is_pair(self) -> bool:
        """Whether the question is about two rows: one group of one row."""
        return len(self.groups) == 1 and len(self.groups[0]) == 1

    @property
    def left(self) -> int:
        """The first of the two rows of a pair."""
        self._refuse_groups()
        return self.row

    @property
    def right(self) -> int:
        """The second of the two rows of a pair."""
        self._refuse_groups()
        return self.groups[0][0]

    @property
    def left_id(self) -> Hashable | None:
        """The `sample_ids` of the first row of a pair."""
        self._refuse_groups()
        return self.row_id

    @property
    def right_id(self) -> Hashable | None:
        """The `sample_ids` of the second row of a pair."""
        self._refuse_groups()
        return self.group_ids[0][0] if self.group_ids else None

    @property
    def about(self) -> str:
        """What it is about, in words."""
        if self.is_pair:
            return f"about rows {self.left} and {self.right}"
        return f"about row {self.row} and {len(self.groups)} groups"

    def pair(self, place: int = 0, member: int = 0) -> Question:
        """Return the question about the row and one member of one group."""
        if not self.groups[place]:
            raise AnswerError(
                f"group {place} of question {self.number} has no row yet, only the name "
                f"{self.name(place)!r}: only an oracle that can choose can answer"
            )
        groups = ((self.groups[place][member],),)
        ids = ((self.group_ids[place][member],),) if self.group_ids else ()
        return replace(self, groups=groups, group_ids=ids, names=(self.name(place),))

    def name(self, place: int) -> str | None:
        """Return the name of a group, by its place; None if it has none."""
        return self.names[place] if self.names else None

    def renumbered(self, numbers: Sequence[int] | NDArray[np.intp]) -> Question:
        """Return the question about other rows: row k becomes ``numbers[k]``."""
        groups = tuple(tuple(int(numbers[row]) for row in group) for group in self.groups)
        return replace(self, row=int(numbers[self.row]), groups=groups)

    def is_part_of(self, other: Question) -> bool:
        """Return whether another question is about the same row, and shows all rows of this one."""
        shown = {row for group in other.groups for row in group}
        return self.row == other.row and all(shown.issuperset(group) for group in self.groups)

    def links(self, chosen: Chosen) -> tuple[Link, ...]:
        """Return the links that choosing a group stands for.

        Parameters
        ----------
        chosen : int, sequence of int, Answer.NONE or Answer.UNSURE
            The place of a group in `groups`: the row belongs to it. Several places: these groups
            and the row are all one. `Answer.NONE`: the row belongs to no group shown.
            `Answer.UNSURE`: nothing is said about any of them.

        The place of a group that is known by name only begins this group: the row differs from all
        others.
        """
        answer = Answer.DIFFERENT
        if chosen is Answer.UNSURE or chosen is Answer.NONE:
            answer = chosen
        elif shown := [place for place in self._places(chosen) if self.groups[place]]:
            return tuple(Link(self.row, self.groups[place][0], Answer.SAME) for place in shown)
        heads = [group[0] for group in self.groups if group]
        if not heads:
            alone = answer if answer is Answer.UNSURE else Answer.SAME
            return (Link(self.row, self.row, alone),)
        return tuple(Link(self.row, head, answer) for head in heads)

    def begun(self, chosen: Chosen) -> str | None:
        """Return the name of the group that choosing something begins, if that has a name."""
        if chosen is Answer.UNSURE or chosen is Answer.NONE:
            return None
        names = [self.name(place) for place in self._places(chosen) if not self.groups[place]]
        if len(names) > 1:
            raise AnswerError(f"{' and '.join(map(str, names))} cannot both be begun by one row")
        return names[0] if names else None

    def _places(self, chosen: Any) -> tuple[int, ...]:
        """Return the chosen places; refuse values that are not places."""
        places: Any = tuple(chosen) if isinstance(chosen, list | tuple) else (chosen,)
        if not places:
            raise AnswerError("no group was chosen: Answer.NONE means none of these")
        for place in places:
            if not is_whole(place) or not 0 <= place < len(self.groups):
                raise AnswerError(self._refusal(place))
        return tuple(dict.fromkeys(map(int, places)))

    def place(self, answer: Any) -> Chosen:
        """Return an answer in the form that `links` takes.

        With one group, that is an `Answer`, True or False; with several, the place of a group,
        `Answer.NONE` or `Answer.UNSURE`.
        """
        if len(self.groups) > 1:
            return answer  # type: ignore[no-any-return]  # `links` refuses anything but a place
        try:
            same = as_answer(answer)
        except AnswerError as error:
            raise AnswerError(f"question {self.number} ({self.about}): {error}") from None
        return 0 if same is Answer.SAME else same

    def _repr_html_(self) -> str:
        ids = self.group_ids or [[None] * len(rows) for rows in self.groups]
        groups = [
            (str(place), ", ".join(map(_row_name, rows, names)))
            for place, (rows, names) in enumerate(zip(self.groups, ids, strict=True))
        ]
        row = _row_name(self.row, self.row_id)
        if self.is_pair:
            return card(
                f"Question {self.number}: do these belong together?",
                [("left", row), ("right", groups[0][1])],
            )
        return card(f"Question {self.number}: where does {row} belong?", groups)

    def _refusal(self, value: Any) -> str:
        """Say why a value is not the place of a group, and what is."""
        n = len(self.groups)
        if n == 1 and isinstance(value, bool | np.bool_ | Answer):
            return (
                f"{value!r} is not the place of a group: session.tell({value}) says whether the "
                "row belongs to the only group of the question; session.choose takes 0, "
                "Answer.NONE or Answer.UNSURE"
            )
        if value is None:
            return "None is not an answer: Answer.NONE means none of these, Answer.UNSURE not sure"
        places = "0" if n == 1 else f"a place from 0 to {n - 1}"
        return (
            f"{value!r} is not the place of a group: question {self.number} has "
            f"{plural(n, 'group')}. Choose {places}, Answer.NONE for none of these, or "
            "Answer.UNSURE for not sure"
        )

    def _refuse_groups(self) -> None:
        if not self.is_pair:
            raise InputError(
                f"question {self.number} is not a pair: it has a `row` and {len(self.groups)} "
                "`groups`. Likewise(questions='pairs') asks about pairs only."
            )


def _row_name(row: int, sample_id: Hashable | None) -> str:
    return f"row {row}" if sample_id is None else f"{sample_id} (row {row})"
