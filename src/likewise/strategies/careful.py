"""Ask as `CoarseToFine` does, but expect that some answers are wrong.

Where every answer counts as true, one wrong *same* between two groups makes them one for ever.
Here rows are compared with rows of each group that other answers confirm, so that a wrong answer
misplaces one row and nothing else, and what decides much is asked about a second time
(`likewise.strategies.placing`). What the answers say and what the learner expects are weighed
against each other (`likewise.strategies.weighing`); answers that lose are overruled, but kept.
Links given beforehand are certain and overrule all answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.reports import Suspect
from likewise.strategies.beliefs import Beliefs
from likewise.strategies.coarse_to_fine.budget import Stage
from likewise.strategies.coarse_to_fine.groups import Known, read_log
from likewise.strategies.placing import Placing, ordered

ALONE = 0.5
"""A row that is the first of its group with at least this probability counts as a group."""


class Careful(Placing):
    """Place newcomers at confirmed rows of the likeliest group, and check what surprises.

    Parameters
    ----------
    partition : SuperInstances
        Fine cells, at best one per row, and the rows that stand for them.
    error_rate : float or "estimate", default="estimate"
        The share of wrong answers that is expected, above 0 and up to 0.3.
    askable : ndarray of bool, optional
        The cells whose rows may be shown. By default all.
    budget : int, optional
        How many questions there will be. It decides how fine the regions are; the strategy goes
        on asking when they are spent.
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
        budget: int | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(partition, askable=askable, budget=budget, seed=seed)
        self.error_rate = error_rate
        self._certain = LinkGraph(self.n_rows)
        self.beliefs = Beliefs(
            self._views[0], self._position, self._cell_of, self._learner.learn, error_rate
        )

    # -- what a session needs --------------------------------------------------------------------

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:
        """Take in an answer about two rows, also one that contradicts others.

        Raises
        ------
        ContradictionError
            If it is certain and clashes with what else is certain; nothing is changed then.
        """
        is_certain = is_certain and answer.is_link
        if is_certain:
            self._certain.add(left, right, answer)
        sizes, _ = self._at_level()
        before = self.beliefs.now.overruled
        is_check = answer.is_link and not is_certain and self.links.implied(left, right) is not None
        self._log.append((left, right, answer))
        self.beliefs.add(left, right, answer, is_check=is_check, is_certain=is_certain)
        self._progress.append(self._progress_after(sizes, answer))
        if self.beliefs.now.overruled == before:
            if answer.is_link:
                self.links.add(left, right, answer)
        else:
            self._relink()
        self._forget()

    def rewind(self) -> None:
        """Take back the last record."""
        _, _, answer = self._log.pop()
        self._progress.pop()
        gone = self.beliefs.now.overruled
        if self.beliefs.certain[-1]:
            self._certain.pop()
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
        sizes, _ = self._at_level()
        waiting = len(self._regions.newcomers(sizes[-1], order)) if sizes else len(order)
        return at_most, min(at_most, waiting)

    def on(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.intp] | None = None,
        n_parts: int | None = None,  # noqa: ARG002  (it goes on until every cell is placed)
    ) -> Careful:
        """Return the strategy for other cells."""
        return Careful(
            partition,
            error_rate=self.error_rate,
            askable=None if askable is None else np.isin(partition.representatives, askable),
            budget=self.budget,
            seed=self.seed,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the partition, the error rate, the askable cells and the seed as plain values."""
        return {
            "partition": self.partition.to_dict(),
            "error_rate": self.error_rate,
            "askable": np.flatnonzero(self.is_askable).tolist(),
            "budget": self.budget,
            "seed": self.seed,
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        partition = SuperInstances.from_dict(plain["partition"])
        askable = np.zeros(partition.n_super_instances, dtype=bool)
        askable[plain["askable"]] = True
        return cls(
            partition,
            error_rate=plain["error_rate"],
            askable=askable,
            budget=plain.get("budget"),
            seed=plain["seed"],
        )

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
            if self.beliefs.certain[number]:
                continue
            right = min(weighing.credibility(i, j, sign), weighing.credibility(j, i, sign))
            if right < 0.5 or number in overruled:
                found.append(Suspect(number + 1, *self._log[number], right))
        return sorted(found, key=lambda suspect: (suspect.credibility, suspect.number))

    # -- inside ----------------------------------------------------------------------------------

    def _progress_after(self, sizes: tuple[int, ...], answer: Answer) -> Stage:
        """Return the progress after the last answer.

        Rows may change their group later, so not answers are counted as proofs, but what groups
        and single rows there are.
        """
        names, rows = self.beliefs.now.names, self.beliefs.mentioned
        n = len({int(name) for name, row in zip(names, rows, strict=True) if row in self._cell_of})
        progress = self._progress[-1].after(sizes, answer, len(self._log), is_between=False)
        return progress._replace(n_proofs=n * (n - 1) // 2)

    def _relink(self) -> None:
        """Make the links of all answers that are not overruled."""
        self.links = LinkGraph(self.n_rows)
        for k, (left, right, answer) in enumerate(self._log):
            if answer.is_link and k not in self.beliefs.now.overruled:
                self.links.add(left, right, answer)

    # -- what `CoarseToFine` asks ----------------------------------------------------------------

    def _what_is_known(self) -> Known:
        if self._known is None:
            cells: dict[int, list[int]] = {}
            order: list[int] = []
            names = self.beliefs.now.names
            for row, name in zip(self.beliefs.mentioned, names, strict=True):
                if row in self._cell_of:
                    order.append(self._cell_of[row])
                    cells.setdefault(int(name), []).append(self._cell_of[row])
            place, net = self.beliefs.place, self._net()
            unsure: set[tuple[int, int]] = set()
            for left, right, answer in self._log:
                if not answer.is_link:
                    a, b = int(names[place[left]]), int(names[place[right]])
                    unsure |= {(a, b), (b, a)}
            groups: list[int] = []
            pending: list[int] = []
            is_early = len(self._progress[-1].sizes) <= 1
            alone = self._surely_alone()
            for name in sorted(cells, key=lambda n: -len(cells[n])):
                is_enough = len(cells[name]) > 1 or name in alone
                is_apart = all(net.get(ordered(g, name), -1) < 0 for g in groups)
                is_early_group = is_early and len(cells[name]) > 1
                is_group = is_early_group or (is_enough and is_apart)
                (groups if is_group else pending).append(name)
            self._known = Known(order, groups, pending, cells, unsure)
        return self._known

    def _surely_alone(self) -> set[int]:
        """Return groups of one row that no other group would take."""
        names, weighing = self.beliefs.now.names, self.beliefs.weighed()
        sizes = np.bincount(weighing.groups)
        is_alone = (sizes[weighing.groups] == 1) & (weighing.confidence() >= ALONE)
        return set(names[is_alone].tolist())

    def _components(self) -> dict[int, list[int]]:
        return read_log(self._log, self.links, self._cell_of).cells

    def _chances(self, known: Known) -> NDArray[np.float64]:
        learnt = self.beliefs.now.learnt
        # A row that no group would take counts as a group, but not as one to expect others in.
        return super()._chances(known) if learnt is None else learnt.chances

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
