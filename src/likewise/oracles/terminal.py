"""A person at a terminal: how a question is shown there, and the keys that answer it.

`TerminalOracle` asks for `fit`; `likewise label --terminal` puts its questions by `Prompt`, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from likewise.core.answers import Answer, Question
from likewise.errors import BudgetExhausted

SAME = ("s", "\x1b[C")
DIFFERENT = ("d", "\x1b[D")
UNSURE = ("u", "\x1b[B")
"""Letters and arrows that answer: right is the same, left is different, down is not sure."""
QUIT = ("", "q", "\x1b", "\x03", "\x04")
"""What ends the questions: q, Escape, Ctrl-C, Ctrl-D and the end of the input."""

MOST_LISTED = 12
"""The keys of more groups are not listed again below the question."""


class Prompt:
    """A question in a terminal: its words, its keys, and the answer that each key stands for.

    Parameters
    ----------
    question : Question
        What is asked.
    keys : mapping of str to int, optional
        The keys of the groups in the order in which they are shown, and the place of each in the
        question. By default numbers from 1, or none for a pair.

    Examples
    --------
    >>> prompt = Prompt(Question(3, 0, ((1,), (4,))))
    >>> prompt.words, prompt.ways
    ('3. To which of these does it belong?', '[1 2]  [0] none of these')
    >>> prompt.answers["2"]
    1
    """

    def __init__(self, question: Question, keys: Mapping[str, int] | None = None) -> None:
        n = len(question.groups)
        if keys is None:
            is_choice = n > 1 or () in question.groups
            keys = {str(place + 1): place for place in range(n)} if is_choice else {}
        self.keys = dict(keys)
        asks = "To which of these does it belong?" if keys else "Do these two belong together?"
        self.words = f"{question.number}. {asks}"
        self.ways = "[s]ame  [d]ifferent"
        if keys:
            listed = [*keys] if len(keys) <= MOST_LISTED else [*[*keys][:3], "…", *[*keys][-1:]]
            self.ways = f"[{' '.join(listed).upper()}]  [0] none of these"
        self.answers: dict[str, Any] = dict.fromkeys(UNSURE, Answer.UNSURE)
        if n == 1 and not keys:
            self.answers |= dict.fromkeys(SAME, Answer.SAME)
            self.answers |= dict.fromkeys(DIFFERENT, Answer.DIFFERENT)
        if keys:
            self.answers |= {"0": Answer.NONE, **keys}

    def read(self, read: Callable[[], str]) -> str:
        """Return the next key; some groups have one of two letters, and none begins another."""
        key = read()
        while key and any(one.startswith(key.lower()) for one in self.keys):
            if key.lower() in self.keys:
                return key.lower()
            letter = read()
            if not letter:
                return ""
            key += letter
        return key

    def unknown(self, key: str, others: str) -> str:
        """Return what to say about a key that means nothing; `others` are further keys."""
        ours = f"0 {' '.join(self.keys)}" if self.keys else "s d"
        return f"{key!r} is none of the keys {ours} u {others}"


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
        prompt = Prompt(question)
        names = ["it", *prompt.keys] if prompt.keys else ["left", "right"]
        self.write(f"\n{prompt.words}")
        called = (None, *(question.names or [None] * len(question.groups)))
        shown = zip(names, called, ((question.row,), *question.groups), strict=True)
        for key, name, rows in shown:
            texts = [*filter(None, [name]), *map(self.show, rows)]
            self.write(f"  {key:<6} {' · '.join(texts)}")
        while (key := prompt.read(partial(self._line, prompt))) not in QUIT:
            if key in prompt.answers:
                return prompt.answers[key]
            self.write(f"  {prompt.unknown(key, 'q')}")
        raise BudgetExhausted("the person stopped")

    def _line(self, prompt: Prompt) -> str:
        try:
            line = self.read(f"{prompt.ways}  [u]nsure  [q]uit: ")
        except EOFError:
            return "q"
        return line.strip().lower() or " "
