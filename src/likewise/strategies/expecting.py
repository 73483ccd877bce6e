"""In which group a row is to be expected, before any answer about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

FOUNDING = 0.5
"""How likely a row is the first of its group: this share of the founders among known rows."""

MIXED = 0.05
"""So much of what the learner says is spread over all groups: it may be wrong."""

NEAR_YOUNG, FAR_YOUNG = 0.5, 0.03
"""What a group that is too small to learn from can expect: the rows it is nearest to."""


@dataclass(frozen=True, eq=False, slots=True)
class Learnt:
    """What was learned from groups of known cells.

    Attributes
    ----------
    names : tuple of int
        The groups.
    place : mapping of int to int
        Where in `seen` the known cells are.
    seen : ndarray of shape (n_known, n_names)
        What the other known cells say about each.
    chances : ndarray of shape (n_cells, n_names)
        What the known cells say about all.
    """

    names: tuple[int, ...]
    place: Mapping[int, int]
    seen: NDArray[np.float64]
    chances: NDArray[np.float64]

    def about(self, cell: int) -> NDArray[np.float64]:
        """Return how likely a cell is in each group, without what was said about itself."""
        about = self.seen[self.place[cell]] if cell in self.place else self.chances[cell]
        return np.asarray(about)


def expected_groups(
    points: NDArray[np.float64],
    cells: NDArray[np.intp],
    known: NDArray[np.intp],
    names: NDArray[np.intp],
    learnt: Learnt | None,
) -> tuple[NDArray[np.float64], float]:
    """Return how likely cells are in each group, in the order of names, or in a new one.

    Parameters
    ----------
    points : ndarray of shape (n_all_cells, n_features)
        All cells.
    cells : ndarray of int
        The cells in question; -1 for rows that stand for none, of which nothing is expected.
    known : ndarray of int
        Cells that have a group, or -1.
    names : ndarray of int
        Their groups.
    learnt : Learnt, optional
        What was learned from the larger groups. Without it, the nearest known cell's group is
        twice as likely as each of the others.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [1.0], [5.0]])
    >>> one, two, three = np.arange(3)[:, None]
    >>> chances, new = expected_groups(points, one, np.array([1, 2]), np.array([7, 8]), None)
    >>> chances.round(2).tolist(), new
    ([[0.33, 0.17]], 0.5)
    """
    found = np.unique(names)
    column = {int(name): k for k, name in enumerate(found)}
    chances = np.full((len(cells), len(found)), 1.0)
    nearest = _groups_of_nearest(points, cells, known, np.searchsorted(found, names))
    there = [] if learnt is None else [k for k, name in enumerate(learnt.names) if name in column]
    is_learnt = len(there) > 1
    if learnt is not None and is_learnt:
        columns = [column[learnt.names[k]] for k in there]
        chances[:] = FAR_YOUNG
        for i, cell in enumerate(cells):
            if cell < 0:
                chances[i] = 1.0
                continue
            if nearest[i] >= 0:
                chances[i, nearest[i]] = NEAR_YOUNG
            said = learnt.about(int(cell))[there]
            chances[i, columns] = (1.0 - MIXED) * said / max(float(said.sum()), 1e-12)
            chances[i, columns] += MIXED / len(there)
    else:
        has_nearest = np.flatnonzero(nearest >= 0)
        chances[has_nearest] = 0.5
        chances[has_nearest, nearest[has_nearest]] = 1.0
    new = 0.5
    if is_learnt:
        new = min(0.5, FOUNDING * len(found) / len(names))
    return (1.0 - new) * chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-12), new


def _groups_of_nearest(
    points: NDArray[np.float64],
    cells: NDArray[np.intp],
    known: NDArray[np.intp],
    groups: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Return the group of the known cell nearest to each cell but itself, or -1."""
    nearest = np.full(len(cells), -1, dtype=np.intp)
    some = np.flatnonzero(cells >= 0)
    others = np.flatnonzero(known >= 0)
    if len(some) and len(others):
        far = cdist(points[cells[some]], points[known[others]])
        far[cells[some][:, None] == known[others][None, :]] = np.inf
        best = np.argmin(far, axis=1)
        has_one = np.isfinite(far[np.arange(len(some)), best])
        nearest[some[has_one]] = groups[others[best[has_one]]]
    return nearest
