"""ACDM (2024): ask about rows at the long edges of a nearest-neighbor tree, then uncertain ones."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from likewise.core.answers import Answer
from likewise.lab.peers.dsl import skeleton
from likewise.lab.peers.procedure import Procedure, Questions
from likewise.lab.peers.rows import Array, Ints

BATCH = 10
"""How many rows are placed before the labels are computed again; 5 or 20 change the scores little.
"""
N_NEIGHBORS = 10
"""Neighbors whose labels say how uncertain a row is, as published."""


class DiffusionSkeleton(Procedure):
    """Place rows into neighborhoods, one by one; the others follow down a tree.

    A row is compared with the nearest member of every neighborhood, the nearest neighborhood
    first, until one is the same; if none is, it is a new one. The first rows are those at the top
    of the tree by its longest edges. Later ones are those whose neighbors disagree most. A row
    that was not placed has the label of its parent.
    """

    name: ClassVar[str] = "acdm"

    def _prepare(self) -> None:
        points = self.X[self.train]
        self._parent, length = skeleton(points)
        self._order = ranked(self._parent, length)
        n_neighbors = min(N_NEIGHBORS, len(points) - 1)
        self._neighbors: Ints = np.empty((len(points), 0), dtype=np.intp)
        if n_neighbors:
            search = NearestNeighbors(n_neighbors=n_neighbors).fit(points)
            self._neighbors = search.kneighbors(return_distance=False)

    def _questions(self) -> Questions:
        self._placed: dict[int, int] = {}
        neighborhoods: list[list[int]] = []
        rank = np.empty(len(self._order), dtype=np.intp)
        rank[self._order] = np.arange(len(self._order))
        batch = self._order[:BATCH]
        while len(batch):
            for node in batch.tolist():
                yield from self._place(node, neighborhoods)
            waiting = np.array([n for n in self._order.tolist() if n not in self._placed], np.intp)
            uncertain = entropies(self._flowed()[self._neighbors[waiting]])
            batch = waiting[np.lexsort((rank[waiting], -uncertain))[:BATCH]]

    def _place(self, node: int, neighborhoods: list[list[int]]) -> Questions:
        points, rows = self.X[self.train], self.train
        nearest = []
        for place, members in enumerate(neighborhoods):
            far = cdist(points[[node]], points[members])[0]
            nearest.append((float(far.min()), place, members[int(far.argmin())]))
        for _, place, member in sorted(nearest):
            answer = yield int(rows[node]), int(rows[member])
            if answer is Answer.SAME:
                neighborhoods[place].append(node)
                self._placed[node] = place
                return
        self._placed[node] = len(neighborhoods)
        neighborhoods.append([node])

    def _flowed(self) -> Ints:
        """Return the label of every node: its own, or that of its parent."""
        labels = np.zeros(len(self._order), dtype=np.intp)
        for node in self._order.tolist():
            labels[node] = self._placed.get(node, labels[self._parent[node]])
        return labels

    def _method_labels(self) -> Ints:
        return self._flowed()[self._nearest]


def ranked(parent: Ints, length: Array) -> Ints:
    """Return the nodes of a tree from its root, next always the one with the longest edge."""
    children: dict[int, list[int]] = {}
    for node, up in enumerate(parent.tolist()):
        if node != up:
            children.setdefault(up, []).append(node)
    root = int(np.flatnonzero(parent == np.arange(len(parent)))[0])
    order, waiting = [], [(0.0, root)]
    while waiting:
        _, node = heappop(waiting)
        order.append(node)
        for child in children.get(node, []):
            heappush(waiting, (-float(length[child]), child))
    return np.array(order, dtype=np.intp)


def entropies(labels: Ints) -> Array:
    """Return the entropy of the labels in every line."""
    if labels.size == 0:
        return np.zeros(len(labels))
    is_same = labels[:, :, None] == labels[:, None, :]
    return np.asarray(np.log(1 / is_same.mean(axis=2)).mean(axis=1))
