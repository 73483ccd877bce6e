"""A progress bar for the terminal, with the time that is left."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from likewise.project.beginning import Step
from likewise.project.pace import Pace

CELLS = 24
"""The width of the bar."""


@contextmanager
def bar() -> Iterator[Step]:
    """Yield a function that shows progress on the last line of a terminal, else nothing."""
    shown = Bar()
    try:
        yield shown
    finally:
        shown.clear()


class Bar:
    """One line of a terminal that shows how much of a step is done."""

    def __init__(self) -> None:
        self._is_seen = sys.stderr.isatty()
        self._step, self._pace, self._width = "", Pace(), 0

    def __call__(self, step: str, done: int, of: int) -> None:
        """Show how much of a step is done."""
        if step != self._step:
            self._step, self._pace = step, Pace()
        self._pace.at(done)
        if not self._is_seen or not of:
            return
        full = CELLS * done // of
        left = self._pace.left(of)
        line = f"{step} [{'#' * full}{'-' * (CELLS - full)}] {done} of {of}"
        self.clear()
        if done < of:  # lines that are printed then begin on an empty one
            line += f", {left}" if left else ""
            click.echo(f"\r{line}", err=True, nl=False)
            self._width = len(line)

    def clear(self) -> None:
        """Clear the line."""
        if self._width:
            click.echo(f"\r{' ' * self._width}\r", err=True, nl=False)
        self._width = 0


def both(one: Step, other: Step) -> Step:
    """Return a function that shows progress in two places."""

    def progress(step: str, done: int, of: int) -> None:
        one(step, done, of)
        other(step, done, of)

    return progress
