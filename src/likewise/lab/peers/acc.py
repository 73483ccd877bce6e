"""Active correlation clustering (2024): ask about the most uncertain pairs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.special import entr, softmax

from likewise.core.answers import Answer
from likewise.lab.peers.procedure import Procedure, Questions
from likewise.lab.peers.rows import Array, Ints

WARM_START = 0.01
"""The share of all pairs that is asked about at random first, as in the authors' experiments."""
BATCH = 10
"""How many pairs are chosen at a time. The authors take a hundred, of many more answers."""
K_FIRST, N_STARTS, N_SWEEPS = 10, 5, 30
"""Clusters to begin with, and the effort of the search for a clustering, as in their code."""
SHARPNESS, POWER, N_STEPS, CONVERGED = 3.0, 2.0, 100, 1e-6
"""Of the mean field, and of the noise that spreads a batch, as in their code."""


class CorrelationClustering(Procedure):
    """Cluster by answers alone: features only place rows that may not be asked about.

    Answers are similarities of 1 and -1. The clusters have the largest sum of similarities inside,
    by a local search. A mean field around them says how likely each pair is together; the pairs
    with the largest entropy are asked about, with noise that spreads them.
    """

    name: ClassVar[str] = "acc"

    def _questions(self) -> Questions:
        n = len(self.train)
        rng = np.random.default_rng(self.seed)
        lower, upper = np.tril_indices(n, -1)
        is_open = np.ones(len(lower), dtype=bool)
        self._clusters, k = np.zeros(n, dtype=np.intp), K_FIRST
        similarity = coo_array((n, n)).tocsr()
        chosen = rng.permutation(len(lower))[: max(BATCH, int(WARM_START * len(lower)))]
        while len(chosen):
            is_open[chosen] = False
            for left, right in zip(lower[chosen].tolist(), upper[chosen].tolist(), strict=True):
                answer = yield int(self.train[left]), int(self.train[right])
                if answer.is_link:
                    value = 1.0 if answer is Answer.SAME else -1.0
                    both = ([left, right], [right, left])
                    similarity = similarity + coo_array(([value] * 2, both), shape=(n, n)).tocsr()
            self._clusters = correlation_clusters(similarity, k, rng)
            k = int(self._clusters.max()) + 1
            chances = mean_field(similarity, self._clusters)
            together = np.clip((chances @ chances.T)[lower, upper], 0.0, 1.0)
            scores = np.log(np.maximum(entr(together) + entr(1 - together), 1e-16))
            scores += rng.gumbel(scale=1 / POWER, size=len(scores))
            waiting = np.flatnonzero(is_open)
            chosen = waiting[np.argsort(-scores[waiting], kind="stable")[:BATCH]]

    def _method_labels(self) -> Ints:
        return self._clusters[self._nearest]


def correlation_clusters(similarity: csr_array, k: int, rng: np.random.Generator) -> Ints:
    """Return the best of some local searches for the largest sum of similarities in clusters."""
    n = similarity.shape[0]
    searches: list[tuple[float, Ints]] = []
    for _ in range(N_STARTS):
        labels = rng.integers(min(k, n), size=n)
        for _ in range(N_SWEEPS):
            before = labels.copy()
            for row in rng.permutation(n).tolist():
                start, end = similarity.indptr[row : row + 2]
                columns, values = similarity.indices[start:end], similarity.data[start:end]
                # As in the authors' code, a row without answers goes to the first cluster. One that
                # fits into none begins another: the sum of that is 0, and it is the last.
                sums = np.bincount(labels[columns], values, minlength=int(labels.max()) + 2)
                labels[row] = int(sums.argmax())
            if np.array_equal(labels, before):
                break
        pairs = similarity.tocoo()
        inside = labels[pairs.coords[0]] == labels[pairs.coords[1]]
        searches.append((float(pairs.data[inside].sum()), labels))
    best = max(searches, key=lambda search: search[0])[1]
    return np.unique(best, return_inverse=True)[1].astype(np.intp)


def mean_field(similarity: csr_array, clusters: Ints) -> Array:
    """Return how likely each row is in each cluster, around a clustering."""
    chances = softmax(SHARPNESS * (similarity @ np.eye(clusters.max() + 1)[clusters]), axis=1)
    for _ in range(N_STEPS):
        before, chances = chances, softmax(SHARPNESS * (similarity @ chances), axis=1)
        if np.linalg.norm(chances - before) < CONVERGED:
            break
    return np.asarray(chances)
