"""Ask about one row after another: to which of the groups found so far it belongs.

The data are cut into regions, coarse ones first. The representative of a region is shown beside the
most likely groups. The answer puts it into one of them, or it is the first row of a new group. So a
row takes one question, wherever its group is among those shown. With one group to a question,
questions are about pairs.

This also helps where answers may be wrong: a wrong answer misplaces one row and no others. Rows
that the others speak against are asked about again, and a third time where both answers differ
(`likewise.strategies.coarse_to_fine.checks`).

All of it follows from the data and the log of answers alone: taking an answer back leaves no trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, ordered
from likewise.core.partition import SuperInstances
from likewise.strategies.coarse_to_fine.budget import PLANNED, next_cut
from likewise.strategies.coarse_to_fine.checks import FITS, N_BEFORE_CHECKS, worth_a_check
from likewise.strategies.coarse_to_fine.choices import (
    MAX_GROUPS,
    Likeliest,
    chance_of_new,
    likeliest,
    rows_to_show,
    with_own_groups,
)
from likewise.strategies.coarse_to_fine.log import Known, read_log
from likewise.strategies.coarse_to_fine.regions import closest_between
from likewise.strategies.coarse_to_fine.weighed import WeighedStrategy

Shown = tuple[int, tuple[tuple[int, ...], ...]]
"""A row, and the groups to choose from."""


class RowByRow(WeighedStrategy):
    """Show one row after another beside the groups that it may belong to.

    Parameters
    ----------
    partition : SuperInstances
        Fine cells, at best one per row, and the rows that stand for them.
    max_groups : int, default=6
        How many groups are shown at most; 1 asks about pairs of rows.
    error_rate : float or "estimate", default="estimate"
        The share of wrong answers that is expected, up to 0.3. With 0 no answer is checked.
    **options
        Those of `RegionStrategy`.
    """

    name: ClassVar[str] = "row-by-row"
    estimator: ClassVar[str] = "Likewise"

    def __init__(
        self,
        partition: SuperInstances,
        *,
        max_groups: int = MAX_GROUPS,
        error_rate: float | Literal["estimate"] = "estimate",
        **options: Any,
    ) -> None:
        super().__init__(partition, max_groups=max_groups, error_rate=error_rate, **options)
        self._cuts: list[tuple[int, ...]] = [()]
        self._forget()

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:
        """Return the strategy that `to_dict` wrote down.

        It also loads two strategies of earlier releases, which asked about pairs: "careful", and
        "coarse-to-fine" (or "refine"), which believed every answer.
        """
        return super().load({"max_groups": 1, "error_rate": 0.0, **plain}, X)

    # -- what a session needs --------------------------------------------------------------------

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:
        """Take in a link between two rows."""
        met = set(self._met())
        is_newcomer = any(self._cell_of.get(row, -1) not in met for row in (left, right))
        cuts = self._cuts_now() if is_newcomer else self._cuts[-1]
        super().record(left, right, answer, is_certain=is_certain)
        self._cuts.append(cuts)

    def rewind(self) -> None:
        """Take back the last record."""
        self._cuts.pop()
        super().rewind()

    def next_choice(self) -> Shown | None:
        """Return a row and the groups to choose from, or None if there is one group or none."""
        question = self._question()
        return question if question is not None and len(question[1]) > 1 else None

    def next_pair(self) -> tuple[int, int] | None:
        """Return the row to ask about and a row of its most likely group, or None at the end."""
        question = self._question()
        return None if question is None else (question[0], question[1][0][0])

    def remaining(self) -> tuple[int, int]:
        """Return how many questions may still be asked, and about how many will be.

        Every question is about a pair of rows, or more, that was not asked about. Where all
        answers are true, it decides about one pair of groups or more.
        """
        known = self._what_is_known()
        cuts = self._cuts_now()
        waiting = len(self._regions.newcomers(cuts[-1], known.order)) if cuts else 0
        n = len(self._cell_of)
        if self.weighs_answers:
            asked = {ordered(a, b) for a, b, answer in self._log if answer.is_link}
            n_closed = sum(a in self._cell_of and b in self._cell_of for a, b in asked)
        else:
            if self.budget is None and not self.to_the_end:
                later = [k for k in self.n_regions if not cuts or k > cuts[-1]]
                n = min(n, len(known.order) + waiting + sum(later))
            n -= len(known.order) - len(known.cells)
            roots = set(known.cells)
            n_closed = sum(len(roots & self.links.differing(root)) for root in roots) // 2
        at_most = n * (n - 1) // 2 - n_closed
        return at_most, min(at_most, max(1, self._about_to_go(known)))

    def _about_to_go(self, known: Known) -> int:
        """Return about how many questions will be asked."""
        turns = self._checks().turns
        took = [turn.n_questions(self.max_groups) for turn in turns]
        if self.budget is not None and sum(took) < self.budget:
            return self.budget - sum(took)
        n_rows = len(self._cell_of) - len(known.order)
        if not self.to_the_end:
            finest = max(self.n_regions[-1], *self._cuts_now()[-1:])
            n_regions = min(finest, self.partition.n_super_instances)
            n_rows = len(self._regions.newcomers(n_regions, known.order))
        # First rows of groups take most questions; there will be fewer of them than so far.
        joined = [n for n, turn in zip(took, turns, strict=True) if turn.answer is Answer.SAME]
        mean = max(1.0, sum(took) / max(1, len(known.order)))
        return len(known.pending) + round(n_rows * float(np.sqrt(mean * np.mean(joined or [1]))))

    def open_pairs(self) -> list[tuple[int, int]]:
        """Return a pair of rows for every two groups that somebody was not sure about."""
        known = self._what_is_known()
        near = [
            closest_between(self._views[0], known.cells[a], known.cells[b])[1]
            for a, b in combinations(known.cells, 2)
            if (a, b) in known.unsure and b not in self.links.differing(a)
        ]
        return [self._rows(*cells) for cells in near]

    def why(self) -> str:
        """Return in a few words why the open question is asked."""
        question, known = self._question(), self._what_is_known()
        # Only rows whose group is known already are asked about again.
        is_check = question is not None and self.links.find(question[0]) in known.groups
        return "to check an earlier answer" if is_check else super().why()

    # -- what is known ---------------------------------------------------------------------------

    def _forget(self) -> None:
        self._known: Known | None = None
        self._groups = None
        self._open: tuple[Shown | None] | None = None

    def _met(self) -> list[int]:
        """Return the askable cells that some answer is about, by first mention."""
        cells = (self._cell_of.get(row) for said in self._log for row in said[:2])
        return [cell for cell in dict.fromkeys(cells) if cell is not None]

    def _cuts_now(self) -> tuple[int, ...]:
        """Return into how many regions the data were cut, with a new cut if it is time for one."""
        cuts, met = self._cuts[-1], self._met()
        while not cuts or not self._regions.newcomers(cuts[-1], met):
            n = self._next_cut(cuts, met)
            if n is None:
                break
            cuts = (*cuts, n)
        return cuts

    def _next_cut(self, cuts: tuple[int, ...], met: list[int]) -> int | None:
        """Return how many regions to cut next, or None if they are fine enough."""
        n_cells = self.partition.n_super_instances
        if cuts and cuts[-1] >= n_cells:
            return None
        if self.budget is None:
            n = next((n for n in self.n_regions if not cuts or n > cuts[-1]), None)
        else:
            rows = self.partition.representatives[met].tolist()
            n_groups = len({self.links.find(row) for row in rows})
            n = next_cut(
                round(PLANNED * self.budget),
                n_cuts=len(cuts),
                n_asked=sum(t.n_questions(self.max_groups) for t in self._checks().turns),
                n_met=len(met),
                n_components=n_groups,
                n_proofs=n_groups if self.max_groups > 1 else 0,
            )
        return n if n is None or n < len(self._cell_of) else n_cells

    def _what_is_known(self) -> Known:
        if self._known is None:
            known = read_log(self._log, self.links, self._cell_of)
            singles = known.pending
            known = replace(known, pending=[])
            # First rows that differ from all groups, since the learner then knows their groups,
            # too. All other rows are judged by the same fit, so that the learner is trained once.
            apart = [r for r in singles if self.links.differing(r).issuperset(known.groups)]
            for root in apart:
                if self._is_first(root, known):
                    known.groups.append(root)
            learned = replace(known, groups=[*known.groups])
            for root in singles:
                if root not in learned.groups:
                    is_first = self._is_first(root, learned)
                    (known.groups if is_first else known.pending).append(root)
            self._known = known
        return self._known

    def _is_first(self, root: int, known: Known) -> bool:
        """Return whether a single row is the first of its group, as far as is known."""
        apart = self.links.differing(root)
        if not apart or any((root, group) in known.unsure for group in known.groups):
            return False
        open_groups = [group for group in known.groups if group not in apart]
        if not open_groups:
            return True
        open_ones = self._likeliest(known.cells[root][0], open_groups, known)
        return not open_ones.is_worth_a_question(self.max_groups)

    def _cell_chances(self) -> tuple[NDArray[np.float64], dict[int, int]]:
        """Return how likely each cell belongs to each group, and the groups of roots."""
        chances, groups = super()._cell_chances()
        known, cuts = self._what_is_known(), self._cuts[-1]
        if groups and cuts:
            region, _ = self._regions.cut(cuts[-1])
            new = chance_of_new(len(groups), _n_placed(known))
            chances = with_own_groups(chances, region, known.order, new)
        return chances, groups

    # -- what to ask -----------------------------------------------------------------------------

    def _question(self) -> Shown | None:
        if self._open is None:
            known = self._what_is_known()
            self._open = (next((q for q in self._questions(known) if q is not None), None),)
        return self._open[0]

    def _questions(self, known: Known) -> Iterator[Shown | None]:
        """Yield what may be asked now, the most important first."""
        if self.weighs_answers:
            yield from self._third_answers(known)
        for root in reversed(known.pending):
            yield self._place(known.cells[root][0], known)
        if self.weighs_answers:
            yield from self._suspicious(known, only_first=True)
        cuts = self._cuts_now()
        heads = self._regions.newcomers(cuts[-1], known.order) if cuts else []
        if heads and not known.order:
            yield self._two(heads[:2], known)
        elif heads:
            yield self._place(heads[0], known)
        if self.weighs_answers:
            yield from self._suspicious(known)
        if self.to_the_end:
            newcomer = self._newcomer(known)
            if newcomer is not None:
                yield self._place(newcomer, known)
            pair = self._leftover(known)
            yield None if pair is None else (pair[0], ((pair[1],),))

    def _two(self, heads: list[int], known: Known) -> Shown | None:
        """Return the first question of all, which is about two rows."""
        if len(heads) < 2:
            other = self._newcomer(known, heads)
            heads = heads if other is None else [*heads, other]
        row, *others = self.partition.representatives[heads].tolist()
        return (row, (tuple(others),)) if others else None

    def _place(self, cell: int, known: Known) -> Shown | None:
        """Return the next question about a row whose group is not known."""
        row = int(self.partition.representatives[cell])
        root = self.links.find(row)
        out = self.links.differing(root)
        groups = [
            group
            for group in known.groups or known.pending
            if group not in out and group != root and (root, group) not in known.unsure
        ]
        return self._shown(row, self._likeliest(cell, groups, known).groups, known)

    def _again(self, row: int, known: Known) -> Shown | None:
        """Return a further question about a row, with its own group among those shown."""
        own = self.links.find(row)
        groups = self._likeliest(self._cell_of[row], known.groups, known).groups
        if self.max_groups > 1 and own in groups[self.max_groups :]:
            groups = [*groups[: self.max_groups - 1], own]
        return self._shown(row, groups, known)

    def _likeliest(self, cell: int, groups: list[int], known: Known) -> Likeliest:
        points = self._views[0]
        chances = np.ones(len(groups))
        if len(known.groups) > 1 and groups:
            number = {group: k for k, group in enumerate(known.groups)}
            chances = self._without(cell, known)[[number[group] for group in groups]]
        return likeliest(
            groups,
            chances,
            [closest_between(points, [cell], known.cells[group])[0] for group in groups],
            n_groups=len(known.groups),
            n_placed=_n_placed(known),
        )

    def _without(self, cell: int, known: Known) -> NDArray[np.float64]:
        """Return how likely a cell is in each group by what is known of others."""
        learned = self._learned(known)
        place = np.flatnonzero(learned.known == cell)
        return learned.left_out[place[0]] if len(place) else learned.chances_of(cell)

    def _shown(self, row: int, groups: list[int], known: Known) -> Shown | None:
        """Return a question about a row, with groups that have rows it was not compared with."""
        asked = {ordered(a, b) for a, b, _ in self._log if row in (a, b)}
        reps, points = self.partition.representatives, self._views[0]
        cell = self._position[row]
        same = [link for link in self.links if link.answer is Answer.SAME]
        n_same = Counter(row for link in same for row in (link.left, link.right))
        shown: list[tuple[int, ...]] = []
        for group in groups:
            cells = {int(reps[c]): c for c in known.cells[group] if c != cell}
            fresh = [other for other in cells if ordered(row, other) not in asked]
            if fresh and len(shown) < self.max_groups:
                far = np.linalg.norm(points[list(cells.values())] - points[cell], axis=1)
                rows = rows_to_show(
                    list(cells),
                    fresh,
                    n_same=n_same,
                    belief=self._belief(group, known),
                    distances=None if self.weighs_answers else dict(zip(cells, far, strict=True)),
                )
                shown.append(tuple(rows))
        return (row, tuple(shown)) if shown else None

    def _belief(self, group: int, known: Known) -> dict[int, float]:
        """Return how likely rows belong to a group by what is known of others."""
        if len(known.groups) < 2 or group not in known.groups:
            return {}
        learned = self._learned(known)
        rows = self.partition.representatives[learned.known].tolist()
        return dict(zip(rows, learned.left_out[:, known.groups.index(group)], strict=True))

    # -- checks ----------------------------------------------------------------------------------

    def _third_answers(self, known: Known) -> Iterator[Shown | None]:
        """Yield questions about rows whose answers differ, unless the learner is sure."""
        for row, was_first in self._checks().undecided():
            if row in self._cell_of and (was_first or not self._fits(row, known)):
                yield self._again(row, known)

    def _fits(self, row: int, known: Known) -> bool:
        own = self.links.find(row)
        if own not in known.groups or len(known.cells[own]) == 1 or len(known.groups) < 2:
            return False
        return float(self._without(self._cell_of[row], known)[known.groups.index(own)]) >= FITS

    def _suspicious(self, known: Known, *, only_first: bool = False) -> Iterator[Shown | None]:
        """Yield questions about rows that other rows contradict, the most likely errors first.

        With `only_first`, only about the first rows of groups.
        """
        if len(known.groups) < 2 or _n_placed(known) < N_BEFORE_CHECKS:
            return
        checks, learned = self._checks(), self._learned(known)
        rows = self.partition.representatives[learned.known].tolist()
        times, first_rows = checks.times, checks.first_rows()
        suspicious = worth_a_check(
            learned.left_out,
            learned.groups,
            np.array([row in first_rows for row in rows]),
            rate=checks.rate,
            max_groups=self.max_groups,
        )
        for k, is_first in suspicious:
            row = rows[k]
            if times[row] != 1 or (only_first and not is_first):
                continue
            if is_first:
                others = [group for group in known.groups if group != self.links.find(row)]
                ranked = self._likeliest(self._cell_of[row], others, known)
                yield self._shown(row, ranked.groups, known)
            else:
                yield self._again(row, known)


def _n_placed(known: Known) -> int:
    """Return how many rows are known to be in groups."""
    return sum(len(known.cells[group]) for group in known.groups)
