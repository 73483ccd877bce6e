"""How good a clustering is: four measures, each 1 for the true partition."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, v_measure_score
from sklearn.metrics.cluster import pair_confusion_matrix


def pairwise_f1(truth: ArrayLike, labels: ArrayLike) -> float:
    """Return F1 of the pairs put together, against those that belong together."""
    (_, wrong), (missed, right) = pair_confusion_matrix(truth, labels).tolist()
    return 2 * right / (2 * right + wrong + missed) if right + wrong + missed else 1.0


MEASURES: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "ari": adjusted_rand_score,
    "ami": adjusted_mutual_info_score,
    "v": v_measure_score,
    "f1": pairwise_f1,
}
"""The measures by the names of their columns, in the order of a curve's points."""
