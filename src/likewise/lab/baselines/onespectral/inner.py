"""The convex problem inside RatioDCA, solved on its dual by accelerated projected gradients.

The problem is to minimize over the unit ball

    sum_e w_e |f_i - f_j| + c (max f - min f) - <g, f>.

Its dual is to minimize ``|g + v - u - D' a|`` over ``|a_e| <= w_e`` and u, v in the simplex of size
c. The best u for given a and v is a projection, so two variables are left. Steps differ per edge:
with ``1 / (2 max degree of its ends)`` the edge part has Lipschitz constant 1 and v adds a half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likewise.lab.baselines.onespectral.gradients import advanced, first_point
from likewise.lab.baselines.onespectral.graph import CutGraph, Floats

# Iterations between two computations of the gap, each of which costs about as much as one.
CHECK_EVERY = 10


@dataclass(eq=False)
class Dual:
    """Dual variables: a flow along each edge and a point of the simplex of size `spread`."""

    flow: Floats
    lowest: Floats
    spread: float

    def at(self, spread: float) -> Dual:
        """Return the same point for another size of the simplex."""
        if spread == self.spread:
            return self
        if self.spread > 0 or spread == 0:
            scale = spread / self.spread if self.spread > 0 else 0.0
            return Dual(self.flow, self.lowest * scale, spread)
        return Dual(self.flow, np.full_like(self.lowest, spread / len(self.lowest)), spread)


@dataclass(frozen=True, eq=False)
class InnerSolution:
    """The best vector found, its value, and a bound that no vector of the unit ball is below."""

    f: Floats
    value: float
    bound: float
    n_iter: int
    dual: Dual


def cold_dual(graph: CutGraph, f: Floats, spread: float) -> Dual:
    """Return the dual start for a vector: no flow, and all of the simplex on its smallest entry."""
    lowest = np.zeros(graph.n_vertices)
    lowest[int(np.argmin(f))] = spread
    return Dual(np.zeros(len(graph.edges[2])), lowest, spread)


def solve_inner(
    graph: CutGraph,
    g: Floats,
    dual: Dual,
    *,
    max_iter: int,
    enough: int | None = None,
    tol: float = 1e-6,
    negligible: float = 1e-6,
) -> InnerSolution:
    """Solve the inner problem until the relative duality gap is below `tol`."""
    edges, c, w = graph.dual_edges, dual.spread, graph.dual_edges.w
    enough = max_iter if enough is None else enough
    point = first_point(edges, g, c, dual.flow, dual.lowest)
    best_f, best_value, bound, last_norm = np.zeros_like(g), np.inf, -np.inf, np.inf
    n_iter = 1
    while True:
        n_steps = min(CHECK_EVERY - n_iter % CHECK_EVERY, max_iter - n_iter)
        advanced(edges, g, c, point, n_steps)
        n_iter += n_steps
        d = point.residual
        norm = float(np.sqrt(d @ d))
        bound = max(bound, -norm)
        if norm <= negligible:
            break
        variation = float(w @ np.abs(d[edges.i] - d[edges.j]))
        value = (variation + c * float(np.ptp(d)) - float(g @ d)) / norm
        if value < best_value:
            best_f, best_value = d / norm, value
        is_solved = best_value - bound <= tol * -bound
        if is_solved or (n_iter >= enough and best_value < 0) or n_iter >= max_iter:
            break
        if norm > last_norm:
            point.scalars[0] = 1.0
        last_norm = norm
    return InnerSolution(best_f, best_value, bound, n_iter, Dual(point.flow, point.lowest, c))
