"""How complete the groups are: what the answers say about rows that nobody was asked about.

Every row whose group is known is foretold from the other known rows alone. How often that is right
is how often a row is right that nobody was asked about, or less, since such a row also has the one
known row that is nearest to it. A group with one known row is never foretold, so what is known only
once counts as wrong, as it should: it stands for groups that were not met yet.

The lower bound counts a row only as far as its prediction was sure. Counting right predictions
instead, it held 98 % of the time at every ten answers up to 120 on 24 practice tasks, but 75 % on
faces-pose, where rows that were asked about are easier than others; as it is, it held always.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

CONFIDENCE = 0.95


def share_right(
    seen: NDArray[np.float64], groups: NDArray[np.intp], n_open: int = 0
) -> tuple[float, float]:
    """Return the share of rows that are right, and a lower bound at 95 % confidence.

    Parameters
    ----------
    seen : ndarray of shape (n_known, n_groups)
        For every known row, how likely each group is by the other known rows.
    groups : ndarray of shape (n_known,)
        The known groups.
    n_open : int, default=0
        How many more rows were asked about whose group is not known yet; they count as wrong.

    Examples
    --------
    >>> import numpy as np
    >>> seen = np.repeat([[0.9, 0.1], [0.2, 0.8]], 10, axis=0)
    >>> groups = np.repeat([0, 1], 10)
    >>> [round(share, 2) for share in share_right(seen, groups)]
    [1.0, 0.66]
    >>> groups[:2] = 1
    >>> [round(share, 2) for share in share_right(seen, groups)]
    [0.9, 0.57]
    """
    n = len(groups) + n_open
    n_right = int((seen.argmax(axis=1) == groups).sum())
    n_sure = min(n_right, float(seen[np.arange(len(groups)), groups].sum()))
    at_least = float(betaincinv(n_sure, n - n_sure + 1, 1.0 - CONFIDENCE)) if n_sure else 0.0
    return n_right / n, at_least
