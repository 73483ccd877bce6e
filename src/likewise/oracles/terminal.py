"""A person at the terminal."""

from __future__ import annotations

from collections.abc import Callable

from likewise.core.answers import Answer, Query
from likewise.errors import BudgetExhausted

KEYS = {
    "s": Answer.SAME,
    "y": Answer.SAME,
    "d": Answer.DIFFERENT,
    "n": Answer.DIFFERENT,
    "u": Answer.UNSURE,
}


class TerminalOracle:
    """Ask the person who runs the program.

    Parameters
    ----------
    show : callable, optional
        ``show(row)`` returns what to print for a row. By default its number.
    read : callable, default=input
        Reads a line after printing a prompt.
    write : callable, default=print
        Prints a line.

    Notes
    -----
    ``q``, or the end of the input, ends the questions; what was answered counts.
    """

    def __init__(
        self,
        show: Callable[[int], str] = lambda row: f"row {row}",
        *,
        read: Callable[[str], str] = input,
        write: Callable[[str], None] = print,
    ) -> None:
        self.show = show
        self.read = read
        self.write = write

    def answer(self, query: Query) -> Answer:
        """Show the two rows and wait for a key and Enter."""
        self.write(f"\n{query.number}. Do these belong together?")
        self.write(f"  left   {self.show(query.left)}")
        self.write(f"  right  {self.show(query.right)}")
        while True:
            try:
                key = self.read("[s]ame, [d]ifferent, [u]nsure, [q]uit: ").strip().lower()
            except EOFError:
                key = "q"
            if key == "q":
                raise BudgetExhausted("the person stopped")
            if key in KEYS:
                return KEYS[key]
            self.write(f"  {key!r} is not one of s, d, u, q")
