"""Latent semantic indexing: unit vectors of texts, from words or from runs of letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.items.cache import FeatureCache, package_versions
from likewise.items.items import digest

RECIPE = "texts 3"
"""Change this whenever the features change, so that old ones are not used."""

WORD_DIMENSIONS = 10
"""The number of dimensions that the COBRA paper uses for newsgroup messages."""

CHARACTERS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (1, 3)}
"""Runs of one to three letters within a word."""

CHARACTER_DIMENSIONS = 16
"""Dimensions of the features from letters. Names and codes need a few more than texts."""

DECIMALS = 6
"""Features are rounded to this many decimals, to be the same on every machine. Processors add in
different orders, which moves features by up to 1e-12; that alone would decide which center the row
of zeros of an empty text joins first. With 5 to 8 decimals processors agree as well."""

By = Literal["words", "letters"]
Latent = tuple[NDArray[np.float64], dict[str, Any]]
"""Unit vectors of texts, and what was learned from them, as plain values and arrays."""


class LatentTexts:
    """Fits unit vectors to texts, once per list of texts, and describes new texts by a fit."""

    def __init__(self, cache: FeatureCache) -> None:
        self._cache = cache
        self._fits: dict[tuple[By, str], Latent] = {}

    def fit(self, texts: Sequence[str], by: By) -> Latent:
        """Return unit vectors of texts and their recipe; no columns if texts share too few words.

        The recipe has what was learned, and `of`, a hash of the texts.
        """
        key = by, digest(*texts)
        if key not in self._fits:
            make = fit_words if by == "words" else fit_characters
            made_by = f"{RECIPE}, {by}, {package_versions('scikit-learn')}"
            X, learned = self._cache.get_plain(made_by, key[1], lambda: make(texts))
            self._fits[key] = X, {**learned, "by": by, "of": key[1]}
        return self._fits[key]

    def describe(self, texts: Sequence[str], recipe: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return unit vectors by a recipe; unknown words are ignored."""
        # A fit is not quite what its components give: the first texts keep what was fitted.
        if recipe["of"] == digest(*texts):
            return self.fit(texts, recipe["by"])[0]
        if "terms" not in recipe:
            return np.zeros((len(texts), 1))
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.preprocessing import normalize

        options: Any = CHARACTERS if recipe["by"] == "letters" else {}
        vectorizer = TfidfVectorizer(vocabulary=recipe["terms"], **options)
        vectorizer.idf_ = np.asarray(recipe["idf"])
        return rounded(normalize(vectorizer.transform(texts) @ np.asarray(recipe["components"]).T))


def fit_words(texts: Sequence[str]) -> Latent:
    """Return LSI unit vectors, weighted as in the paper's newsgroup data, or no columns."""
    most = 0.5 if len(texts) >= 10 else 1.0
    options = {"max_df": most, "min_df": 2, "max_features": 10_000, "stop_words": "english"}
    latent = _latent(texts, WORD_DIMENSIONS, most_wordless=0.25, **options)
    return latent or (np.empty((len(texts), 0)), {})


def fit_characters(texts: Sequence[str]) -> Latent:
    """Return unit vectors from the letters of the texts, for names, codes and other scripts."""
    latent = _latent(
        texts, CHARACTER_DIMENSIONS, most_wordless=1.0, **CHARACTERS, max_features=20_000
    )
    return latent or (np.zeros((len(texts), 1)), {})


def _latent(
    texts: Sequence[str], dimensions: int, *, most_wordless: float, **options: Any
) -> Latent | None:
    """Return unit vectors by latent semantic indexing, None if there is too little to index."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    vectorizer = TfidfVectorizer(**options)
    try:
        weights = vectorizer.fit_transform(texts)
    except ValueError:  # scikit-learn's way to say that no word is left
        return None
    n_wordless = int((np.diff(weights.indptr) == 0).sum())
    # A single word cannot separate the texts that have it.
    if min(weights.shape) < 2 or n_wordless > most_wordless * len(texts):
        return None
    svd = TruncatedSVD(min(dimensions, *weights.shape), n_iter=10, random_state=0)
    # Texts without a word are zeros, at the same distance from all others: see `DECIMALS`.
    with np.errstate(divide="ignore", invalid="ignore"):  # equal texts have no variance
        X = rounded(normalize(svd.fit_transform(weights)))
    places = vectorizer.vocabulary_
    return X, {
        "terms": sorted(places, key=places.__getitem__),
        "idf": vectorizer.idf_,
        "components": svd.components_,
    }


def rounded(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return features with `DECIMALS` decimals, and no negative zeros."""
    return np.asarray(np.round(X, DECIMALS) + 0.0, dtype=np.float64)
