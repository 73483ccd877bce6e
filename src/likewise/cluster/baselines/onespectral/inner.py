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

from likewise.cluster.baselines.onespectral.graph import CutGraph, Floats

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


def project_simplex(z: Floats, total: float, level: float = -np.inf) -> tuple[Floats, float]:
    """Return the nearest point to z with non-negative entries that sum to `total`, and its level.

    The point is ``max(z - level, 0)``. Newton's method finds the level; from the level of a
    similar vector it takes two or three steps.

    Examples
    --------
    >>> project_simplex(np.array([0.5, 2.0, 1.5]), 1.0)
    (array([0.  , 0.75, 0.25]), 1.25)
    """
    if total <= 0:
        return np.zeros_like(z), level
    count = -1
    if not level < z.max():
        level = float(z.max()) - total
    elif level == -np.inf:
        level = (float(z.sum()) - total) / len(z)
    while True:
        excess = z - level
        np.maximum(excess, 0.0, out=excess)
        last, count = count, int(np.count_nonzero(excess))
        step = (float(excess.sum()) - total) / max(count, 1)
        # From the second step on the level rises and the count falls, up to rounding.
        if count == last or (last >= 0 and step <= 0):
            return excess, level
        level += step


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
    """Solve the inner problem until the relative duality gap is below `tol`.

    It also ends after `max_iter` iterations, when the bound shows that the optimum is less than
    `negligible` below zero, and, with any negative value, after `enough` iterations.
    """
    i, j, w = graph.edges
    up, floor = graph.divergence, -w
    c = dual.spread
    # Both parts together have Lipschitz constant 3/2 in the metric of the steps 1 and 1/2.
    edge_steps = graph.edge_steps * (2.0 / 3.0 if c > 0 else 1.0)
    # The arrays as long as the edges trade places: allocating them anew is half of the time.
    a, ya, work, spare = dual.flow.copy(), dual.flow.copy(), np.empty_like(w), np.empty_like(w)
    v = yv = dual.lowest
    t, last_norm = 1.0, np.inf
    level_u = level_v = -np.inf
    best_f, best_value, bound = np.zeros_like(g), np.inf, -np.inf
    n_iter, enough = 0, max_iter if enough is None else enough
    for n_iter in range(1, max_iter + 1):
        z = g + yv - up @ ya
        u, level_u = project_simplex(z, c, level_u)
        d = z - u
        np.take(d, i, out=work, mode="clip")
        np.take(d, j, out=spare, mode="clip")
        work -= spare
        if n_iter % CHECK_EVERY == 0 or n_iter == max_iter:
            norm = float(np.sqrt(d @ d))
            bound = max(bound, -norm)
            if norm <= negligible:
                break
            value = float(w @ np.abs(work, out=spare)) + c * float(np.ptp(d)) - float(g @ d)
            value /= norm
            if value < best_value:
                best_f, best_value = d / norm, value
            if best_value - bound <= tol * -bound or (n_iter >= enough and best_value < 0):
                break
            if norm > last_norm:
                t = 1.0
            last_norm = norm
        work *= edge_steps
        work += ya
        np.minimum(work, w, out=work)
        np.maximum(work, floor, out=work)
        t_new = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        beta = (t - 1.0) / t_new
        np.subtract(work, a, out=a)
        a *= beta
        a += work
        a, ya, work = work, a, ya
        v_new, level_v = project_simplex(yv - d / 3.0, c, level_v)
        yv = v_new + beta * (v_new - v)
        v, t = v_new, t_new
    return InnerSolution(best_f, best_value, bound, n_iter, Dual(a, v, c))
