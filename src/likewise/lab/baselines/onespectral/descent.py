"""Descents on the ratio F at one price for violated cannot-links, and the sets where they end.

RatioDCA lowers F by a sequence of convex problems; moves of single vertices follow it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from likewise.lab.baselines.onespectral.graph import CutGraph, Floats, Sides, totals
from likewise.lab.baselines.onespectral.inner import Dual, cold_dual, solve_inner
from likewise.lab.baselines.onespectral.objective import (
    balance_subgradient,
    balanced_cut,
    best_threshold,
    cannot_subgradient,
    cut,
    n_violated,
    numerator,
    set_value,
)

# Inner iterations after which any descent is good enough; doubled after so many outer steps.
FIRST_CAP = 100
PATIENCE = 20
# Inner iterations without any descent after which to give up.
MAX_INNER = 1000
# A balanced cut is at most about two; below this it is nothing but rounding.
FREE = 1e-12


@dataclass(frozen=True)
class Effort:
    """How hard to search."""

    n_starts: int  # vectors to descend from, the spectral ones first
    n_repeats: int  # runs of the recursion for more than two clusters
    tol: float = 1e-4  # relative descent below which to stop
    is_patient: bool = True  # descend until no descent is left, not until the set stays the same
    n_perturbations: int = 0  # restarts around a solution
    growth: float = 2.0  # factor between the prices that are tried
    resolution: float = 1e-2  # relative width at which the search for the smallest price ends
    splits_pairs_again: bool = False  # improve more than two clusters two by two in the end


@dataclass(frozen=True, eq=False)
class Search:
    """What all parts of a search share; a price of None is looked for."""

    effort: Effort
    rng: np.random.RandomState
    gamma: float | None = None


@dataclass(frozen=True, eq=False)
class Solution:
    """A vector, its best threshold set, and what that set costs."""

    f: Floats
    side: Sides
    value: float
    cut: float
    violated: int
    dual: Dual | None = None


def solution_of(graph: CutGraph, gamma: float, side: Sides) -> Solution:
    """Return a set as a solution."""
    return Solution(
        f=side.astype(np.float64),
        side=side,
        value=set_value(graph, gamma, side),
        cut=balanced_cut(graph, side),
        violated=n_violated(graph, side),
    )


def solution_at(graph: CutGraph, gamma: float, f: Floats) -> Solution:
    """Return a vector as a solution."""
    return replace(solution_of(graph, gamma, best_threshold(graph, gamma, f)), f=f)


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended: the vector, its F, and F after every outer step."""

    f: Floats
    value: float
    history: list[float] = field(default_factory=list)
    dual: Dual | None = None


def ratio_dca(
    graph: CutGraph,
    gamma: float,
    f: Floats,
    *,
    max_inner: int = MAX_INNER,
    tol: float = 1e-6,
    is_patient: bool = True,
    dual: Dual | None = None,
) -> Descent:
    """Minimize F from the vector `f`, which must not be constant."""
    # Any vector at which the inner problem is negative has a smaller F, so the inner problem need
    # not be solved to the end: after `enough` iterations any negative value will do.
    spread = gamma * graph.n_cannot
    f = _unit(f)
    s = balance_subgradient(graph, f)
    above = numerator(graph, gamma, f)
    value = above / float(s @ f)
    dual = cold_dual(graph, f, spread) if dual is None else dual.at(spread)
    enough = FIRST_CAP
    history = [value]
    side: Sides | None = None
    while value > FREE:
        g = value * s
        if spread > 0:
            g = g + cannot_subgradient(graph, gamma, f)
        inner = solve_inner(
            graph, g, dual, max_iter=max_inner, enough=enough, tol=tol, negligible=tol * above
        )
        dual = inner.dual
        if not np.isfinite(inner.value) or np.ptp(inner.f) == 0:
            break
        candidate = _unit(inner.f)
        s_new = balance_subgradient(graph, candidate)
        above_new, below_new = numerator(graph, gamma, candidate), float(s_new @ candidate)
        if not above_new < value * below_new:
            break
        f, s, above = candidate, s_new, above_new
        last_value, value = value, above / below_new
        history.append(value)
        if last_value - value <= tol * last_value:
            break
        if len(history) % PATIENCE == 0:
            enough *= 2
        if not is_patient:
            last, side = side, best_threshold(graph, gamma, f)
            if last is not None and np.array_equal(last, side):
                break
    return Descent(f, value, history, dual)


