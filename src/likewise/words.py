"""Numbers and nouns in messages."""

from __future__ import annotations

ALIKE = ("series",)
"""Nouns that are the same for one and for many."""


def plural(n: int, noun: str) -> str:
    """Return how many of something there are, in words.

    Examples
    --------
    >>> plural(1, "row"), plural(3, "row"), plural(2, "entry"), plural(1, "series")
    ('1 row', '3 rows', '2 entries', '1 series')
    """
    return f"{n} {noun if n == 1 else many(noun)}"


def many(noun: str) -> str:
    """Return a noun for several things."""
    if noun in ALIKE:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeou" else f"{noun}s"
