"""What a server has to show: a project, how far its opening is, or why it failed."""

from __future__ import annotations

import threading
from typing import Any

from likewise.errors import LikewiseError
from likewise.project import Project


class Readiness:
    """A project that is being opened, until it is there or has failed."""

    def __init__(self, source: str, project: Project | None = None) -> None:
        self.source = source
        self.project = project
        self.was_asked = False
        self.has_shown_failure = threading.Event()
        self._step: tuple[str, int, int] = ("Starting", 0, 0)
        self._error: str | None = None

    def progress(self, step: str, done: int = 0, of: int = 0) -> None:
        """Report a step and how much of it is done; `of` is 0 where the amount is unknown."""
        self._step = (step, done, of)

    def fail(self, error: Exception) -> None:
        """Say why the project cannot be opened."""
        is_known = isinstance(error, LikewiseError | OSError)
        self._error = str(error) if is_known else f"{type(error).__name__}: {error}"

    def reply(self) -> tuple[int, dict[str, Any]]:
        """Return the status and the reply to every call before the project is open."""
        self.was_asked = True
        if self._error is not None:
            self.has_shown_failure.set()
            return 500, {"error": self._error, "has_failed": True}
        step, done, of = self._step
        share = f", {done} of {of}" if of else ""
        return 503, {"error": f"not open yet: {step}{share}", "step": step, "done": done, "of": of}
