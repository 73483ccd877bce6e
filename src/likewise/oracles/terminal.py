"""A person at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from likewise.core.answers import Answer, Question
from likewise.errors import BudgetExhausted

T = TypeVar("T")

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

    can_choose = True
    is_person = True

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

    def answer(self, question: Question) -> int | Answer | None:
        """Show the question and wait for a key and Enter."""
        if len(question.groups) == 1:
            self.write(f"\n{question.number}. Do these belong together?")
            self.write(f"  left   {self.show(question.row)}")
            self.write(f"  right  {self._group(question.groups[0])}")
            return self._key("[s]ame, [d]ifferent, [u]nsure, [q]uit: ", KEYS)
        self.write(f"\n{question.number}. To which of these does it belong?")
        self.write(f"  it     {self.show(question.row)}")
        for place, group in enumerate(question.groups):
            self.write(f"  {place + 1}      {self._group(group)}")
        n = len(question.groups)
        keys: dict[str, int | Answer | None] = {str(k + 1): k for k in range(n)}
        keys |= {"0": None, "u": Answer.UNSURE}
        return self._key(f"1 to {n}, [0] none of these, [u]nsure, [q]uit: ", keys)

    def _group(self, rows: tuple[int, ...]) -> str:
        return " · ".join(self.show(row) for row in rows)

    def _key(self, prompt: str, keys: Mapping[str, T]) -> T:
        while True:
            try:
                key = self.read(prompt).strip().lower()
            except EOFError:
                key = "q"
            if key == "q":
                raise BudgetExhausted("the person stopped")
            if key in keys:
                return keys[key]
            self.write(f"  {key!r} is not one of {', '.join((*keys, 'q'))}")
