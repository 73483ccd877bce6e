"""The alternation of MPCKMeans: assign rows, move centers, learn metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.core.links import LinkGraph
from likewise.lab.baselines.mpck.farthest import Separation
from likewise.lab.baselines.mpck.links import LinkCosts, LinkedRows, Violations, sweep, violations
from likewise.lab.baselines.mpck.metric import Array, Ints, Metric, identity, outer, updated_metric

CHUNK = 8192
"""How many rows are assigned at a time. It changes the time only."""
MAX_BLANK_ITERATIONS = 20
"""The run ends after this many iterations in which no label changes, as in WekaUT."""
MAX_ITERATIONS_WITHOUT_GAIN = 10
"""The run ends after this many iterations without a lower objective."""


@dataclass(frozen=True)
class Settings:
    """How to run `mpck_means`; `MPCKMeans` explains the parameters."""

    learns_metric: bool
    w_must: float
    w_cannot: float
    visits_at_random: bool
    carries_labels: bool
    max_iter: int
    tol: float


@dataclass(frozen=True)
class Solution:
    """Where `mpck_means` ended."""

    labels: Ints
    centers: Array
    metrics: list[Metric]
    objective: float
    n_iter: int


def mpck_means(
    X: Array,
    links: LinkGraph,
    centers: Array,
    labels: Ints,
    metrics: list[Metric],
    separation: Separation,
    settings: Settings,
    rng: np.random.RandomState,
) -> Solution:
    """Lower the objective of MPCKMeans from a start; return the best solution on the way."""
    linked = LinkedRows.of(links)
    is_linked = np.zeros(len(X), dtype=bool)
    is_linked[linked.rows] = True
    floor = rounding_floor(X)
    order = np.arange(len(linked.rows))
    rounds = linked.rounds(order)
    best: Solution | None = None
    objective, n_blank = np.inf, 0
    for n_iter in range(1, settings.max_iter + 1):
        before, last = labels, objective
        if settings.visits_at_random:
            rng.shuffle(order)
            rounds = linked.rounds(order)
        seen = before if settings.carries_labels or n_iter == 1 else np.full(len(X), -1)
        labels = assigned(X, linked, rounds, centers, seen, metrics, separation, settings)
        n_blank = 0 if np.any(labels != before) else n_blank + 1
        counts, centers, scatter = moments(X, labels, centers, diagonal=metrics[0].is_diagonal)
        violated = violations(
            X[linked.rows],
            linked,
            labels[linked.rows],
            len(centers),
            diagonal=metrics[0].is_diagonal,
        )
        weights = settings.w_must, settings.w_cannot
        total = total_scatter(scatter, violated, metrics, separation, *weights)
        if settings.learns_metric:
            metrics = updated_metrics(total, counts, metrics, floor)
            total = total_scatter(scatter, violated, metrics, separation, *weights)
        objective = objective_of(total, counts, metrics)
        if best is None or objective < best.objective:
            best = Solution(labels, centers.copy(), metrics, objective, n_iter)
        if (
            abs(last - objective) < settings.tol
            or n_blank >= MAX_BLANK_ITERATIONS
            or n_iter - best.n_iter >= MAX_ITERATIONS_WITHOUT_GAIN
        ):
            break
        reseed_empty(X, is_linked, labels, counts, centers, metrics)
    assert best is not None
    return Solution(best.labels, best.centers, best.metrics, best.objective, n_iter)


def assigned(
    X: Array,
    linked: LinkedRows,
    rounds: Sequence[Ints],
    centers: Array,
    labels: Ints,
    metrics: Sequence[Metric],
    separation: Separation,
    settings: Settings,
) -> Ints:
    """Return the labels that are cheapest given centers, metrics and other labels."""
    result = nearest(X, centers, metrics)
    rows = linked.rows
    if len(rows) == 0:
        return result
    farthest = np.zeros(1)
    if len(linked.apart):
        farthest = np.array([m.squared_norms(separation(m)[None])[0] for m in metrics])
    costs = LinkCosts(
        X[rows],
        linked,
        labels[rows].copy(),
        metrics,
        np.broadcast_to(farthest, len(centers)),
        settings.w_must,
        settings.w_cannot,
    )
    sweep(costs, np.ascontiguousarray(relative_costs(X[rows], centers, metrics).T), rounds)
    result[rows] = costs.labels
    return result


def nearest(X: Array, centers: Array, metrics: Sequence[Metric]) -> Ints:
    """Return the cheapest label of every row, links aside."""
    chunks = [X[start : start + CHUNK] for start in range(0, len(X), CHUNK)]
    costs = [relative_costs(chunk, centers, metrics) for chunk in chunks]
    return np.concatenate([cost.argmin(axis=0) for cost in costs])


def relative_costs(X: Array, centers: Array, metrics: Sequence[Metric]) -> Array:
    """Return ``(x - c)' A (x - c) - log det A``, up to what is alike for all clusters, by row."""
    if len(metrics) == 1:
        applied, log_dets = metrics[0].apply(centers), np.zeros(1)
    else:
        pairs = zip(metrics, centers, strict=True)
        applied = np.stack([metric.apply(center[None])[0] for metric, center in pairs])
        log_dets = np.array([metric.log_det for metric in metrics])
    cost = (-2 * applied) @ X.T
    if len(metrics) > 1 and metrics[0].is_diagonal:
        cost += np.stack([metric.weights for metric in metrics]) @ np.square(X).T
    elif len(metrics) > 1:
        cost += np.stack([metric.squared_norms(X) for metric in metrics])
    cost += (np.einsum("ij,ij->i", applied, centers) - log_dets)[:, None]
    return np.asarray(cost)


