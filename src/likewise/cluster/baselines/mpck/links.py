"""What links cost in MPCKMeans, for the whole closure without listing its pairs.

In the closure, every pair inside a group of must-linked rows is a must-link, and every pair
between two groups with a cannot-link is a cannot-link. Sums of squared distances to all rows of a
group that have one label follow from their number, their sum and the sum of their squared norms,
so time and memory grow with the linked rows and not with the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from likewise.cluster.baselines.mpck.metric import Metric
from likewise.core.links import LinkGraph

Array = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class LinkedRows:
    """The rows that some link mentions, by groups of must-linked rows.

    Attributes
    ----------
    rows : ndarray of shape (n_linked,)
        Rows of the data, ascending.
    group : ndarray of shape (n_linked,)
        The group of each of them.
    apart : ndarray of shape (n_group_pairs, 2)
        Pairs of groups with a cannot-link.
    neighbors : list of ndarray
        For every group, the groups it has a cannot-link to.
    block : ndarray of shape (n_linked,)
        Rows of different blocks have no link with each other, not even by others in between.
    """

    rows: Ints
    group: Ints
    apart: Ints
    neighbors: list[Ints]
    block: Ints

    @property
    def n_groups(self) -> int:
        """Number of groups, those of a single row included."""
        return len(self.neighbors)

    @classmethod
    def of(cls, links: LinkGraph) -> LinkedRows:
        """Return the rows and groups of a link graph."""
        rows = sorted({row for given in links for row in (given.left, given.right)})
        roots = [links.find(row) for row in rows]
        number = {root: place for place, root in enumerate(dict.fromkeys(roots))}
        neighbors = [
            np.array(sorted(number[other] for other in links.differing(root)), dtype=np.intp)
            for root in number
        ]
        pairs = [(a, b) for a, others in enumerate(neighbors) for b in others.tolist() if a < b]
        apart = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        group = np.array([number[root] for root in roots], dtype=np.intp)
        shape = (len(number), len(number))
        graph = csr_array((np.ones(len(apart)), (apart[:, 0], apart[:, 1])), shape=shape)
        block_of = connected_components(graph, directed=False)[1] if rows else group
        block = np.asarray(block_of[group], dtype=np.intp)
        return cls(np.array(rows, dtype=np.intp), group, apart, neighbors, block)

    def rounds(self, order: Ints) -> list[Ints]:
        """Return the linked rows in this order, but all at once that do not act on each other.

        The first round has the first row of every block, the second the second, and so on.
        """
        by_block = order[np.argsort(self.block[order], kind="stable")]
        blocks = self.block[by_block]
        starts = np.flatnonzero(np.r_[True, blocks[1:] != blocks[:-1]])
        turn = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
        by_turn = by_block[np.argsort(turn, kind="stable")]
        return np.split(by_turn, np.cumsum(np.bincount(turn))[:-1])


class LinkCosts:
    """What it costs to give each linked row each label, under the current labels of the others.

    Parameters
    ----------
    X : ndarray of shape (n_linked, n_features)
    linked : LinkedRows
    labels : ndarray of shape (n_linked,)
        The labels so far, -1 for none yet. `move` changes them in place.
    metrics : sequence of Metric
        One for all clusters, or one per cluster.
    separation : ndarray of shape (n_clusters,)
        The largest squared distance under each cluster's metric.
    w_must, w_cannot : float
    """

    def __init__(
        self,
        X: Array,
        linked: LinkedRows,
        labels: Ints,
        metrics: Sequence[Metric],
        separation: Array,
        w_must: float,
        w_cannot: float,
    ) -> None:
        n_clusters, n_metrics = len(separation), len(metrics)
        self._X, self._linked, self.labels = X, linked, labels
        self._separation, self._w_must, self._w_cannot = separation, w_must, w_cannot
        self._applied = np.stack([metric.apply(X) for metric in metrics], axis=1)
        self._norms = np.stack([metric.squared_norms(X) for metric in metrics], axis=1)
        # Which metric is each cluster's.
        self._clusters = np.arange(n_clusters)
        self._metric_of = self._clusters if n_metrics > 1 else np.zeros(n_clusters, dtype=np.intp)
        shape = (linked.n_groups, n_clusters)
        # Of each row's own group, and of all groups with a cannot-link to it: by label, the number
        # of rows, their sum, and the sum of their squared norms under each metric.
        self._own = _Totals(shape, X.shape[1], n_metrics)
        self._apart = _Totals(shape, X.shape[1], n_metrics)
        rows = np.flatnonzero(labels >= 0)
        if len(rows):
            self._own.fill(linked.group[rows], labels[rows], X[rows], self._norms[rows])
            self._apart.fill_from(self._own, linked.apart)

    def of(self, rows: Ints) -> Array:
        """Return the cost of the links of some rows, for each label."""
        groups = self._linked.group[rows]
        applied, norms = self._applied[rows], self._norms[rows]
        # A row is at no distance from itself, so it need not be left out of its group.
        squared = self._own.squared_distances(groups, applied, norms)
        theirs = squared[:, self._metric_of, self._clusters]
        ours = squared.sum(axis=2)[:, self._metric_of] - theirs
        cost = 0.5 * self._w_must * (ours + theirs.sum(axis=1, keepdims=True) - theirs)
        squared = self._apart.squared_distances(groups, applied, norms)
        near = squared[:, self._metric_of, self._clusters]
        far = self._apart.number[groups] * self._separation
        return np.asarray(cost + self._w_cannot * (far - near))

    def violate(self, rows: Ints, labels: Ints) -> bool:
        """Return whether one of these labels violates a cannot-link."""
        return bool(self._apart.number[self._linked.group[rows], labels].any())

    def move(self, rows: Ints, labels: Ints) -> None:
        """Give rows other labels; no two of them may be of the same block."""
        had_one = self.labels[rows] >= 0
        self._count(rows[had_one], self.labels[rows[had_one]], -1)
        self._count(rows, labels, 1)
        self.labels[rows] = labels

    def _count(self, rows: Ints, labels: Ints, sign: int) -> None:
        if len(rows) == 0:
            return
        groups = self._linked.group[rows]
        self._own.add(groups, labels, sign, self._X[rows], self._norms[rows])
        neighbors = [self._linked.neighbors[group] for group in groups]
        place = np.repeat(np.arange(len(rows)), [len(n) for n in neighbors])
        if len(place):
            others = np.concatenate(neighbors)
            rows = rows[place]
            self._apart.add(others, labels[place], sign, self._X[rows], self._norms[rows])


class _Totals:
    """Number, sum and squared norms of rows, by group and label."""

    def __init__(self, shape: tuple[int, int], n_features: int, n_metrics: int) -> None:
        self.number = np.zeros(shape)
        self.total = np.zeros((*shape, n_features))
        self.norms = np.zeros((shape[0], n_metrics, shape[1]))

    def fill(self, groups: Ints, labels: Ints, rows: Array, norms: Array) -> None:
        np.add.at(self.number, (groups, labels), 1)
        np.add.at(self.total, (groups, labels), rows)
        np.add.at(self.norms.transpose(0, 2, 1), (groups, labels), norms)

    def fill_from(self, others: _Totals, pairs: Ints) -> None:
        """Add up, for every group, the totals of the groups it is paired with."""
        for one, other in ((0, 1), (1, 0)):
            np.add.at(self.number, pairs[:, one], others.number[pairs[:, other]])
            np.add.at(self.total, pairs[:, one], others.total[pairs[:, other]])
            np.add.at(self.norms, pairs[:, one], others.norms[pairs[:, other]])

    def add(self, groups: Ints, labels: Ints, sign: int, rows: Array, norms: Array) -> None:
        # No group occurs twice, so nothing is lost by adding at once.
        self.number[groups, labels] += sign
        self.total[groups, labels] += sign * rows
        self.norms[groups, :, labels] += sign * norms

    def squared_distances(self, groups: Ints, applied: Array, norms: Array) -> Array:
        """Return each row's summed squared distances to its group, by metric and label."""
        products = applied @ self.total[groups].transpose(0, 2, 1)
        number = self.number[groups][:, None, :]
        return np.asarray(norms[:, :, None] * number + self.norms[groups] - 2 * products)


