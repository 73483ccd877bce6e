"""Items that are described while others are already asked about, and that join later.

Where describing takes long, a session about many items begins with a sample of them. The others are
described in the background, piece by piece; what was described is kept, so that a process that is
killed loses one piece. When the last one is done, they join the session in one entry of its log, as
rows that no question is about: so the questions are the same whenever they join.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from likewise.errors import LikewiseError, StaleQueryError
from likewise.items import Aspect, Features
from likewise.items.features import Problem
from likewise.project.describing import ASPECTS
from likewise.project.growing import let_join
from likewise.project.pace import Pace
from likewise.project.project import Project
from likewise.store.packing import readable
from likewise.words import many

PIECE = 128
"""How many items are described at a time."""
POLITE = 10
"""The niceness of the background thread, so that what a person waits for comes first."""


class Rest:
    """The items that wait, and the features of those that are described.

    Parameters
    ----------
    project : Project
        The project that they join.
    aspects : callable
        Returns the aspects by whose recipes they are described.
    described : Features, optional
        The features of the rows that the session has.
    """

    def __init__(
        self,
        project: Project,
        aspects: Callable[[], Sequence[Aspect]],
        described: Features | None = None,
    ) -> None:
        self._project, self._aspects = project, aspects
        self._first = described
        self._places = waiting(project)
        self._described: list[Features] = []
        self.n_done = 0
        self.error = ""
        self.pace = Pace()

    @property
    def n(self) -> int:
        """How many items wait."""
        return len(self._places)

    @property
    def is_described(self) -> bool:
        """Whether all that waits is described, so that it can join."""
        return self.n_done == self.n

    def of_rows(self, where: Sequence[int | None]) -> Features:
        """Return the features of the rows that the session has."""
        if self._first is None:
            present = [place for place in where if place is not None]
            back = {place: k for k, place in enumerate(present)}
            features = self._features(present)
            self._first = features.aligned([None if p is None else back[p] for p in where])
        return self._first

    def step(self) -> bool:
        """Describe a piece or, if none is left, let all join; return whether there is more to do.

        Questions can be asked and answered meanwhile: only the last step keeps the project.
        """
        if self._project.rest is not self:
            return False
        if self.is_described:
            self._join()
            return False
        if not self.n_done:
            self.pace.at(0)
        piece = self._places[self.n_done : self.n_done + PIECE]
        self._described.append(self._features(piece))
        self.n_done += len(piece)
        self.pace.at(self.n_done)
        return True

    @property
    def line(self) -> str:
        """How many items the session is about so far, and when the others join, in words."""
        project = self._project
        total = project.items.n
        so_far, noun = f"{total - self.n} of {total}", many(project.items.noun)
        if self.error:
            return f"{so_far} {noun}; the others cannot be described: {self.error}"
        left = self.pace.left(self.n)
        return f"{so_far} {noun} so far; the others join automatically{f', {left}' * bool(left)}"

    def finish(self, progress: Callable[[str, int, int], object]) -> None:
        """Describe all that waits, in the foreground, and let it join."""
        step = f"Describing {many(self._project.items.noun)}"
        while self.step():
            progress(step, self.n_done, self.n)

    def _features(self, places: Sequence[int]) -> Features:
        """Return the features of some items; those of broken ones are those of an average row."""
        project = self._project
        # One that could be read, so that there is always a row, however many are broken.
        rows = (project.where[row] for row in project.session.askable.tolist())
        first = [place for place in rows if place is not None][:1]
        n, places = len(first), [*first, *places]
        aspects = self._aspects()
        with readable(f"the payload {ASPECTS!r}"):
            features = project.items.features_of(places, aspects=aspects)
        items = [(p.item or 0, p.message) for p in features.problems]
        problems = tuple(Problem(k - n, message) for k, message in items if k >= n)
        X, points = features.X[n:].copy(), project.partition.points
        assert points is not None
        X[[k - n for k, _ in items if k >= n]] = points[: project.session.n_first_rows].mean(axis=0)
        return Features(X, aspects=features.aspects, problems=problems)

    def _join(self) -> None:
        """Let all join, unless another process has been faster."""
        project = self._project
        problems: list[Problem] = []
        for start, part in zip(range(0, self.n, PIECE), self._described, strict=True):
            problems += (Problem(start + (p.item or 0), p.message) for p in part.problems)
        with project.lock:
            while project.rest is self:
                project.refresh()
                if project.rest is not self:
                    return
                with suppress(StaleQueryError):
                    let_join(project, self._places, self._described, problems)


def waiting(project: Project) -> list[int]:
    """Return the places of the items that were there when the session began and have no row."""
    held = {name for names in project.copies.values() for name in names}
    held |= {name for row, name in enumerate(project.ids) if project.where[row] is not None}
    known, now = project.store.items, project.items.content_hashes()
    return [
        place
        for place, name in enumerate(project.items.ids)
        if name not in held and known.get(name) == now[name]
    ]


@contextmanager
def in_background(project: Project) -> Iterator[None]:
    """Describe what waits in a thread of its own while the block runs, and end it after a piece."""
    rest, ends = project.rest, threading.Event()
    if not isinstance(rest, Rest):
        yield
        return

    def describe() -> None:
        # Threads that this one starts give way, too. Elsewhere that would concern the process.
        if sys.platform == "linux":
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), POLITE)
        with _said(rest):
            while not ends.is_set() and not rest.is_described and rest.step():
                pass

    def work() -> None:
        polite = threading.Thread(target=describe, name="describing", daemon=True)
        polite.start()
        polite.join()
        # Not there: a question may wait for this, and a thread that gave way cannot hurry again.
        with _said(rest):
            if rest.is_described:
                rest.step()

    thread = threading.Thread(target=work, name="joining", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


@contextmanager
def _said(rest: Rest) -> Iterator[None]:
    """Keep the error that ends a thread, for the page and the terminal."""
    try:
        yield
    except (LikewiseError, OSError, MemoryError) as error:
        rest.error = str(error) or type(error).__name__
