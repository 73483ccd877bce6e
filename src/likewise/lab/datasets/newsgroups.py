"""20 newsgroups: three groups of messages at a time, as ten features of latent semantic indexing.

The recipe: both splits together, headers, footers and quotes stripped, tf-idf over the 10 000 most
frequent words, ten dimensions by a truncated singular value decomposition, rows of unit length,
six decimals, duplicates dropped.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DatasetError
from likewise.files import cache_folder
from likewise.items.latent import rounded
from likewise.lab.datasets.folder import read_arrays, save_arrays

N_WORDS = 10_000
"""As in the paper."""
N_FEATURES = 10
"""As in the paper."""
# Part of the name of cached features: change it with the recipe.
_RECIPE = "lsi-2"


@dataclass(frozen=True)
class Message:
    """One message with its headers, decoded as latin-1."""

    newsgroup: str
    id: str
    split: str
    text: str


@dataclass(frozen=True, eq=False)
class Corpus:
    """The messages that remain of a task, and their features."""

    X: NDArray[np.float64]
    ids: tuple[str, ...]
    labels: tuple[str, ...]
    texts: tuple[str, ...]


def read_messages(path: Path) -> list[Message]:
    """Read one JSON object per line, gzipped."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return [Message(**json.loads(line)) for line in file]
    except (OSError, EOFError, ValueError, TypeError) as error:
        raise DatasetError(f"{path} cannot be read: {error}; get the file again.") from error


def message_bytes(messages: Iterable[Message]) -> bytes:
    """Return the gzipped lines that `read_messages` reads; the same bytes for the same messages."""
    lines = "".join(json.dumps(asdict(message)) + "\n" for message in messages)
    return gzip.compress(lines.encode(), mtime=0)


def message_facts(messages: Sequence[Message]) -> dict[str, Any]:
    """Return what is checked against the committed table of expectations."""
    digest = sha256()
    for message in sorted(messages, key=lambda m: (m.newsgroup, m.split, m.id)):
        digest.update("\0".join((message.newsgroup, message.split, message.id, "")).encode())
        digest.update(sha256(message.text.encode()).digest())
    return {
        "rows": len(messages),
        "classes": dict(sorted(Counter(m.newsgroup for m in messages).items())),
        "digest": digest.hexdigest(),
    }


_QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")


def strip_message(text: str) -> str:
    r"""Leave out the headers, then the footer, then the quotes, as scikit-learn does."""
    body = text.partition("\n\n")[2]
    lines = body.strip().split("\n")
    blank = [number for number, line in enumerate(lines) if not line.strip().strip("-")]
    if blank and blank[-1] > 0:
        body = "\n".join(lines[: blank[-1]])
    return "\n".join(line for line in body.split("\n") if not _QUOTE.search(line))


def vocabulary(counts: Any, words: Sequence[str]) -> list[str]:
    """Return the most frequent words; among equally frequent ones, the alphabetically first."""
    totals = np.asarray(counts.sum(axis=0)).ravel()
    order = sorted(range(len(words)), key=lambda j: (-totals[j], words[j]))
    return sorted(words[j] for j in order[:N_WORDS])


def lsi(texts: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the features of stripped texts, and the texts they belong to: one of those alike."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    from sklearn.preprocessing import normalize

    counter = CountVectorizer(max_df=0.5, min_df=2, stop_words="english")
    counts = counter.fit_transform(texts)
    # scikit-learn's own `max_features` breaks ties by an unstable sort.
    words = counter.get_feature_names_out()
    chosen = np.searchsorted(words, vocabulary(counts, list(words)))
    tfidf = TfidfTransformer().fit_transform(counts[:, chosen])
    # ARPACK converges to machine precision, so its random start leaves no trace after rounding.
    svd = TruncatedSVD(N_FEATURES, algorithm="arpack", random_state=0)
    # Not fit_transform: it leaves traces of rounding in rows that are zero.
    X = normalize(svd.fit(tfidf).transform(tfidf))

    tfidf.sort_indices()
    weights = tfidf.data.round(12)
    seen: dict[bytes, int] = {}
    for row in range(tfidf.shape[0]):
        part = slice(tfidf.indptr[row], tfidf.indptr[row + 1])
        seen.setdefault(tfidf.indices[part].tobytes() + weights[part].tobytes(), row)
    kept = np.array(list(seen.values()), dtype=np.int64)
    return rounded(X[kept]), kept


def load_corpus(path: Path, groups: tuple[str, ...], read: Callable[[], list[Message]]) -> Corpus:
    """Load the messages of some groups and their features."""
    key = sha256(path.read_bytes())
    key.update("\0".join((_RECIPE, version("scikit-learn"), *groups)).encode())
    cached = cache_folder() / "features" / f"newsgroups-{key.hexdigest()[:16]}.npz"
    try:
        arrays = read_arrays(cached, "X", "words")
        return Corpus(arrays["X"], *map(tuple, json.loads(arrays["words"].tobytes())))
    except DatasetError:
        pass  # Not there yet, or damaged: it is made.
    messages = [message for message in read() if message.newsgroup in groups]
    # Another source may give them in another order, which decides which duplicate stays.
    messages.sort(key=lambda m: (m.newsgroup, m.split, m.id))
    X, kept = lsi([strip_message(message.text) for message in messages])
    chosen = [messages[row] for row in kept]
    corpus = Corpus(
        X,
        ids=tuple(f"{message.newsgroup}/{message.id}" for message in chosen),
        labels=tuple(message.newsgroup for message in chosen),
        texts=tuple(message.text for message in chosen),
    )
    words = json.dumps([corpus.ids, corpus.labels, corpus.texts]).encode()
    save_arrays(cached, X=corpus.X, words=np.frombuffer(words, dtype=np.uint8))
    return corpus
