"""How much of a grouping is right, and which answers are doubtful, by the learner's probabilities.

Let k be the number of known rows, u the share of the other rows, and m the mean probability of
their likeliest groups. The share of rows in the right group is about ``1 - u (1 - m - TOO_LOW)``,
and at least ``1 - u (1 - m + TOO_LOW + WIDTH sqrt(m (1 - m) / k))``.

How true that is depends on the data more than on anything the learner can see: on the practice sets
no function of left-out predictions, numbers of groups or changes was closer to the truth than m
alone. So the estimate is only said where it was found to be good (`core.reports.HIGH`), and the
bound elsewhere. ``benchmarks/results/practice`` has the statements, judged on sets that these
constants were not chosen on. Left-out predictions of known rows are .15 to .23 too low, since rows
in doubt are the ones that are asked about.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

SURE = 0.8
"""A row whose likeliest group is less likely than this is in doubt. Chosen by eye: .7 would call
fewer rows doubtful, .9 more; no group changes."""

TOO_LOW = 0.02
"""By how much the mean probability is below the true share right, on average."""

WIDTH = 3.0
"""How many standard errors the bound is below. The statements of `benchmarks.practice` chose it: of
steps of a half, the smallest with which the bound held in 95% of them."""


def share_right(proba: NDArray[np.float64], known: NDArray[np.intp]) -> tuple[float, float]:
    """Return the expected share of rows in the right group, and its lower 95% bound."""
    is_open = np.ones(len(proba), dtype=bool)
    is_open[known] = False
    if not is_open.any():
        return 1.0, 1.0
    mean, share = float(proba[is_open].max(axis=1).mean()), float(is_open.mean())
    return estimate_and_bound(mean, share, len(known))


def estimate_and_bound(
    mean: float, share: float, n_known: int, width: float = WIDTH
) -> tuple[float, float]:
    """Return the share in the right group and its bound, from m, u and k as said above."""
    reach = TOO_LOW + width * math.sqrt(mean * (1.0 - mean) / max(1, n_known))
    return 1.0 - share * (1.0 - min(1.0, mean + TOO_LOW)), 1.0 - share * min(1.0, 1 - mean + reach)


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