def _unit(f: Floats) -> Floats:
    """Return f centered and with norm one, which does not change F."""
    f = f - f.mean()
    unit: Floats = f / np.sqrt(f @ f)
    return unit


def descend(
    graph: CutGraph, gamma: float, f: Floats, effort: Effort, dual: Dual | None = None
) -> Solution:
    """Return the solution that RatioDCA and moves of single vertices reach from a vector."""
    best: Solution | None = None
    while True:
        end = ratio_dca(
            graph,
            gamma,
            f,
            tol=effort.tol,
            is_patient=effort.is_patient,
            dual=dual,
        )
        threshold = best_threshold(graph, gamma, end.f)
        side = best_moves(graph, gamma, threshold)
        reached = solution_of(graph, gamma, side)
        # In a part of a graph, moves also weigh what lies outside of it; a descent undoes that.
        if best is not None and not reached.value < best.value * (1.0 - 1e-9):
            return best
        if np.array_equal(side, threshold):
            return replace(reached, f=end.f, dual=end.dual)
        if not effort.is_patient:
            return reached
        best, f, dual = reached, reached.f, None


def descend_all(
    graph: CutGraph, gamma: float, before: list[Solution], effort: Effort
) -> list[Solution]:
    """Return the solutions reached from others, each set once."""
    return distinct([descend(graph, gamma, s.f, effort, s.dual) for s in before])


def distinct(solutions: list[Solution]) -> list[Solution]:
    """Return the first solution for each partition."""
    kept: dict[bytes, Solution] = {}
    for solution in solutions:
        side = solution.side
        kept.setdefault((side if side[0] else ~side).tobytes(), solution)
    return list(kept.values())


def varied(f: Floats, rng: np.random.RandomState) -> Floats:
    """Return f, or if it is constant, f with one random entry lowered by one."""
    if np.ptp(f) > 0:
        return f
    f = f.copy()
    f[rng.randint(len(f))] -= 1.0
    return f


def perturbed(graph: CutGraph, gamma: float, solution: Solution, search: Search) -> Solution:
    """Return the best solution found by restarts around one, giving up after five failures."""
    failures = 0
    for k in range(search.effort.n_perturbations):
        spread = float(np.ptp(solution.f))
        noise = (0.001 + 0.01 * k) * spread * search.rng.standard_normal(graph.n_vertices)
        other = descend(graph, gamma, solution.f + noise, search.effort)
        if other.value < solution.value:
            solution, failures = other, 0
        else:
            failures += 1
            if failures == 5:
                break
    return solution


def best_moves(graph: CutGraph, gamma: float, side: Sides) -> Sides:
    """Make the best move of a single vertex until none lowers F; return the set."""
    # Descents end where no direction improves, but a merged vertex may still be on the wrong side.
    side = side.copy()
    value = set_value(graph, gamma, side)
    while True:
        values = moved_values(graph, gamma, side)
        best = int(np.argmin(values))
        # A move must be worth more than rounding, or two of them undo each other forever.
        if not values[best] < value * (1.0 - 1e-9):
            return side
        side[best] = not side[best]
        value = float(values[best])


def moved_values(graph: CutGraph, gamma: float, side: Sides) -> Floats:
    """Return for each vertex the F of the set after it has changed sides."""
    n = graph.n_vertices
    sign = np.where(side, 1.0, -1.0)
    cuts = cut(graph, side) + sign * (graph.weights @ sign)
    left, right = graph.cannot[:, 0], graph.cannot[:, 1]
    apart = np.where(side[left] != side[right], 1.0, -1.0)
    violated = n_violated(graph, side) + totals(left, apart, n) + totals(right, apart, n)
    inside = graph.volumes[side].sum() - sign * graph.volumes
    near = graph.exterior[side].sum() - sign * graph.exterior
    # A side of one vertex must not be emptied.
    lone = side if side.sum() == 1 else ~side if side.sum() == n - 1 else np.zeros(n, np.bool_)
    inside[lone] = np.nan
    outside, far = graph.volume - inside, graph.exterior.sum() - near
    values: Floats = (cuts + near) / inside + (cuts + far) / outside
    values += gamma * violated * graph.volume / (inside * outside)
    values[lone] = np.inf
    return values
