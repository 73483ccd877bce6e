"""A3S (2024): cluster by learned probabilities, then ask which clusters are pure and which are one.

The authors made it for many classes and do not recommend it for few. The paper leaves open how the
probability of a pair is learned, and some thresholds; these are choices of this module.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist
from scipy.special import xlogy
from sklearn.isotonic import IsotonicRegression
from sklearn.neighbors import NearestNeighbors

from likewise.core.answers import Answer
from likewise.lab.peers.procedure import Procedure, Questions
from likewise.lab.peers.rows import Array, Ints

N_NEIGHBORS = 10
"""Neighbors of a point whose probabilities are learned."""
MAX_SWEEPS = 20
"""The most rounds of moving points between clusters."""
N_CANDIDATES = 50
"""How many pairs of clusters are ranked before the probabilities are computed again."""
PURE_ENOUGH = 0.7
"""A cluster whose central members belong together with this probability is not tested by questions.
"""
MAX_FAILURES = 2
"""A cluster is split after this many central members that differ from its core, as published."""
MAX_SPLIT = 20
"""The most questions that the split of a cluster takes, as published."""


class AdaptiveSampling(Procedure):
    """Merge clusters by asking about their leaders, after a test of whether they are pure.

    The order of pairs of clusters is by the probability that they are one, times the change of
    entropy if they were merged.
    """

    name: ClassVar[str] = "a3s"

    def _prepare(self) -> None:
        self._chances = neighbor_chances(self.X[self.train])
        self._first = greedy_clusters(self._chances)

    def _questions(self) -> Questions:
        self._labels = self._first.copy()
        self._leaders: dict[int, int] = {}
        while pairs := self._candidates():
            for one, other in pairs:
                if not {one, other} <= set(self._labels.tolist()):
                    continue
                for cluster in (one, other):
                    if cluster not in self._leaders:
                        yield from self._test(cluster)
                if one in self._leaders and other in self._leaders:
                    leaders = [int(self.train[self._leaders[c]]) for c in (one, other)]
                    answer = yield leaders[0], leaders[1]
                    if answer is Answer.SAME:
                        self._labels[self._labels == other] = one
                        del self._leaders[other]

    def _candidates(self) -> list[tuple[int, int]]:
        """Return pairs of clusters that may be one, the most promising first."""
        names, sizes = np.unique(self._labels, return_counts=True)
        place = np.searchsorted(names, self._labels)
        edges = self._chances.tocoo()
        shape = (len(names), len(names))
        ends = (place[edges.row], place[edges.col])
        total = coo_array((edges.data, ends), shape=shape).toarray()
        number = coo_array((np.ones(edges.nnz), ends), shape=shape).toarray()
        left, right = np.triu_indices(len(names), 1)
        chance = (total + total.T)[left, right] / np.maximum((number + number.T)[left, right], 1)
        order = np.argsort(-chance, kind="stable")
        is_open = (k for k in order.tolist() if self._is_open(names[left[k]], names[right[k]]))
        best = np.fromiter(islice(is_open, N_CANDIDATES), dtype=np.intp)
        left, right, chance = left[best], right[best], chance[best]
        share = sizes / len(self._labels)
        both = share[left] + share[right]
        change = xlogy(both, both) - xlogy(share, share)[left] - xlogy(share, share)[right]
        order = np.argsort(-chance * change, kind="stable")
        return [(int(names[left[k]]), int(names[right[k]])) for k in order]

    def _is_open(self, one: int, other: int) -> bool:
        """Return whether the relation of two clusters is unknown."""
        if one not in self._leaders or other not in self._leaders:
            return True
        left, right = sorted(int(self.train[self._leaders[c]]) for c in (one, other))
        return self._known(left, right) is None

    def _test(self, cluster: int) -> Questions:
        """Give a cluster a leader, or split it if its middle members differ from its core."""
        ranked = by_centrality(self.X[self.train], np.flatnonzero(self._labels == cluster))
        self._leaders[cluster] = int(ranked[0])
        middle = ranked[len(ranked) // 3 : 2 * len(ranked) // 3 + 1]
        inside = self._chances[middle][:, middle].tocoo().data
        if len(ranked) < 3 or (len(inside) and inside.mean() > PURE_ENOUGH):
            return
        n_failures = 0
        for member in middle[[len(middle) // 2, -1]].tolist():
            answer = yield int(self.train[ranked[0]]), int(self.train[member])
            n_failures += answer is Answer.DIFFERENT
            if answer is Answer.SAME:
                return
        if n_failures == MAX_FAILURES:
            yield from self._split(cluster, ranked)

    def _split(self, cluster: int, ranked: Ints) -> Questions:
        """Compare members, central ones first, with the leaders found; assign the rest."""
        points, rows = self.X[self.train], self.train
        probes = ranked[np.unique(np.linspace(0, len(ranked) - 1, MAX_SPLIT).astype(int))]
        leaders, owner, n_asked = [int(probes[0])], {int(probes[0]): 0}, 0
        for probe in probes[1:].tolist():
            order = np.argsort(cdist(points[[probe]], points[leaders])[0], kind="stable")
            group = None
            for k in order.tolist():
                if n_asked == MAX_SPLIT:
                    break
                n_asked += 1
                answer = yield int(rows[probe]), int(rows[leaders[k]])
                if answer is Answer.SAME:
                    group = k
                    break
            else:
                group = len(leaders)
                leaders.append(probe)
            if group is not None:
                owner[probe] = group
        known = np.array(list(owner), dtype=np.intp)
        nearest = known[cdist(points[ranked], points[known]).argmin(axis=1)]
        new = int(self._labels.max()) + 1
        names = [cluster, *range(new, new + len(leaders))]
        for member, near in zip(ranked.tolist(), nearest.tolist(), strict=True):
            self._labels[member] = names[owner[near]]
        for k, leader in enumerate(leaders):
            self._leaders[names[k]] = leader

    def _method_labels(self) -> Ints:
        return self._labels[self._nearest]


def neighbor_chances(points: Array) -> Any:
    """Return how likely each point belongs together with its neighbors, as a sparse matrix."""
    # Learned from distances, relative to those of the neighbors of both points; mutual neighbors
    # count as belonging together.
    n = len(points)
    n_neighbors = min(N_NEIGHBORS, n - 1)
    if n_neighbors == 0:
        return csr_array((n, n))
    far, to = NearestNeighbors(n_neighbors=n_neighbors).fit(points).kneighbors()
    root = np.sqrt(far.mean(axis=1))
    root[root == 0] = 1.0
    start = np.repeat(np.arange(n), n_neighbors)
    relative = far.ravel() / (root[start] * root[to.ravel()])
    graph = csr_array((np.ones(to.size), (start, to.ravel())), shape=(n, n))
    is_mutual = np.asarray(graph[to.ravel(), start]).ravel() > 0
    model = IsotonicRegression(y_min=0.02, y_max=0.98, increasing=False)
    chance = model.fit_transform(relative, is_mutual.astype(float))
    return csr_array((chance, (start, to.ravel())), shape=(n, n))


def greedy_clusters(chances: Any) -> Ints:
    """Return clusters: each point moves to the one with the largest sum of log-odds."""
    odds = chances.copy()
    odds.data = np.log(odds.data / (1 - odds.data))
    odds = ((odds + odds.T) / 2).tocsr()
    labels = np.arange(odds.shape[0])
    for _ in range(MAX_SWEEPS):
        before = labels.copy()
        for point in range(len(labels)):
            part = slice(odds.indptr[point], odds.indptr[point + 1])
            names, place = np.unique(labels[odds.indices[part]], return_inverse=True)
            gains = np.bincount(place, odds.data[part], minlength=len(names))
            if len(names) and gains.max() > 0:
                labels[point] = names[gains.argmax()]
        if np.array_equal(labels, before):
            break
    return labels


def by_centrality(points: Array, members: Ints) -> Ints:
    """Return the members of a cluster, those nearest to its mean first."""
    mean = points[members].mean(axis=0)
    return members[np.argsort(cdist(mean[None], points[members])[0], kind="stable")]
