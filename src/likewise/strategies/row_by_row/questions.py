"""How a question looks: a row, beside the groups that it may belong to, and some of their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, ordered
from likewise.strategies.row_by_row.checks import FITS, N_BEFORE_CHECKS, Checks, worth_a_check
from likewise.strategies.row_by_row.evidence import Said
from likewise.strategies.row_by_row.known import Known
from likewise.strategies.row_by_row.regions import Regions, closest_open, most_telling

MAX_GROUPS = 6
"""How many groups are shown at once: as many as fit on a page, with one key for each."""

N_SHOWN = 3
"""How many rows of a group are shown, if it has them."""

CREDIBLE = 0.8
"""Where answers may be wrong, the rows shown of a group belong to it with at least this probability
by what is known of other rows. A misplaced row that is shown would misplace others. Mean adjusted
Rand index of 100 choices with one in ten wrong, ten small tasks of the paper, two seeds: .723; with
0.4 .714, with 0.95 .726."""

DOUBT_FLOOR = 0.2
"""The weight of a row that the learner is sure of; a row of mean doubt weighs 1 more. Mean adjusted
Rand index of 50 pairs on ten of the paper's tasks, two seeds: .618; with 0.1 .620, with 0.4 .617.
"""

Shown = tuple[int, tuple[tuple[int, ...], ...]]
"""A row, and the groups to choose from."""


@dataclass(frozen=True, eq=False, slots=True)
class Questions:
    """The questions that could be asked after some answers.

    Each method returns None if there is nothing to ask, or yields what to ask, the most important
    first.

    Attributes
    ----------
    known : Known
        What is known.
    log : sequence of (int, int, Answer)
        What was said.
    rows : ndarray of shape (n_cells,)
        The rows that stand for cells.
    cell_of : mapping of int to int
        The cells that may be asked about, by these rows.
    regions : Regions
        Where the cells are.
    max_groups : int
        How many groups a question shows at most.
    checks : Checks, optional
        What was checked; None where all answers are believed.
    """

    known: Known
    log: Sequence[Said]
    rows: NDArray[np.intp]
    cell_of: Mapping[int, int]
    regions: Regions
    max_groups: int
    checks: Checks | None

    # -- rows whose group is not known -----------------------------------------------------------

    def first(self, heads: Sequence[int]) -> Shown | None:
        """Return the first question of all, which is about two rows."""
        if len(heads) < 2:
            other = self.newcomer(heads)
            heads = heads if other is None else [*heads, other]
        row, *others = self.rows[heads[:2]].tolist()
        return (row, (tuple(others),)) if others else None

    def place(self, cell: int) -> Shown | None:
        """Return the next question about a cell whose group is not known."""
        known = self.known
        row = int(self.rows[cell])
        root = known.links.find(row)
        out = known.links.differing(root)
        groups = [
            group
            for group in known.groups or known.pending
            if group not in out and group != root and (root, group) not in known.unsure
        ]
        return self._shown(row, known.likeliest(cell, groups).groups)

    def newcomer(self, but: Sequence[int] = ()) -> int | None:
        """Return the cell to ask about next, where many rows are in doubt; None if all were."""
        answered = [*self.known.order, *but]
        if len(answered) == len(self.cell_of):
            return None
        weights = self.regions.sizes.astype(np.float64)
        if self.known.learned is not None:
            doubt = 1.0 - self.known.learned.chances.max(axis=1)
            weights *= DOUBT_FLOOR + doubt / max(float(np.average(doubt, weights=weights)), 1e-12)
        return most_telling(self.regions, weights, answered)

    def leftover(self) -> Shown | None:
        """Return the closest two rows that nothing is known about, when no newcomers are left."""
        asked = [(self.cell_of.get(a, -1), self.cell_of.get(b, -1)) for a, b, _ in self.log]
        cells = closest_open(self.regions.points, self.known.cells, self.known.links, asked)
        if cells is None:
            return None
        left, right = sorted(self.rows[list(cells)].tolist())
        return left, ((right,),)

    # -- rows that are asked about again ---------------------------------------------------------

    def third_answers(self) -> Iterator[Shown | None]:
        """Yield questions about rows whose answers differ, unless the learner is sure."""
        undecided = [] if self.checks is None else self.checks.undecided()
        for row, was_first in undecided:
            if row in self.cell_of and (was_first or not self._fits(row)):
                yield self._again(row)

    def suspicious(self, *, only_first: bool = False) -> Iterator[Shown | None]:
        """Yield questions about rows that other rows contradict, the most likely errors first.

        With `only_first`, only about the first rows of groups.
        """
        known = self.known
        if self.checks is None or known.n_placed < N_BEFORE_CHECKS or known.learned is None:
            return
        learned = known.learned
        rows = self.rows[learned.known].tolist()
        times, first_rows = self.checks.times, self.checks.first_rows()
        found = worth_a_check(
            learned.left_out,
            learned.groups,
            np.array([row in first_rows for row in rows]),
            rate=self.checks.rate,
            max_groups=self.max_groups,
        )
        for k, is_first in found:
            row = rows[k]
            if times[row] != 1 or (only_first and not is_first):
                continue
            if is_first:
                others = [group for group in known.groups if group != known.links.find(row)]
                yield self._shown(row, known.likeliest(self.cell_of[row], others).groups)
            else:
                yield self._again(row)

    def _again(self, row: int) -> Shown | None:
        """Return a further question about a row, with its own group among those shown."""
        own = self.known.links.find(row)
        groups = self.known.likeliest(self.cell_of[row], self.known.groups).groups
        if self.max_groups > 1 and own in groups[self.max_groups :]:
            groups = [*groups[: self.max_groups - 1], own]
        return self._shown(row, groups)

    def _fits(self, row: int) -> bool:
        """Return whether a row is likely in its group, by what is known of others."""
        known, own = self.known, self.known.links.find(row)
        if own not in known.groups or len(known.cells[own]) == 1 or known.learned is None:
            return False
        return float(known.chances_of(self.cell_of[row])[known.groups.index(own)]) >= FITS

    # -- what is shown ---------------------------------------------------------------------------

    def _shown(self, row: int, groups: Sequence[int]) -> Shown | None:
        """Return a question about a row, with groups that have rows it was not compared with."""
        asked = {ordered(a, b) for a, b, _ in self.log if row in (a, b)}
        points, cell = self.regions.points, self.cell_of[row]
        same = [link for link in self.known.links if link.answer is Answer.SAME]
        n_same = Counter(row for link in same for row in (link.left, link.right))
        shown: list[tuple[int, ...]] = []
        for group in groups:
            cells = {int(self.rows[c]): c for c in self.known.cells[group] if c != cell}
            fresh = [other for other in cells if ordered(row, other) not in asked]
            if fresh and len(shown) < self.max_groups:
                chances = self.known.chances_in(group)
                distances = None
                if self.checks is None:
                    far = np.linalg.norm(points[list(cells.values())] - points[cell], axis=1)
                    distances = dict(zip(cells, far, strict=True))
                rows = rows_to_show(
                    list(cells),
                    fresh,
                    n_same=n_same,
                    belief={other: chances.get(c, 0.0) for other, c in cells.items()},
                    distances=distances,
                )
                shown.append(tuple(rows))
        return (row, tuple(shown)) if shown else None


def rows_to_show(
    members: Sequence[int],
    fresh: Sequence[int],
    *,
    n_same: Mapping[int, int],
    belief: Mapping[int, float],
    distances: Mapping[int, float] | None,
) -> list[int]:
    """Return the rows by which a group is shown; the first one stands for it in the log.

    First comes a row that others were found to be the same as. Then come the nearest ones or,
    where answers may be wrong, those that belong to the group most surely.

    Parameters
    ----------
    members : sequence of int
        The rows of the group, by first mention.
    fresh : sequence of int
        Those of them that the row in question was not compared with, at least one.
    n_same : mapping of int to int
        How many answers say that a row is the same as another one.
    belief : mapping of int to float
        How likely a row belongs to the group by what is known of others; 0 if it is not there.
    distances : mapping of int to float, optional
        How far the rows are from the row in question; None where answers may be wrong.

    Examples
    --------
    >>> near = {1: 0.5, 2: 3.0, 3: 0.2, 4: 1.0}
    >>> rows_to_show([1, 2, 3, 4], [1, 2, 3, 4], n_same={2: 3}, belief={}, distances=near)
    [2, 3, 1]
    """
    place = {row: k for k, row in enumerate(members)}
    first = max(
        fresh,
        key=lambda row: (min(2, n_same.get(row, 0)), belief.get(row, 0.0) >= CREDIBLE, -place[row]),
    )
    others = [row for row in members if row != first]
    if distances is not None:
        others.sort(key=lambda row: distances[row])
    else:
        others = [row for row in others if belief.get(row, 0.0) >= CREDIBLE]
        others.sort(key=lambda row: -belief[row])
    return [first, *others[: N_SHOWN - 1]]
