"""Texts, one per row of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.items.cache import FeatureCache
from likewise.items.encoders import (
    AUTO,
    INSTALL,
    WORDS,
    check_same,
    check_trusted,
    installed,
    named,
    notices,
    recipe_of,
    text_encoder,
)
from likewise.items.features import Aspect, Features, Problem
from likewise.items.fields import Fields, as_text
from likewise.items.items import LINE_LENGTH, OnProgress, digest, shorten
from likewise.items.latent import LatentTexts
from likewise.items.tablefiles import READING, TableItems
from likewise.items.tables import Table
from likewise.words import plural

MEANING = "meaning"
"""What networks see in texts."""
ENGLISH, MULTILINGUAL = "minilm", "use-multilingual"
"""The networks that are used side by side where they are installed."""
MOSTLY = 0.5
"""If more than this share of letters is not from a to z, the network for English is left out."""
CHUNK = 64
"""How many texts are encoded before the results are saved."""

TEXT_LENGTH = 20_000
"""Texts are cut after this many characters when shown, so that the page stays fast."""

LOOKED_AT = 4_000
"""Tiles and key words come from this many characters of a text."""

PASSAGE_LENGTH = 300
"""A passage of a text that stands for its group has at most this many characters."""

N_KEY_WORDS = 4
"""How many key words sum up a group."""
N_TELLING_WORDS = 20
"""How many words of a long text are highlighted. With 10, some texts have none on the first screen;
with 40, whole lines are highlighted."""

MOST_COMPARED = 2_000
"""Key words are found by comparing with a sample of this many texts."""

WORD = re.compile(r"[^\W\d_]{3,}")
HEADERS = re.compile(r"\A(?:[A-Z][\w.-]*: .*\n(?:[ \t]+\S.*\n)*){2,}\n")
"""The head of a mail: at least two lines with a name and a colon, then an empty line."""

PASSED_OVER = re.compile(r"(\s*[>|].*|(?:In|From) article\b.*|.*\b(?:writes|wrote)\W*|\W*)")
"""A line that is quoted, says who is quoted, or has no words."""

ADDRESS = re.compile(r"\S*(?:@|://|www\.)\S*")
"""The address of a person or a page, whose parts say nothing about a group."""


class TextItems(TableItems):
    """One column of a table, read as texts."""

    kind = "texts"
    noun = "text"
    option = "text"
    options = ("text", "id", "show", "encoder", *READING)

    def __init__(
        self,
        table: Table,
        text: str | None = None,
        *,
        id: str | None = None,
        show: Sequence[str] | None = None,
        encoder: str | Sequence[str] = AUTO,
    ) -> None:
        text = table.only_column(text, "text")
        self._texts = [as_text(value) for value in table.column(text)]
        empty = [i for i, value in enumerate(self._texts) if not value.strip()]
        if len(empty) == table.n:
            raise InputError(f"every text in column {text!r} of {table.path} is empty")
        ids = table.ids(id)
        problems = [Problem(i, f"{ids[i]}: the text is empty") for i in empty]
        self._encoder = named(encoder)
        said = notices(self._encoder)
        super().__init__(table, ids, id, problems=problems, notes=(*table.notes, *said))
        self._beside = Fields(table, show or ())
        self._known_words: dict[int, frozenset[str]] = {}

    def title(self, i: int) -> str:
        """Return the id where there is an id column, else the beginning of the text."""
        return shorten(telling(self._texts[i]) if self.is_numbered else self.ids[i]) or "(empty)"

    def tile(self, i: int) -> dict[str, Any]:
        """Return the beginning of what the text says."""
        return {"line": telling(self._texts[i])[:LINE_LENGTH]}

    def passage(self, i: int, words: Collection[str]) -> dict[str, Any]:
        """Return the part of a text that has most of some words, and which words to mark in it."""
        line = part_with(telling(self._texts[i]), words)
        found = {word.lower() for word in WORD.findall(line)}
        return {"line": line, "telling": sorted(found.intersection(words))}

    def key_words(self, members: Sequence[int]) -> list[str]:
        """Return key words of these texts, ranked by class-based TF-IDF."""
        common = common_words()
        here = Counter(word for i in members for word in self._words(i))
        n_others, others = self._all_words
        scores = {}
        for word, n in here.items():
            share, usual = n / len(members), (others[word] + 1) / (n_others + 1)
            # In at least two texts and a tenth of them; otherwise it is a name or a typing error.
            if n >= max(2, len(members) / 10) and share > 1.5 * usual and word not in common:
                scores[word] = share * np.log(share / usual)
        best: dict[str, str] = {}
        for word in sorted(scores, key=lambda word: (-scores[word], word)):
            best.setdefault(word.removesuffix("s"), word)
        return list(best.values())

    def sum_up(self, members: Sequence[int]) -> str:
        """Return the first key words of these texts."""
        return ", ".join(self.key_words(members)[:N_KEY_WORDS])

    def _words(self, i: int) -> frozenset[str]:
        if i not in self._known_words:
            words = WORD.findall(ADDRESS.sub(" ", telling(self._texts[i])).lower())
            self._known_words[i] = frozenset(words)
        return self._known_words[i]

    @cached_property
    def _all_words(self) -> tuple[int, Counter[str]]:
        """The size of a sample of texts, and in how many of them each word occurs."""
        sample = range(0, self.n, -(-self.n // MOST_COMPARED))
        return len(sample), Counter(word for i in sample for word in self._words(i))

    def view(self, i: int) -> dict[str, Any]:
        """Return the text and the fields beside it; the head of a mail is among these."""
        text = self._texts[i]
        head = HEADERS.match(text[:LOOKED_AT])
        body = text[head.end() :].lstrip("\n") if head else text
        return {
            "kind": self.kind,
            "text": body[:TEXT_LENGTH],
            "length": len(body),
            "telling": self._rarest(i),
            "fields": [*self._beside.row(i), *(headers(head[0]) if head else ())],
        }

    def _rarest(self, i: int) -> list[str]:
        """Return the rarest words of a text that other texts have, too."""
        counts = self._all_words[1]
        shared = [word for word in self._words(i) if counts[word] > 1]
        return sorted(shared, key=lambda word: (counts[word], word))[:N_TELLING_WORDS]

    def content_hash(self, i: int) -> str:
        """Return a hash of the text."""
        return digest(self._texts[i])

    def aspects(self) -> list[Aspect]:
        """Return the *meaning* of the texts where there is a network, else their *words*."""
        return text_aspects(self._texts, self._encoder, self._latent)

    def takes_long(self, aspects: Sequence[Aspect]) -> bool:
        """Whether describing takes long: with a network, it does."""
        return self._own is None and any("encoders" in aspect.recipe for aspect in aspects)

    def compute(
        self,
        aspect: Aspect,
        progress: OnProgress | None = None,
        places: Sequence[int] | None = None,
    ) -> Features:
        """Return unit vectors of the texts; those of several networks side by side."""
        is_partial = places is not None and "encoders" in aspect.recipe
        texts = [self._texts[i] for i in places or ()] if is_partial else self._texts
        X = describe_texts(texts, aspect.recipe, self._encoder, self._latent, self._cache, progress)
        if places is not None and not is_partial:  # words depend on all texts, and take no time
            X = X[list(places)]
        return Features(X, notes=self._cache.notes)


def text_aspects(texts: Sequence[str], encoder: Sequence[str], latent: LatentTexts) -> list[Aspect]:
    """Return the *meaning* of texts, their *words*, or both, as encoders say it."""
    names, better = tuple(encoder), ""
    if AUTO in names:
        best, better = best_encoders(texts)
        names = tuple(one for name in names for one in (best if name == AUTO else (name,)))
    networks = {name: text_encoder(name) for name in names if name != WORDS}
    meaning = []
    if networks:
        about = " beside ".join(network.title for network in networks.values())
        meaning = [Aspect(MEANING, about, recipe_of(networks), better, is_main=True)]
    return meaning + ([_by_words(texts, latent, better)] if WORDS in names else [])


def _by_words(texts: Sequence[str], latent: LatentTexts, better: str) -> Aspect:
    what, why = "words", ""
    X, recipe = latent.fit(texts, "words")
    if not X.shape[1]:
        what, why = "letters", ", because the texts share too few words"
        X, recipe = latent.fit(texts, "letters")
    about = f"tf-idf of {what} and latent semantic indexing, {plural(X.shape[1], 'dimension')}"
    return Aspect(WORDS, f"{about}{why}", recipe, better)


def describe_texts(
    texts: Sequence[str],
    recipe: Mapping[str, Any],
    trusted: Sequence[str],
    latent: LatentTexts,
    kept: FeatureCache,
    progress: OnProgress | None,
) -> NDArray[Any]:
    """Return unit vectors of texts by the recipe of an aspect; of several networks side by side."""
    if "encoders" not in recipe:
        return latent.describe(texts, recipe)
    check_trusted(recipe["encoders"], trusted)
    made_by = list(zip(recipe["encoders"], recipe["keys"], strict=True))
    rows = [
        encoded(texts, name, key, kept, progress if place == 0 else None)
        for place, (name, key) in enumerate(made_by)
    ]
    return np.hstack(rows)


def telling(text: str) -> str:
    """Return the beginning of a text on one line, without mail headers, quotes and rules."""
    start = text[:LOOKED_AT]
    body = HEADERS.sub("", start)
    lines = [line for line in body.splitlines() if not PASSED_OVER.fullmatch(line)]
    return " ".join(" ".join(lines).split()) or " ".join(start.split())


def headers(head: str) -> list[list[str]]:
    """Return the lines of the head of a mail as fields, what it is about first."""
    lines = re.sub(r"\n[ \t]+", " ", head).splitlines()
    fields = [[part.strip() for part in line.split(":", 1)] for line in lines if ":" in line]
    return sorted(fields, key=lambda field: field[0] != "Subject")


def part_with(text: str, words: Collection[str], length: int = PASSAGE_LENGTH) -> str:
    """Return the part of a text that has the most of these words, cut between words.

    Examples
    --------
    >>> from likewise.items.texts import part_with
    >>> part_with("I know little about it, but the orbit of the moon is low.", {"moon"}, 30)
    '… the orbit of the moon is low.'
    """
    if len(text) <= length:
        return text
    places = [(m.start(), m.end(), m[0].lower()) for m in WORD.finditer(text)]
    best, most = 0, 0
    for begin, _, word in places:
        if word not in words:
            continue
        start = max(0, min(begin - length // 4, len(text) - length))
        inside = {w for a, b, w in places if a >= start and b <= start + length and w in words}
        if len(inside) > most:
            best, most = start, len(inside)
    end = best + length
    if best:
        best = text.find(" ", best) + 1 or best
    cut = end if end >= len(text) else max(text.rfind(" ", best, end + 1), best + 1)
    part = text[best:cut].strip()
    return f"{'… ' if best else ''}{part}{'' if cut >= len(text) else ' …'}"


@cache
def common_words() -> frozenset[str]:
    """Return words that say nothing about a group: stop words, and those of mails and chat."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    # They come from reading summaries of texts on all kinds of topics.
    talk = files("likewise.items").joinpath("common_words.txt").read_text(encoding="utf-8")
    return frozenset({*ENGLISH_STOP_WORDS, *talk.split()})


