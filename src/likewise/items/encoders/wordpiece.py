"""BERT's tokenizer: it cuts a text into word pieces, for the uncased vocabulary."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from importlib.resources import files

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
LONGEST_WORD = 100
"""A longer word is unknown, as in the reference."""

LOOKED_AT = 50
"""Characters of a text that are looked at for each piece that is wanted."""

WIDE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
"""Blocks of Chinese characters, each of which is a word of its own."""


@cache
def vocabulary() -> dict[str, int]:
    """Return the number of each piece; those that continue a word begin with ``##``."""
    text = files("likewise.items.encoders").joinpath("bert_uncased.txt").read_text("utf-8")
    return {piece: number for number, piece in enumerate(text.splitlines())}


def numbers(text: str, at_most: int) -> list[int]:
    """Return the numbers of the pieces of a text, with its start and its end.

    Examples
    --------
    >>> from likewise.items.encoders.wordpiece import numbers
    >>> numbers("Unaffable cafés", at_most=10)
    [101, 14477, 20961, 3468, 23812, 102]
    >>> numbers("Unaffable cafés", at_most=4)
    [101, 14477, 20961, 102]
    """
    numbers_of = vocabulary()
    pieces: list[int] = []
    for word in words(text[: LOOKED_AT * at_most]):
        pieces += _pieces(word)
        if len(pieces) >= at_most - 2:
            break
    return [numbers_of[START], *pieces[: at_most - 2], numbers_of[END]]


def words(text: str) -> list[str]:
    """Return the words and marks of a text, in lower case and without accents.

    Examples
    --------
    >>> from likewise.items.encoders.wordpiece import words
    >>> words("Où est-il?")
    ['ou', 'est', '-', 'il', '?']
    """
    text = unicodedata.normalize("NFD", "".join(map(_cleaned, text)).lower())
    return "".join(map(_parted, text)).split()


@cache
def _cleaned(character: str) -> str:
    """Return a character, blank if it is white space, with blanks around a Chinese one."""
    if character in "\t\n\r" or unicodedata.category(character) == "Zs":
        return " "
    # Controls, formats, private use, surrogates and what Unicode has not assigned.
    if unicodedata.category(character)[0] == "C" or character == "\ufffd":
        return ""
    number = ord(character)
    is_wide = any(first <= number <= last for first, last in WIDE)
    return f" {character} " if is_wide else character


@cache
def _parted(character: str) -> str:
    """Return a letter as it is, nothing for an accent, and a mark with blanks around it."""
    category = unicodedata.category(character)
    if category == "Mn":
        return ""
    # All of ASCII that is no letter, digit or blank counts as a mark, as in the reference.
    is_mark = category[0] == "P" or ("!" <= character <= "~" and not character.isalnum())
    return f" {character} " if is_mark else character


@lru_cache(maxsize=100_000)
def _pieces(word: str) -> tuple[int, ...]:
    """Return the numbers of the longest pieces that make up a word, from left to right."""
    numbers_of = vocabulary()
    unknown = (numbers_of[UNKNOWN],)
    if len(word) > LONGEST_WORD:
        return unknown
    found: list[int] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = numbers_of.get(prefix + word[start:end])
            if number is not None:
                break
        else:
            return unknown
        found.append(number)
        start = end
    return tuple(found)
