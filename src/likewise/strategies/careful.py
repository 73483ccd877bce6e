"""Ask as `Refine` does, but expect that some answers are wrong.

Where every answer counts as true, one wrong *same* between two groups makes them one for ever.
Here newcomers are compared one by one with rows of each group that other answers confirm, so that
a wrong answer misplaces the newcomer and nothing else; a newcomer that no group takes founds none
until another joins it. Answers that surprise are checked by asking about the same row and another
one. What the answers say and what the learner expects are weighed against each other
(`likewise.strategies.weighing`); answers that lose are overruled, but kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.strategies.beliefs import Beliefs
from likewise.strategies.known import Known, read_log
from likewise.strategies.refine import Refine
from likewise.strategies.suspects import Suspect

LEVELS = (12, 24, 48, 96)

FREE_CHECKS, CHECKS_PER_ANSWER, CHECKS_PER_CONTRADICTION = 2.0, 0.02, 4.0
"""So many checks are allowed: at first, for every answer, and for every contradiction found."""

SURE, SURE_AFTER_CONTRADICTIONS = 0.75, 0.85
"""A row that is where it is with less probability than this is checked."""

CONFIRMED = 2
"""So many more answers for than against a row's group make the row one to compare others with."""


class Careful(Refine):
    """Place newcomers at confirmed rows of the likeliest group, and check what surprises.

    Parameters
    ----------
    partition : SuperInstances
        Fine cells, at best one per row, and the rows that stand for them.
    error_rate : float or "estimate", default="estimate"
        The share of wrong answers that is expected, above 0 and up to 0.3.
    askable : ndarray of bool, optional
        The cells whose rows may be shown. By default all.
    seed : int, default=0
        Decides what is random in finding regions.
    """

    name: ClassVar[str] = "careful"
    weighs_answers: ClassVar[bool] = True

    def __init__(
        self,
        partition: SuperInstances,
        *,
        error_rate: float | Literal["estimate"] = "estimate",
        askable: NDArray[np.bool_] | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(partition, askable=askable, seed=seed)
        self.error_rate = error_rate
        self.beliefs = Beliefs(
            self._views[0], self._position, self._cell_of, self._model, error_rate
        )

    # -- what a session needs --------------------------------------------------------------------

    def record(self, left: int, right: int, answer: Answer) -> None:
        """Take in an answer about two rows, also one that contradicts others."""
        before = self.beliefs.now.overruled
        is_check = answer.is_link and self.links.implied(left, right) is not None
        self._log.append((left, right, answer))
        self.beliefs.add(left, right, answer, is_check=is_check)
        if self.beliefs.now.overruled == before:
            if answer.is_link:
                self.links.add(left, right, answer)
        else:
            self._relink()
        self._forget()

    def rewind(self) -> None:
        """Take back the last record."""
        _, _, answer = self._log.pop()
        gone = self.beliefs.now.overruled
        self.beliefs.pop()
        if gone == self.beliefs.now.overruled:
            if answer.is_link:
                self.links.pop()
        else:
            self._relink()
        self._forget()

    def remaining(self) -> tuple[int, int]:
        """Return the number of pairs without an answer, and how many newcomers are expected."""
        asked = {(min(a, b), max(a, b)) for a, b, answer in self._log if answer.is_link}
        n_asked = sum(a in self._cell_of and b in self._cell_of for a, b in asked)
        n = len(self._cell_of)
        at_most = n * (n - 1) // 2 - n_asked
        if self.next_pair() is None and all(answer.is_link for _, _, answer in self._log):
            at_most = 0
        order = self._what_is_known().order
        waiting = next(
            (len(heads) for heads in self._heads(order) if heads), len(self._cell_of) - len(order)
        )
        return at_most, min(at_most, waiting)

    def to_dict(self) -> dict[str, Any]:
        """Return the partition, the error rate, the askable cells and the seed as plain values."""
        return {
            "partition": self.partition.to_dict(),
            "error_rate": self.error_rate,
            "askable": np.flatnonzero(self.is_askable).tolist(),
            "seed": self.seed,
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        partition = SuperInstances.from_dict(plain["partition"])
        askable = np.zeros(partition.n_super_instances, dtype=bool)
        askable[plain["askable"]] = True
        return cls(partition, error_rate=plain["error_rate"], askable=askable, seed=plain["seed"])

    # -- what was learned ------------------------------------------------------------------------

    @property
    def rate(self) -> float:
        """The share of wrong answers that is expected now."""
        return self.beliefs.now.rate

    @property
    def n_checks(self) -> int:
        """How many answers were about what others implied."""
        return self.beliefs.now.n_checks

    def overruled(self) -> list[int]:
        """Return which answers were overruled, by their places in the log, from 0."""
        return sorted(self.beliefs.now.overruled)

    def suspects(self) -> list[Suspect]:
        """Return answers that are probably wrong, the least credible first.

        Overruled answers are among them, whatever their credibility.
        """
        if not self._log:
            return []
        weighing = self.beliefs.weighed_freely()
        overruled = self.beliefs.now.overruled
        numbers = [k for k, (_, _, answer) in enumerate(self._log) if answer.is_link]
        found = []
        for number, (i, j, sign) in zip(numbers, weighing.answers.tolist(), strict=True):
            right = min(weighing.credibility(i, j, sign), weighing.credibility(j, i, sign))
            if right < 0.5 or number in overruled:
                found.append(Suspect(number + 1, *self._log[number], right))
        return sorted(found, key=lambda suspect: (suspect.credibility, suspect.number))

    # -- inside ----------------------------------------------------------------------------------

    def _relink(self) -> None:
        """Make the links of all answers that are not overruled."""
        self.links = LinkGraph(self.n_rows)
        for k, (left, right, answer) in enumerate(self._log):
            if answer.is_link and k not in self.beliefs.now.overruled:
                self.links.add(left, right, answer)

    # -- what `Refine` asks ----------------------------------------------------------------------

    def _what_is_known(self) -> Known:
        if self._known is None:
            cells: dict[int, list[int]] = {}
            order = []
            for row, name in zip(self.beliefs.mentioned, self.beliefs.now.names, strict=True):
                if row in self._cell_of:
                    order.append(self._cell_of[row])
                    cells.setdefault(int(name), []).append(self._cell_of[row])
            groups = sorted((n for n in cells if len(cells[n]) > 1), key=lambda n: -len(cells[n]))
            pending = [n for n in cells if len(cells[n]) == 1]
            self._known = Known(order, groups, pending, cells, set())
        return self._known

    def _components(self) -> dict[int, list[int]]:
        return read_log(self._log, self.links, self._cell_of).cells

    def _chances(self, known: Known) -> NDArray[np.float64]:  # noqa: ARG002
        learnt = self.beliefs.now.learnt
        assert learnt is not None
        return learnt.chances

    def _cell_chances(self) -> tuple[NDArray[np.float64], dict[int, int]]:
        known = self._what_is_known()
        chances, _ = super()._cell_chances()
        if len(known.groups) < 2:
            return chances, {}
        rows = self.partition.representatives
        decided = {
            self.links.find(int(rows[cell])): g
            for g, name in enumerate(known.groups)
            for cell in known.cells[name]
        }
        return chances, decided

    # -- asking ----------------------------------------------------------------------------------

    def _find_next(self) -> tuple[int, int] | None:
        asked = {(min(a, b), max(a, b)) for a, b, _ in self._log}
        is_over = len(self._what_is_known().order) == len(self._cell_of)
        may_check = is_over or self._may_check()
        pair = self._homeless(asked, may_check=may_check)
        if pair is None and may_check:
            pair = self._confirmation(asked) or self._surprise(asked)
        if pair is None:
            pair = self._leftover() if is_over else self._new_row(asked)
        return pair

    def _may_check(self) -> bool:
        state = self.beliefs.now
        allowed = (
            FREE_CHECKS
            + CHECKS_PER_ANSWER * len(self._log)
            + CHECKS_PER_CONTRADICTION * len(state.overruled)
        )
        return state.n_checks < allowed

    def _homeless(self, asked: set[tuple[int, int]], *, may_check: bool) -> tuple[int, int] | None:
        """Return the next question about the last newcomer while no answer puts it anywhere."""
        rows = [row for row in self.beliefs.mentioned if row in self._cell_of]
        if not rows:
            return None
        row, weighing = rows[-1], self.beliefs.weighed()
        place = self.beliefs.place[row]
        toward = weighing.towards(place)
        if (toward > 0).any():
            return None
        scores, new = self._scores(row, toward, weighing.weight)
        for rank, group in enumerate(np.argsort(-scores, kind="stable")):
            anchor = self._anchor(row, int(group), asked)
            if anchor is None:
                continue
            # A group that is the likeliest even after a *different* is asked about once more:
            # that is cheaper than to ask about all others first.
            is_likely = scores[group] >= new and (may_check or rank == 0)
            if self.links.implied(row, anchor) is None or is_likely:
                return _pair(row, anchor)
        return None

    def _scores(
        self, row: int, toward: NDArray[np.float64], weight: float
    ) -> tuple[NDArray[np.float64], float]:
        """Return how much speaks for each group, and for a new one, on a logarithmic scale."""
        state = self.beliefs.now
        expected, new = self.beliefs.expected([row], state.names, state.learnt)
        return np.log(np.maximum(expected[0], 1e-12)) + weight * toward, float(np.log(new))

    def _surprise(self, asked: set[tuple[int, int]]) -> tuple[int, int] | None:
        """Return a question about the row that is most probably in the wrong group."""
        if not self._log:
            return None
        weighing, state = self.beliefs.weighed(), self.beliefs.now
        sure = SURE_AFTER_CONTRADICTIONS if state.overruled else SURE
        confidence, chances = weighing.confidence(), weighing.chances()[:, :-1]
        for place in np.argsort(confidence, kind="stable"):
            if confidence[place] >= sure:
                break
            row = self.beliefs.mentioned[place]
            if row in self._cell_of and weighing.n_about(int(place)):
                for group in np.argsort(-chances[place], kind="stable")[:2]:
                    anchor = self._anchor(row, int(group), asked)
                    if anchor is not None:
                        return _pair(row, anchor)
        return None

    def _confirmation(self, asked: set[tuple[int, int]]) -> tuple[int, int] | None:
        """Return a question about a group and the likeliest other one, if little divides them.

        The smallest group comes first: it may be a part of another, cut off by a wrong answer.
        """
        weighing, state = self.beliefs.weighed(), self.beliefs.now
        sizes = np.bincount(weighing.groups, minlength=weighing.n_groups)
        net, confidence = weighing.net(), weighing.confidence()
        expected, _ = self.beliefs.expected(self.beliefs.mentioned, state.names, state.learnt)
        for small in np.argsort(sizes, kind="stable"):
            if sizes[small] < 2:
                continue
            members = np.flatnonzero(weighing.groups == small)
            likely = expected[members].mean(axis=0)
            likely[small] = -np.inf
            other = int(np.argmax(likely))
            if len(likely) > 1 and net.get(_pair(int(small), other), 0) > -2:
                for place in members[np.argsort(-confidence[members], kind="stable")]:
                    row = self.beliefs.mentioned[place]
                    if row in self._cell_of:
                        anchor = self._anchor(row, other, asked)
                        if anchor is not None:
                            return _pair(row, anchor)
        return None

    def _anchor(self, row: int, group: int, asked: set[tuple[int, int]]) -> int | None:
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
            and _pair(row, self.beliefs.mentioned[k]) not in asked
        ]
        if not free:
            return None
        sure = [k for k in free if k == members[0] or weighing.toward(k, group) >= CONFIRMED]
        cells = [self._cell_of[self.beliefs.mentioned[k]] for k in sure or free]
        points = self._views[0]
        nearest = int(np.argmin(cdist(points[[self._cell_of[row]]], points[cells])[0]))
        return self.beliefs.mentioned[(sure or free)[nearest]]

    def _new_row(self, asked: set[tuple[int, int]]) -> tuple[int, int] | None:
        """Return the first question about the next newcomer."""
        known = self._what_is_known()
        heads = next((heads for heads in self._heads(known.order) if heads), [])
        learnt = self.beliefs.now.learnt
        points, rows = self._views[0], self.partition.representatives
        if not heads:
            cell = self._newcomer(known.order, known)
            assert cell is not None
        elif learnt is not None:
            cell = max(heads, key=lambda cell: float(learnt.chances[cell].max()))
        elif known.order:
            far = cdist(points[heads], points[known.order]).min(axis=1)
            cell = heads[int(np.argmin(far))]
        else:
            cell = heads[0]
        row = int(rows[cell])
        scores = np.empty(0)
        if known.order:
            weighing = self.beliefs.weighed()
            scores, _ = self._scores(row, np.zeros(weighing.n_groups), weighing.weight)
        for group in np.argsort(-scores, kind="stable"):
            anchor = self._anchor(row, int(group), asked)
            if anchor is not None:
                return _pair(row, anchor)
        others = [c for c in self._cell_of.values() if c != cell]
        if not others:
            return None
        near = others[int(np.argmin(cdist(points[[cell]], points[others])[0]))]
        return _pair(row, int(rows[near]))

    def _heads(self, order: list[int]) -> Iterator[list[int]]:
        """Yield, for every level, what stands for regions without an answered cell."""
        for n_regions in LEVELS:
            yield self._regions.newcomers(n_regions, order)


def _pair(i: int, j: int) -> tuple[int, int]:
    return (i, j) if i < j else (j, i)
