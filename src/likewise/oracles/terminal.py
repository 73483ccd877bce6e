"""A person at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from likewise.core.answers import Answer, Question
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

    def answer(self, question: Question) -> Any:
        """Show the question and wait for a key and Enter."""
        n = len(question.groups)
        names, keys = ["left", "right"], dict[str, Any](KEYS)
        words, prompt = "Do these belong together?", "[s]ame, [d]ifferent, [u]nsure, [q]uit: "
        if n > 1:
            names = ["it", *(str(place) for place in range(1, n + 1))]
            places = {str(place + 1): place for place in range(n)}
            keys = places | {"0": Answer.NONE, "u": Answer.UNSURE}
            words = "To which of these does it belong?"
            prompt = f"1 to {n}, [0] none of these, [u]nsure, [q]uit: "
        self.write(f"\n{question.number}. {words}")
        for name, rows in zip(names, ((question.row,), *question.groups), strict=True):
            self.write(f"  {name:<6} {' · '.join(map(self.show, rows))}")
        return self._key(prompt, keys)

    def _key(self, prompt: str, keys: Mapping[str, Any]) -> Any:
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
