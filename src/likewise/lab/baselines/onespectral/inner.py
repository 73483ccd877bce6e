"""The convex problem inside RatioDCA, solved on its dual by accelerated projected gradients.

The problem is to minimize over the unit ball

    sum_e w_e |f_i - f_j| + c (max f - min f) - <g, f>.

Its dual is to minimize ``|g + v - u - D' a|`` over ``|a_e| <= w_e`` and u, v in the simplex of size
c. The best u for given a and v is a projection, so two variables are left. Steps differ per edge:
with ``1 / (2 max degree of its ends)`` the edge part has Lipschitz constant 1 and v adds a half.

The gradients are there in NumPy and as a loop. Both do the same operations in the same order, so
they return the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    from likewise.lab.baselines.onespectral.graph import CutGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

# Iterations between two computations of the gap, each of which costs about as much as one.
CHECK_EVERY = 10


class Edges(NamedTuple):
    """The edges of a graph, smaller end first and sorted by it, as both versions need them."""

    i: Ints
    j: Ints
    w: Floats
    steps: Floats  # the longest safe dual step: half the inverse of the busier end's degree
    starts: NDArray[np.uint64]  # where the edges of each smaller end begin
    ends: NDArray[np.uint64]  # `j`; compiled loops take half the time with unsigned numbers
    # Sparse, from flows along edges to what leaves each vertex.
    divergence: tuple[Floats, NDArray[np.int32], NDArray[np.int32]]


def edges_of(weights: Any) -> Edges:
    """Return the edges of a graph given by its symmetric sparse matrix."""
    upper = sparse.triu(weights, k=1, format="csr")
    upper.sort_indices()
    n, w = upper.shape[0], upper.data
    j = upper.indices.astype(np.intp)
    i = np.repeat(np.arange(n), np.diff(upper.indptr))
    degrees = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
    steps = 0.5 / np.maximum(degrees[i], degrees[j])
    both = np.stack([i, j], axis=1).ravel().astype(np.int32)
    signs = np.tile([1.0, -1.0], len(w))
    pairs = np.arange(0, 2 * len(w) + 1, 2, dtype=np.int32)
    up = sparse.csr_array((signs, both, pairs), shape=(len(w), n)).T.tocsr()
    starts, ends = upper.indptr.astype(np.uint64), j.astype(np.uint64)
    return Edges(i, j, w, steps, starts, ends, (up.data, up.indices, up.indptr))


class Point(NamedTuple):
    """Where the gradients are: changed in place."""

    flow: Floats  # the dual variable a
    lowest: Floats  # the dual variable v
    flow_ahead: Floats  # the same, extrapolated
    lowest_ahead: Floats
    residual: Floats  # what is left at the extrapolated point; its norm is the dual value
    scalars: Floats  # the next extrapolation t, and the levels of the last projections of u and v


def first_point(edges: Edges, g: Floats, c: float, flow: Floats, lowest: Floats) -> Point:
    """Return the point to begin from."""
    scalars = np.array([1.0, -np.inf, -np.inf])
    point = Point(flow.copy(), lowest.copy(), flow.copy(), lowest.copy(), np.empty(len(g)), scalars)
    _set_residual(edges, g, c, point)
    return point


def project_simplex(z: Floats, total: float, level: float = -np.inf) -> tuple[Floats, float]:
    """Return the nearest point to z of the simplex of size `total`, and its level."""
    # Newton's method finds the level; from that of a similar vector it takes two or three steps.
    if total <= 0:
        return np.zeros_like(z), level
    count = -1
    top = float(z.max())
    if not level < top:
        level = top - total
    elif level == -np.inf:
        level = (_sum(z) - total) / len(z)
    while True:
        excess = z - level
        np.maximum(excess, 0.0, out=excess)
        last, count = count, int(np.count_nonzero(excess))
        step = (_sum(excess) - total) / max(count, 1)
        # From the second step on the level rises and the count falls, up to rounding.
        if count == last or (last >= 0 and step <= 0):
            return excess, level
        level += step


def _sum(values: Floats) -> float:
    """Return the sum, added in order as a loop adds; `np.sum` ends in other bits."""
    return float(np.cumsum(values)[-1])


def _set_residual(edges: Edges, g: Floats, c: float, point: Point) -> None:
    up = sparse.csr_array(edges.divergence, shape=(len(g), len(edges.w)))
    z = g + point.lowest_ahead - up @ point.flow_ahead
    u, point.scalars[1] = project_simplex(z, c, float(point.scalars[1]))
    np.subtract(z, u, out=point.residual)


def advanced(edges: Edges, g: Floats, c: float, point: Point, n_steps: int) -> None:
    """Make some steps of accelerated projected gradients."""
    _fastest()(edges, g, c, point, n_steps)


@cache
def _fastest() -> Callable[[Edges, Floats, float, Point, int], None]:
    """Return the loop, compiled, where numba is installed (the extra `fast`)."""
    if find_spec("numba") is None:
        return advanced_in_numpy
    import numba

    try:
        return numba.njit(cache=True)(advanced_in_a_loop)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder to keep compiled code in
        return numba.njit(advanced_in_a_loop)  # type: ignore[no-any-return]


def advanced_in_numpy(edges: Edges, g: Floats, c: float, point: Point, n_steps: int) -> None:
    """Make the steps all entries at once."""
    # Both parts together have Lipschitz constant 3/2 in the metric of the steps 1 and 1/2.
    steps = edges.steps * (2.0 / 3.0 if c > 0 else 1.0)
    a, v, ya, yv, d, scalars = point
    moved, spare, floor = np.empty_like(a), np.empty_like(a), -edges.w
    for _ in range(n_steps):
        t = scalars[0]
        scalars[0] = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        beta = (t - 1.0) / scalars[0]
        np.take(d, edges.i, out=moved, mode="clip")
        np.take(d, edges.j, out=spare, mode="clip")
        moved -= spare
        moved *= steps
        moved += ya
        np.minimum(moved, edges.w, out=moved)
        np.maximum(moved, floor, out=moved)
        np.subtract(moved, a, out=ya)
        ya *= beta
        ya += moved
        a[:] = moved
        v_new, scalars[2] = project_simplex(yv - d / 3.0, c, float(scalars[2]))
        np.add(v_new, beta * (v_new - v), out=yv)
        v[:] = v_new
        _set_residual(edges, g, c, point)


def advanced_in_a_loop(edges: Edges, g: Floats, c: float, point: Point, n_steps: int) -> None:
    """Make the steps entry by entry."""

    def level_of(z: Floats, size: float, level: float) -> float:
        """Return the level of `project_simplex`."""
        if not level < z.max():
            level = z.max() - size
        elif level == -np.inf:
            total = 0.0
            for entry in z:
                total += entry
            level = (total - size) / len(z)
        count = -1
        while True:
            last, count, total = count, 0, 0.0
            for entry in z:
                if entry > level:
                    count += 1
                    total += entry - level
            step = (total - size) / max(count, 1)
            if count == last or (last >= 0 and step <= 0):
                break
            level += step
        return level

    a, v, ya, yv, d, scalars = point
    starts, ends, w = edges.starts, edges.ends, edges.w
    scale = 2.0 / 3.0 if c > 0 else 1.0
    z, left = np.empty(len(g)), np.zeros(len(g))
    for _ in range(n_steps):
        t = scalars[0]
        scalars[0] = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        beta = (t - 1.0) / scalars[0]
        left[:] = 0.0
        for k in range(len(g)):
            # Edges come by their smaller end, so what the edges to k bring is complete.
            here, leaving = d[k], left[k]
            for e in range(starts[k], starts[k + 1]):
                end = ends[e]
                moved = (here - d[end]) * (edges.steps[e] * scale) + ya[e]
                moved = max(min(moved, w[e]), -w[e])
                ahead = (moved - a[e]) * beta + moved
                a[e] = moved
                ya[e] = ahead
                leaving += ahead
                left[end] -= ahead
            left[k] = leaving
        if c > 0:
            z[:] = yv - d / 3.0
            level = scalars[2] = level_of(z, c, scalars[2])
            for k in range(len(g)):
                entry = max(z[k] - level, 0.0)
                yv[k] = entry + beta * (entry - v[k])
                v[k] = entry
        d[:] = g + yv - left
        if c > 0:
            level = scalars[1] = level_of(d, c, scalars[1])
            for k in range(len(g)):
                d[k] -= max(d[k] - level, 0.0)


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
