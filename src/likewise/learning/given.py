"""A vote by groups that were given beforehand, made by another tool or by hand.

They are a belief, not a fact. A given group votes for the groups of its known rows, each known row
once. How much that counts follows, as for every voter, from how well it predicts known rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.learning.views import RowViews

PRIOR = 0.5
"""The weight of the shares of all groups beside the known rows of a given group, in rows."""


@dataclass(frozen=True, eq=False, slots=True)
class GivenVote:
    """Fitted counts; `left_out` predicts known rows from others of the same given group."""

    left_out: NDArray[np.float64]
    _chances: NDArray[np.float64]

    def predict_proba(self, rows: RowViews) -> NDArray[np.float64]:
        """Return how likely each row belongs to each group; NaN for rows without a given group."""
        chances = self._chances[rows.given]
        chances[rows.given < 0] = np.nan
        return chances


def fit_given(
    rows: RowViews,
    sizes: NDArray[np.float64],
    known: NDArray[np.intp],
    groups: NDArray[np.intp],
) -> GivenVote:
    """Count the known rows of every group in every given group."""
    del sizes
    given, n_groups = rows.given[known], int(groups.max()) + 1
    shares = np.bincount(groups, minlength=n_groups) / len(groups)
    counts = np.zeros((int(rows.given.max(initial=-1)) + 1, n_groups))
    has_given = given >= 0
    np.add.at(counts, (given[has_given], groups[has_given]), 1.0)
    others = np.where(has_given[:, None], counts[given] if len(counts) else 0.0, 0.0)
    others[has_given, groups[has_given]] -= 1.0
    return GivenVote(_with_prior(others, shares), _with_prior(counts, shares))


def _with_prior(counts: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    weighed = counts + PRIOR * shares
    return np.asarray(weighed / weighed.sum(axis=1, keepdims=True))


def central_rows(rows: RowViews, given: NDArray[np.intp], wanted: list[int]) -> list[int]:
    """Return, for each wanted given group, the row nearest to its mean."""
    central = []
    for number in wanted:
        members = np.flatnonzero(given == number)
        far = ((rows.own[members] - rows.own[members].mean(axis=0)) ** 2).sum(axis=1)
        central.append(int(members[np.argmin(far)]))
    return central
