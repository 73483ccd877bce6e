"""A log of answers some of which may be wrong, and which of them count."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.reports import Suspect
from likewise.strategies.coarse_to_fine.agreement import overruled_after
from likewise.strategies.coarse_to_fine.base import RegionStrategy
from likewise.strategies.coarse_to_fine.checks import Checks
from likewise.strategies.coarse_to_fine.turns import Turn, turns_of


class WeighedStrategy(RegionStrategy):
    """Keep all answers, and count those that fit together.

    Parameters
    ----------
    partition : SuperInstances
        Fine cells, at best one per row, and the rows that stand for them.
    max_groups : int
        How many groups a question shows at most.
    error_rate : float or "estimate"
        The share of wrong answers that is expected. With 0 all answers count, and one that
        contradicts them is an error.
    **options
        Those of `RegionStrategy`.
    """

    def __init__(
        self,
        partition: SuperInstances,
        *,
        max_groups: int,
        error_rate: float | Literal["estimate"],
        **options: Any,
    ) -> None:
        super().__init__(partition, **options)
        self.max_groups = max_groups
        self.error_rate = error_rate
        self.weighs_answers = error_rate != 0
        self._certain: list[int] = []
        self._overruled: list[frozenset[int]] = [frozenset()]
        self._turns: list[Turn] | None = None

    @abstractmethod
    def _forget(self) -> None:
        """Forget what followed from the log before it changed."""

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:
        """Take in a link between two rows; where answers may be wrong, also one that contradicts.

        Raises
        ------
        ContradictionError
            If no answer is expected to be wrong, or if both are certain. Nothing is changed then.
        """
        before = now = self._overruled[-1]
        log, certain = [*self._log, (left, right, answer)], self._certain
        if self.weighs_answers:
            if is_certain and answer.is_link:
                certain = [*certain, len(self._log)]
                self._linked(log, certain)
            now = overruled_after(log, before, certain, self.n_rows)
        if now != before:
            counted = [k for k in range(len(log)) if k not in now]
            self.links = self._linked(log, counted)
        elif answer.is_link:
            self.links.add(left, right, answer)
        self._log, self._certain, self._turns = log, certain, None
        self._overruled.append(now)
        self._forget()

    def rewind(self) -> None:
        """Take back the last record."""
        *self._log, (_, _, answer) = self._log
        self._certain = [place for place in self._certain if place < len(self._log)]
        gone, now = self._overruled.pop(), self._overruled[-1]
        if gone != now:
            counted = [k for k in range(len(self._log)) if k not in now]
            self.links = self._linked(self._log, counted)
        elif answer.is_link:
            self.links.pop()
        self._turns = None
        self._forget()

    @property
    def rate(self) -> float:
        """The share of wrong answers that is expected now."""
        return self._checks().rate

    @property
    def n_checks(self) -> int:
        """How many rows were asked about again."""
        return self._checks().n_checked

    def overruled(self) -> list[int]:
        """Return which records were overruled, by their places in the log, from 0."""
        return sorted(self._overruled[-1])

    def suspects(self) -> list[Suspect]:
        """Return links that are probably wrong, the least credible first.

        Overruled ones are among them, as credible as the share of wrong answers allows.
        """
        found = {suspect.number: suspect for suspect in super().suspects()}
        rate = self.rate
        for place in self._overruled[-1]:
            suspect = found.get(place + 1, Suspect(place + 1, *self._log[place], rate))
            found[place + 1] = suspect._replace(credibility=min(suspect.credibility, rate))
        suspects = [found[number] for number in found if number - 1 not in self._certain]
        return sorted(suspects, key=lambda suspect: (suspect.credibility, suspect.number))

    def _options(self) -> dict[str, Any]:
        return {
            **super()._options(),
            "max_groups": self.max_groups,
            "error_rate": self.error_rate,
        }

    def _checks(self) -> Checks:
        if self._turns is None:
            self._turns = turns_of(self._log, self.max_groups, self.n_rows)
        return Checks(self._turns, self._overruled[-1], self.error_rate)

    def _linked(self, log: list[tuple[int, int, Answer]], places: list[int]) -> LinkGraph:
        """Return what some answers imply."""
        links = LinkGraph(self.n_rows)
        for place in places:
            if log[place][2].is_link:
                links.add(*log[place])
        return links
