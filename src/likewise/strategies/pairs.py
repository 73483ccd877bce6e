"""The closest pairs of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from likewise.core.links import LinkGraph


def closest_between(
    points: NDArray[np.float64], some: Sequence[int], others: Sequence[int]
) -> tuple[float, tuple[int, int]]:
    """Return the smallest distance between two sets of cells, and the two cells."""
    far = cdist(points[list(some)], points[list(others)])
    i, j = np.unravel_index(int(np.argmin(far)), far.shape)
    return float(far[i, j]), (some[int(i)], others[int(j)])


def closest_open(
    points: NDArray[np.float64],
    known: Mapping[int, Sequence[int]],
    new: Sequence[int],
    links: LinkGraph,
    closed: set[tuple[int, int]],
) -> tuple[int, int] | None:
    """Return the closest two cells of which nobody knows whether they are the same, or None.

    Parameters
    ----------
    points : ndarray of shape (n_cells, n_features)
        All cells.
    known : mapping of int to sequence of int
        Cells that are known to be the same, by their root in `links`.
    new : sequence of int
        Cells about which nothing is known.
    links : LinkGraph
        Which roots differ.
    closed : set of (int, int)
        Further pairs of roots that are not to be asked about, both ways round.
    """
    roots = list(known)
    cells = [cell for root in roots for cell in known[root]] + list(new)
    unit = [k for k, root in enumerate(roots) for _ in known[root]]
    unit += range(len(roots), len(roots) + len(new))
    number = {root: k for k, root in enumerate(roots)}
    is_closed = np.eye(len(roots) + len(new), dtype=bool)
    for k, root in enumerate(roots):
        is_closed[k, [number[r] for r in links.differing(root) if r in number]] = True
    for a, b in closed:
        if a in number and b in number:
            is_closed[number[a], number[b]] = True
    if is_closed.all():
        return None
    far = cdist(points[cells], points[cells])
    far[is_closed[np.ix_(unit, unit)]] = np.inf
    i, j = np.unravel_index(int(np.argmin(far)), far.shape)
    return cells[int(i)], cells[int(j)]