def moments(
    X: Array, labels: Ints, centers: Array, *, diagonal: bool
) -> tuple[Array, Array, Array]:
    """Return size, mean and scatter of every cluster; an empty one keeps its center."""
    counts = np.bincount(labels, minlength=len(centers)).astype(float)
    means, scatter = centers.copy(), []
    for h in range(len(centers)):
        rows = X[labels == h]
        if len(rows):
            means[h] = rows.mean(axis=0)
        rows = rows - means[h]
        scatter.append(np.einsum("ij,ij->j", rows, rows) if diagonal else rows.T @ rows)
    return counts, means, np.stack(scatter)


def total_scatter(
    scatter: Array,
    violated: Violations,
    metrics: Sequence[Metric],
    separation: Separation,
    w_must: float,
    w_cannot: float,
) -> Array:
    """Return the `B` of every cluster: its objective is ``<A, B> - n log det A``."""
    # The farthest pair is searched for only where a cannot-link is violated.
    is_violated = violated.n_cannot > 0
    is_needed = is_violated if len(metrics) > 1 else [is_violated.any()]
    nothing = np.zeros(len(metrics[0].weights))
    gaps = [separation(m) if n else nothing for m, n in zip(metrics, is_needed, strict=True)]
    farthest = np.stack([outer(gap, diagonal=scatter.ndim == 2) for gap in gaps])
    number = violated.n_cannot.reshape(-1, *[1] * (scatter.ndim - 1))
    return scatter + w_must * violated.must + w_cannot * (number * farthest - violated.cannot)


def updated_metrics(
    total: Array, counts: Array, before: Sequence[Metric], floor: Array
) -> list[Metric]:
    """Return the metrics at which the objective is stationary."""
    if len(before) == 1:
        return [updated_metric(total.sum(axis=0), counts.sum(), before[0], floor)]
    euclidean = identity(total.shape[1], diagonal=before[0].is_diagonal)
    return [
        updated_metric(scatter, count, metric, floor) if count > 1 else euclidean
        for scatter, count, metric in zip(total, counts, before, strict=True)
    ]


def objective_of(total: Array, counts: Array, metrics: Sequence[Metric]) -> float:
    """Return the objective from the scatters of `total_scatter`."""
    terms = [
        _of(metrics, h).inner(scatter) - count * _of(metrics, h).log_det
        for h, (scatter, count) in enumerate(zip(total, counts, strict=True))
    ]
    return float(sum(terms))


def rounding_floor(X: Array) -> Array:
    """Return, for every feature, the scatter up to which it is constant but for rounding."""
    spread = np.einsum("ij,ij->j", X, X)
    return np.asarray(1e-12 * spread + np.finfo(float).tiny)


def reseed_empty(
    X: Array,
    is_linked: NDArray[np.bool_],
    labels: Ints,
    counts: Array,
    centers: Array,
    metrics: Sequence[Metric],
) -> None:
    """Move the centers of empty clusters to the unlinked rows farthest from their own centers."""
    empty = np.flatnonzero(counts == 0)
    if len(empty) == 0 or is_linked.all():
        return
    free = np.flatnonzero(~is_linked)
    differences = X[free] - centers[labels[free]]
    distances = np.empty(len(free))
    for h in range(len(centers)):
        members = labels[free] == h
        distances[members] = _of(metrics, h).squared_norms(differences[members])
    farthest = free[np.argsort(-distances, kind="stable")[: len(empty)]]
    centers[empty[: len(farthest)]] = X[farthest]


def _of(metrics: Sequence[Metric], h: int) -> Metric:
    return metrics[h] if len(metrics) > 1 else metrics[0]
