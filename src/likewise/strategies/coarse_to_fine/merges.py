"""Which groups are so plainly different that the question can wait.

With K groups, showing that each differs from every other takes K (K - 1) / 2 questions. Most of
them nobody needs: they are asked last, if at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from likewise.learning.kernel_vote import gaussian, ridge

CONFUSED = 12.0
"""So much likelier to be one are two groups of which a learner takes all rows for the other's."""

DOUBT, DOUBT_OF_MANY = 0.1, 10.0
"""Two groups that are one with less probability than the first of these are not asked about. The
more questions there are, the less each is worth: no more than the second, shared by all."""

SMOOTHING, SHARPNESS = 0.1, 5.0


def chances_of_one(
    views: Sequence[NDArray[np.float64]],
    groups: NDArray[np.intp],
    *,
    n_apart: int,
) -> NDArray[np.float64]:
    """Return, for every two groups, how likely they are one.

    After many such pairs in a row that turned out different, the next one will hardly be the same;
    likelier are groups that a learner takes for each other where it has not seen the row itself.

    Parameters
    ----------
    views : sequence of ndarray of shape (n_known, n_features)
        The known rows, scaled to a mean square norm of about 1, seen in one way or several.
    groups : ndarray of shape (n_known,)
        Their groups, numbered from 0 without gaps.
    n_apart : int
        How many answers about two groups were *different* since the last *same*.

    Examples
    --------
    Two groups lie side by side, the third does not:

    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [2.0], [2.1]])
    >>> groups = np.array([0, 0, 1, 1, 2, 2])
    >>> chances_of_one([X], groups, n_apart=9).round(2).tolist()
    [[1.0, 0.42, 0.09], [0.42, 1.0, 0.09], [0.09, 0.09, 1.0]]
    """
    n_groups = int(groups.max()) + 1
    said = np.mean([_left_out(view, groups, n_groups) for view in views], axis=0)
    confused = np.array([said[groups == g].mean(axis=0) for g in range(n_groups)])
    likelier = np.maximum(1.0, CONFUSED * np.maximum(confused, confused.T))
    odds = likelier / (n_apart + 1)
    chances: NDArray[np.float64] = odds / (1.0 + odds)
    np.fill_diagonal(chances, 1.0)
    return chances


def plainly_different(
    views: Sequence[NDArray[np.float64]],
    members: Mapping[int, Sequence[int]],
    *,
    n_apart: int,
    n_questions: int,
) -> set[tuple[int, int]]:
    """Return the pairs of groups that need no question, both ways round.

    Parameters
    ----------
    views : sequence of ndarray of shape (n_cells, n_features)
        All cells.
    members : mapping of int to sequence of int
        The known cells of every group; nothing is said about groups of one.
    n_apart : int
        How many answers about two groups were *different* since the last *same*.
    n_questions : int
        How many questions there will be, or were so far.
    """
    names = [name for name, cells in members.items() if len(cells) > 1]
    doubt = min(DOUBT, DOUBT_OF_MANY / max(1, n_questions))
    if len(names) < 3 or 1.0 / (n_apart + 2) >= doubt:
        return set()
    cells = [cell for name in names for cell in members[name]]
    groups = np.repeat(np.arange(len(names)), [len(members[name]) for name in names])
    chances = chances_of_one([view[cells] for view in views], groups, n_apart=n_apart)
    return {(names[i], names[j]) for i, j in np.argwhere(chances < doubt).tolist()}


def _left_out(
    rows: NDArray[np.float64], groups: NDArray[np.intp], n_groups: int
) -> NDArray[np.float64]:
    """Return how likely each row is in each group, by kernel regression on all others."""
    targets = np.eye(n_groups)[groups]
    shares = targets.mean(axis=0)
    _, left_out = ridge(gaussian(rows, 1.0), targets - shares, SMOOTHING)
    return np.asarray(softmax(SHARPNESS * (left_out + shares), axis=1))
