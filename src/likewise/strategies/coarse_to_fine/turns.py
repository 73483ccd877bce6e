"""What was asked, read from a log of links: one turn for every question that was answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from likewise.core.answers import Answer

Said = tuple[int, int, Answer]


class Turn(NamedTuple):
    """A question and its answer.

    Attributes
    ----------
    row : int
        The row in question.
    answer : Answer
        *Same* if it belongs to a group that was shown, *different* if to none of them.
    places : tuple of int
        The places of its links in the log.
    """

    row: int
    answer: Answer
    places: tuple[int, ...]


def turns_of(log: Sequence[Said], max_groups: int) -> list[Turn]:
    """Return the questions that a log of links answers.

    *None of these* makes one link for every group that was shown, all about the same row.

    Parameters
    ----------
    log : sequence of (int, int, Answer)
        The row in question, a row of a group, and whether they are the same.
    max_groups : int
        No more groups than this are shown at once.

    Examples
    --------
    >>> S, D = Answer.SAME, Answer.DIFFERENT
    >>> log = [(0, 1, D), (2, 0, D), (2, 1, D), (3, 0, S), (4, 0, D), (4, 1, D), (4, 2, D)]
    >>> [(turn.row, turn.places) for turn in turns_of(log, 2)]
    [(0, (0,)), (2, (1, 2)), (3, (3,)), (4, (4, 5)), (4, (6,))]
    """
    turns: list[Turn] = []
    for place, (row, _, answer) in enumerate(log):
        last = turns[-1] if turns else None
        is_more = (
            last is not None
            and (last.row, last.answer) == (row, answer)
            and answer is not Answer.SAME
            and len(last.places) < max_groups
        )
        if last is not None and is_more:
            turns[-1] = last._replace(places=(*last.places, place))
        else:
            turns.append(Turn(row, answer, (place,)))
    return turns