def best_encoders(texts: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the best encoders for these texts that are installed, and how to get better ones."""
    best = (ENGLISH, MULTILINGUAL) if is_in_latin_letters(texts) else (MULTILINGUAL,)
    here = tuple(name for name in best if installed(name))
    better = "" if here == best else f"To see better what texts mean: {INSTALL}"
    return here or (WORDS,), better


def is_in_latin_letters(texts: Sequence[str]) -> bool:
    """Whether most letters of the texts are from a to z.

    Examples
    --------
    >>> from likewise.items.texts import is_in_latin_letters
    >>> is_in_latin_letters(["Où est-il?"]), is_in_latin_letters(["月の軌道", "OK"])
    (True, False)
    """
    letters = [one for text in texts for one in text[:LOOKED_AT] if one.isalpha()]
    return sum(one.isascii() for one in letters) >= MOSTLY * len(letters)


def encoded(
    texts: Sequence[str],
    name: str,
    key: str,
    kept: FeatureCache,
    progress: OnProgress | None,
) -> NDArray[np.float32]:
    """Return a row for each text by an encoder; equal texts are encoded once, and rows are kept."""
    recipe, hashes = f"texts, {key}", [digest(text) for text in texts]
    rows = kept.find(recipe, hashes)
    new = {one: text for one, text in zip(hashes, texts, strict=True) if one not in rows}
    if new:
        encoder = text_encoder(name)
        check_same(encoder, key)
    for start in range(0, len(new), CHUNK):
        chunk = list(new)[start : start + CHUNK]
        fresh = dict(zip(chunk, encoder.encode([new[one] for one in chunk]), strict=True))
        rows |= fresh
        kept.keep(recipe, fresh)
        if progress is not None:
            progress(len(texts) - max(0, len(new) - start - CHUNK), len(texts))
    return np.stack([rows[one] for one in hashes])
