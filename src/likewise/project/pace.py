"""Estimate how long work that is done piece by piece will still take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

LOOKED_BACK = 20
"""The pace is that of this many pieces: the first ones may have come from the cache."""


class Pace:
    """Estimates the time left from the progress so far.

    Examples
    --------
    >>> from likewise.project.pace import Pace
    >>> seconds = iter([0.0, 10.0])
    >>> pace = Pace(lambda: next(seconds))
    >>> pace.at(0)
    >>> pace.seconds_left(400) is None
    True
    >>> pace.at(100)
    >>> pace.seconds_left(400), pace.left(4300)
    (30.0, 'about 7 min left')
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque(maxlen=LOOKED_BACK)

    def at(self, done: int) -> None:
        """Note how much is done now."""
        self._marks.append((self._clock(), done))

    def seconds_left(self, of: int) -> float | None:
        """Return the seconds that the rest will take at this pace; None if it is not known yet."""
        if not self._marks or self._marks[-1][1] == self._marks[0][1]:
            return None
        (began, before), (now, done) = self._marks[0], self._marks[-1]
        return max(0.0, (of - done) * (now - began) / (done - before))

    def left(self, of: int) -> str:
        """Return the same in words, or nothing."""
        seconds = self.seconds_left(of)
        if seconds is None:
            return ""
        return f"about {round(seconds / 60)} min left" if seconds >= 90 else "a minute or less left"
