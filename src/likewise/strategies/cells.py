"""What answers imply for cells: small groups of rows, each with a row that stands for it.

Whoever answers *none of these* about all groups makes a new group, at once and for good. A cell
that differs from some groups, by an answer about a pair, may be the first of a new one. Once it
differs from all of them, it is. Until then, a new group is more likely the fewer rows per group
have been placed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from likewise.core.answered import Answers
from likewise.core.answers import Answer, ordered
from likewise.core.links import LinkGraph
from likewise.core.reports import Completeness
from likewise.learning.learner import Learned, Learner
from likewise.learning.reliability import Evidence, share_of_one_group

NEW_SHARE = 0.5
"""The probability that a row is the first of its group is this times the number of groups per
placed row. Half or twice as much changes the mean adjusted Rand index of 50 pairs on ten of the
paper's tasks by less than .001. The same holds for `MIXED` and `LIKELY`."""

MIXED = 0.05
"""This share of the learner's probability is spread over all groups, since it may be wrong."""

RECENT = 20
"""How much is right depends on how many rows the last 20 rows asked about have moved; with fewer
than 40 of these, the last half."""

LIKELY = 0.03
"""A group that is less likely than this is not asked about alone."""


@dataclass(frozen=True, eq=False)
class KnownCells:
    """What is known about cells after some answers; made by `known_cells`.

    Attributes
    ----------
    groups : list of list of int
        The known groups, each with its cells in the order they were first mentioned.
    pending : list of int
        Cells that differ from some groups by answers about pairs, and may belong to others or be
        new.
    unsure : set of int
        Cells that somebody was not sure about.
    unsure_pairs : set of tuple of int
        Pairs of cells that somebody could not compare.
    order : list of int
        All cells that yes/no answers are about, by first mention.
    removed : frozenset of int
        The cells whose representatives are gone.
    """

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
        course = self.course()
        if self.learned is None or not course:
            return None
        estimate, at_least = course[-1].share_right()
        return Completeness(
            estimate,
            at_least,
            one_group=course[-1].one_group,
            unmet=n_groups - self.learned.n_groups,
            changing=course[-1].moved,
            curve=tuple((each.n_known, each.share_right()[0]) for each in course),
            foreseen=(course[-1].n_foreseen, course[-1].n_compared),
        )

    def course(self) -> list[Evidence]:
        """Return what says how much is right: after every ten rows asked about, and now."""
        n_known = len(self.examples()[0])
        steps = [*range(10, n_known, max(10, n_known // 100 * 10)), n_known]
        course, n_foreseen, n_compared = [], 0, 0
        last: Learned | None = None
        for then, n in zip([0, *steps], steps, strict=False):
            learned = self._learned_before(n)
            if last is not None:
                n_foreseen += self._n_foreseen(last, slice(then, n))
                n_compared += n - then
            if learned is not None:
                before = max(10, n - min(RECENT, n // 2))
                earlier = self._learned_before(before) if before < n else None
                moved = 1.0 if earlier is None else self._share_moved(earlier, learned)
                is_known = np.isin(np.arange(len(learned.proba)), learned.known)
                is_open = self._without_removed(~is_known)
                proba = self._without_removed(learned.known_proba())
                mean = float(proba[is_open].max(axis=1).mean()) if is_open.any() else 1.0
                one_group = share_of_one_group(proba)
                seen = n, float(is_open.mean()), mean, one_group, moved, n_foreseen, n_compared
                course.append(Evidence(*seen))
            last = learned
        return course

    def _n_foreseen(self, learned: Learned, asked: slice) -> int:
        """Return how many rows are predicted where later answers put them."""
        cells, groups = self.examples()
        predicted = self._names(learned)[learned.proba[cells[asked]].argmax(axis=1)]
        return int((predicted == groups[asked]).sum())

    def _names(self, before: Learned) -> NDArray[np.intp]:
        """Return the numbers that groups known before have now."""
        return np.unique(self.examples()[1][: len(before.known)])

    def share_changed(self, span: int) -> float:
        """Return the share of rows in another group than before the last rows were asked about."""
        now, n_known = self.learned, len(self.examples()[0])
        before = self._learned_before(max(0, n_known - span))
        if now is None or before is None:
            return 1.0
        return self._share_moved(before, now)

    def _share_moved(self, before: Learned, after: Learned) -> float:
        """Return the share of rows that are in another group after more answers than before."""
        then = self._names(before)[before.known_proba().argmax(axis=1)]
        later = self._names(after)[after.known_proba().argmax(axis=1)]
        has_moved = self._without_removed(then != later)
        return float(np.average(has_moved, weights=self._without_removed(self._learner.sizes)))

    def _learned_before(self, n_known: int) -> Learned | None:
        """Return what was learned from the first known cells; None if they are of one group."""
        cells, groups = self.examples()
        names, numbers = np.unique(groups[:n_known], return_inverse=True)
        return self._learner.learn(cells[:n_known], numbers) if len(names) > 1 else None

    def _without_removed(self, of_cells: NDArray[Any]) -> NDArray[Any]:
        """Return values of cells without those of removed ones."""
        return np.delete(of_cells, sorted(self.removed), axis=0) if self.removed else of_cells

    def open_groups(self, cell: int) -> list[int]:
        """Return the groups that a cell may belong to or, for a cell of a group, be joined with."""
        if cell not in self._root:
            return self.shown_groups()
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
        """Return the cells of a group that are not removed."""
        return [cell for cell in group if cell not in self.removed]

    def likeliest(self, cell: int, groups: Sequence[int]) -> list[int]:
        """Return some groups, the likeliest for a cell first, then the nearest."""
        points = self._learner.rows.scaled
        cells = [c for g in groups for c in self.groups[g]]
        starts = np.cumsum([0, *(len(self.groups[g]) for g in groups[:-1])])
        distances = np.minimum.reduceat(cdist(points[[cell]], points[cells])[0], starts)
        return [groups[k] for k in np.lexsort((distances, -self._proba(cell, groups).round(9)))]

    def is_new(self, cell: int, *, by_pairs: bool) -> bool:
        """Return whether a new group is likelier for a cell than those it was not compared with.

        By pairs, it is compared with the likeliest of them next, else with all of them at once.
        """
        groups = self.open_groups(cell)
        n_placed = sum(map(len, self.groups))
        new = proba_of_new(len(self.groups), n_placed)
        proba = (1.0 - MIXED) * self._proba(cell, groups) + MIXED / len(self.groups)
        known = (1.0 - new) * proba
        if by_pairs:
            return float(known.max(initial=0.0)) < (float(known.sum()) + new) * LIKELY
        return float(known.sum()) < new

    def _proba(self, cell: int, groups: Sequence[int]) -> NDArray[np.float64]:
        if self.learned is None:
            return np.ones(len(groups))
        proba: NDArray[np.float64] = self.learned.proba[cell][list(groups)]
        return proba


def known_cells(
    answers: Answers,
    cell_of: Mapping[int, int],
    learner: Learner,
    removed: frozenset[int] = frozenset(),
    *,
    by_pairs: bool,
) -> KnownCells:
    """Return what answers imply for cells.

    Parameters
    ----------
    answers : Answers
        The answers so far.
    cell_of : mapping of int to int
        The cells that may be asked about, by the rows that stand for them.
    learner : Learner
        Learns from known cells.
    removed : frozenset of int
        The cells whose representatives are gone.
    by_pairs : bool
        Whether a question compares a row with one group only.
    """
    links = answers.links
    members: dict[int, list[int]] = {}
    order: dict[int, None] = {}
    unsure: set[int] = set()
    unsure_pairs: set[tuple[int, int]] = set()
    firsts = _firsts_of_groups(answers, cell_of)
    for link in (link for gesture in answers.gestures for link in gesture.links):
        left, right = link.left, link.right
        if link.answer is Answer.UNSURE:
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
    only_shown = _only_shown(answers, cell_of)
    for root in [r for r, cells in members.items() if len(cells) == 1 and cells[0] in only_shown]:
        del order[members.pop(root)[0]]  # nothing was asked about it, so it is as open as before
    groups = [cells for cells in members.values() if len(cells) > 1]
    singles = [cells[0] for cells in members.values() if len(cells) == 1]
    if not groups and singles:
        groups.append([singles.pop(0)])
    for cell in list(singles):
        differing = links.differing(root_of[cell])
        shown = (root_of[group[0]] for group in groups if not removed.issuperset(group))
        if cell in firsts or differing.issuperset(shown):
            groups.append([cell])
            singles.remove(cell)
    known = KnownCells(
        groups, singles, unsure, unsure_pairs, list(order), removed, root_of, links, learner
    )
    is_new = [cell for cell in singles if known.is_new(cell, by_pairs=by_pairs)]
    if is_new:
        groups = [*groups, *([cell] for cell in is_new)]
        known = replace(known, groups=groups, pending=[c for c in singles if c not in is_new])
    passed_over = unsure | removed
    return replace(known, pending=[c for c in known.pending if c not in passed_over])


def _only_shown(answers: Answers, cell_of: Mapping[int, int]) -> set[int]:
    """Return the cells that were only shown beside others, such as those of given groups."""
    gestures = [gesture for gesture in answers.gestures if gesture.groups]
    shown = {link.right for gesture in gestures for link in gesture.links}
    asked = {gesture.left for gesture in gestures}
    others = (gesture.rows for gesture in answers.gestures if not gesture.groups)
    rows = shown.difference(asked, *others)
    return {cell_of[row] for row in rows if row in cell_of}


def _firsts_of_groups(answers: Answers, cell_of: Mapping[int, int]) -> set[int]:
    """Return the cells that somebody saw beside all groups, and put into none of them."""
    links, firsts, roots = answers.links, set[int](), dict[int, int]()
    for gesture in answers.gestures:
        row, is_asked = gesture.left, gesture.source == "asked" and bool(gesture.groups)
        is_alone = gesture.answer.is_link and row == gesture.right
        is_none = gesture.answer is Answer.DIFFERENT or is_alone
        if row not in cell_of or not is_asked or not is_none:
            continue
        # Somebody else may have begun a group while this one was answered.
        others = roots.keys() - links.differing(row) - {links.find(row)}
        if all(
            roots[other] in answers.removed or _is_unsure(answers, row, roots[other])
            for other in others
        ):
            firsts.add(cell_of[row])
            roots.setdefault(links.find(row), row)
    return firsts


def _is_unsure(answers: Answers, left: int, right: int) -> bool:
    return ordered(left, right) in answers.unsure


def proba_of_new(n_groups: int, n_placed: int) -> float:
    """Return how likely the next row is the first of its group."""
    return min(0.5, NEW_SHARE * n_groups / n_placed) if n_placed else 0.5
