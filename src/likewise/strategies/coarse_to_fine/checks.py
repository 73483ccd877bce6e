"""Which answers to check where some may be wrong.

A check asks about a row again, with other rows of the groups. Checks are worth most where much
depends on one answer, as on the one that began a group; and where other rows speak against it. They
go on as long as they find errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likewise.strategies.coarse_to_fine.choices import MIXED, chance_of_new
from likewise.strategies.coarse_to_fine.log import Turn

FIRST_RATE, N_FIRST, SEEN_PER_CHECK = 0.05, 20, 3
"""Before any check, this share of wrong answers is expected, as if it had been seen in so many
answers. A check bears on several answers: on itself and on those that its row depends on."""

FREE_CHECKS, CHECKS_PER_ERROR = 0.025, 3.0
"""How many checks may find nothing: so many for every row asked about, and for every error found.
On 13 practice sets 100 pairs, none wrong, have an adjusted Rand index of .608 (.603 with 0.05);
with one in ten wrong it is the same, and so it is with 4.5 checks for every error."""

MOST_ABOUT_ONE = 4
"""No row is asked about more often than this."""

WORTH = 0.03
"""What a check of a group's first row has to be worth: how likely its group is part of another one,
times the share of pairs of rows in one group that joining the two would bring together."""

N_BEFORE_CHECKS = 20
"""No first row is checked before so many rows were placed: too little would speak against an
answer."""

FITS = 0.6
"""Of two answers that differ, the later one needs no third if the learner gives it this chance."""


@dataclass(frozen=True, eq=False, slots=True)
class Checks:
    """What was asked about each row, and what came of asking again.

    Attributes
    ----------
    turns : sequence of Turn
        All questions.
    overruled : collection of int
        The places of the links that do not count.
    error_rate : float or "estimate"
        The share of wrong answers that is expected.
    """

    turns: Sequence[Turn]
    overruled: Collection[int]
    error_rate: float | Literal["estimate"]

    @property
    def times(self) -> Counter[int]:
        """How often each row was in question."""
        return Counter(turn.row for turn in self.turns)

    @property
    def n_checked(self) -> int:
        """How many rows were asked about again."""
        return sum(n > 1 for n in self.times.values())

    @property
    def n_found(self) -> int:
        """How many of them have an answer that was overruled."""
        times = self.times
        return len({turn.row for turn in self.turns if times[turn.row] > 1 and self._is_out(turn)})

    @property
    def rate(self) -> float:
        """The share of wrong answers that is expected now."""
        if self.error_rate != "estimate":
            return self.error_rate
        n_seen = N_FIRST + SEEN_PER_CHECK * self.n_checked
        return (FIRST_RATE * N_FIRST + self.n_found) / n_seen

    def may_go_on(self) -> bool:
        """Return whether checks have found enough to go on with them."""
        allowed = FREE_CHECKS * len(self.turns) + CHECKS_PER_ERROR * self.n_found
        return self.n_checked - self.n_found + 1 <= allowed

    def undecided(self) -> list[tuple[int, bool]]:
        """Return rows of which as many answers are overruled as not, the last ones first.

        With each, whether it was the first of its group by one of its answers.
        """
        found = []
        rows = [turn.row for turn in reversed(self.turns) if self._is_out(turn)]
        for row in dict.fromkeys(rows):
            mine = [turn for turn in self.turns if turn.row == row]
            out = [turn for turn in mine if self._is_out(turn)]
            if 2 * len(out) >= len(mine) and len(mine) < MOST_ABOUT_ONE:
                found.append((row, any(turn.is_none for turn in out)))
        return found

    def first_rows(
        self, sizes: Mapping[int, int], group_of: Callable[[int], int], *, max_groups: int
    ) -> list[int]:
        """Return first rows of groups that are worth a check, the most important one first.

        They were asked about once, and belonged to no group shown.

        Parameters
        ----------
        sizes : mapping of int to int
            The number of known rows of every group.
        group_of : callable
            Takes a row and returns its group.
        max_groups : int
            How many groups are shown at once.
        """
        if len(sizes) < 2 or sum(sizes.values()) < N_BEFORE_CHECKS:
            return []
        worth = worth_of_founders(sizes, rate=self.rate, max_groups=max_groups)
        times = self.times
        once = [turn for turn in self.turns if times[turn.row] == 1]
        found = {turn.row: worth.get(group_of(turn.row), 0.0) for turn in once if turn.is_none}
        return sorted((row for row in found if found[row] >= WORTH), key=lambda row: -found[row])

    def _is_out(self, turn: Turn) -> bool:
        return any(place in self.overruled for place in turn.places)


def worth_of_founders(
    sizes: Mapping[int, int], *, rate: float, max_groups: int
) -> dict[int, float]:
    """Return, for every group, what a check of its first row is worth.

    A group is there by mistake if its first row was said to be none of the others and is one.

    Parameters
    ----------
    sizes : mapping of int to int
        The number of known rows of every group; two groups or more.
    rate : float
        The share of wrong answers.
    max_groups : int
        How many groups are shown at once.

    Examples
    --------
    With many groups, one more is no surprise:

    >>> few = worth_of_founders({1: 20, 2: 20, 3: 5}, rate=0.05, max_groups=6)
    >>> many = worth_of_founders({g: 4 for g in range(12)}, rate=0.05, max_groups=6)
    >>> round(few[3], 3), round(many[3], 3)
    (0.082, 0.01)
    """
    n = len(sizes)
    new = chance_of_new(n, sum(sizes.values()))
    odds = rate / (1.0 - rate) / min(max_groups, n) * (1.0 - new) / new
    total = sum(size**2 for size in sizes.values())
    largest = sorted(sizes, key=lambda g: -sizes[g])[:2]
    found = {}
    for group, size in sizes.items():
        other = sizes[largest[group == largest[0]]]
        found[group] = odds / (1.0 + odds) * 2 * size * other / total
    return found


def odds_of_wrong(
    left_out: NDArray[np.float64], groups: NDArray[np.intp], *, rate: float, max_groups: int
) -> NDArray[np.float64]:
    """Return, for every known row, the odds that the answer about it was wrong.

    Parameters
    ----------
    left_out : ndarray of shape (n_known, n_groups)
        How likely each row is in each group by all others.
    groups : ndarray of shape (n_known,)
        The group of each.
    rate : float
        The share of wrong answers.
    max_groups : int
        How many groups are shown at once.

    Examples
    --------
    >>> import numpy as np
    >>> left_out = np.array([[0.9, 0.1], [0.8, 0.2], [0.9, 0.1], [0.2, 0.8]])
    >>> odds_of_wrong(left_out, np.array([0, 0, 1, 1]), rate=0.1, max_groups=6).round(2).tolist()
    [0.01, 0.02, 0.41, 0.02]
    """
    n = left_out.shape[1]
    own = (1.0 - MIXED) * left_out[np.arange(len(groups)), groups] + MIXED / n
    # Others say nothing about the only row of a group.
    own[np.bincount(groups)[groups] == 1] = chance_of_new(n, len(groups))
    return np.asarray(rate / (1.0 - rate) / min(max_groups, n) * (1.0 - own) / own)
