"""What a log of links says: which cells form groups, and which row each question was about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph

Said = tuple[int, int, Answer]
"""A link: the row in question, another row, and what was said."""


@dataclass(frozen=True, eq=False, slots=True)
class Known:
    """What the log says about cells.

    Attributes
    ----------
    order : list of int
        Askable cells that some answer is about, by first mention.
    groups : list of int
        Roots of the groups: first those of several cells, the largest first, then single cells that
        are the first of their group.
    pending : list of int
        Roots of the others, whose group is not known yet.
    cells : dict of int to list of int
        The askable cells of every root.
    unsure : set of (int, int)
        Pairs of roots of which some pair was answered with *not sure*.
    """

    order: list[int]
    groups: list[int]
    pending: list[int]
    cells: dict[int, list[int]]
    unsure: set[tuple[int, int]]

    def examples(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the cells whose group is known, by first mention, and their groups."""
        number = {cell: g for g, root in enumerate(self.groups) for cell in self.cells[root]}
        cells = [cell for cell in self.order if cell in number]
        return (
            np.array(cells, dtype=np.intp),
            np.array([number[cell] for cell in cells], dtype=np.intp),
        )


def read_log(log: Iterable[Said], links: LinkGraph, cell_of: Mapping[int, int]) -> Known:
    """Return what a log says about cells; a cell on its own is pending.

    Parameters
    ----------
    log : iterable of (int, int, Answer)
        The answers.
    links : LinkGraph
        What they imply.
    cell_of : mapping of int to int
        The cells that may be asked about, by the rows that stand for them.
    """
    cells: dict[int, list[int]] = {}
    order: dict[int, None] = {}
    unsure: set[tuple[int, int]] = set()
    for left, right, answer in log:
        for row in (left, right):
            cell = cell_of.get(row)
            if cell is not None and cell not in order:
                order[cell] = None
                cells.setdefault(links.find(row), []).append(cell)
        if answer is Answer.UNSURE:
            a, b = links.find(left), links.find(right)
            unsure |= {(a, b), (b, a)}
    groups = sorted((g for g in cells if len(cells[g]) > 1), key=lambda g: -len(cells[g]))
    pending = [root for root in cells if len(cells[root]) == 1]
    return Known(list(order), groups, pending, cells, unsure)


class Turn(NamedTuple):
    """What was said about a row until it was placed, or when it was asked about again.

    Attributes
    ----------
    row : int
        The row in question.
    answer : Answer
        *Same* if it belongs to a group that was shown, *different* if to none of them.
    places : tuple of int
        The places of its links in the log.
    is_check : bool
        Whether earlier answers already said where the row belongs.
    """

    row: int
    answer: Answer
    places: tuple[int, ...]
    is_check: bool

    @property
    def is_none(self) -> bool:
        """Whether the row belongs to none of the groups shown."""
        return self.answer is Answer.DIFFERENT

    def n_questions(self, max_groups: int) -> int:
        """Return how many questions it took; *none of these* has a link for every group shown."""
        n_others = len(self.places) - (self.answer is Answer.SAME)
        return -(-n_others // max_groups) + (self.answer is Answer.SAME)


def turns_of(log: Sequence[Said], max_groups: int, n_rows: int) -> list[Turn]:
    """Return the turns of a log of links.

    Parameters
    ----------
    log : sequence of (int, int, Answer)
        The row in question, a row of a group, and whether they are the same.
    max_groups : int
        No more groups than this are shown at once.
    n_rows : int
        Number of rows of the data.

    Examples
    --------
    Row 2 is none of two groups, row 3 is in the first. Then row 2 is asked about again.

    >>> S, D = Answer.SAME, Answer.DIFFERENT
    >>> log = [(0, 1, D), (2, 0, D), (2, 1, D), (3, 0, S), (2, 3, D)]
    >>> [(turn.row, turn.places, turn.is_check) for turn in turns_of(log, 6, 4)]
    [(0, (0,), False), (2, (1, 2), False), (3, (3,), False), (2, (4,), True)]
    """
    turns: list[Turn] = []
    graph = LinkGraph(n_rows)
    for place, (row, other, answer) in enumerate(log):
        known = graph.implied(row, other)
        is_check = known is not None
        if answer.is_link and known in (None, answer):
            graph.add(row, other, answer)
        last = turns[-1] if turns else None
        is_more = (
            last is not None
            and (last.row, last.is_check) == (row, is_check)
            and last.answer is not Answer.SAME
            and not (is_check and (answer is Answer.SAME or len(last.places) >= max_groups))
        )
        if last is not None and is_more:
            turns[-1] = Turn(row, answer, (*last.places, place), is_check)
        else:
            turns.append(Turn(row, answer, (place,), is_check))
    return turns
