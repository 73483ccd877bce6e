"""The closest pairs of cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
    links: LinkGraph,
    asked: Iterable[tuple[int, int]],
) -> tuple[int, int] | None:
    """Return the closest two cells of which nobody knows whether they are the same, or None.

    Parameters
    ----------
    points : ndarray of shape (n_cells, n_features)
        All cells.
    known : mapping of int to sequence of int
        Cells that are known to be the same, by their root in `links`.
    links : LinkGraph
        Which roots differ.
    asked : iterable of (int, int)
        Pairs of cells that are not to be asked about.
    """
    number = {root: k for k, root in enumerate(known)}
    is_out = np.eye(len(known), dtype=bool)
    for root, k in number.items():
        is_out[k, [number[r] for r in links.differing(root) if r in number]] = True
    if is_out.all():
        return None
    cells = [cell for some in known.values() for cell in some]
    unit = [k for k, some in enumerate(known.values()) for _ in some]
    far = cdist(points[cells], points[cells])
    far[is_out[np.ix_(unit, unit)]] = np.inf
    place = {cell: k for k, cell in enumerate(cells)}
    for a, b in asked:
        if a in place and b in place:
            far[place[a], place[b]] = far[place[b], place[a]] = np.inf
    i, j = (int(k) for k in np.unravel_index(int(np.argmin(far)), far.shape))
    return (cells[i], cells[j]) if np.isfinite(far[i, j]) else None