def sweep(costs: LinkCosts, base: Array, rounds: Sequence[Ints]) -> bool:
    """Visit every linked row once and give it its cheapest label (ICM).

    Return whether some label that was chosen violates a cannot-link.

    Parameters
    ----------
    costs : LinkCosts
    base : ndarray of shape (n_linked, n_clusters)
        What each label costs apart from the links.
    rounds : sequence of ndarray
        The order of the visits, from `LinkedRows.rounds`.
    """
    has_violated = False
    for rows in rounds:
        labels = (base[rows] + costs.of(rows)).argmin(axis=1)
        has_violated |= costs.violate(rows, labels)
        moved = labels != costs.labels[rows]
        costs.move(rows[moved], labels[moved])
    return has_violated


@dataclass(frozen=True)
class Violations:
    """The scatter of violated links, by cluster.

    Attributes
    ----------
    must : ndarray of shape (n_clusters, ...)
        Half the sum of ``(x_i - x_j)(x_i - x_j)'`` over violated must-links with an end in the
        cluster; or the diagonal of it.
    cannot : ndarray of shape (n_clusters, ...)
        The sum over violated cannot-links inside the cluster.
    n_cannot : ndarray of shape (n_clusters,)
        Their number.
    """

    must: Array
    cannot: Array
    n_cannot: Array


