"""How good a clustering is: four measures, each 1 for the true partition."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    v_measure_score,
)
from sklearn.metrics.cluster import pair_confusion_matrix


def ari(truth: ArrayLike, labels: ArrayLike) -> float:
    """Return the adjusted Rand index: 0 on average for a random partition."""
    return float(adjusted_rand_score(truth, labels))


def ami(truth: ArrayLike, labels: ArrayLike) -> float:
    """Return the mutual information, adjusted for chance by the arithmetic mean of entropies."""
    return float(adjusted_mutual_info_score(truth, labels))


def v_measure(truth: ArrayLike, labels: ArrayLike) -> float:
    """Return the harmonic mean of homogeneity and completeness."""
    return float(v_measure_score(truth, labels))


def pairwise_f1(truth: ArrayLike, labels: ArrayLike) -> float:
    """Return F1 of the pairs put together, against those that belong together."""
    (_, wrong), (missed, right) = pair_confusion_matrix(truth, labels).tolist()
    return 2 * right / (2 * right + wrong + missed) if right + wrong + missed else 1.0


MEASURES: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "ari": ari,
    "ami": ami,
    "v": v_measure,
    "f1": pairwise_f1,
}
"""The measures by the names of their columns, in the order of a curve's points."""
