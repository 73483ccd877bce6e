"""Cells of rows, each with a row that stands for it: labels, and what the answers say of cells.

A cell that differs from some groups may be the first of a new group. Once it differs from all of
them, it is. Until then, a new group is more likely the fewer rows per group have been placed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.reports import Completeness
from likewise.core.strategy import Strategy
from likewise.learning.learner import Learned, Learner
from likewise.learning.reliability import share_of_one_group, share_right

NEW_SHARE = 0.5
"""The probability that a row is the first of its group is this times the number of groups per
placed row. Half or twice as much changes the mean adjusted Rand index of 50 pairs on ten of the
paper's tasks by less than .001. The same holds for `MIXED` and `LIKELY`."""

MIXED = 0.05
"""This share of the learner's probability is spread over all groups, since it may be wrong."""

LIKELY = 0.03
"""A group that is less likely than this is not asked about alone."""


class CellStrategy(Strategy):
    """Ask about pairs of representatives; other rows follow them, unless answers are about them."""

    def __init__(self, partition: SuperInstances) -> None:
        self.partition = partition
        self.links = LinkGraph(partition.n_rows)

    @cached_property
    def _position(self) -> dict[int, int]:
        """The number of every super-instance, by the row that stands for it."""
        return {int(row): i for i, row in enumerate(self.partition.representatives)}

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return self.partition.n_rows

    def labels(self, *, guess: bool = False) -> NDArray[np.intp]:
        """Return the group of every row by what is known now, numbered from 0."""
        names = self.guess_of_representatives() if guess else self.group_of_representatives()
        return self._spread(names)

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every super-instance, a name of its group; here by the answers alone."""
        names = self.partition.representatives.copy()
        for row in (row for link in self.links for row in link.pair):
            part = self.partition.assignment[row]
            if self.partition.representatives[part] == row:
                names[part] = self.links.find(row)
        return names

    def guess_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every super-instance, a name of its group if what is undecided is guessed."""
        return self.group_of_representatives()

    def to_dict(self) -> dict[str, Any]:
        """Return the partition."""
        return {"partition": self.partition.to_dict()}

    def _spread(self, names: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the group of every row from the names of the super-instances' groups."""
        groups = np.unique(names, return_inverse=True)[1].astype(np.intp)
        labels = groups[self.partition.assignment]
        mentioned = {row for link in self.links for row in link.pair}
        rows = sorted(mentioned.difference(self._position))
        if rows:
            # Answers may set rows apart from the representatives of their super-instances.
            decided = {self.links.find(row): int(groups[k]) for row, k in self._position.items()}
            chances = np.eye(int(groups.max()) + 1)[labels[rows]]
            place = {row: k for k, row in enumerate(rows)}
            labels[rows] = respecting_groups(chances, self.links, decided, place)
        return labels


def respecting_groups(
    chances: NDArray[np.float64],
    links: LinkGraph,
    decided: Mapping[int, int],
    position: Mapping[int, int] | None = None,
) -> NDArray[np.intp]:
    """Return, for every row, the likeliest group that respects the answers, else a new group.

    Groups are numbered as the columns of `chances`. Some may be empty: their known rows all moved.
    """
    n_groups = chances.shape[1]
    labels: NDArray[np.intp] = np.argmax(chances, axis=1).astype(np.intp)
    members: dict[int, list[int]] = {}
    for row in {row: None for link in links for row in (link.left, link.right)}:
        place = row if position is None else position.get(row)
        if place is not None:
            members.setdefault(links.find(row), []).append(place)
    group_of = dict(decided)
    free = [root for root in members if root not in group_of]
    for root in sorted(free, key=lambda root: (-len(members[root]), root)):
        taken = {group_of[other] for other in links.differing(root) if other in group_of}
        means = chances[sorted(members[root])].mean(axis=0)
        allowed = [int(g) for g in np.argsort(-means, kind="stable") if int(g) not in taken]
        if not allowed:
            # A group that was opened for other rows may be allowed; a new one always is.
            allowed = [g for g in range(n_groups, n_groups + len(free) + 1) if g not in taken]
        group_of[root] = allowed[0]
    for root, rows in members.items():
        labels[rows] = group_of[root]
    return labels


@dataclass(frozen=True, eq=False)
class Known:
    """What is known about cells after some answers; made by `read_log`."""

    groups: list[list[int]]
    pending: list[int]
    unsure: set[int]
    unsure_pairs: set[tuple[int, int]]
    order: list[int]
    removed: frozenset[int]
    _root: Mapping[int, int]
    _links: LinkGraph
    _learner: Learner

    def examples(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the cells whose group is known, by first mention, and their groups from 0."""
        group_of = {cell: g for g, group in enumerate(self.groups) for cell in group}
        cells = [cell for cell in self.order if cell in group_of]
        groups = [group_of[cell] for cell in cells]
        return np.array(cells, dtype=np.intp), np.array(groups, dtype=np.intp)

    @cached_property
    def learned(self) -> Learned | None:
        """What is learned from the cells whose group is known; None before there are two groups."""
        return self._learner.learn(*self.examples()) if len(self.groups) > 1 else None

    def completeness(self, n_groups: int) -> Completeness | None:
        """Return how much of a grouping is right; groups that are not known are guesses."""
        if self.learned is None:
            return None
        n_known = len(self.learned.known)
        return Completeness(
            *self._share_right(self.learned),
            one_group=share_of_one_group(self._of_those_there(self.learned.known_chances())),
            unmet=n_groups - self.learned.n_groups,
            changing=self.share_changed(20),
            curve=tuple(
                (n, self._share_right(earlier)[0])
                for n in [*range(10, n_known, max(10, n_known // 100 * 10)), n_known]
                if (earlier := self._learned_before(n)) is not None
            ),
        )

    def share_changed(self, span: int) -> float:
        """Return the share of rows in another group than before the last rows were asked about."""
        now, n_known = self.learned, len(self.examples()[0])
        before = self._learned_before(max(0, n_known - span))
        if now is None or before is None:
            return 1.0
        # The groups that were known then, by their numbers now.
        names = np.unique(now.groups[: len(before.known)])
        then = names[before.known_chances().argmax(axis=1)]
        has_moved = self._of_those_there(then != now.known_chances().argmax(axis=1))
        return float(np.average(has_moved, weights=self._of_those_there(self._learner.sizes)))

    def _learned_before(self, n_known: int) -> Learned | None:
        """Return what was learned from the first known cells; None if they are of one group."""
        cells, groups = self.examples()
        names, numbers = np.unique(groups[:n_known], return_inverse=True)
        return self._learner.learn(cells[:n_known], numbers) if len(names) > 1 else None

    def _share_right(self, learned: Learned) -> tuple[float, float]:
        """Return which share of the rows that are there is right, and at least which."""
        is_known = np.isin(np.arange(len(learned.chances)), learned.known)
        known = np.flatnonzero(self._of_those_there(is_known))
        return share_right(self._of_those_there(learned.known_chances()), known)

    def _of_those_there(self, of_cells: NDArray[Any]) -> NDArray[Any]:
        """Return values of cells without those of removed ones."""
        return np.delete(of_cells, sorted(self.removed), axis=0) if self.removed else of_cells

    def open_groups(self, cell: int) -> list[int]:
        """Return the groups that a cell may belong to or, for a cell of a group, be joined with."""
        root = self._root[cell]
        closed = {root, *self._links.differing(root)}
        return [g for g in self.shown_groups() if self._root[self.groups[g][0]] not in closed]

    def comparable(self, cell: int, groups: Sequence[int]) -> list[int]:
        """Return the groups without a cell that somebody could not compare with this one."""
        unsure = {other for pair in self.unsure_pairs if cell in pair for other in pair}
        return [g for g in groups if unsure.isdisjoint(self.groups[g])]

    def shown_groups(self) -> list[int]:
        """Return the groups that questions can show: not all of their known cells are removed."""
        return [g for g, group in enumerate(self.groups) if self.shown_cells(group)]

    def shown_cells(self, group: Sequence[int]) -> list[int]:
        """Return the cells of a group that are there."""
        return [cell for cell in group if cell not in self.removed]

    def likeliest(self, cell: int, groups: Sequence[int]) -> list[int]:
        """Return some groups, the likeliest for a cell first, then the nearest."""
        points = self._learner.rows.own
        cells = [c for g in groups for c in self.groups[g]]
        starts = np.cumsum([0, *(len(self.groups[g]) for g in groups[:-1])])
        far = np.minimum.reduceat(cdist(points[[cell]], points[cells])[0], starts)
        return [groups[k] for k in np.lexsort((far, -self._chances(cell, groups).round(9)))]

    def is_new(self, cell: int, max_groups: int) -> bool:
        """Return whether a new group is likelier for a cell than those it was not compared with."""
        groups = self.open_groups(cell)
        n_placed = sum(map(len, self.groups))
        new = chance_of_new(len(self.groups), n_placed)
        chances = (1.0 - MIXED) * self._chances(cell, groups) + MIXED / len(self.groups)
        known = np.sort((1.0 - new) * chances)[::-1]
        shown, total = float(known[:max_groups].sum()), float(known.sum()) + new
        return shown < total * LIKELY if max_groups == 1 else shown < max(new, total * LIKELY)

    def _chances(self, cell: int, groups: Sequence[int]) -> NDArray[np.float64]:
        if self.learned is None:
            return np.ones(len(groups))
        chances: NDArray[np.float64] = self.learned.chances[cell][list(groups)]
        return chances


def read_log(
    log: Iterable[tuple[int, int, Answer]],
    links: LinkGraph,
    cell_of: Mapping[int, int],
    learner: Learner,
    max_groups: int,
    removed: frozenset[int] = frozenset(),
) -> Known:
    """Return what is known of cells from a log; `cell_of` has those that may be asked about."""
    members: dict[int, list[int]] = {}
    order: dict[int, None] = {}
    unsure: set[int] = set()
    unsure_pairs: set[tuple[int, int]] = set()
    for left, right, answer in log:
        if answer is Answer.UNSURE:
            unsure |= {cell_of[left]} if left in cell_of else set()
            if left in cell_of and right in cell_of:
                unsure_pairs.add((cell_of[left], cell_of[right]))
            continue
        for row in (left, right):
            cell = cell_of.get(row)
            if cell is not None and cell not in order:
                order[cell] = None
                members.setdefault(links.find(row), []).append(cell)
    root_of = {cell: root for root, cells in members.items() for cell in cells}
    groups = [cells for cells in members.values() if len(cells) > 1]
    singles = [cells[0] for cells in members.values() if len(cells) == 1]
    if not groups and singles:
        groups.append([singles.pop(0)])
    for cell in list(singles):
        apart = links.differing(root_of[cell])
        if all(root_of[group[0]] in apart for group in groups if not removed.issuperset(group)):
            groups.append([cell])
            singles.remove(cell)
    known = Known(
        groups, singles, unsure, unsure_pairs, list(order), removed, root_of, links, learner
    )
    is_new = [cell for cell in singles if known.is_new(cell, max_groups)]
    if is_new:
        groups = [*groups, *([cell] for cell in is_new)]
        known = replace(known, groups=groups, pending=[c for c in singles if c not in is_new])
    return replace(known, pending=[c for c in known.pending if c not in unsure | removed])


def chance_of_new(n_groups: int, n_placed: int) -> float:
    """Return how likely the next row is the first of its group."""
    return min(0.5, NEW_SHARE * n_groups / n_placed) if n_placed else 0.5
