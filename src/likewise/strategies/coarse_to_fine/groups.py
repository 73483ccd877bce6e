"""What a log of answers says about cells: which are groups, and which are not placed yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph


@dataclass(frozen=True, eq=False, slots=True)
class Known:
    """What the log says about cells.

    Attributes
    ----------
    order : list of int
        Askable cells that some answer is about, by first mention.
    groups : list of int
        Roots of what counts as a group: several cells that are the same, the largest first, and
        then single cells that are the first of theirs.
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


def read_log(
    log: Iterable[tuple[int, int, Answer]], links: LinkGraph, cell_of: Mapping[int, int]
) -> Known:
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
