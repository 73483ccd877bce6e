"""Two clusters without violated cannot-links: raise the price until none is violated."""

from __future__ import annotations

import numpy as np

from likewise.cluster.onespectral.graph import CutGraph, Floats, Sides
from likewise.cluster.onespectral.level import (
    Effort,
    Solution,
    descend,
    perturbed,
    solution_of,
    varied,
)
from likewise.cluster.onespectral.split import component_splits
from likewise.cluster.onespectral.starts import spectral_vector

FIRST_PRICE = 0.2


def two_clusters(
    graph: CutGraph, gamma: float | None, effort: Effort, rng: np.random.RandomState
) -> Sides:
    """Return one side of a good partition of the vertices into two.

    Parameters
    ----------
    graph : CutGraph
        No two of its cannot-links share a vertex, unless `gamma` is given.
    gamma : float or None
        Price of a violated cannot-link. None: the smallest one at which none is violated.
    """
    feasible, vectors = _starts(graph, effort, rng)
    current = _at_price(
        graph, 0.0, [Solution(f, feasible.side, 0, 0, 0) for f in vectors], effort, rng
    )
    if gamma is not None:
        if gamma > 0 and graph.n_cannot:
            current = _at_price(graph, gamma, current, effort, rng)
        return _best(current).side
    if _best(current).violated == 0:
        return _best(current).side
    return _cheapest_without_violation(graph, feasible, current, effort, rng).side


def _cheapest_without_violation(
    graph: CutGraph,
    feasible: Solution,
    current: list[Solution],
    effort: Effort,
    rng: np.random.RandomState,
) -> Solution:
    """Follow the solutions up the prices, then bisect between too low and high enough.

    `feasible`, a known partition without violations, makes this end: at a price above a quarter
    of its cut times the volume of the graph nothing with a violation is better than it.
    """
    low, high = 0.0, FIRST_PRICE
    answer = feasible
    below = current
    while True:
        above = _at_price(graph, high, below, effort, rng)
        found = min([*above, answer], key=lambda s: (s.value, s.violated))
        answer = min([answer, *(s for s in above if s.violated == 0)], key=lambda s: s.cut)
        if found.violated == 0:
            break
        low, below, high = high, above, high * effort.growth
    lower_bound = _best(below).value
    while high - low > effort.resolution * high:
        # Nothing without violations is cheaper than the best at a lower price.
        if answer.cut <= lower_bound * (1 + effort.resolution):
            break
        middle = (low + high) / 2
        between = _at_price(graph, middle, below, effort, rng)
        found = min([*between, answer], key=lambda s: (s.value, s.violated))
        answer = min([answer, *(s for s in between if s.violated == 0)], key=lambda s: s.cut)
        if found.violated == 0:
            high = middle
        else:
            low, below, lower_bound = middle, between, found.value
    return answer


def _at_price(
    graph: CutGraph,
    gamma: float,
    before: list[Solution],
    effort: Effort,
    rng: np.random.RandomState,
) -> list[Solution]:
    """Return the solutions at a price, each reached from one at the price before."""
    solutions = [descend(graph, gamma, s.f, effort, s.dual) for s in before]
    at = min(range(len(solutions)), key=lambda k: solutions[k].value)
    solutions[at] = perturbed(graph, gamma, solutions[at], effort, rng)
    return solutions


def _best(solutions: list[Solution]) -> Solution:
    return min(solutions, key=lambda s: s.value)


def _starts(
    graph: CutGraph, effort: Effort, rng: np.random.RandomState
) -> tuple[Solution, list[Floats]]:
    """Return a partition without violations and the vectors to descend from."""
    n = graph.n_vertices
    vectors = [varied(spectral_vector(graph, rng), rng)]
    side = vectors[0] > np.median(vectors[0])
    if graph.n_cannot and len(np.unique(graph.cannot)) == graph.cannot.size:
        apart = spectral_vector(graph, rng, graph.cannot)
        side = apart > 0
        side[graph.cannot[:, 0]] = ~side[graph.cannot[:, 1]]
        vectors.append(side.astype(np.float64))
    if side.all() or not side.any():
        side[0] = not side[0]
    splits = component_splits(graph)
    vectors = [s.side.astype(np.float64) for s in splits[:1]] + vectors
    while len(vectors) < effort.n_starts:
        vectors.append(rng.standard_normal(n))
    unviolated = [s for s in splits if s.violated == 0]
    feasible = min([*unviolated, solution_of(graph, 0.0, side)], key=lambda s: s.cut)
    return feasible, vectors[: max(effort.n_starts, 1 + (len(splits) > 0))]
