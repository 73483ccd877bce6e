"""How far apart two points can be under a metric: the scale of a violated cannot-link."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.spatial.distance import cdist

from likewise.lab.baselines.mpck.metric import Array, Metric

TILE = 256
"""How many rows are compared with how many at a time. It changes the time only."""
CENTER_STEPS = 10
"""Steps toward the center of the smallest enclosing ball. They change the time only."""
# Rounding must not rule out a pair.
SAFETY = 1e-9


Separation = Callable[[Metric], Array]
"""From a metric to a vector that is as long under it as two points can be apart."""


def farthest_difference(X: Array) -> Separation:
    """Return the separation of the two rows that are farthest apart."""

    @cache  # metrics are equal only if they are the same
    def difference(metric: Metric) -> Array:
        left, right = farthest_pair(metric.embed(X))
        return np.asarray(X[left] - X[right])

    return difference


def farthest_pair(Y: Array) -> tuple[int, int]:
    """Return the two rows that are farthest apart."""
    # No pair is farther apart than its two distances to a common center together. So with the rows
    # sorted by that distance most pairs are ruled out unseen; the rest is computed in tiles.
    squares = np.einsum("ij,ij->i", Y, Y)

    def farthest_from(point: Array) -> int:
        return int((squares - 2 * (Y @ point)).argmax())

    left = farthest_from(Y.mean(axis=0))
    center = (Y[left] + Y[farthest_from(Y[left])]) / 2
    # Badoiu and Clarkson's steps; any center is correct, a good one rules out more pairs.
    for step in range(CENTER_STEPS):
        center = center + (Y[farthest_from(center)] - center) / (step + 3)
    radii = np.sqrt(np.maximum(squares - 2 * (Y @ center) + center @ center, 0))
    order = np.argsort(-radii, kind="stable")
    Y, reach = Y[order], (radii * (1 + SAFETY) + SAFETY * radii.max())[order]
    best, pair = 0.0, (0, 0)
    for a in range(0, len(Y), TILE):
        for b in range(a, len(Y), TILE):
            if reach[a] + reach[b] < best:
                break
            distances = cdist(Y[a : a + TILE], Y[b : b + TILE])
            row, column = divmod(int(distances.argmax()), distances.shape[1])
            if distances[row, column] > best:
                best, pair = distances[row, column], (a + row, b + column)
        if 2 * reach[a] < best:
            break
    return int(order[pair[0]]), int(order[pair[1]])


def box_difference(span: Array, metric: Metric) -> Array:
    """Return a long diagonal of a box: a bound on the distances inside it under the metric."""
    if metric.is_diagonal:
        return span
    scaled = metric.weights * np.outer(span, span)
    signs = np.where(np.linalg.eigh(scaled)[1][:, -1] < 0, -1.0, 1.0)
    for _ in range(10 * len(span)):
        gains = np.diag(scaled) - signs * (scaled @ signs)
        side = int(gains.argmax())
        if gains[side] <= 1e-12 * abs(np.trace(scaled)):
            break
        signs[side] *= -1
    return np.asarray(signs * span)
