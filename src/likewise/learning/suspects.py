"""Rows whose group the other known rows contradict, so that the answer about them is doubtful."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CONTRADICTED = 0.05
"""A row is suspected if its own group is at most this many times as likely as the likeliest other.
On 20 practice sets with 100 choices, .8 are suspected where no answer is wrong. Where one in ten
is, 78% of the suspects are wrong (61% if the same rows are misjudged whenever they are shown),
but only 33% of the wrong answers are suspected (15%)."""


def contradicted_rows(
    left_out: NDArray[np.float64], groups: NDArray[np.intp]
) -> list[tuple[int, float]]:
    """Return the known rows that others contradict, with how credible their groups are."""
    places = np.arange(len(groups))
    own = left_out[places, groups]
    others = left_out.copy()
    others[places, groups] = 0.0
    # No other row can predict the only known row of a group.
    is_alone = np.bincount(groups)[groups] < 2
    suspected = np.flatnonzero((own <= CONTRADICTED * others.max(axis=1)) & ~is_alone)
    return [(int(k), float(own[k])) for k in suspected[np.argsort(own[suspected], kind="stable")]]
