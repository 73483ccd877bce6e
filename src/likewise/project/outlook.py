"""How good the groups are, how much is left to ask, and whether one can stop."""

from __future__ import annotations

import math
from dataclasses import dataclass

from likewise.core.session import Session
from likewise.words import plural

GOOD_ENOUGH = 0.94
"""A person can stop when at least this share of the items is right, with a confidence of 95 %. On
26 practice tasks this held at 13 of 346 moments, and the next twenty answers never moved 2 % of the
rows. With .9 it held at 44 moments; at 5 of them 2 % of the rows moved, but never 5 %."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """How far a session is, for a person who considers to stop."""

    quality: str
    to_go: str
    can_stop: bool

    @property
    def line(self) -> str:
        """All of it in one line, what helps most first."""
        parts = [self.quality, self.to_go]
        if self.can_stop:
            parts.insert(0, "you can stop here")
        line = " · ".join(part for part in parts if part)
        return line[:1].upper() + line[1:]


def outlook(session: Session) -> Outlook:
    """Return how far a session is.

    Examples
    --------
    >>> from likewise import COBRA
    >>> outlook(COBRA(n_super_instances=3).start([[0.0], [0.1], [5.0]])).line
    'About 3 questions to go'
    """
    complete = session.completeness
    is_done = session.is_done
    quality, can_stop = "", is_done
    if complete is not None:
        can_stop = complete.at_least >= GOOD_ENOUGH and not complete.unmet
        estimate, at_least = round(100 * complete.estimate), round(100 * complete.at_least)
        quality = f"about {estimate} % right (at least {at_least} %)"
        if complete.unmet:
            quality += f", maybe {plural(complete.unmet, 'group')} not met yet"
    if is_done:
        return Outlook(quality, "nothing left to ask", can_stop)
    n_left = session.progress.estimate
    to_go = "" if n_left is None else f"about {plural(max(1, n_left), 'question')} to go"
    return Outlook(quality, to_go, can_stop)


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
