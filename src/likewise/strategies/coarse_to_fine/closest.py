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
    number = {root: k for k, root in enumerate(known)}
    is_closed = np.eye(len(known), dtype=bool)
    for root, k in number.items():
        is_closed[k, [number[r] for r in links.differing(root) if r in number]] = True
    for a, b in closed:
        if a in number and b in number:
            is_closed[number[a], number[b]] = True
    return closest_of(points, known, new, is_closed)


def closest_of(
    points: NDArray[np.float64],
    known: Mapping[int, Sequence[int]],
    new: Sequence[int],
    is_closed: NDArray[np.bool_],
    but: Iterable[tuple[int, int]] = (),
) -> tuple[int, int] | None:
    """Return the closest two cells of different sets that are not closed, or None.

    Parameters
    ----------
    points, known, new
        As above.
    is_closed : ndarray of shape (n_known, n_known)
        Which sets of `known`, in their order, are not to be compared.
    but : iterable of (int, int)
        Pairs of cells that are left out, whatever their sets.
    """
    cells = [cell for some in known.values() for cell in some] + list(new)
    unit = [k for k, some in enumerate(known.values()) for _ in some]
    unit += range(len(known), len(known) + len(new))
    n = len(known) + len(new)
    is_out = np.eye(n, dtype=bool)
    is_out[: len(known), : len(known)] = is_closed
    if is_out.all():
        return None
    far = cdist(points[cells], points[cells])
    far[is_out[np.ix_(unit, unit)]] = np.inf
    where = {cell: k for k, cell in enumerate(cells)}
    for a, b in but:
        if a in where and b in where:
            far[where[a], where[b]] = far[where[b], where[a]] = np.inf
    i, j = (int(k) for k in np.unravel_index(int(np.argmin(far)), far.shape))
    return (cells[i], cells[j]) if np.isfinite(far[i, j]) else None
