"""One graph into two: on the way to more clusters, or without any violated cannot-link."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from likewise.lab.baselines.onespectral.descent import (
    Search,
    Solution,
    descend,
    descend_all,
    distinct,
    perturbed,
    solution_at,
    solution_of,
    varied,
)
from likewise.lab.baselines.onespectral.graph import CutGraph, Floats, Ints, Sides

N_PRICES = 5
"""How many prices of violated cannot-links are tried for a split."""
FIRST_STEP = 0.1
"""The first step from one price to the next; it is doubled while the cut stays the same."""
TOLERANCE = 1e-3
"""Of spectral vectors: descents end at the same sets from rougher ones."""
FIRST_PRICE = 0.2
"""The first price of violated cannot-links; it is raised until none is violated."""


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
    f = inside.astype(np.float64)
    between = f @ (graph.induced(vertices).weights @ (1.0 - f))
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


def two_clusters(graph: CutGraph, search: Search) -> Sides:
    """Return one side of a good partition into two, at the lowest price without a violation."""
    gamma, effort = search.gamma, search.effort
    free = component_splits(graph)
    feasible, vectors = _starts(graph, search)
    if free:
        # Nothing is cheaper than a cut between components.
        current = free[: effort.n_starts]
        feasible = min([feasible, *(s for s in free if s.violated == 0)], key=lambda s: s.cut)
    else:
        current = distinct([descend(graph, 0.0, f, effort) for f in vectors])
        current = _with_best_perturbed(graph, 0.0, current, search)
    if gamma == 0 or _best(current).violated == 0:
        return _best(current).side
    if free or effort.is_patient:
        # What met at no price may part at a price: begin from where they began, too.
        current = [*current, *(solution_at(graph, 0.0, f) for f in vectors)]
    if gamma is not None:
        return _best(_at_price(graph, gamma, current, search)).side
    return _cheapest_without_violation(graph, feasible, current, search).side


def _cheapest_without_violation(
    graph: CutGraph, feasible: Solution, current: list[Solution], search: Search
) -> Solution:
    """Follow the solutions up the prices, then bisect between too low and high enough."""
    # It ends: at a price above a quarter of the cut of `feasible` times the volume of the graph
    # nothing with a violation is better than `feasible`.
    effort = search.effort
    low, high = 0.0, FIRST_PRICE
    answer = feasible
    below = current
    if not effort.is_patient:
        high = max(high, _break_even(graph, _best(current), feasible))
    while True:
        above = _at_price(graph, high, below, search)
        cheapest = _best([*above, answer])
        answer = min([answer, *(s for s in above if s.violated == 0)], key=lambda s: s.cut)
        if cheapest.violated == 0:
            break
        low, below, high = high, above, high * effort.growth
        if not effort.is_patient:
            high = max(high, _break_even(graph, cheapest, answer))
    lower_bound = _best(below).value
    while high - low > effort.resolution * high:
        # Nothing without violations is cheaper than the best at a lower price.
        if answer.cut <= lower_bound * (1 + effort.resolution):
            break
        middle = (low + high) / 2
        between = _at_price(graph, middle, below, search)
        cheapest = _best([*between, answer])
        answer = min([answer, *(s for s in between if s.violated == 0)], key=lambda s: s.cut)
        if cheapest.violated == 0:
            high = middle
        else:
            low, below, lower_bound = middle, between, cheapest.value
    return answer


def _break_even(graph: CutGraph, violating: Solution, feasible: Solution) -> float:
    """Return the price above which a partition without violations is better than one with."""
    side = violating.side
    inside = float(graph.volumes[side].sum())
    balance = inside * (graph.volume - inside) / graph.volume
    return (feasible.cut - violating.cut) * balance / violating.violated


def _at_price(
    graph: CutGraph, gamma: float, before: list[Solution], search: Search
) -> list[Solution]:
    """Return the solutions at a price, each reached from one at the price before."""
    solutions = descend_all(graph, gamma, before, search.effort)
    return _with_best_perturbed(graph, gamma, solutions, search)


def _with_best_perturbed(
    graph: CutGraph, gamma: float, solutions: list[Solution], search: Search
) -> list[Solution]:
    best = _best(solutions)
    better = perturbed(graph, gamma, best, search)
    return [better if s is best else s for s in solutions]


def _best(solutions: list[Solution]) -> Solution:
    return min(solutions, key=lambda s: (s.value, s.violated))


def _starts(graph: CutGraph, search: Search) -> tuple[Solution, list[Floats]]:
    """Return a partition without violations and the vectors to descend from."""
    rng, n_starts = search.rng, search.effort.n_starts
    vectors = [varied(spectral_vector(graph, rng), rng)]
    side = vectors[0] > np.median(vectors[0])
    if graph.n_cannot and len(np.unique(graph.cannot)) == graph.cannot.size:
        apart = spectral_vector(graph, rng, graph.cannot)
        side = apart > 0
        side[graph.cannot[:, 0]] = ~side[graph.cannot[:, 1]]
        vectors.append(side.astype(np.float64))
    if side.all() or not side.any():
        side[0] = not side[0]
    while len(vectors) < n_starts:
        vectors.append(rng.standard_normal(graph.n_vertices))
    return solution_of(graph, 0.0, side), vectors[:n_starts]
