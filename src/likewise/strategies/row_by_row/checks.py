"""Which answers to check where some may be wrong.

A check asks about a row again, with other rows of the groups. A row is checked if other rows
contradict the answer about it; the first row of a group, if they contradict all rows of the group.
The errors found so far give the expected rate of errors, so checks stop if they find none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.strategies.row_by_row.evidence import Said
from likewise.strategies.row_by_row.known import MIXED, chance_of_new

FIRST_RATE, N_FIRST, SEEN_PER_CHECK = 0.05, 20, 6
"""Before any check, the expected share of wrong answers is `FIRST_RATE`, as if seen in `N_FIRST`
answers. A check counts as `SEEN_PER_CHECK` answers, since it is made where an error is most likely:
3 instead of 6 changes the adjusted Rand index by .002."""

LEAST_ODDS = 0.15
"""A row is checked if the odds that its answer was wrong are at least this. Adjusted Rand index of
100 choices on the 14 development sets, none wrong and one in ten: .647 and .582; with 0.08 .642 and
.578, with 0.25 .647 and .583 (differences below .01 are noise)."""

LEAST_ROWS = 0.1
"""The first row of a group is checked if a check moves at least this many rows on average. Adjusted
Rand index as above: with 0.08 .649 and .584, with 0.15 .647 and .580, with 0.3 .647 and .582."""

MOST_ABOUT_ONE = 4
"""No row is asked about more often than this. Mean adjusted Rand index of 100 choices with one in
ten wrong, ten small tasks of the paper, two seeds: .723; with 2 .740, with 8 .734 (differences of
.02 are noise)."""

N_BEFORE_CHECKS = 20
"""No row is checked before this many rows were placed, since too little is known to contradict an
answer. The index as above: with 10 .738, with 40 .737."""

FITS = 0.6
"""If two answers about a row differ, there is no third question if the learner gives the later one
this probability. The index as above: with 0.3 .729, with 0.8 .723."""


class Turn(NamedTuple):
    """What was said about a row until it was placed, or when it was asked about again.

    Attributes
    ----------
    row : int
        The row in question.
    answer : Answer
        *Same* if it belongs to a group that was shown, *different* if to none of them.
    places : tuple of int
        The places of its links in the log.
    is_check : bool
        Whether earlier answers already said where the row belongs.
    """

    row: int
    answer: Answer
    places: tuple[int, ...]
    is_check: bool

    @property
    def is_none(self) -> bool:
        """Whether the row belongs to none of the groups shown."""
        return self.answer is Answer.DIFFERENT

    def n_questions(self, max_groups: int) -> int:
        """Return how many questions it took; *none of these* has a link for every group shown."""
        n_others = len(self.places) - (self.answer is Answer.SAME)
        return -(-n_others // max_groups) + (self.answer is Answer.SAME)


def turns_of(log: Sequence[Said], max_groups: int, n_rows: int) -> list[Turn]:
    """Return the turns of a log of links.

    Parameters
    ----------
    log : sequence of (int, int, Answer)
        The row in question, a row of a group, and whether they are the same.
    max_groups : int
        No more groups than this are shown at once.
    n_rows : int
        Number of rows of the data.

    Examples
    --------
    Row 2 is none of two groups, row 3 is in the first. Then row 2 is asked about again.

    >>> S, D = Answer.SAME, Answer.DIFFERENT
    >>> log = [(0, 1, D), (2, 0, D), (2, 1, D), (3, 0, S), (2, 3, D)]
    >>> [(turn.row, turn.places, turn.is_check) for turn in turns_of(log, 6, 4)]
    [(0, (0,), False), (2, (1, 2), False), (3, (3,), False), (2, (4,), True)]
    """
    turns: list[Turn] = []
    graph = LinkGraph(n_rows)
    for place, (row, other, answer) in enumerate(log):
        known = graph.implied(row, other)
        is_check = known is not None
        if answer.is_link and known in (None, answer):
            graph.add(row, other, answer)
        last = turns[-1] if turns else None
        is_more = (
            last is not None
            and (last.row, last.is_check) == (row, is_check)
            and last.answer is not Answer.SAME
            and not (is_check and (answer is Answer.SAME or len(last.places) >= max_groups))
        )
        if last is not None and is_more:
            turns[-1] = Turn(row, answer, (*last.places, place), is_check)
        else:
            turns.append(Turn(row, answer, (place,), is_check))
    return turns


@dataclass(frozen=True, eq=False, slots=True)
class Checks:
    """Which rows were asked about again, and how often that found an error.

    Attributes
    ----------
    turns : sequence of Turn
        All questions.
    overruled : collection of int
        The positions of the overruled links in the log.
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

    def first_rows(self) -> set[int]:
        """Return the rows that were asked about once and belonged to no group shown."""
        times = self.times
        return {turn.row for turn in self.turns if turn.is_none and times[turn.row] == 1}

    def _is_out(self, turn: Turn) -> bool:
        return any(place in self.overruled for place in turn.places)


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
    # Other rows say nothing about the only row of a group.
    own[np.bincount(groups)[groups] == 1] = chance_of_new(n, len(groups))
    return np.asarray(rate / (1.0 - rate) / min(max_groups, n) * (1.0 - own) / own)


