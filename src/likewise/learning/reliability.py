"""How much of a grouping is right, and which answers are doubtful, by the learner's probabilities.

Rows in doubt are asked about, so neither answers nor left-out predictions are a fair sample. Four
things together say how much is right: the mean probability m of the likeliest groups of the rows
that nobody was asked about; the share f of answers that were foreseen ten rows before; the share g
that would be right in one big group, since it is easy to foresee a group that has nearly all; and
the share c of rows that the last rows asked about moved. With L(p) = log(p / (1 - p)), the share of
open rows in the right group is about

    1 / (1 + exp(-e)),  e = -0.49 + 0.55 L(m) + 0.38 L(f) - 0.30 L(g) - 0.30 log(c + 0.01),

and rarely below 1 / (1 + exp(1 - 1.2 e)). Rows asked about count as right, in the bound as right
nine times in ten or as often as the others. ``python -m benchmarks.practice statements`` fits the
numbers to 20 practice sets and judges each set by numbers that were fitted to the others;
``unseen`` judges them on other tasks. There the bound is too careful where all answers are right
(it always held) and, from 100 answers on, not careful enough where one in ten is wrong (89%).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SURE = 0.8
"""A row whose likeliest group is less likely than this is in doubt. Chosen by eye: .7 would call
fewer rows doubtful, .9 more; no group changes."""

FITTED = (-0.49, 0.55, 0.38, -0.30, -0.30)
"""The numbers of e, as the module says."""

SLOPE, DROP = 1.2, 1.0
"""The numbers of the bound. In steps of .1, this drop is the smallest with which the bound holds in
93% of the statements of all people and of each kind of them, even of those who are wrong in one of
ten, where the estimate was fitted to other sets."""

KNOWN_RIGHT = 0.9
"""In the bound, this share of the rows asked about counts as right, unless more of the others are:
people make mistakes without knowing. With 1, the bound held in 90% of the statements of people who
are wrong in one of ten answers, instead of 94%."""


class Evidence(NamedTuple):
    """What the statement about a grouping is made from.

    Attributes
    ----------
    n_known : int
        The rows asked about.
    is_open : float
        The share of the others.
    mean : float
        The mean probability of their likeliest groups; 1 if there are none.
    one_group : float
        The share that would be right if all rows were in the likeliest group.
    moved : float
        The share of rows that the last rows asked about moved to another group.
    n_foreseen, n_compared : int
        How many rows were predicted to be where answers put them, of how many.
    """

    n_known: int
    is_open: float
    mean: float
    one_group: float
    moved: float
    n_foreseen: int
    n_compared: int

    def share_right(
        self, fitted: Sequence[float] = FITTED, drop: float = DROP
    ) -> tuple[float, float]:
        """Return the expected share of rows in the right group, and its lower bound."""
        e = sum(number * value for number, value in zip(fitted, self.values, strict=True))
        share, least = _share(e), _share(min(e, SLOPE * e - drop))
        known = 1.0 - self.is_open
        least_known = max(KNOWN_RIGHT, least)
        return known + self.is_open * share, least_known * known + self.is_open * least

    @property
    def values(self) -> tuple[float, ...]:
        """What the numbers of e are multiplied by."""
        foreseen = (self.n_foreseen + 1) / (self.n_compared + 2)
        odds = (log_odds(share) for share in (self.mean, foreseen, self.one_group))
        return (1.0, *odds, math.log(self.moved + 0.01))


def log_odds(share: float) -> float:
    """Return the logarithm of the odds of a share, which counts as .01 to .99."""
    share = min(0.99, max(0.01, share))
    return math.log(share / (1.0 - share))


def _share(log_odds: float) -> float:
    """Return the share with these odds, at most .99: that all are right is never known."""
    return min(0.99, 1.0 / (1.0 + math.exp(-log_odds)))


def share_of_one_group(proba: NDArray[np.float64]) -> float:
    """Return the share that would be right if all rows were in the likeliest group."""
    return float(proba.mean(axis=0).max())


def contradicted_rows(
    left_out: NDArray[np.float64], groups: NDArray[np.intp], at_most: float
) -> list[tuple[int, float]]:
    """Return the known rows that others contradict, with how credible their groups are.

    Their own groups are at most `at_most` times as likely as the likeliest other ones.
    """
    places = np.arange(len(groups))
    own = left_out[places, groups]
    others = left_out.copy()
    others[places, groups] = 0.0
    # No other row can predict the only known row of a group.
    is_alone = np.bincount(groups)[groups] < 2
    suspected = np.flatnonzero((own <= at_most * others.max(axis=1)) & ~is_alone)
    return [(int(k), float(own[k])) for k in suspected[np.argsort(own[suspected], kind="stable")]]
