"""Estimate how often an answerer is right, from a sample that a person answers as well.

The interval holds at any time a person looks, not only after a number of checks fixed beforehand:
it is a confidence sequence. Answers fall into strata (rows that lie between two groups, and the
others), and each stratum is sampled on its own, so that the difficult ones are well covered. With
r of n checks right in a stratum, and p the share that is right there,

    K(p) = B(a + r, b + n - r) / (B(a, b) p^r (1 - p)^(n - r))

is a nonnegative martingale with mean 1, and so is the product over strata. By Ville's inequality it
ever reaches 1 / alpha with a probability of at most alpha. The shares for which it has not are the
confidence set; the interval has what they can be together, weighted by the sizes of the strata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.05
PRIOR = (2.0, 0.5)
"""The parameters a and b of the mixture: most answerers are right more often than not. Any others
are valid, too; these are tight from .8 to 1."""
STEPS = 200
RECENT = 20
"""How many of the latest checks are compared with those before them."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """How often somebody is right.

    Attributes
    ----------
    n : int
        How many answers were checked.
    n_right : int
        How many of them were right.
    estimate : float
        The share of all answers that are right, estimated.
    at_least, at_most : float
        It is between these with a confidence of 95%, whenever one looks.
    is_falling : bool
        Whether the latest answers are surely worse than those before.
    """

    n: int
    n_right: int
    estimate: float
    at_least: float
    at_most: float
    is_falling: bool = False


def certificate(checks: Sequence[tuple[int, bool]], sizes: Sequence[int]) -> Certificate:
    """Return how often somebody is right.

    Parameters
    ----------
    checks : sequence of (int, bool)
        For every check, in order, the stratum of the answer and whether it was right.
    sizes : sequence of int
        How many answers there are in each stratum.

    Examples
    --------
    >>> found = certificate([(0, True)] * 28 + [(0, False)] * 2, sizes=[200])
    >>> f"{found.estimate:.3f}, at least {found.at_least:.3f}"
    '0.933, at least 0.725'
    """
    n = np.zeros(len(sizes))
    right = np.zeros(len(sizes))
    for stratum, is_right in checks:
        n[stratum] += 1
        right[stratum] += is_right
    shares = np.maximum(np.asarray(sizes, dtype=np.float64), n)
    shares = shares / max(shares.sum(), 1.0)
    low, high = interval(n, right, shares)
    pooled = (right.sum() + PRIOR[0]) / (n.sum() + sum(PRIOR))
    each = np.where(n > 0, right / np.maximum(n, 1), pooled)
    estimate = float(np.clip(shares @ each, low, high)) if shares.sum() else pooled
    n_right = int(right.sum())
    return Certificate(len(checks), n_right, float(estimate), low, high, is_falling(checks))


def interval(
    n: NDArray[np.float64], right: NDArray[np.float64], shares: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the ends of the interval for the share of right answers of at most two strata."""
    grid = (np.arange(STEPS) + 0.5) / STEPS
    if not n.sum() or not shares.sum():
        return 0.0, 1.0
    logs = [_log_capital(grid, float(k), float(r)) for k, r in zip(n, right, strict=True)]
    used = [k for k in range(len(shares)) if shares[k] > 0]
    if len(used) == 1:
        capital, value = logs[used[0]], grid
    else:
        one, other = used
        capital = logs[one][:, None] + logs[other]
        value = shares[one] * grid[:, None] + shares[other] * grid
    inside = value[capital < -np.log(ALPHA)]
    half = 0.5 / STEPS
    # Rounded, so that where all are right the end is 1, and not a last bit less.
    low, high = round(float(inside.min()) - half, 9), round(float(inside.max()) + half, 9)
    return max(0.0, low), min(1.0, high)


def is_falling(checks: Sequence[tuple[int, bool]]) -> bool:
    """Return whether the latest checks are surely worse than those before."""
    before, latest = checks[:-RECENT], checks[-RECENT:]
    if len(before) < RECENT:
        return False
    ends = []
    for some in (before, latest):
        n, right = float(len(some)), float(sum(is_right for _, is_right in some))
        ends.append(interval(np.array([n]), np.array([right]), np.array([1.0])))
    return ends[1][1] < ends[0][0]


def _log_capital(p: NDArray[np.float64], n: float, right: float) -> NDArray[np.float64]:
    """Return the logarithm of K(p)."""
    from scipy.special import betaln

    a, b = PRIOR
    log_mean = float(betaln(a + right, b + n - right) - betaln(a, b))
    return np.asarray(log_mean - right * np.log(p) - (n - right) * np.log1p(-p))