def violations(
    X: Array, linked: LinkedRows, labels: Ints, n_clusters: int, *, diagonal: bool
) -> Violations:
    """Return the scatter of the links that a labeling of the linked rows violates."""
    # A cell is the rows of one group that have one label.
    codes, cell = np.unique(linked.group * n_clusters + labels, return_inverse=True)
    cells = _Cells(X, cell, len(codes), diagonal=diagonal)
    table = np.full((linked.n_groups, n_clusters), -1, dtype=np.intp)
    table.flat[codes] = np.arange(len(codes))
    cell_labels = codes % n_clusters
    left, right = _split_groups(table)
    edges, label = np.nonzero((table[linked.apart[:, 0]] >= 0) & (table[linked.apart[:, 1]] >= 0))
    one, other = table[linked.apart[edges, 0], label], table[linked.apart[edges, 1], label]
    must, cannot, n_cannot = [], [], np.zeros(n_clusters)
    for h in range(n_clusters):
        ends = (cell_labels[left] == h) | (cell_labels[right] == h)
        must.append(0.5 * cells.pair_scatter(left[ends], right[ends]))
        inside = label == h
        cannot.append(cells.pair_scatter(one[inside], other[inside]))
        n_cannot[h] = (cells.number[one[inside]] * cells.number[other[inside]]).sum()
    return Violations(np.stack(must), np.stack(cannot), n_cannot)


def _split_groups(table: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of cells of the same group: a must-link between them is violated."""
    left, right = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for group in np.flatnonzero((table >= 0).sum(axis=1) > 1):
        cells = table[group][table[group] >= 0]
        a, b = np.triu_indices(len(cells), k=1)
        left.append(cells[a])
        right.append(cells[b])
    return np.concatenate(left), np.concatenate(right)


class _Cells:
    """Sums over cells, from which the scatter between cells follows."""

    def __init__(self, X: Array, cell: Ints, n_cells: int, *, diagonal: bool) -> None:
        self._X, self._cell, self._diagonal = X, cell, diagonal
        self.number = np.bincount(cell, minlength=n_cells).astype(float)
        self._total = np.zeros((n_cells, X.shape[1]))
        np.add.at(self._total, cell, X)

    def pair_scatter(self, left: Ints, right: Ints) -> Array:
        """Return the sum of ``(x - y)(x - y)'`` over all x in a left cell, y in its right one."""
        n_cells = len(self.number)
        times = np.bincount(left, self.number[right], n_cells)
        times += np.bincount(right, self.number[left], n_cells)
        weighted = times[self._cell][:, None] * self._X
        if self._diagonal:
            crossed = (self._total[left] * self._total[right]).sum(axis=0)
            return np.asarray((weighted * self._X).sum(axis=0) - 2 * crossed)
        crossed = self._total[left].T @ self._total[right]
        return np.asarray(weighted.T @ self._X - crossed - crossed.T)
