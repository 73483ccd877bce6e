"""More than two clusters: split clusters one by one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from likewise.lab.baselines.onespectral.descent import Search, Solution, solution_of
from likewise.lab.baselines.onespectral.graph import CutGraph, Ints
from likewise.lab.baselines.onespectral.objective import cut, multicut, n_violated
from likewise.lab.baselines.onespectral.split import best_split

# Rounds over all pairs of clusters; the third changes little.
MAX_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class _Part:
    """A cluster, its share of the multi-way cut, and its best split."""

    vertices: Ints
    cost: float
    split: Solution | None
    n_cannot: int
    n_ways: int

    @property
    def gain(self) -> int:
        """Cannot-links inside the cluster that its split separates."""
        assert self.split is not None
        return self.n_cannot - self.split.violated


def many_clusters(
    graph: CutGraph, n_clusters: int, search: Search, *, violations_first: bool = False
) -> Ints:
    """Return labels of the vertices with a small multi-way cut, the best of several recursions."""

    def cost(labels: Ints) -> tuple[int, float]:
        violated = n_violated(graph, labels) if violations_first else 0
        return violated, multicut(graph, labels)

    runs = [_recursion(graph, n_clusters, search) for _ in range(search.effort.n_repeats)]
    best = min(runs, key=cost)
    if not search.effort.splits_pairs_again:
        return best
    return split_pairs_again(graph, best, n_clusters, search, violations_first=violations_first)


def split_pairs_again(
    graph: CutGraph,
    labels: Ints,
    n_clusters: int,
    search: Search,
    *,
    violations_first: bool = False,
) -> Ints:
    """Join every two clusters and split them again: the recursion never takes back a split."""
    labels = labels.copy()
    tried: set[bytes] = set()
    for _ in range(MAX_ROUNDS):
        before = labels.copy()
        for a, b in combinations(range(n_clusters), 2):
            vertices = np.flatnonzero((labels == a) | (labels == b))
            if len(vertices) == 2 or vertices.tobytes() in tried:
                continue
            tried.add(vertices.tobytes())
            part = graph.induced(vertices)
            now = best = solution_of(part, 0.0, labels[vertices] == a)
            if now.violated == 0 and cut(part, now.side) == 0:
                continue
            for target in {0, now.violated}:
                split = best_split(part, target, search)
                if split is not None and _is_better(split, best, violations_first):
                    best = split
            if best is not now:
                labels[vertices] = np.where(best.side, a, b)
        if np.array_equal(labels, before):
            break
    return labels


def _is_better(split: Solution, best: Solution, violations_first: bool) -> bool:
    if split.violated < best.violated:
        return violations_first or split.cut <= best.cut
    # A smaller cut must be worth more than rounding.
    return split.violated == best.violated and split.cut < best.cut * (1.0 - 1e-9)


def _recursion(graph: CutGraph, n_clusters: int, search: Search) -> Ints:
    parts = [_part(graph, np.arange(graph.n_vertices), n_clusters, search)]
    n_separated = 0
    for n_after in range(2, n_clusters + 1):
        total = sum(p.cost for p in parts)
        at = _chosen(parts, total, n_separated, graph.n_cannot, n_clusters, n_after)
        part = parts[at]
        assert part.split is not None
        n_separated += part.gain
        sides = [part.vertices[part.split.side], part.vertices[~part.split.side]]
        # The last split's halves are not split again, so only their extent matters.
        is_last = n_after == n_clusters
        parts[at : at + 1] = [
            _part(graph, vertices, n_clusters, None if is_last else search) for vertices in sides
        ]
    labels = np.empty(graph.n_vertices, dtype=np.intp)
    for k, part in enumerate(parts):
        labels[part.vertices] = k
    return labels


def _part(graph: CutGraph, vertices: Ints, n_clusters: int, search: Search | None) -> _Part:
    """Return a cluster with its best split, or without one if there is nothing to search by."""
    # A share of the vertices should hold the same share of the clusters; of the cannot-links
    # inside, two parts of so many can only separate some.
    part = graph.induced(vertices)
    cost = float(part.exterior.sum() / part.volume)
    n_ways = max(2, len(vertices) * n_clusters // graph.n_vertices)
    target = (n_ways - 2) * part.n_cannot // n_ways
    split = None if search is None else best_split(part, target, search)
    return _Part(vertices, cost, split, part.n_cannot, n_ways)


def _chosen(
    parts: list[_Part],
    total: float,
    n_separated: int,
    n_cannot: int,
    n_clusters: int,
    n_after: int,
) -> int:
    """Return which cluster to split on the way to `n_after` clusters."""
    # The smallest multi-way cut decides among the splits that separate their due of the cannot-
    # links; at the last split, the number of cannot-links that it separates.
    totals = {k: total - p.cost + p.split.cut for k, p in enumerate(parts) if p.split is not None}
    pairs = n_clusters * (n_clusters - 1)
    admissible = [
        k for k in totals if parts[k].gain >= 2 * (parts[k].n_ways - 1) * n_cannot // pairs
    ]
    if not admissible or (n_after == n_clusters and n_cannot):
        among = admissible or list(totals)
        return min(among, key=lambda k: (-parts[k].gain, totals[k]))
    due = (2 * n_clusters - n_after) * (n_after - 1) * n_cannot / pairs
    best = admissible[0]
    for k in admissible[1:]:
        is_due = parts[k].gain >= parts[best].gain or parts[k].gain + n_separated >= due
        if is_due and totals[k] < totals[best]:
            best = k
    return best
