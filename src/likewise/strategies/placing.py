"""What to ask where answers may be wrong: compare with confirmed rows, confirm what decides much.

The first regions are settled closest pairs first, as in `CoarseToFine`; a pair stands for two
groups, and of a group with several rows one that other answers confirm is shown. So a row that a
wrong answer put into a group does not draw its neighbors after it. Later newcomers are placed one
by one, at the likeliest groups only. Two groups told apart by too few answers, for what depends on
it, are compared again; so are groups that one answer says are the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from likewise.strategies.beliefs import Beliefs
from likewise.strategies.coarse_to_fine.closest import closest_of
from likewise.strategies.coarse_to_fine.groups import Known
from likewise.strategies.coarse_to_fine.strategy import CoarseToFine
from likewise.strategies.weighing import YOUNG

FREE_CHECKS, CHECKS_PER_ANSWER, CHECKS_PER_CONTRADICTION = 2.0, 0.02, 4.0
"""So many checks of single rows are allowed: at first, for every answer, for contradictions."""

SURE = 0.5
"""A row that is where it is with less probability than this is checked."""

CONFIRMED = 2
"""So many more answers for than against a row's group make the row one to compare others with."""

LIKELY = 0.03
"""A row that is in a group with less probability than this is not compared with it."""

MOST_ABOUT_ONE, MOST_BETWEEN = 4, 3
"""So many questions are asked about a newcomer that no group takes, and about it and one group."""

WORTH = 0.004
"""What a question has to be worth: how likely it finds two groups to be one, times the share of
pairs of rows in one group that this would bring together."""

FARTHER = 0.3
"""How much less likely it is that a group is part of another one than of the likeliest."""

N_BEFORE_SECOND_LOOKS = 30
"""While the first regions are settled, groups are compared again only after so many answers."""

Pair = tuple[int, int]