def odds_of_first(
    left_out: NDArray[np.float64], groups: NDArray[np.intp], *, rate: float, max_groups: int
) -> NDArray[np.float64]:
    """Return, for every group, the odds that its first row belongs to another group.

    If so, all its rows belong there, and the learner shows it: rows of a group that exists by
    mistake look like rows of the other one. For a group with one row, only the probability of a new
    group is known.

    Examples
    --------
    >>> import numpy as np
    >>> left_out = np.array([[0.9, 0.1], [0.8, 0.2], [0.9, 0.1], [0.8, 0.2]])
    >>> odds_of_first(left_out, np.array([0, 0, 1, 1]), rate=0.1, max_groups=6).round(2).tolist()
    [0.01, 0.28]
    """
    n = left_out.shape[1]
    sizes = np.bincount(groups, minlength=n)
    own = left_out[np.arange(len(groups)), groups]
    mean = np.bincount(groups, own, minlength=n) / np.maximum(sizes, 1)
    mean = np.where(sizes == 1, chance_of_new(n, len(groups)), (1.0 - MIXED) * mean + MIXED / n)
    return np.asarray(rate / (1.0 - rate) / min(max_groups, n) * (1.0 - mean) / mean)


def worth_a_check(
    left_out: NDArray[np.float64],
    groups: NDArray[np.intp],
    is_first: NDArray[np.bool_],
    *,
    rate: float,
    max_groups: int,
) -> list[tuple[int, bool]]:
    """Return which known rows to check, and whether as the first of a group; the best come first.

    Parameters
    ----------
    left_out : ndarray of shape (n_known, n_groups)
        How likely each row is in each group by all others.
    groups : ndarray of shape (n_known,)
        The group of each.
    is_first : ndarray of shape (n_known,)
        Which were said to be in none of the groups there were.
    rate : float
        The share of wrong answers.
    max_groups : int
        How many groups are shown at once.

    Examples
    --------
    >>> import numpy as np
    >>> left_out = np.array([[0.9, 0.1], [0.8, 0.2], [0.9, 0.1], [0.2, 0.8]])
    >>> is_first = np.array([True, False, False, True])
    >>> worth_a_check(left_out, np.array([0, 0, 1, 1]), is_first, rate=0.1, max_groups=6)
    [(2, False), (3, True)]
    """
    sizes = np.bincount(groups)
    odds = odds_of_wrong(left_out, groups, rate=rate, max_groups=max_groups)
    of_first = odds_of_first(left_out, groups, rate=rate, max_groups=max_groups)
    n_moved = sizes * of_first / (1.0 + of_first)
    alone = sizes[groups] == 1
    is_begun = is_first & ~alone & (n_moved[groups] >= LEAST_ROWS)
    found = [
        *((odds[k], int(k), bool(alone[k])) for k in np.flatnonzero(odds >= LEAST_ODDS)),
        *((n_moved[groups[k]], int(k), True) for k in np.flatnonzero(is_begun)),
    ]
    return [(k, first) for _, k, first in sorted(found, key=lambda entry: -entry[0])]
