"""What a log of answers says about cells: which are groups, and which are not placed yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
        Roots of what counts as a group, the largest first: several cells that are the same, or
        fewer that are known to differ from all larger groups.
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
    log: Iterable[tuple[int, int, Answer]],
    links: LinkGraph,
    cell_of: Mapping[int, int],
    *,
    n_earlier: int = 0,
    plainly_different: Callable[[dict[int, list[int]]], set[tuple[int, int]]] | None = None,
) -> Known:
    """Return what a log says about cells.

    Parameters
    ----------
    log : iterable of (int, int, Answer)
        The answers.
    links : LinkGraph
        What they imply.
    cell_of : mapping of int to int
        The cells that may be asked about, by the rows that stand for them.
    n_earlier : int, default=0
        How many answers are from earlier levels. Two cells that were both met at this one may not
        have met their group yet; at the first level they always show one.
    plainly_different : callable, optional
        Takes the cells by root and returns pairs of roots that count as known to differ.
    """
    cells: dict[int, list[int]] = {}
    order: dict[int, None] = {}
    unsure: set[tuple[int, int]] = set()
    is_old: set[int] = set()
    for k, (left, right, answer) in enumerate(log):
        for row in (left, right):
            cell = cell_of.get(row)
            if cell is not None and cell not in order:
                order[cell] = None
                if k < n_earlier:
                    is_old.add(cell)
                cells.setdefault(links.find(row), []).append(cell)
        if answer is Answer.UNSURE:
            a, b = links.find(left), links.find(right)
            unsure |= {(a, b), (b, a)}
    plain = set() if plainly_different is None else plainly_different(cells)
    groups: list[int] = []
    pending: list[int] = []
    for root in sorted(cells, key=lambda root: -len(cells[root])):
        apart = links.differing(root)
        n_enough = 2 if n_earlier == 0 or not is_old.isdisjoint(cells[root]) else 3
        is_group = len(cells[root]) >= n_enough or all(
            g in apart or (root, g) in plain for g in groups
        )
        (groups if is_group else pending).append(root)
    return Known(list(order), groups, pending, cells, unsure)
