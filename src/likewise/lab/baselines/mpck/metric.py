"""The metrics that MPCKMeans learns: weights per feature, or full matrices."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.intp]

# Eigenvalues this small compared with the largest are zeros with rounding.
NEGLIGIBLE = 1e-12
LARGEST_CONDITION = 1e10
"""A matrix with a larger ratio of eigenvalues gets a ridge."""
RIDGE = 0.01
"""The share of the trace that is added to the eigenvalues at a time."""
MAX_RIDGES = 1000
"""The most ridges that are added to a matrix."""


class Metric:
    """A squared distance ``z' A z``, with `A` positive semidefinite."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights
        self.is_diagonal = weights.ndim == 1

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self.weights)
        return np.maximum(values, 0.0), vectors

    @cached_property
    def factor(self) -> Array:
        """The `F` with ``A = F F'``; a vector if the metric is diagonal."""
        if self.is_diagonal:
            root: Array = np.sqrt(self.weights)
            return root
        values, vectors = self._eigen
        return np.asarray(vectors * np.sqrt(values))

    @cached_property
    def log_det(self) -> float:
        """The logarithm of the determinant of `A` on its range."""
        values = self.weights if self.is_diagonal else self._eigen[0]
        cutoff = 0.0 if self.is_diagonal else NEGLIGIBLE * float(values.max())
        return float(np.log(values[values > cutoff]).sum())

    def apply(self, X: Array) -> Array:
        """Return ``A x`` for every row."""
        return X * self.weights if self.is_diagonal else X @ self.weights

    def embed(self, X: Array) -> Array:
        """Return rows whose Euclidean distances are the distances of this metric."""
        return X * self.factor if self.is_diagonal else X @ self.factor

    def squared_norms(self, X: Array) -> Array:
        """Return ``x' A x`` for every row."""
        if self.is_diagonal:
            return np.asarray(np.square(X) @ self.weights)
        embedded = self.embed(X)
        return np.asarray(np.einsum("ij,ij->i", embedded, embedded))

    def inner(self, scatter: Array) -> float:
        """Return the sum of ``z' A z`` over vectors, given their scatter (the sum of ``z z'``)."""
        return float(np.vdot(self.weights, scatter))


def identity(n_features: int, *, diagonal: bool) -> Metric:
    """Return the Euclidean metric."""
    return Metric(np.ones(n_features) if diagonal else np.eye(n_features))


def outer(z: Array, *, diagonal: bool) -> Array:
    """Return ``z z'``, or only its diagonal."""
    return np.asarray(z * z if diagonal else np.outer(z, z))


def updated_metric(scatter: Array, n_points: float, before: Metric, floor: Array) -> Metric:
    """Return the metric at which the objective is stationary, ``A = n B^-1``."""
    # Where there is none, the repairs of WekaUT apply: a feature without scatter keeps its weight,
    # an ill-conditioned matrix gets a ridge, negative eigenvalues are set to zero.
    if before.is_diagonal:
        usable = scatter > floor
        learned = n_points / np.where(usable, scatter, 1.0)
        return Metric(np.where(usable, learned, before.weights))
    values, vectors = np.linalg.eigh(scatter)
    for _ in range(MAX_RIDGES):
        trace = float(values.sum())
        magnitude = np.abs(values)
        if magnitude.min() * LARGEST_CONDITION >= magnitude.max() > floor.max():
            break
        if trace <= floor.max():
            return identity(len(values), diagonal=False)
        values = values + RIDGE * trace
    else:
        return identity(len(values), diagonal=False)
    learned = np.where(values > 0, n_points / np.where(values > 0, values, 1.0), 0.0)
    if not learned.any():
        return identity(len(values), diagonal=False)
    return Metric((vectors * learned) @ vectors.T)
