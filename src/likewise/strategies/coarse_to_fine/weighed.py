"""A log of answers, some of which may be wrong: those that fit together count.

If an answer contradicts earlier ones, it is wrong or one of them is. There are few ways out:
overrule the new answer; move its row away from where other answers put it; join two groups; or cut
the chain of answers that makes two rows the same. The way that overrules the fewest answers is
taken. If two ways overrule as many, a single row moves where the new answer puts it, since it was
asked about again for a reason; but whole groups stay as they are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, Literal

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.reports import Suspect
from likewise.strategies.coarse_to_fine.base import RegionStrategy
from likewise.strategies.coarse_to_fine.checks import Checks
from likewise.strategies.coarse_to_fine.log import Said, Turn, turns_of

CERTAIN = 1000
"""A certain link weighs as much as this many answers."""


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
            # Most answers contradict no other, and then there is nothing to weigh.
            if before or self.links.implied(left, right) not in (None, answer):
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

    def _linked(self, log: list[Said], places: list[int]) -> LinkGraph:
        """Return what some answers imply."""
        links = LinkGraph(self.n_rows)
        for place in places:
            if log[place][2].is_link:
                links.add(*log[place])
        return links


def overruled_after(
    log: Sequence[Said],
    before: frozenset[int],
    certain: Collection[int],
    n_rows: int,
) -> frozenset[int]:
    """Return which answers are overruled after the last one of a log, by their places in it.

    Parameters
    ----------
    log : sequence of (int, int, Answer)
        All answers.
    before : frozenset of int
        Those that were overruled before the last one.
    certain : collection of int
        Answers that are not overruled whatever others say; they fit together.
    n_rows : int
        Number of rows of the data.

    Examples
    --------
    Row 1 is the same as row 0, row 2 is not. Then row 1 is said to be the same as row 2: as much
    speaks for it as against it, so the last answer counts. A further one decides.

    >>> S, D = Answer.SAME, Answer.DIFFERENT
    >>> log = [(1, 0, S), (2, 0, D), (3, 0, S), (1, 2, S)]
    >>> sorted(overruled_after(log, frozenset(), (), 4))
    [0]
    >>> sorted(overruled_after([*log, (1, 3, S)], frozenset({0}), (), 4))
    [3]
    """
    new = len(log) - 1
    left, right, answer = log[new]
    if not answer.is_link:
        return before
    counted = [k for k in range(new) if k not in before and log[k][2].is_link]
    graph = LinkGraph(n_rows)
    for k in counted:
        graph.add(*log[k])
    if graph.implied(left, right) in (None, answer):
        return _restored(log, [*counted, new], n_rows)
    ways = [_restored(log, counted, n_rows)]
    can_move = all(log[k][1] != left for k in counted if log[k][2] is Answer.SAME)
    if can_move:
        # No other row was compared with this row, so it can move alone.
        gone = [{k for k in counted if left in log[k][:2]}]
    elif answer is Answer.SAME:
        sides = {graph.find(left), graph.find(right)}
        gone = [{k for k in counted if {graph.find(row) for row in log[k][:2]} == sides}]
    else:
        places = {frozenset(log[k][:2]): k for k in counted}
        chain = graph.explain(left, right)
        gone = [{places[frozenset((link.left, link.right))]} for link in chain]
    for some in gone:
        kept = [k for k in counted if k not in some]
        ways.append(_restored(log, [*sorted(certain), new, *kept], n_rows))
    if can_move:
        ways.reverse()
    return min(ways, key=lambda way: _weight(way, certain))


def _restored(log: Sequence[Said], order: Sequence[int], n_rows: int) -> frozenset[int]:
    """Return what is overruled if some answers are taken first, then all others that fit."""
    graph = LinkGraph(n_rows)
    taken: set[int] = set()
    for k in (*order, *range(len(log))):
        left, right, answer = log[k]
        if k not in taken and answer.is_link and graph.implied(left, right) in (None, answer):
            graph.add(left, right, answer)
            taken.add(k)
    return frozenset(k for k, said in enumerate(log) if said[2].is_link and k not in taken)


def _weight(overruled: frozenset[int], certain: Collection[int]) -> int:
    return sum(CERTAIN if k in certain else 1 for k in overruled)
