"""Nouns and tables in messages and notebooks, and which text may be stored and shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from html import escape
from typing import Any

from likewise.errors import InputError

ALIKE = ("series",)
"""Nouns that are the same for one and for many."""

UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, which can change what a terminal shows, and lone surrogates (halves of
characters), which cannot be encoded."""
UNFIT_IN_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""The same without tabs and line breaks, for texts of several lines."""


def is_fit(text: str, *, in_lines: bool = False) -> bool:
    """Whether text may be stored and shown; line breaks and tabs only with `in_lines`."""
    return (UNFIT_IN_LINES if in_lines else UNFIT).search(text) is None


def check_text(text: Any, subject: str, *, in_lines: bool = False) -> str:
    """Return text that may be stored and shown, or raise `InputError`; see `is_fit`.

    `subject` is what it is, such as "a name". Names, notes, ids, instructions and signatures pass
    this, wherever they come from.
    """
    if not isinstance(text, str):
        raise InputError(f"{subject} is a text, got {text!r}")
    if not is_fit(text, in_lines=in_lines):
        raise InputError(
            f"{subject} has no control characters and no lone surrogates (bytes that are not "
            f"UTF-8), got {text!r}. Leave them out."
        )
    return text


def escaped(text: str, *, in_lines: bool = False) -> str:
    r"""Return text with every character that is not fit written as an escape, such as ``\xe9``.

    Bytes of a file name that are not text come back as what they are: Python keeps them as lone
    surrogates, U+DC80 to U+DCFF.
    """

    def escape_of(match: re.Match[str]) -> str:
        code = ord(match[0])
        code -= 0xDC00 if 0xDC80 <= code <= 0xDCFF else 0
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

    return (UNFIT_IN_LINES if in_lines else UNFIT).sub(escape_of, text)


def plural(n: int, noun: str) -> str:
    """Return how many of something there are, in words."""
    return f"{n} {noun if n == 1 else many(noun)}"


def listed(words: Sequence[str]) -> str:
    """Return words with commas and an *and* between them.

    Examples
    --------
    >>> listed(["content", "layout", "words"])
    'content, layout and words'
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def many(noun: str) -> str:
    """Return the plural of a noun."""
    if noun in ALIKE:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeou" else f"{noun}s"


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return a sentence that names the word that was probably meant, or nothing.

    >>> did_you_mean("cobra", ["COBRA", "DSL"])
    ' Did you mean COBRA?'
    """
    folded = {one.casefold(): one for one in words}
    close = get_close_matches(str(word).casefold(), folded, n=1)
    return f" Did you mean {folded[close[0]]}?" if close else ""


def table_lines(rows: Sequence[Sequence[str]], right: Collection[int]) -> list[str]:
    """Return rows of cells as aligned lines; the columns in `right` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def card(title: str, lines: Iterable[tuple[str, object]]) -> str:
    """Return a title and a small table as HTML, for notebooks; all text is escaped."""
    rows = (
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in lines
    )
    return f"<b>{escape(title)}</b><table>{''.join(rows)}</table>"