class Placing(CoarseToFine):
    """How `likewise.strategies.careful.Careful` finds its questions."""

    beliefs: Beliefs

    def _find_next(self) -> Pair | None:
        known = self._what_is_known()
        is_over = len(known.order) == len(self._cell_of)
        pair = self._second_opinion(known) or self._second_look(known)
        if pair is None and (is_over or self._may_check()):
            pair = self._surprise()
        if pair is None:
            pair = self._at_level()[1]
        if pair is None and not is_over:
            cell = self._newcomer(known.order, known)
            assert cell is not None
            pair = self._first_question(cell)
        return self._leftover() if pair is None else pair

    def _asked(self) -> set[Pair]:
        return {ordered(a, b) for a, b, _ in self._log}

    def _net(self) -> dict[Pair, int]:
        """Return, for names of two groups, answers that join them less those that do not."""
        names = np.unique(self.beliefs.now.names)
        return {
            ordered(int(names[a]), int(names[b])): net
            for (a, b), net in self.beliefs.weighed().net().items()
        }

    def _may_check(self) -> bool:
        state = self.beliefs.now
        allowed = (
            FREE_CHECKS
            + CHECKS_PER_ANSWER * len(self._log)
            + CHECKS_PER_CONTRADICTION * len(state.overruled)
        )
        return state.n_checks < allowed

    # -- regions ---------------------------------------------------------------------------------

    def _placing(self, known: Known) -> Pair | None:  # noqa: ARG002
        return None

    def _at_level(self) -> tuple[tuple[int, ...], Pair | None]:
        """Return how many regions there were at every level, and what to ask about now."""
        if self._settled is None:
            known, sizes = self._what_is_known(), self._progress[-1].sizes
            pair = self._of_cut(known, sizes) if sizes else None
            while pair is None:
                size = self._next_size(known, sizes)
                if size is None:
                    break
                sizes = (*sizes, size)
                pair = self._of_cut(known, sizes)
            self._settled = sizes, pair
        return self._settled

    def _of_cut(self, known: Known, sizes: tuple[int, ...]) -> Pair | None:
        """Return what to ask about the rows that stand for regions."""
        heads = self._regions.newcomers(sizes[-1], known.order)
        if len(sizes) == 1 or not known.order:
            return self._closest_open(known, heads)
        pair = self._homeless()
        if pair is None and heads:
            learnt, points = self.beliefs.now.learnt, self._views[0]
            if learnt is not None:
                cell = max(heads, key=lambda cell: float(learnt.chances[cell].max()))
            else:
                far = cdist(points[heads], points[known.order]).min(axis=1)
                cell = heads[int(np.argmin(far))]
            pair = self._first_question(cell)
        return pair

    def _closest_open(self, known: Known, heads: list[int]) -> Pair | None:
        """Return rows of the closest two groups, or new cells, whose relation is open."""
        asked = ((self._cell_of.get(a, -1), self._cell_of.get(b, -1)) for a, b in self._asked())
        closed = self._closed(known, list(known.cells))
        cells = closest_of(self._views[0], known.cells, heads, closed, asked)
        return None if cells is None else self._by_anchors(known, *cells)

    def _by_anchors(self, known: Known, one: int, two: int) -> Pair:
        """Return two cells' rows, or confirmed ones of their groups instead."""
        rows, asked = self.partition.representatives, self._asked()
        names = np.unique(self.beliefs.now.names)
        a, b = int(rows[one]), int(rows[two])
        for _ in range(2):
            if b in self.beliefs.place:
                name = int(self.beliefs.now.names[self.beliefs.place[b]])
                if len(known.cells[name]) > YOUNG:
                    anchor = self._anchor(a, int(np.searchsorted(names, name)), asked)
                    b = b if anchor is None else anchor
            a, b = b, a
        return self._rows(one, two) if ordered(a, b) in asked else ordered(a, b)

    def _closed(self, known: Known, roots: list[int]) -> NDArray[np.bool_]:
        """Return which groups need not be compared any more.

        A single row is compared only with groups that are likely, with no more than a few of
        them, and with the likeliest again: a wrong *different* must not cost questions about all.
        """
        number = {root: k for k, root in enumerate(roots)}
        closed = np.eye(len(roots), dtype=bool)
        for (a, b), value in self._net().items():
            if a in number and b in number and value < 0:
                closed[number[a], number[b]] = closed[number[b], number[a]] = True
        state = self.beliefs.now
        if state.learnt is not None:
            names = np.unique(state.names)
            chances = self.beliefs.weighed().chances()[:, np.searchsorted(names, roots)]
            mean = np.array([chances[state.names == root].mean(axis=0) for root in roots])
            is_single = np.array([len(known.cells[root]) == 1 for root in roots])
            about = np.array([self._n_about(known.cells[root][0]) for root in roots])
            likely = (mean >= LIKELY) & (is_single & (about < MOST_ABOUT_ONE))[:, None]
            likely |= likely.T
            closed[(is_single[:, None] | is_single[None, :]) & ~likely] = True
            n_between = self._n_between()
            for a, b in zip(*np.nonzero(likely & closed), strict=True):
                is_likeliest = is_single[a] and mean[a, b] >= mean[a].max()
                n_asked = n_between.get(ordered(roots[a], roots[b]), 0)
                if a != b and is_likeliest and n_asked < MOST_BETWEEN:
                    closed[a, b] = closed[b, a] = False
        for a, b in known.unsure:
            if a in number and b in number:
                closed[number[a], number[b]] = True
        return closed

    def _n_about(self, cell: int) -> int:
        row = int(self.partition.representatives[cell])
        return self.beliefs.weighed().n_about(self.beliefs.place[row])

    def _n_between(self) -> dict[Pair, int]:
        names, place = self.beliefs.now.names, self.beliefs.place
        found: dict[Pair, int] = {}
        for left, right, answer in self._log:
            if answer.is_link:
                pair = ordered(int(names[place[left]]), int(names[place[right]]))
                found[pair] = found.get(pair, 0) + 1
        return found

    # -- newcomers -------------------------------------------------------------------------------

    def _homeless(self) -> Pair | None:
        """Return the next question about the last newcomer while no answer puts it anywhere."""
        rows = [row for row in self.beliefs.mentioned if row in self._cell_of]
        if not rows:
            return None
        row, weighing = rows[-1], self.beliefs.weighed()
        place = self.beliefs.place[row]
        toward = weighing.towards(place)
        if (toward > 0).any() or weighing.n_about(place) >= MOST_ABOUT_ONE:
            return None
        scores, new = self._scores(row, toward, weighing.weight)
        scores[weighing.groups[place]] = -np.inf
        powers = np.exp(np.append(scores, new) - max(float(scores.max()), new))
        chances = powers / powers.sum()
        asked = self._asked()
        for group in np.argsort(-scores, kind="stable"):
            if chances[group] < LIKELY:
                break
            anchor = self._anchor(row, int(group), asked)
            if anchor is not None:
                return ordered(row, anchor)
        return None

    def _scores(
        self, row: int, toward: NDArray[np.float64], weight: float
    ) -> tuple[NDArray[np.float64], float]:
        """Return how much speaks for each group, and for a new one, on a logarithmic scale."""
        state = self.beliefs.now
        expected, new = self.beliefs.expected([row], state.names, state.learnt)
        return np.log(np.maximum(expected[0], 1e-12)) + weight * toward, float(np.log(new))

    def _first_question(self, cell: int) -> Pair | None:
        """Return the first question about a newcomer."""
        points, rows = self._views[0], self.partition.representatives
        row, asked = int(rows[cell]), self._asked()
        scores = np.empty(0)
        if self._what_is_known().order:
            weighing = self.beliefs.weighed()
            scores, _ = self._scores(row, np.zeros(weighing.n_groups), weighing.weight)
        for group in np.argsort(-scores, kind="stable"):
            anchor = self._anchor(row, int(group), asked)
            if anchor is not None:
                return ordered(row, anchor)
        others = [c for c in self._cell_of.values() if c != cell]
        if not others:
            return None
        near = others[int(np.argmin(cdist(points[[cell]], points[others])[0]))]
        return ordered(row, int(rows[near]))

    def _anchor(self, row: int, group: int, asked: set[Pair]) -> int | None:
        """Return the nearest row of a group to compare with: confirmed, and not asked yet."""
        weighing = self.beliefs.weighed()
        members = [
            int(place)
            for place in np.flatnonzero(weighing.groups == group)
            if self.beliefs.mentioned[place] in self._cell_of
        ]
        free = [
            k
            for k in members
            if self.beliefs.mentioned[k] != row
            and ordered(row, self.beliefs.mentioned[k]) not in asked
        ]
        if not free:
            return None
        sure = [k for k in free if k == members[0] or weighing.toward(k, group) >= CONFIRMED]
        cells = [self._cell_of[self.beliefs.mentioned[k]] for k in sure or free]
        points = self._views[0]
        nearest = int(np.argmin(cdist(points[[self._cell_of[row]]], points[cells])[0]))
        return self.beliefs.mentioned[(sure or free)[nearest]]

    # -- confirming ------------------------------------------------------------------------------

    def _second_opinion(self, known: Known) -> Pair | None:
        """Return another pair of two groups that one answer joins, or as many as divide them."""
        for (a, b), net in sorted(self._net().items(), key=lambda entry: -entry[1]):
            if net < 0:
                break
            if a not in known.cells or b not in known.cells:
                continue
            if net > 0 or min(len(known.cells[a]), len(known.cells[b])) > YOUNG:
                pair = self._closest_unasked([(known.cells[a], known.cells[b])])
                if pair is not None:
                    return pair
        return None

    def _second_look(self, known: Known) -> Pair | None:
        """Return a question about two groups that too few answers divide for their sizes."""
        if len(self._progress[-1].sizes) <= 1 and len(self._log) < N_BEFORE_SECOND_LOOKS:
            return None
        for worth, a, b in sorted(self._what_looks_are_worth(known), reverse=True):
            if worth < WORTH:
                break
            some, others = known.cells[a], known.cells[b]
            pair = self._closest_unasked(
                [(self._surest(some), self._surest(others)), (some, others)]
            )
            if pair is not None:
                return pair
        return None

    def _what_looks_are_worth(self, known: Known) -> list[tuple[float, int, int]]:
        state, net = self.beliefs.now, self._net()
        sizes = {name: len(cells) for name, cells in known.cells.items() if len(cells) > 1}
        total = sum(n**2 for n in sizes.values())
        names = np.unique(state.names)
        expected, _ = self.beliefs.expected(self.beliefs.mentioned, state.names, state.learnt)
        column = {int(name): k for k, name in enumerate(names)}
        found = []
        for a, size in sizes.items():
            likely = expected[state.names == a].mean(axis=0)
            others = sorted((b for b in sizes if b != a), key=lambda b: -likely[column[b]])
            for rank, b in enumerate(others):
                n_apart = -net.get(ordered(a, b), 0)
                if n_apart > 0:
                    odds = (state.rate / (1.0 - state.rate)) ** n_apart
                    odds *= 1.0 if rank == 0 else FARTHER
                    worth = odds / (1.0 + odds) * 2 * size * sizes[b] / total
                    found.append((worth, a, b))
        return found

    def _surest(self, cells: list[int]) -> list[int]:
        """Return the better half of some cells: those that are most surely where they are."""
        rows, place = self.partition.representatives, self.beliefs.place
        confidence = self.beliefs.weighed().confidence()
        order = sorted(cells, key=lambda cell: -confidence[place[int(rows[cell])]])
        return order[: max(3, len(cells) // 2)]

    def _closest_unasked(self, choices: list[tuple[list[int], list[int]]]) -> Pair | None:
        """Return the closest rows of two lists of cells, if possible none asked about before."""
        rows, asked = self.partition.representatives, self._asked()
        some, others = (set(rows[cells].tolist()) for cells in choices[-1])
        across = [p for p in asked if (p[0] in some) != (p[1] in some) and set(p) <= some | others]
        used = {row for pair in across for row in pair}
        for choice in choices:
            one, two = ([c for c in cells if int(rows[c]) not in used] or cells for cells in choice)
            far = cdist(self._views[0][one], self._views[0][two])
            for k in np.argsort(far, axis=None, kind="stable"):
                i, j = divmod(int(k), len(two))
                pair = self._rows(one[i], two[j])
                if pair not in asked:
                    return pair
        return None

    def _surprise(self) -> Pair | None:
        """Return a question about the row that is most probably in the wrong group."""
        if not self._log:
            return None
        weighing, asked = self.beliefs.weighed(), self._asked()
        confidence, chances = weighing.confidence(), weighing.chances()[:, :-1]
        sizes = np.bincount(weighing.groups)
        for place in np.argsort(confidence, kind="stable"):
            if confidence[place] >= SURE:
                break
            row = self.beliefs.mentioned[place]
            if row in self._cell_of and sizes[weighing.groups[place]] > 1:
                for group in np.argsort(-chances[place], kind="stable")[:2]:
                    anchor = self._anchor(row, int(group), asked)
                    if anchor is not None:
                        return ordered(row, anchor)
        return None


def ordered(i: int, j: int) -> Pair:
    """Return two numbers, the smaller one first."""
    return (i, j) if i < j else (j, i)
