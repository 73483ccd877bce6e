"""How good the groups are, how much is left to ask, and whether one can stop: in words."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.core.session import Session
from likewise.words import plural

GOOD_ENOUGH = 0.85
"""One can stop when at least this share of the items is right, with a confidence of 95 %. On 24
practice tasks it was said in 37 of 240 moments; in 35 of them fewer than 2 % of the rows moved in
the next twenty answers, and never 5 %. With .9 it is said in 11."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """Where a session stands, for who wonders whether to go on.

    Attributes
    ----------
    quality : str
        How much is right by estimate; empty where that cannot be said yet.
    to_go : str
        How much is left to ask.
    can_stop : bool
        Whether the groups are good enough.
    """

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
        return line[0].upper() + line[1:]


def outlook(session: Session) -> Outlook:
    """Return where a session stands.

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
    n_left = max(1, session.progress.estimate)
    return Outlook(quality, f"about {plural(n_left, 'question')} to go", can_stop)
