"""Regions of the data, coarse and fine, and the cells that represent them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist

from likewise.core.fingerprint import fingerprint
from likewise.core.links import LinkGraph
from likewise.learning.merge_tree import join_by_guess, merge_tree
from likewise.rows.lloyd import best_of_starts

_N_STARTS = 5
"""Starts of K-means. Mean adjusted Rand index of 50 pairs on ten of the paper's tasks, two seeds:
.618; with 2 starts .609, with 10 .606 (differences of .01 are noise)."""

_MAX_SITES = 500
"""Gains are summed over at most this many cells. With 250 the index is .623, with 1000 .617."""


class Regions:
    """K-means regions of weighted points, computed when they are first needed.

    Parameters
    ----------
    points : ndarray of shape (n_cells, n_features)
        The cells.
    sizes : ndarray of shape (n_cells,)
        How many rows each has.
    is_askable : ndarray of bool
        Which may stand for a region.
    seed : int
        Decides everything random.

    Attributes
    ----------
    kept : dict of str to ndarray
        All cuts so far, by names that identify their cells.
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        sizes: NDArray[np.intp],
        is_askable: NDArray[np.bool_],
        seed: int,
    ) -> None:
        self.points = points
        self.sizes = sizes
        self.is_askable = is_askable
        self.seed = seed
        self.kept: dict[str, NDArray[np.intp]] = {}
        self._reach: tuple[NDArray[np.intp], NDArray[np.float32]] | None = None

    def cut(self, n_regions: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the region of every cell, and a representative of each, larger regions first.

        The representative is the askable cell nearest to the center. A region without an askable
        cell joins the region of the nearest representative.
        """
        names = [f"{self._fingerprint} {n_regions} {what}" for what in ("regions", "heads")]
        if names[0] not in self.kept:
            self.kept.update(zip(names, self._make(n_regions), strict=True))
        region, heads = (self.kept[name] for name in names)
        return region, heads

    @cached_property
    def _fingerprint(self) -> str:
        columns = (self.points, self.sizes, self.is_askable, np.full(len(self.points), self.seed))
        return fingerprint(np.column_stack(columns))

    def newcomers(self, n_regions: int, answered: Sequence[int]) -> list[int]:
        """Return what stands for the regions without an answered cell, larger regions first."""
        region, heads = self.cut(n_regions)
        is_new = np.ones(len(heads), dtype=bool)
        is_new[region[list(answered)]] = False
        return [int(cell) for cell in heads[is_new]]

    def grouped(self, n_regions: int) -> NDArray[np.intp]:
        """Return the group of every cell that the data alone suggest, by a tree of the regions."""
        region, heads = self.cut(n_regions)
        if len(heads) < 2:
            return np.zeros(len(self.points), dtype=np.intp)
        tree = merge_tree(pdist(self.points[heads]), is_euclidean=True)
        joined: NDArray[np.intp] = np.unique(join_by_guess(tree, []), return_inverse=True)[1]
        return joined[region]

    def reach(self) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return some cells, spread evenly, and the squares of their distances to all cells."""
        if self._reach is None:
            step = -(-len(self.points) // _MAX_SITES)
            sites = np.arange(0, len(self.points), step, dtype=np.intp)
            squares = cdist(self.points[sites], self.points, "sqeuclidean")
            self._reach = sites, squares.astype(np.float32)
        return self._reach

    def _make(self, n_regions: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        if n_regions >= len(self.points):
            return self._with_heads(np.arange(len(self.points), dtype=np.intp), self.points)
        # With fewer distinct points than regions, some regions are empty; that is harmless.
        found = best_of_starts(self.points, n_regions, _N_STARTS, self.seed, self.sizes)
        return self._with_heads(found.labels, found.centers)

    def _with_heads(
        self, assignment: NDArray[np.intp], centers: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        askable = np.flatnonzero(self.is_askable)
        heads = []
        for k in range(len(centers)):
            members = askable[assignment[askable] == k]
            if len(members):
                far = cdist(centers[k][None, :], self.points[members])[0]
                heads.append(int(members[np.argmin(far)]))
        standing = np.array(heads, dtype=np.intp)
        region = np.full(len(centers), -1, dtype=np.intp)
        region[assignment[standing]] = np.arange(len(standing))
        for lost in np.flatnonzero(region < 0):
            far = cdist(centers[lost][None, :], self.points[standing])[0]
            region[lost] = int(np.argmin(far))
        found = region[assignment]
        weight = np.bincount(found, weights=self.sizes, minlength=len(standing))
        order = np.argsort(-weight, kind="stable")
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        return rank[found], standing[order]


def most_telling(regions: Regions, weights: NDArray[np.float64], answered: Sequence[int]) -> int:
    """Return the askable cell whose answer is nearest to the most weight of cells.

    Parameters
    ----------
    regions : Regions
        The cells.
    weights : ndarray of shape (n_cells,)
        What it is worth to have an answer near a cell.
    answered : sequence of int
        Cells that have answers.
    """
    sites, squares = regions.reach()
    at_sites = weights[sites].astype(np.float32)
    gains = np.full(len(regions.points), -np.inf)
    candidates = np.flatnonzero(regions.is_askable)
    candidates = candidates[~np.isin(candidates, list(answered))]
    if len(answered):
        nearest = squares[:, list(answered)].min(axis=1)
        saved = np.maximum(nearest[:, None] - squares[:, candidates], np.float32(0))
        gains[candidates] = at_sites @ saved
    else:
        gains[candidates] = -(at_sites @ squares[:, candidates])
    # If no cell gains anything, as among equal rows, take the heaviest.
    return int(candidates[np.lexsort((-weights[candidates], -gains[candidates]))[0]])


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
    """Return the closest two cells whose relation is unknown, or None.

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
