"""Whether people agree with what their answers imply: how check questions went."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from likewise.core.answers import Answer
from likewise.core.reports import Check


@dataclass(frozen=True, slots=True)
class Agreement:
    """How the check questions went.

    Attributes
    ----------
    n : int
        Checks answered with yes or no.
    n_wrong : int
        Those that came out otherwise than the earlier answers imply.
    low, high : float
        Where the share of wrong ones lies with 95 % confidence (Wilson's interval).
    """

    n: int
    n_wrong: int
    low: float
    high: float

    @classmethod
    def of(cls, checks: Iterable[tuple[Check, Answer | None]]) -> Agreement:
        """Return how check questions went, by what was said to each."""
        links = [(check, said) for check, said in checks if said and said.is_link]
        wrong = sum(check.expected is not said for check, said in links)
        return cls(len(links), wrong, *wilson_interval(wrong, len(links)))


def wilson_interval(n_hits: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % interval of a share of which `n_hits` of `n` were seen.

    The formula stands here since the function in `scipy.stats` takes a second to import.

    Examples
    --------
    >>> [round(end, 2) for end in wilson_interval(1, 5)]
    [0.04, 0.62]
    """
    if n == 0:
        return 0.0, 1.0
    share = n_hits / n
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)
