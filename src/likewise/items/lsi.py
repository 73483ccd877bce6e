"""Texts as numbers: tf-idf weights of their words, then latent semantic indexing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.datasets.newsgroups import rounded

WORD_DIMENSIONS = 10
"""As many as the COBRA paper uses for newsgroup messages."""

CHARACTER_DIMENSIONS = 16


def word_lsi(texts: Sequence[str]) -> np.ndarray:
    """Return unit vectors from the words of the texts, or no columns where words are of no use.

    The weighting is the one that reproduces the paper's newsgroup data: English stop words and
    words of more than half of the texts are left out, words need two texts, at most 10 000 are
    kept. A script without spaces between words, or texts too short to share any, gives an array
    without columns.
    """
    weights = _tf_idf(
        texts,
        max_df=0.5 if len(texts) >= 10 else 1.0,
        min_df=2,
        max_features=10_000,
        stop_words="english",
    )
    # One word says the same of every text that has it.
    if weights is None or weights.shape[1] < 2:
        return np.empty((len(texts), 0))
    wordless = np.diff(weights.indptr) == 0
    if wordless.sum() > len(texts) / 4:
        return np.empty((len(texts), 0))
    return _latent(weights, WORD_DIMENSIONS)


def character_lsi(texts: Sequence[str]) -> np.ndarray:
    """Return unit vectors from the letters of the texts, for names, codes and other scripts."""
    weights = _tf_idf(texts, analyzer="char_wb", ngram_range=(1, 3), max_features=20_000)
    if weights is None or weights.shape[1] < 2:
        return np.zeros((len(texts), 1))
    return _latent(weights, CHARACTER_DIMENSIONS)


def _tf_idf(texts: Sequence[str], **options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return TfidfVectorizer(**options).fit_transform(texts)
    except ValueError:  # scikit-learn's way to say that no word is left
        return None


def _latent(weights: Any, dimensions: int) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    dimensions = min(dimensions, *weights.shape)
    svd = TruncatedSVD(dimensions, n_iter=10, random_state=0)
    # Texts without a word are zeros, at the same distance from all others: see `DECIMALS`.
    return rounded(normalize(svd.fit_transform(weights)))
