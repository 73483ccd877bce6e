"""DSL, data skeleton learning (2025): check the longest edges of a nearest-neighbor tree."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from likewise.core.answers import Answer
from likewise.lab.peers.procedure import ROWS_PER_BLOCK, Procedure, Questions
from likewise.lab.peers.rows import Array, Ints


class SkeletonTree(Procedure):
    """Join the rows in a tree of nearest neighbors and ask about its edges, the longest first.

    Every group found so far has a head, the root of its tree; when a part joins it, the root with
    more others hanging on it is the head from then on. Rows that may not be asked about go with
    the nearest row that may.
    """

    name: ClassVar[str] = "dsl"

    def _prepare(self) -> None:
        self._skeleton = skeleton(self.X[self.train])

    def _questions(self) -> Questions:
        X, shown = self.X, self.train
        parent, length = self._skeleton
        self._parent = parent = parent.copy()
        root = int(np.flatnonzero(parent == np.arange(len(parent)))[0])
        heads = [root]
        hanging = np.bincount(parent, minlength=len(parent))
        hanging[root] -= 1
        for u in np.argsort(-length, kind="stable").tolist():
            if u == root:
                continue
            answer = yield int(shown[u]), int(shown[parent[u]])
            if answer is not Answer.DIFFERENT:
                continue
            hanging[parent[u]] -= 1
            parent[u] = u
            order = np.argsort(cdist(X[shown[[u]]], X[shown[heads]])[0], kind="stable")
            for k in order.tolist():
                answer = yield int(shown[u]), int(shown[heads[k]])
                if answer is Answer.SAME:
                    low, high = sorted((u, heads[k]), key=lambda v: (hanging[v], v == heads[k]))
                    parent[low] = heads[k] = high
                    hanging[high] += 1
                    break
            else:
                heads.append(u)

    def _method_labels(self) -> Ints:
        return _roots(self._parent)[self._nearest]


def skeleton(points: Array) -> tuple[Ints, Array]:
    """Return a tree on all points: every point's parent, the root its own, and edge lengths."""
    # Every point hangs on its nearest neighbor. Of two that are each other's nearest, the one with
    # more others hanging on it, then with longer edges, goes on to the next round.
    n = len(points)
    parent = np.arange(n, dtype=np.intp)
    length = np.zeros(n)
    # How many children a point has, and the sum of their edges, in this and earlier rounds.
    hanging, weight = np.zeros(n, dtype=np.intp), np.zeros(n)
    active = np.arange(n)
    while len(active) > 1:
        to, far = _nearest_other(points[active])
        hanging[active] += np.bincount(to, minlength=len(active))
        weight[active] += np.bincount(to, far, minlength=len(active))
        goes_on = np.zeros(len(active), dtype=bool)
        for i in np.flatnonzero(to[to] == np.arange(len(active))):
            a, b = active[i], active[to[i]]
            goes_on[i] = (hanging[a], weight[a], -a) > (hanging[b], weight[b], -b)
        # A point that goes on is no longer the child of the other one.
        mates = active[to[goes_on]]
        hanging[mates] -= 1
        weight[mates] -= far[goes_on]
        parent[active[~goes_on]] = active[to[~goes_on]]
        length[active[~goes_on]] = far[~goes_on]
        active = active[goes_on]
    return parent, length


def _nearest_other(points: Array) -> tuple[Ints, Array]:
    """Return every point's nearest other point, the earlier one on a tie, and how far it is."""
    to = np.empty(len(points), dtype=np.intp)
    far = np.empty(len(points))
    for start in range(0, len(points), ROWS_PER_BLOCK):
        block = np.arange(start, min(start + ROWS_PER_BLOCK, len(points)))
        distances = cdist(points[block], points)
        distances[np.arange(len(block)), block] = np.inf
        to[block] = distances.argmin(axis=1)
        far[block] = distances.min(axis=1)
    return to, far


def _roots(parent: Ints) -> Ints:
    """Return the root of every node, by pointer jumping."""
    while True:
        up = parent[parent]
        if np.array_equal(up, parent):
            return parent
        parent = up
