"""Where descents begin: spectral relaxations of the balanced cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from likewise.lab.baselines.onespectral.graph import CutGraph, Floats, Ints

# Descents end at the same sets from rougher vectors; a start need not be exact.
TOLERANCE = 1e-3


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
