"""What is minimized, for sets of vertices and for vectors.

For a set A with m cannot-links in the graph, of which viol(A) have both ends on one side,

    F(A) = (cut(A) + gamma viol(A)) b(V) / (b(A) b(V - A)),

and for a vector f

    F(f) = (R1(f) - R2(f)) / S(f),
    R1(f) = sum_e w_e |f_i - f_j| + gamma m (max f - min f),
    R2(f) = gamma sum_cannot |f_i - f_j|,
    S(f)  = sum_ij b_i b_j |f_i - f_j| / (2 b(V)).

Both agree on indicator vectors, and some threshold of any f is at least as good as f.
"""

from __future__ import annotations

import numpy as np

from likewise.lab.baselines.onespectral.graph import CutGraph, Floats, Ints, Sides, totals


def cut(graph: CutGraph, side: Sides) -> float:
    """Return the weight of the edges between the two sides."""
    i, j, w = graph.edges
    return float(w[side[i] != side[j]].sum())


def n_violated(graph: CutGraph, labels: Sides | Ints) -> int:
    """Return the number of cannot-links with both ends on one side, or in one cluster."""
    return int((labels[graph.cannot[:, 0]] == labels[graph.cannot[:, 1]]).sum())


def balanced_cut(graph: CutGraph, side: Sides) -> float:
    """Return the cut relative to the volume of either side, measured against the whole graph."""
    inside, outside = graph.volumes[side].sum(), graph.volumes[~side].sum()
    between = cut(graph, side)
    return float(
        (between + graph.exterior[side].sum()) / inside
        + (between + graph.exterior[~side].sum()) / outside
    )


def set_value(graph: CutGraph, gamma: float, side: Sides) -> float:
    """Return F of a set: the balanced cut with its price for violated cannot-links."""
    inside, outside = graph.volumes[side].sum(), graph.volumes[~side].sum()
    price = gamma * n_violated(graph, side) * graph.volume / (inside * outside)
    return balanced_cut(graph, side) + float(price)


def balance_subgradient(graph: CutGraph, f: Floats) -> Floats:
    """Return a subgradient s of S at f; S(f) is the inner product of the two."""
    order = np.argsort(f, kind="stable")
    b = graph.volumes[order]
    below = np.cumsum(b) - b
    s = np.empty_like(f)
    s[order] = b * (2.0 * below + b - graph.volume) / graph.volume
    return s


def cannot_subgradient(graph: CutGraph, gamma: float, f: Floats) -> Floats:
    """Return a subgradient of R2 at f."""
    i, j = graph.cannot[:, 0], graph.cannot[:, 1]
    signs = gamma * np.sign(f[i] - f[j])
    n = graph.n_vertices
    return totals(i, signs, n) - totals(j, signs, n)


def numerator(graph: CutGraph, gamma: float, f: Floats) -> float:
    """Return R1(f) - R2(f)."""
    i, j, w = graph.edges
    value = float(w @ np.abs(f[i] - f[j]))
    if gamma > 0 and graph.n_cannot:
        left, right = graph.cannot[:, 0], graph.cannot[:, 1]
        spread = float(f.max() - f.min())
        value += gamma * float(graph.n_cannot * spread - np.abs(f[left] - f[right]).sum())
    return value


def multicut(graph: CutGraph, labels: Ints) -> float:
    """Return the sum over clusters of their cut relative to their volume."""
    i, j, w = graph.edges
    crossing = labels[i] != labels[j]
    n_clusters = int(labels.max()) + 1
    cuts = totals(labels[i[crossing]], w[crossing], n_clusters)
    cuts += totals(labels[j[crossing]], w[crossing], n_clusters)
    volumes = totals(labels, graph.volumes, n_clusters)
    return float((cuts / volumes).sum())


def best_threshold(graph: CutGraph, gamma: float, f: Floats) -> Sides:
    """Return the set ``{f > t}`` with the smallest F, of all thresholds t at once."""
    n = graph.n_vertices
    order = np.argsort(f, kind="stable")
    rank = np.empty(n, dtype=np.intp)
    rank[order] = np.arange(n)
    i, j, w = graph.edges
    cuts = _crossed(rank[i], rank[j], w, n)
    left, right = rank[graph.cannot[:, 0]], rank[graph.cannot[:, 1]]
    violated = graph.n_cannot - _crossed(left, right, np.ones(graph.n_cannot), n)
    below = np.cumsum(graph.volumes[order])[:-1]
    above = graph.volume - below
    exterior = graph.exterior[order]
    low = np.cumsum(exterior)[:-1]
    values = (cuts + low) / below + (cuts + exterior.sum() - low) / above
    values += gamma * violated * graph.volume / (below * above)
    ascending = f[order]
    values[ascending[1:] <= ascending[:-1]] = np.inf
    at = int(np.argmin(values))
    side = np.zeros(n, dtype=np.bool_)
    side[order[at + 1 :]] = True
    return side


def _crossed(left: Ints, right: Ints, weights: Floats, n: int) -> Floats:
    """Return for each gap between ranks 0 .. n - 1 the weight of the pairs that straddle it."""
    low, high = np.minimum(left, right), np.maximum(left, right)
    steps = totals(low, weights, n) - totals(high, weights, n)
    crossed: Floats = np.maximum(np.cumsum(steps)[:-1], 0.0)
    return crossed
