"""Nouns and tables in messages and notebooks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from html import escape

ALIKE = ("series",)
"""Nouns that are the same for one and for many."""


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
