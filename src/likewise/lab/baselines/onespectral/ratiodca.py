"""RatioDCA: descent on the ratio F by a sequence of convex problems."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from likewise.lab.baselines.onespectral.graph import CutGraph, Floats, Sides
from likewise.lab.baselines.onespectral.inner import Dual, cold_dual, solve_inner
from likewise.lab.baselines.onespectral.objective import (
    balance_subgradient,
    best_threshold,
    cannot_subgradient,
    numerator,
)

# Inner iterations after which any descent is good enough; doubled after so many outer steps.
FIRST_CAP = 100
PATIENCE = 20
# Inner iterations without any descent after which to give up.
MAX_INNER = 1000
# A balanced cut is at most about two; below this it is nothing but rounding.
FREE = 1e-12


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
