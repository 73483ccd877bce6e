"""A distance up to which two groups are guessed to be the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def distance_threshold(
    answered: NDArray[np.float64], is_same: NDArray[np.bool_], undecided: NDArray[np.float64]
) -> float:
    """Return the distance that separates *same* from *different* best.

    Parameters
    ----------
    answered : ndarray
        Distances of the pairs somebody answered about.
    is_same : ndarray of bool
        Which of these were the same.
    undecided : ndarray
        Distances of the pairs still undecided.

    Returns
    -------
    float
        With both kinds of answers, the threshold with the fewest answers on the wrong side, in
        the middle of its gap. With one kind or none, the widest gap among the undecided
        distances, as far as it does not go against the answers.

    Examples
    --------
    >>> import numpy as np
    >>> distance_threshold(np.array([1.0, 2.0, 6.0]), np.array([True, True, False]), np.array([]))
    4.0
    """
    if is_same.any() and not is_same.all():
        return _fewest_errors(answered, is_same)
    gap = _widest_gap(undecided)
    if is_same.any():
        return max(gap, float(answered.max()))
    if len(answered):
        return min(gap, float(np.nextafter(answered.min(), 0)))
    return gap


def _fewest_errors(answered: NDArray[np.float64], is_same: NDArray[np.bool_]) -> float:
    order = np.argsort(answered, kind="stable")
    distance, same = answered[order], is_same[order]
    # Cut k calls the first k pairs the same and the rest different.
    wrong_below = np.concatenate([[0], np.cumsum(~same)])
    wrong_above = np.concatenate([np.cumsum(same[::-1])[::-1], [0]])
    cut = int(np.argmin(wrong_below + wrong_above))
    if cut == 0:
        return float(np.nextafter(distance[0], 0))
    if cut == len(distance):
        return float(distance[-1])
    return float((distance[cut - 1] + distance[cut]) / 2)


def _widest_gap(distances: NDArray[np.float64]) -> float:
    finite = np.unique(distances[np.isfinite(distances)])
    if len(finite) < 2:
        return 0.0
    k = int(np.argmax(np.diff(finite)))
    return float((finite[k] + finite[k + 1]) / 2)
