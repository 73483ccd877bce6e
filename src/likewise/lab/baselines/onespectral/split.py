"""One cluster into two, on the way to more: few violations rather than none, components first."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from likewise.lab.baselines.onespectral.graph import CutGraph, Floats, Ints, Sides
from likewise.lab.baselines.onespectral.level import (
    Search,
    Solution,
    descend,
    descend_all,
    distinct,
    solution_of,
    varied,
)

N_PRICES = 5
"""How many prices of violated cannot-links are tried for a split."""
FIRST_STEP = 0.1
"""The first step from one price to the next; it is doubled while the cut stays the same."""
TOLERANCE = 1e-3
"""Of spectral vectors: descents end at the same sets from rougher ones."""


def best_split(graph: CutGraph, target: int, search: Search) -> Solution | None:
    """Return the best split found that leaves `target` violations, or None for a single vertex."""
    if graph.n_vertices == 1:
        return None
    if graph.n_vertices == 2:
        return solution_of(graph, 0.0, np.array([True, False]))
    n_components, labels = graph.components()
    if n_components == 1:
        return _connected_split(graph, target, search)
    candidates = component_splits(graph)
    if min(s.cut for s in candidates) > 0 or min(s.violated for s in candidates) > target:
        for k in range(n_components):
            vertices = np.flatnonzero(labels == k)
            if len(vertices) > 1:
                part = graph.induced(vertices)
                inside = best_split(part, target, search)
                if inside is not None:
                    candidates.append(_joined(graph, labels, vertices, inside.side))
    on_target = [s for s in candidates if s.violated <= target]
    return min(on_target or candidates, key=lambda s: s.cut)


def component_splits(graph: CutGraph) -> list[Solution]:
    """Return every component of a disconnected graph against the rest, the best first."""
    n_components, labels = graph.components()
    if n_components == 1:
        return []
    splits = [solution_of(graph, 0.0, labels == k) for k in range(n_components)]
    if n_components == 2:
        del splits[1]
    return sorted(splits, key=lambda s: (s.violated, s.cut))


def _joined(graph: CutGraph, labels: Ints, vertices: Ints, inside: Sides) -> Solution:
    """Return the split of one component with each of the others on the cheaper side."""
    side = np.zeros(graph.n_vertices, dtype=np.bool_)
    side[vertices] = inside
    placed = np.zeros(graph.n_vertices, dtype=np.bool_)
    placed[vertices] = True
    # A component brings its exterior and its volume to a side, and no cut inside the graph.
    volumes = [graph.volumes[placed & ~side].sum(), graph.volumes[placed & side].sum()]
    inner = solution_of(graph.induced(vertices), 0.0, inside)
    between = inner.f @ (graph.induced(vertices).weights @ (1.0 - inner.f))
    costs = [
        between + graph.exterior[placed & ~side].sum(),
        between + graph.exterior[placed & side].sum(),
    ]
    for k in range(int(labels.max()) + 1):
        members = labels == k
        if placed[members].all():
            continue
        volume, exterior = graph.volumes[members].sum(), graph.exterior[members].sum()
        totals = [
            (costs[0] + exterior) / (volumes[0] + volume) + costs[1] / volumes[1],
            costs[0] / volumes[0] + (costs[1] + exterior) / (volumes[1] + volume),
        ]
        to = int(totals[1] < totals[0])
        side[members] = bool(to)
        placed |= members
        volumes[to] += volume
        costs[to] += exterior
    return solution_of(graph, 0.0, side)


def _connected_split(graph: CutGraph, target: int, search: Search) -> Solution:
    """Raise the price of violations a few times, until at most `target` are left."""
    effort, rng, gamma = search.effort, search.rng, search.gamma
    vectors = [varied(spectral_vector(graph, rng), rng)]
    vectors += [rng.standard_normal(graph.n_vertices) for _ in range(effort.n_starts - 1)]
    solutions = distinct([descend(graph, 0.0, f, effort) for f in vectors])
    if gamma is not None:
        if gamma > 0 and graph.n_cannot:
            solutions = descend_all(graph, gamma, solutions, effort)
        return min(solutions, key=lambda s: s.value)
    everything = list(solutions)
    price, step, last_cut = 0.0, FIRST_STEP, np.inf
    for _ in range(N_PRICES - 1):
        best = min(solutions, key=lambda s: s.value)
        if best.violated <= target:
            break
        if abs(best.cut - last_cut) < 1e-8:
            step *= 2
        last_cut = best.cut
        price += step
        solutions = descend_all(graph, price, solutions, effort)
        everything += solutions
    on_target = [s for s in solutions if s.violated <= target]
    return min(on_target or everything, key=lambda s: s.cut)


def spectral_vector(
    graph: CutGraph, rng: np.random.RandomState, apart: Ints | None = None
) -> Floats:
    """Minimize ``v'(D - W)v / v'Bv`` without the constant, and with ``v_i + v_j = 0`` for pairs."""
    n = graph.n_vertices
    root = np.sqrt(graph.volumes)
    degrees = graph.weights.sum(axis=1) / graph.volumes
    scaled = graph.weights.multiply(1.0 / root[:, None]).multiply(1.0 / root[None, :]).tocsr()
    pairs = np.zeros((0, 2), dtype=np.intp) if apart is None else apart
    across = 1.0 / root[pairs]
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    constant = _without_sums(root, pairs, across)
    length = float(np.linalg.norm(constant))
    # Where the pairs balance each other exactly, the constant is excluded already.
    constant = constant / length if length > 1e-9 * float(np.linalg.norm(root)) else 0.0 * constant

    def projected(y: Floats) -> Floats:
        y = _without_sums(y, pairs, across)
        y -= constant * float(constant @ y)
        return y

    def applied(y: Any) -> Floats:
        y = projected(np.asarray(y, dtype=np.float64).ravel())
        return projected(2.0 * y - degrees * y + scaled @ y)

    start = projected(rng.standard_normal(n))
    if n - len(pairs) < 4:
        return start / root
    operator = LinearOperator((n, n), matvec=applied, dtype=np.float64)
    try:
        vectors: Any = eigsh(operator, k=1, which="LA", v0=start, tol=TOLERANCE)[1]
    except ArpackNoConvergence as error:
        vectors = error.eigenvectors
    return projected(vectors[:, 0] if vectors.shape[1] else start) / root


def _without_sums(y: Floats, pairs: Ints, across: Floats) -> Floats:
    """Return y without its part along `across`, unit vectors on the disjoint `pairs`."""
    y = y.copy()
    along = (y[pairs] * across).sum(axis=1, keepdims=True)
    y[pairs] -= along * across
    return y
