"""Nouns and tables in messages and notebooks, and which text may be stored and shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from html import escape
from unicodedata import category

ALIKE = ("series",)
"""Nouns that are the same for one and for many."""

LAYOUT = "\n\r\t"
"""The control characters that texts of several lines have."""


def is_fit(text: str, *, in_lines: bool = False) -> bool:
    """Whether text may be stored and shown: no control characters, no lone surrogates.

    Control characters can change what a terminal shows, and a lone surrogate (half of a character)
    cannot be encoded. With `in_lines`, line breaks and tabs are allowed.
    """
    return all(map(partial(_is_fit, in_lines=in_lines), text))


def readable(text: str, *, in_lines: bool = False) -> str:
    r"""Return text with what is not fit to be shown written as an escape, such as ``\xe9``.

    Bytes of a file name that are not text come back as what they are.
    """
    if text.isprintable() or is_fit(text, in_lines=in_lines):
        return text
    return "".join(c if _is_fit(c, in_lines=in_lines) else _escaped(c) for c in text)


def _is_fit(character: str, *, in_lines: bool) -> bool:
    return category(character) not in ("Cc", "Cs") or (in_lines and character in LAYOUT)


def _escaped(character: str) -> str:
    """Return a character as an escape; Python keeps undecodable bytes as U+DC80 to U+DCFF."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def plural(n: int, noun: str) -> str:
    """Return how many of something there are, in words."""
    return f"{n} {noun if n == 1 else many(noun)}"


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
