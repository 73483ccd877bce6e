"""MinMax: first place the row that is least similar to all known rows."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from likewise.lab.peers.rows import Array
from likewise.lab.selection.neighborhoods import Choice, NeighborhoodStrategy


class ExploreConsolidate(NeighborhoodStrategy):
    """Find one neighborhood per cluster, then place the rows farthest from all neighborhoods.

    The published criterion is the smallest maximum of the similarities ``exp(-d² / 2σ²)``. These
    fall with the distance for any σ, so here the distance is used.
    """

    name: ClassVar[str] = "min-max"

    def _opens_neighborhood(self) -> bool:
        return len(self._members) < self.n_clusters

    def _choose(self) -> Choice | None:
        free = self.free_rows()
        if len(free) == 0:
            return None
        neighborhoods = self.neighborhoods
        is_exploring = len(neighborhoods) < self.n_clusters
        known = self._settled if is_exploring else {r for n in neighborhoods for r in n}
        row = int(free[self._distances_to(known)[free].argmax()])
        return Choice(row, self._ranking(row, neighborhoods))

    @cached_property
    def _nearest(self) -> tuple[set[int], Array]:
        """Rows, and the squared distance of every row to the nearest of them."""
        return set(), np.full(self.n_rows, np.inf)

    def _distances_to(self, rows: set[int]) -> Array:
        """Return the distances to the nearest of these rows, a set that mostly grows."""
        known, distances = self._nearest
        if not known <= rows:
            known, distances = set(), np.full(self.n_rows, np.inf)
        for row in sorted(rows - known):
            distances = np.minimum(distances, squared_distances(self.X, self.X[row]))
        self._nearest = set(rows), distances
        return distances

    def _ranking(
        self, row: int, neighborhoods: list[list[int]]
    ) -> tuple[tuple[int, tuple[int, ...]], ...]:
        nearest, ranked = [], []
        for all_rows, answered in zip(neighborhoods, self._members, strict=True):
            distances = squared_distances(self.X[all_rows], self.X[row])
            nearest.append(distances.min())
            # Only members by answers can be asked: a link to an inferred one would prove nothing.
            order = np.argsort(distances[: len(answered)], kind="stable")
            ranked.append(tuple(answered[i] for i in order))
        return tuple((int(p), ranked[p]) for p in np.argsort(nearest, kind="stable"))


def squared_distances(X: Array, point: Array) -> Array:
    """Return the squared distance of every row to a point."""
    differences = X - point
    return np.asarray(np.einsum("ij,ij->i", differences, differences))
