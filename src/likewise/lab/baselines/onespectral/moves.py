"""Improve a set by moving single vertices to the other side."""

from __future__ import annotations

import numpy as np

from likewise.lab.baselines.onespectral.graph import CutGraph, Floats, Sides, totals
from likewise.lab.baselines.onespectral.objective import cut, n_violated, set_value


def best_moves(graph: CutGraph, gamma: float, side: Sides) -> Sides:
    """Make the move that lowers F most, again and again while F falls; return the set."""
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
