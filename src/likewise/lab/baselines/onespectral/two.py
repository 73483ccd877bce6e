"""Two clusters without violated cannot-links: raise the price until none is violated."""

from __future__ import annotations

import numpy as np

from likewise.lab.baselines.onespectral.graph import CutGraph, Floats, Sides
from likewise.lab.baselines.onespectral.level import (
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
from likewise.lab.baselines.onespectral.split import component_splits, spectral_vector

FIRST_PRICE = 0.2
"""The first price of violated cannot-links; it is raised until none is violated."""


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
