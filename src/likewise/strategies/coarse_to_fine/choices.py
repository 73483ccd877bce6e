"""Which groups to show beside a row, and which of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_GROUPS = 6
"""How many groups are shown at once: as many as fit on a page, with one key for each."""

N_SHOWN = 3
"""How many rows of a group are shown, if it has them."""

NEW_SHARE = 0.5
"""The probability that a row is the first of its group is this times the number of groups per
placed row. Half or twice as much changes the mean adjusted Rand index of 50 pairs on ten of the
paper's tasks by less than .001. The same holds for `MIXED` and `LIKELY`."""

MIXED = 0.05
"""This share of the learner's probability is spread over all groups, since it may be wrong."""

LIKELY = 0.03
"""A group that is less likely than this is not asked about alone."""

CREDIBLE = 0.8
"""Where answers may be wrong, the rows shown of a group belong to it with at least this probability
by what is known of other rows. A misplaced row that is shown would misplace others."""


class Likeliest(NamedTuple):
    """Groups in the order in which they are shown.

    Attributes
    ----------
    groups : list of int
        The groups, the most likely first.
    chances : ndarray of shape (n_groups,)
        How likely the row belongs to each.
    new : float
        How likely it belongs to none of them.
    """

    groups: list[int]
    chances: NDArray[np.float64]
    new: float

    def is_worth_a_question(self, max_groups: int) -> bool:
        """Return whether to ask about these groups, or to let the row begin a new one."""
        shown = float(self.chances[:max_groups].sum())
        return shown >= (LIKELY if max_groups == 1 else max(LIKELY, self.new))


def chance_of_new(n_groups: int, n_placed: int) -> float:
    """Return how likely the next row is the first of its group.

    Examples
    --------
    >>> chance_of_new(3, 5), chance_of_new(3, 50)
    (0.3, 0.03)
    """
    return min(0.5, NEW_SHARE * n_groups / n_placed) if n_placed else 0.5


def with_own_groups(
    chances: NDArray[np.float64], region: NDArray[np.intp], asked: Sequence[int], new: float
) -> NDArray[np.float64]:
    """Return chances with one more group for every region that is likely a group of its own.

    That is a region without a cell that was asked about, where a new group is more likely than
    every known one. With many groups there are such regions for a long time, since a row takes
    several pairs. Mean adjusted Rand index of four sets of embeddings with 25 pairs: .287, without
    this .264.

    Parameters
    ----------
    chances : ndarray of shape (n_cells, n_groups)
        How likely each cell belongs to each group, by the learner.
    region : ndarray of shape (n_cells,)
        The region of every cell.
    asked : sequence of int
        The cells that were asked about.
    new : float
        How likely a row is the first of its group.

    Examples
    --------
    >>> chances = np.array([[1.0, 0.0], [0.4, 0.6], [0.9, 0.1]])
    >>> with_own_groups(chances, np.array([0, 1, 2]), [0], new=0.4).round(2).tolist()
    [[1.0, 0.0, 0.0], [0.24, 0.36, 0.4], [0.9, 0.1, 0.0]]
    """
    found = chances.copy()
    for k in np.setdiff1d(region, region[list(asked)]):
        is_in = region == k
        if new > (1.0 - new) * float(chances[is_in].mean(axis=0).max()):
            found[is_in] *= 1.0 - new
            found = np.column_stack([found, np.where(is_in, new, 0.0)])
    return found


def likeliest(
    groups: Sequence[int],
    chances: NDArray[np.float64],
    distances: Sequence[float],
    *,
    n_groups: int,
    n_placed: int,
) -> Likeliest:
    """Return groups in the order in which they are shown beside a row.

    Parameters
    ----------
    groups : sequence of int
        The groups that the row may belong to.
    chances : ndarray of shape (len(groups),)
        How likely it belongs to each, by the learner.
    distances : sequence of float
        How far its nearest known row is from the row: where two groups are equally likely, the
        nearer one comes first.
    n_groups, n_placed : int
        How many groups there are, and how many rows are known to be in them.

    Examples
    --------
    >>> import numpy as np
    >>> found = likeliest([7, 8], np.array([0.1, 0.8]), [1.0, 2.0], n_groups=3, n_placed=30)
    >>> found.groups, found.chances.round(2).tolist(), round(found.new, 2)
    ([8, 7], [0.83, 0.12], 0.06)
    """
    new = chance_of_new(n_groups, n_placed)
    weights = (1.0 - new) * ((1.0 - MIXED) * chances + MIXED / max(1, n_groups))
    order = np.lexsort((np.asarray(distances), -weights.round(9)))
    total = float(weights.sum()) + new
    return Likeliest([groups[k] for k in order], weights[order] / total, new / total)


def rows_to_show(
    members: Sequence[int],
    fresh: Sequence[int],
    *,
    n_same: Mapping[int, int],
    belief: Mapping[int, float],
    distances: Mapping[int, float] | None,
) -> list[int]:
    """Return the rows by which a group is shown; the first one stands for it in the log.

    First comes a row that others were found to be the same as. Then come the nearest ones or,
    where answers may be wrong, those that belong to the group most surely.

    Parameters
    ----------
    members : sequence of int
        The rows of the group, by first mention.
    fresh : sequence of int
        Those of them that the row in question was not compared with, at least one.
    n_same : mapping of int to int
        How many answers say that a row is the same as another one.
    belief : mapping of int to float
        How likely a row belongs to the group by what is known of others; 0 if it is not there.
    distances : mapping of int to float, optional
        How far the rows are from the row in question; None where answers may be wrong.

    Examples
    --------
    >>> near = {1: 0.5, 2: 3.0, 3: 0.2, 4: 1.0}
    >>> rows_to_show([1, 2, 3, 4], [1, 2, 3, 4], n_same={2: 3}, belief={}, distances=near)
    [2, 3, 1]
    """
    place = {row: k for k, row in enumerate(members)}
    first = max(
        fresh,
        key=lambda row: (min(2, n_same.get(row, 0)), belief.get(row, 0.0) >= CREDIBLE, -place[row]),
    )
    others = [row for row in members if row != first]
    if distances is not None:
        others.sort(key=lambda row: distances[row])
    else:
        others = [row for row in others if belief.get(row, 0.0) >= CREDIBLE]
        others.sort(key=lambda row: -belief[row])
    return [first, *others[: N_SHOWN - 1]]
