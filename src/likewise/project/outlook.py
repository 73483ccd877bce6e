"""How good the groups are, how much is left to ask, and whether you can stop."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from likewise.core.reports import EARLY
from likewise.core.session import Session
from likewise.words import plural

MORE = 10
"""The outlook says how much this many more answers would change."""

MOVED = 0.35
"""This many more answers move this share of what the last twenty rows moved (with fewer than forty,
the last half), but no more than the estimate says is wrong. On the 20 practice sets, that was .03
off on average after 20 to 70 answers (118 statements); before, .17: then it is not said."""

STILL = 0.02
"""One can stop where an estimate is said and the last twenty rows moved less than this. In 57 of
120 sessions of up to 150 answers on the practice sets that is said; in three of four of them no
later than four answers before the last one that mattered. Further answers then brought .017 of the
rows, in nine of ten sessions at most .04 (`benchmarks.practice stop`). On tasks that are easier,
groups are right before an estimate is said: there in 39% of sessions it comes more than ten answers
after the last one that mattered (`benchmarks.practice unseen`)."""

PAUSE = 60.0
"""An answer that took longer than this, in seconds, was interrupted and is not counted."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """How good a session is, what more answers would bring, and whether to stop."""

    quality: str
    more: str
    can_stop: bool

    @property
    def line(self) -> str:
        """All of it in one line, what helps most first."""
        parts = ["you can stop here" if self.can_stop else "", self.quality, self.more]
        line = " · ".join(part for part in parts if part)
        return line[:1].upper() + line[1:]


def outlook(session: Session) -> Outlook:
    """Return how far along a session is."""
    complete = session.completeness
    quality = "" if complete is None else str(complete)
    can_stop = session.assessment.is_enough() or (
        complete is not None and complete.is_said and complete.changing < STILL
    )
    if session.is_done and not session.progress.has_more:
        is_early = complete is not None and complete.n_known < EARLY
        return Outlook("" if is_early else quality, "nothing left to ask", can_stop=True)
    if session.is_done:  # the budget is spent, which says nothing about the groups
        return Outlook(quality, "", can_stop)
    n_left = session.progress.estimate
    if n_left is not None:
        return Outlook(quality, f"about {plural(max(1, n_left), 'question')} to go", can_stop)
    if complete is None:
        return Outlook("", "too early to say how much is right", can_stop=False)
    if complete.n_known < EARLY:  # as it is for what more answers would bring
        return Outlook(quality, "", can_stop)
    share = min(MOVED * complete.changing, 1.0 - complete.estimate)
    moved = "less than 1%" if share < 0.01 else f"about {share:.0%}"
    return Outlook(quality, f"{in_words(session)} would move {moved} of the items", can_stop)


def in_words(session: Session) -> str:
    """Return how many more answers, and how long they would take this person."""
    seconds = [g.seconds for g in session.events if g.seconds is not None and g.seconds <= PAUSE]
    if len(seconds) < MORE:
        return f"{MORE} more answers"
    minutes = MORE * statistics.median(seconds) / 60
    time = f"{minutes:.0f} min" if minutes >= 1 else f"{60 * minutes:.0f} s"
    return f"{MORE} more answers (about {time})"


def wilson_interval(n_hits: int, n: int) -> tuple[float, float]:
    """Return the 95% Wilson interval."""
    from scipy.stats import binomtest  # learners load it, but not before the first question

    if n == 0:
        return 0.0, 1.0
    interval = binomtest(n_hits, n).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)
