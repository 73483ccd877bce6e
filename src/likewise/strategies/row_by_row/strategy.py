"""Ask about one row after another: to which of the groups found so far it belongs.

The data are cut into regions, coarse ones first. The representative of a region is shown beside the
most likely groups. The answer puts it into one of them, or it is the first row of a new group. So a
row takes one question, wherever its group is among those shown. With one group to a question,
questions are about pairs.

This also helps where answers may be wrong: a wrong answer misplaces one row and no others. Rows
that the others speak against are asked about again, and a third time where both answers differ
(`likewise.strategies.row_by_row.checks`).

All of it follows from the data and the log of answers alone: taking an answer back leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, ordered
from likewise.core.partition import SuperInstances
from likewise.core.reports import Completeness, Suspect
from likewise.errors import InputError
from likewise.learning.completeness import share_right
from likewise.learning.learner import Learner
from likewise.learning.respect import respecting_labels
from likewise.learning.suspects import surprising_answers
from likewise.strategies.representatives import RepresentativeStrategy
from likewise.strategies.row_by_row.budget import PLANNED, next_cut
from likewise.strategies.row_by_row.cells import cells_of
from likewise.strategies.row_by_row.checks import Checks, Turn, turns_of
from likewise.strategies.row_by_row.evidence import links_of, overruled_after
from likewise.strategies.row_by_row.known import Known, read_log
from likewise.strategies.row_by_row.questions import MAX_GROUPS, Questions, Shown
from likewise.strategies.row_by_row.regions import Regions, closest_between

N_REGIONS = (12, 24, 48, 96)
"""Into how many regions the data are cut, one after the other, if there is no budget."""

FOR_PEOPLE = (12, 24, 48)
"""Numbers of regions of a session without a budget. After about sixty answers it is done; more
answers need refining."""

ONE_GROUP = 4
"""When this many new rows are all the same, all rows are guessed to be one group. It decides only
where there is one group: 2 or 8 change nothing on ten tasks of the paper."""

ENOUGH_ROWS = 10
"""The completeness is estimated from this many rows on: with three known rows, all of them may be
predicted rightly, or none. The only known row of a group does not count."""


class RowByRow(RepresentativeStrategy):
    """Show one row after another beside the groups that it may belong to.

    Parameters
    ----------
    partition : SuperInstances
        Fine cells, at best one per row, and the rows that stand for them.
    askable : ndarray of bool, optional
        The cells whose rows may be shown. By default all.
    max_groups : int, default=6
        How many groups are shown at most; 1 asks about pairs of rows.
    error_rate : float or "estimate", default="estimate"
        The share of wrong answers that is expected, up to 0.3. With 0 no answer is checked, and one
        that contradicts others is an error.
    n_regions : sequence of int, default=(12, 24, 48, 96)
        Into how many regions the data are cut, one after the other, if `budget` is not known.
    budget : int, optional
        How many questions there will be. It decides how fine the regions are; the strategy goes
        on asking when they are spent.
    to_the_end : bool, default=True
        Whether to go on, after the finest regions, until every cell is placed.
    seed : int, default=0
        Decides what is random in finding regions.
    """

    name: ClassVar[str] = "row-by-row"
    estimator: ClassVar[str] = "Likewise"

    def __init__(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.bool_] | None = None,
        max_groups: int = MAX_GROUPS,
        error_rate: float | Literal["estimate"] = "estimate",
        n_regions: Sequence[int] = N_REGIONS,
        budget: int | None = None,
        to_the_end: bool = True,
        seed: int = 0,
    ) -> None:
        super().__init__(partition)
        if partition.points is None:
            raise InputError(f"{type(self).__name__} learns from features, not from distances")
        self.max_groups = max_groups
        self.error_rate = error_rate
        self.weighs_answers = error_rate != 0
        self.n_regions = tuple(n_regions)
        self.budget = budget
        self.to_the_end = to_the_end
        self.seed = seed
        n = partition.n_super_instances
        self.is_askable = np.ones(n, dtype=bool) if askable is None else askable
        self._cell_of = {row: cell for row, cell in self._position.items() if self.is_askable[cell]}
        self._learner = Learner(partition.points, partition.sizes())
        self._points = self._learner.rows.own
        self._regions = Regions(self._points, partition.sizes(), self.is_askable, seed)
        self._certain: list[int] = []
        # After every record, the first one of all included: what is overruled, and the cuts.
        self._overruled: list[frozenset[int]] = [frozenset()]
        self._cuts: list[tuple[int, ...]] = [()]
        self._forget()

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None = None,
        budget: int | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        **options: Any,
    ) -> Self:
        """Return the strategy for rows, with further options of its own.

        Without a budget it is done after a few cuts into regions, about sixty answers; refining
        goes on from there.
        """
        partition, askable = cells_of(X, train_indices=train_indices, seed=seed, n_jobs=n_jobs)
        if budget is None:
            options = {"n_regions": FOR_PEOPLE, "to_the_end": False, **options}
        return cls(partition, askable=askable, budget=budget, seed=seed, **options)

    @property
    def n_parts(self) -> int:
        """The number of regions at the end, when nothing is left to ask."""
        return min(len(self._position), self.n_regions[-1])

    def on(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.intp] | None = None,
        n_parts: int | None = None,
    ) -> Self:
        """Return the strategy for other cells, or for more regions."""
        options = self._options()
        if n_parts is not None:
            options["n_regions"] = (*self.n_regions, n_parts)
        is_askable = None if askable is None else np.isin(partition.representatives, askable)
        return type(self)(partition, askable=is_askable, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the partition, the askable cells and all options as plain values."""
        return {
            **super().to_dict(),
            "askable": np.flatnonzero(self.is_askable).tolist(),
            **self._options(),
            "n_regions": list(self.n_regions),
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down.

        It also loads two strategies of earlier releases, which asked about pairs: "careful", and
        "coarse-to-fine" (or "refine"), which believed every answer.
        """
        plain = {"max_groups": 1, "error_rate": 0.0, **plain}
        options = {k: v for k, v in plain.items() if k not in ("name", "partition", "askable")}
        partition = SuperInstances.from_dict(plain["partition"])
        askable = np.zeros(partition.n_super_instances, dtype=bool)
        askable[plain["askable"]] = True
        return cls(partition, askable=askable, **options)

    def _options(self) -> dict[str, Any]:
        """Return the options that a copy is made with."""
        return {
            "n_regions": self.n_regions,
            "budget": self.budget,
            "to_the_end": self.to_the_end,
            "seed": self.seed,
            "max_groups": self.max_groups,
            "error_rate": self.error_rate,
        }

    def worked_out(self) -> dict[str, Any]:
        """Return the regions of every cut so far."""
        return self._regions.kept

    def take_worked_out(self, found: Mapping[str, Any]) -> None:
        """Take stored cuts, which are reused for the same cells."""
        self._regions.kept.update(found)

    def askable(self) -> NDArray[np.intp]:
        """Return the rows that stand for askable cells."""
        return self.partition.representatives[self.is_askable]

    # -- the log ---------------------------------------------------------------------------------

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:
        """Take in a link between two rows; where answers may be wrong, also one that contradicts.

        Raises
        ------
        ContradictionError
            If no answer is expected to be wrong, or if both are certain. Nothing is changed then.
        """
        met = set(self._met())
        is_newcomer = any(self._cell_of.get(row, -1) not in met for row in (left, right))
        cuts = self._cuts_now() if is_newcomer else self._cuts[-1]
        before = now = self._overruled[-1]
        log, certain = [*self._log, (left, right, answer)], self._certain
        if self.weighs_answers:
            if is_certain and answer.is_link:
                certain = [*certain, len(self._log)]
                links_of(log, certain, self.n_rows)
            # Most answers contradict no other, and then there is nothing to weigh.
            if before or self.links.implied(left, right) not in (None, answer):
                now = overruled_after(log, before, certain, self.n_rows)
        if now != before:
            self.links = links_of(log, [k for k in range(len(log)) if k not in now], self.n_rows)
        elif answer.is_link:
            self.links.add(left, right, answer)
        self._log, self._certain = log, certain
        self._overruled.append(now)
        self._cuts.append(cuts)
        self._forget()

    def rewind(self) -> None:
        """Take back the last record."""
        *self._log, (_, _, answer) = self._log
        self._certain = [place for place in self._certain if place < len(self._log)]
        self._cuts.pop()
        gone, now = self._overruled.pop(), self._overruled[-1]
        if gone != now:
            counted = [k for k in range(len(self._log)) if k not in now]
            self.links = links_of(self._log, counted, self.n_rows)
        elif answer.is_link:
            self.links.pop()
        self._forget()

    def overruled(self) -> list[int]:
        """Return which records were overruled, by their places in the log, from 0."""
        return sorted(self._overruled[-1])

    def _forget(self) -> None:
        """Forget what followed from the log before it changed."""
        self._turns: list[Turn] | None = None
        self._known: Known | None = None
        self._groups: NDArray[np.intp] | None = None
        self._open: tuple[Shown | None] | None = None

    def checks(self) -> Checks:
        """Return what was asked about each row, and which errors that found."""
        if self._turns is None:
            self._turns = turns_of(self._log, self.max_groups, self.n_rows)
        return Checks(self._turns, self._overruled[-1], self.error_rate)

    def _what_is_known(self) -> Known:
        if self._known is None:
            said = read_log(self._log, self.links, self._cell_of, self._learner)
            self._known = said.with_first_cells(self.max_groups)
        return self._known

    # -- what to ask -----------------------------------------------------------------------------

    def next_choice(self) -> Shown | None:
        """Return a row and the groups to choose from, or None if there is one group or none."""
        question = self._question()
        return question if question is not None and len(question[1]) > 1 else None

    def next_pair(self) -> tuple[int, int] | None:
        """Return the row to ask about and a row of its most likely group, or None at the end."""
        question = self._question()
        return None if question is None else (question[0], question[1][0][0])

    def why(self) -> str:
        """Return in a few words why the open question is asked."""
        question, known = self._question(), self._what_is_known()
        # Only rows whose group is known already are asked about again.
        is_check = question is not None and self.links.find(question[0]) in known.groups
        return "to check an earlier answer" if is_check else super().why()

    def _question(self) -> Shown | None:
        if self._open is None:
            self._open = (next((q for q in self._questions() if q is not None), None),)
        return self._open[0]

    def _questions(self) -> Iterator[Shown | None]:
        """Yield what may be asked now, the most important first."""
        known = self._what_is_known()
        ask = Questions(
            known,
            self._log,
            self.partition.representatives,
            self._cell_of,
            self._regions,
            self.max_groups,
            self.checks() if self.weighs_answers else None,
        )
        yield from ask.third_answers()
        for root in reversed(known.pending):
            yield ask.place(known.cells[root][0])
        yield from ask.suspicious(only_first=True)
        heads = self._waiting(known)
        if heads:
            yield ask.place(heads[0]) if known.order else ask.first(heads)
        yield from ask.suspicious()
        if self.to_the_end:
            newcomer = ask.newcomer()
            if newcomer is not None:
                yield ask.place(newcomer)
            yield ask.leftover()

    # -- regions ---------------------------------------------------------------------------------

    def _met(self) -> list[int]:
        """Return the askable cells that some answer is about, by first mention."""
        cells = (self._cell_of.get(row) for said in self._log for row in said[:2])
        return [cell for cell in dict.fromkeys(cells) if cell is not None]

    def _waiting(self, known: Known) -> list[int]:
        """Return the cells that stand for regions nobody was asked about, larger regions first."""
        cuts = self._cuts_now()
        return self._regions.newcomers(cuts[-1], known.order) if cuts else []

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
                n_asked=sum(t.n_questions(self.max_groups) for t in self.checks().turns),
                n_met=len(met),
                n_components=n_groups,
                n_proofs=n_groups if self.max_groups > 1 else 0,
            )
        return n if n is None or n < len(self._cell_of) else n_cells

    # -- how far it is ---------------------------------------------------------------------------

    def remaining(self) -> tuple[int, int]:
        """Return how many questions may still be asked, and about how many will be.

        Every question is about a pair of rows, or more, that was not asked about. Where all
        answers are true, it decides about one pair of groups or more.
        """
        known = self._what_is_known()
        n = len(self._cell_of)
        if self.weighs_answers:
            asked = {ordered(a, b) for a, b, answer in self._log if answer.is_link}
            n_closed = sum(a in self._cell_of and b in self._cell_of for a, b in asked)
        else:
            if self.budget is None and not self.to_the_end:
                cuts = self._cuts_now()
                later = [k for k in self.n_regions if not cuts or k > cuts[-1]]
                n = min(n, len(known.order) + len(self._waiting(known)) + sum(later))
            n -= len(known.order) - len(known.cells)
            roots = set(known.cells)
            n_closed = sum(len(roots & self.links.differing(root)) for root in roots) // 2
        at_most = n * (n - 1) // 2 - n_closed
        return at_most, min(at_most, max(1, self._about_to_go(known)))

    def _about_to_go(self, known: Known) -> int:
        """Return about how many questions will be asked."""
        turns = self.checks().turns
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
        known, rows = self._what_is_known(), self.partition.representatives
        near = [
            closest_between(self._points, known.cells[a], known.cells[b])[1]
            for a, b in combinations(known.cells, 2)
            if (a, b) in known.unsure and b not in self.links.differing(a)
        ]
        return [ordered(*rows[list(cells)].tolist()) for cells in near]

    def completeness(self) -> Completeness | None:
        """Return how much of the grouping is right, or None while too little is known."""
        known = self._what_is_known()
        if (learned := known.learned) is None:
            return None
        n_once = int((np.bincount(learned.groups) == 1).sum())
        if len(known.order) - n_once < ENOUGH_ROWS:
            return None
        n_open = len(known.order) - len(learned.known)
        right = share_right(learned.left_out, learned.groups, n_open, self.n_rows)
        return Completeness(*right, n_once)

    # -- groups ----------------------------------------------------------------------------------

    def labels_guess(self) -> NDArray[np.intp]:
        """Return `labels`, which are a guess where nothing was answered."""
        return self.labels()

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every cell, the number of its group: as answered, else as learned."""
        if self._groups is None:
            decided = {}
            if len(groups := self._what_is_known().groups) > 1:
                decided = {root: g for g, root in enumerate(groups)}
            self._groups = respecting_labels(self._chances(), self.links, decided, self._position)
        return self._groups

    def examples(self, *, guess: bool = False) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows whose group is known by answers, and their groups from 0."""
        del guess  # only rows with answers are examples
        cells, groups = self._what_is_known().examples()
        return self.partition.representatives[cells], groups

    def doubts(self) -> NDArray[np.float64]:
        """Return, for every row, the chance that its label is wrong, by the learner."""
        if len(self._what_is_known().groups) < 2:
            return np.ones(self.n_rows)
        doubt: NDArray[np.float64] = 1.0 - self._chances().max(axis=1)
        return doubt[self.partition.assignment]

    def suspects(self) -> list[Suspect]:
        """Return links that are probably wrong, the least credible first.

        That is links that other known rows contradict, and overruled ones, which are as credible
        as the share of wrong answers allows.
        """
        found = {}
        if (learned := self._what_is_known().learned) is not None:
            rows = self.partition.representatives[learned.known].tolist()
            chances = dict(zip(rows, learned.left_out, strict=True))
            found = {s.number: s for s in surprising_answers(self._log, chances)}
        rate = self.checks().rate
        for place in self._overruled[-1]:
            suspect = found.get(place + 1, Suspect(place + 1, *self._log[place], rate))
            found[place + 1] = suspect._replace(credibility=min(suspect.credibility, rate))
        suspects = [found[number] for number in found if number - 1 not in self._certain]
        return sorted(suspects, key=lambda suspect: (suspect.credibility, suspect.number))

    def _chances(self) -> NDArray[np.float64]:
        """Return how likely each cell belongs to each group, and to groups of their own."""
        known, cuts = self._what_is_known(), self._cuts[-1]
        if len(known.groups) > 1:
            return known.chances(self._regions.cut(cuts[-1])[0] if cuts else None)
        n_same = len(known.order) if not known.pending else 0
        if n_same >= min(ONE_GROUP, len(self._cell_of)):
            return np.ones((len(self._position), 1))
        groups = self._regions.grouped(self.n_regions[0])
        return np.eye(int(groups.max()) + 1)[groups]
