"""A bar for every pass over rows: how many are done, and how long the rest will take."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Self

import click

PHASES = {
    "range": "find the range of the columns",
    "sample": "take a sample",
    "train": "train on the sample",
    "assign": "assign all rows",
    "medians": "find the medians",
    "means": "find the means",
    "nearest": "find typical rows",
    "score": "choose representatives",
    "write": "write labels",
}


class RowProgress:
    """Shows ``progress(phase, rows_done, n_rows)`` on the error output.

    Parameters
    ----------
    also : callable, optional
        Called with the same, the phase in words.
    """

    def __init__(self, also: Callable[[str, int, int], None] | None = None) -> None:
        self._also = also
        self._bar: Any = None
        self._phase = ""
        self._open = ExitStack()

    def __call__(self, phase: str, done: int, n_rows: int) -> None:
        """Show how far a phase is."""
        if phase != self._phase:
            self._open.close()
            self._phase = phase
            self._bar = self._open.enter_context(
                click.progressbar(
                    length=n_rows,
                    label=f"{PHASES.get(phase, phase)}, {n_rows:,} rows",
                    show_pos=True,
                    show_eta=True,
                    file=sys.stderr,
                )
            )
        self._bar.update(done - self._bar.pos)
        if self._also is not None:
            words = PHASES.get(phase, phase)
            self._also(f"{words[0].upper()}{words[1:]}", done, n_rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
