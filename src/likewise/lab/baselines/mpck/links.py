"""What links cost in MPCKMeans, for the whole closure without listing its pairs.

In the closure, every pair inside a group of must-linked rows is a must-link, and every pair
between two groups with a cannot-link is a cannot-link. Sums of squared distances to all rows of a
group that have one label follow from their number, their sum and the sum of their squared norms,
so time and memory grow with the linked rows and not with the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from likewise.core.links import LinkGraph
from likewise.lab.baselines.mpck.metric import Array, Ints, Metric


@dataclass(frozen=True)
class LinkedRows:
    """The rows that some link mentions, by groups of must-linked rows."""

    rows: Ints  # ascending
    group: Ints  # of each row
    apart: Ints  # pairs of groups with a cannot-link
    neighbors: Ints  # groups with a cannot-link to the first group, to the second, ...
    n_neighbors: Ints  # how many each group has
    block: Ints  # rows of different blocks are not linked, not even through others

    @cached_property
    def _first_neighbor(self) -> Ints:
        return np.asarray(np.cumsum(self.n_neighbors) - self.n_neighbors)

    @property
    def n_groups(self) -> int:
        """Number of groups, those of a single row included."""
        return len(self.n_neighbors)

    @classmethod
    def of(cls, links: LinkGraph) -> LinkedRows:
        """Return the rows and groups of a link graph."""
        rows = sorted({row for given in links for row in (given.left, given.right)})
        roots = [links.find(row) for row in rows]
        number = {root: place for place, root in enumerate(dict.fromkeys(roots))}
        lists = [sorted(number[other] for other in links.differing(root)) for root in number]
        neighbors = np.array([other for others in lists for other in others], dtype=np.intp)
        n_neighbors = np.array([len(others) for others in lists], dtype=np.intp)
        pairs = [(a, b) for a, others in enumerate(lists) for b in others if a < b]
        apart = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        group = np.array([number[root] for root in roots], dtype=np.intp)
        shape = (len(number), len(number))
        graph = csr_array((np.ones(len(apart)), (apart[:, 0], apart[:, 1])), shape=shape)
        block_of = connected_components(graph, directed=False)[1] if rows else group
        block = np.asarray(block_of[group], dtype=np.intp)
        return cls(np.array(rows, dtype=np.intp), group, apart, neighbors, n_neighbors, block)

    def neighbors_of(self, groups: Ints) -> tuple[Ints, Ints]:
        """Return the neighbors of some groups, and whose they are, as places in `groups`."""
        sizes = self.n_neighbors[groups]
        place = np.repeat(np.arange(len(groups)), sizes)
        # Those of one group are consecutive, here and in the list that is returned.
        shift = self._first_neighbor[groups] - (np.cumsum(sizes) - sizes)
        return self.neighbors[np.arange(len(place)) + shift[place]], place

    def rounds(self, order: Ints) -> list[Ints]:
        """Return the linked rows in rounds, in each of which no two rows act on each other."""
        by_block = order[np.argsort(self.block[order], kind="stable")]
        blocks = self.block[by_block]
        sizes = np.bincount(blocks)
        turn = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[blocks]
        by_turn = by_block[np.argsort(turn, kind="stable")]
        ends = np.cumsum(np.bincount(turn)).tolist()
        return [by_turn[start:end] for start, end in pairwise([0, *ends])]


class LinkCosts:
    """What each label costs each linked row, given the labels of the others; -1 is none yet."""

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
        shape = (linked.n_groups, n_clusters)
        # Of each row's own group, and of all groups with a cannot-link to it: by label, the number
        # of rows, their sum, and the sum of their squared norms under each metric.
        self._own = _Totals(shape, X.shape[1], n_metrics)
        self._apart = _Totals(shape, X.shape[1], n_metrics)
        rows = np.flatnonzero(labels >= 0)
        # While no row has a label, no link costs anything.
        self._is_blank = len(rows) == 0
        if not self._is_blank:
            self._own.fill(linked.group[rows], labels[rows], X[rows], self._norms[rows])
            self._apart.fill_from(self._own, linked.apart)

    def of(self, rows: Ints) -> Array:
        """Return the cost of the links of some rows, for each label."""
        if self._is_blank:
            return np.zeros((len(rows), len(self._separation)))
        groups = self._linked.group[rows]
        applied, norms = self._applied[rows], self._norms[rows]
        # A row is at no distance from itself, so it need not be left out of its group.
        theirs = self._own.squared_by_label(groups, applied, norms)
        if norms.shape[1] == 1:
            ours = theirs.sum(axis=1, keepdims=True) - theirs
        else:
            ours = self._own.squared_to_all(groups, applied, norms) - theirs
        cost = 0.5 * self._w_must * (ours + theirs.sum(axis=1, keepdims=True) - theirs)
        near = self._apart.squared_by_label(groups, applied, norms)
        far = self._apart.number[groups] * self._separation
        return np.asarray(cost + self._w_cannot * (far - near))

    def move(self, rows: Ints, labels: Ints) -> None:
        """Give rows other labels; no two of them may be of the same block."""
        had_one = self.labels[rows] >= 0
        self._count(rows[had_one], self.labels[rows[had_one]], -1)
        self._count(rows, labels, 1)
        self.labels[rows] = labels

    def _count(self, rows: Ints, labels: Ints, sign: int) -> None:
        if len(rows) == 0:
            return
        self._is_blank = False
        groups = self._linked.group[rows]
        self._own.add(groups, labels, sign, self._X[rows], self._norms[rows])
        others, place = self._linked.neighbors_of(groups)
        if len(place):
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

    def squared_by_label(self, groups: Ints, applied: Array, norms: Array) -> Array:
        """Return the summed squared distances of rows to their groups, by the others' labels."""
        if norms.shape[1] == 1:
            products = (applied @ self.total[groups].transpose(0, 2, 1))[:, 0]
            own_norms = self.norms[groups, 0]
        else:
            products = np.einsum("ihd,ihd->ih", applied, self.total[groups])
            own_norms = self.norms[groups].diagonal(axis1=1, axis2=2)
        return np.asarray(norms * self.number[groups] + own_norms - 2 * products)

    def squared_to_all(self, groups: Ints, applied: Array, norms: Array) -> Array:
        """Return the summed squared distances of each row to all of its group, by metric."""
        products = (applied @ self.total[groups].sum(axis=1)[:, :, None])[:, :, 0]
        number = self.number[groups].sum(axis=1, keepdims=True)
        return np.asarray(norms * number + self.norms[groups].sum(axis=2) - 2 * products)


def sweep(costs: LinkCosts, base: Array, rounds: Sequence[Ints]) -> None:
    """Visit every linked row once and give it its cheapest label (ICM)."""
    for rows in rounds:
        costs.move(rows, (base[rows] + costs.of(rows)).argmin(axis=1))


@dataclass(frozen=True)
class Violations:
    """The scatter of violated links, by cluster."""

    must: Array  # half the scatter of violated must-links with an end in the cluster
    cannot: Array  # the scatter of violated cannot-links inside the cluster
    n_cannot: Array  # their number


def violations(
    X: Array, linked: LinkedRows, labels: Ints, n_clusters: int, *, diagonal: bool
) -> Violations:
    """Return the scatter of the links that a labeling of the linked rows violates."""
    # A cell is the rows of one group that have one label.
    codes, cell = np.unique(linked.group * n_clusters + labels, return_inverse=True)
    number = np.bincount(cell, minlength=len(codes)).astype(float)
    sums = np.zeros((len(codes), X.shape[1]))
    np.add.at(sums, cell, X)

    def scatter_between(left: Ints, right: Ints) -> Array:
        """Return the sum of ``(x - y)(x - y)'`` over all x in a left cell, y in its right one."""
        times = np.bincount(left, number[right], len(codes))
        times += np.bincount(right, number[left], len(codes))
        of_rows = times[cell]
        rows = np.flatnonzero(of_rows)
        weighted = of_rows[rows, None] * X[rows]
        if diagonal:
            crossed = (sums[left] * sums[right]).sum(axis=0)
            return np.asarray((weighted * X[rows]).sum(axis=0) - 2 * crossed)
        crossed = sums[left].T @ sums[right]
        return np.asarray(weighted.T @ X[rows] - crossed - crossed.T)

    table = np.full((linked.n_groups, n_clusters), -1, dtype=np.intp)
    table.flat[codes] = np.arange(len(codes))
    cell_labels = codes % n_clusters
    left, right = _split_groups(table)
    edges, label = np.nonzero((table[linked.apart[:, 0]] >= 0) & (table[linked.apart[:, 1]] >= 0))
    one, other = table[linked.apart[edges, 0], label], table[linked.apart[edges, 1], label]
    shape = (n_clusters, *[X.shape[1]] * (1 if diagonal else 2))
    must, cannot, n_cannot = np.zeros(shape), np.zeros(shape), np.zeros(n_clusters)
    for h in np.unique(cell_labels[np.concatenate((left, right))]).tolist():
        ends = (cell_labels[left] == h) | (cell_labels[right] == h)
        must[h] = 0.5 * scatter_between(left[ends], right[ends])
    for h in np.unique(label).tolist():
        inside = label == h
        cannot[h] = scatter_between(one[inside], other[inside])
        n_cannot[h] = (number[one[inside]] * number[other[inside]]).sum()
    return Violations(must, cannot, n_cannot)


def _split_groups(table: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of cells of the same group: a must-link between them is violated."""
    left, right = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for group in np.flatnonzero((table >= 0).sum(axis=1) > 1):
        cells = table[group][table[group] >= 0]
        a, b = np.triu_indices(len(cells), k=1)
        left.append(cells[a])
        right.append(cells[b])
    return np.concatenate(left), np.concatenate(right)
