"""The start of MPCKMeans: the centers of groups of must-linked rows."""

from __future__ import annotations

import numpy as np

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.lab.baselines.mpck.metric import Array, Ints

PERTURBATION = 0.7
"""How much the coordinates of the mean are scaled at random: by 1 plus or minus half of this, as in
WekaUT."""


def starting_centers(
    X: Array, links: LinkGraph, n_clusters: int, rng: np.random.RandomState, rest: str
) -> tuple[Array, Ints]:
    """Return the first centers, and the labels that the rows of chosen neighborhoods start with."""
    neighborhoods = links.components()
    labels = np.full(len(X), -1, dtype=np.intp)
    means = np.array([X[rows].mean(axis=0) for rows in neighborhoods]).reshape(-1, X.shape[1])
    if len(neighborhoods) >= n_clusters:
        sizes = np.array([len(rows) for rows in neighborhoods])
        chosen = weighted_farthest_first(means, sizes, n_clusters, rng)
    else:
        chosen = list(range(len(neighborhoods)))
    for label, neighborhood in enumerate(chosen):
        labels[neighborhoods[neighborhood]] = label
    centers = means[chosen]
    if 0 < len(centers) < n_clusters:
        stranger = _row_apart_from_all(links, [rows[0] for rows in neighborhoods])
        if stranger is not None:
            centers = np.vstack((centers, X[stranger]))
    if len(centers) < n_clusters:
        fill = far_rows if rest == "k-means++" else perturbed_means
        centers = np.vstack((centers, fill(X, centers, n_clusters - len(centers), rng)))
    return centers, labels


def weighted_farthest_first(
    means: Array, sizes: Ints, n_chosen: int, rng: np.random.RandomState
) -> list[int]:
    """Choose the largest neighborhood, then always the farthest one; ties are broken at random."""
    chosen = [_random_argmax(sizes.astype(float), rng)]
    distance = np.full(len(means), np.inf)
    for _ in range(n_chosen - 1):
        last = chosen[-1]
        to_last = np.sqrt(sizes * sizes[last]) * np.linalg.norm(means - means[last], axis=1)
        distance = np.minimum(distance, to_last)
        distance[chosen] = -np.inf
        chosen.append(_random_argmax(distance, rng))
    return chosen


def far_rows(X: Array, centers: Array, n_rows: int, rng: np.random.RandomState) -> Array:
    """Draw rows far from the centers so far (greedy k-means++)."""
    norms = np.einsum("ij,ij->i", X, X)

    def squared_to(points: Array) -> Array:
        squared = norms[:, None] - 2 * (X @ points.T) + np.einsum("ij,ij->i", points, points)
        return np.asarray(np.maximum(squared, 0.0))

    nearest = np.ones(len(X))
    if len(centers):
        nearest = squared_to(centers).min(axis=1)
    n_trials = 2 + int(np.log(len(centers) + n_rows))
    chosen: list[int] = []
    for _ in range(n_rows):
        # All rows on a center: any row is as good as any other.
        weights = nearest if nearest.sum() > 0 else np.ones(len(X))
        heights = rng.random_sample(n_trials) * weights.sum()
        trials = np.searchsorted(np.cumsum(weights), heights).clip(max=len(X) - 1)
        after = np.minimum(
            squared_to(X[trials]), nearest[:, None] if centers.size or chosen else np.inf
        )
        best = int(after.sum(axis=0).argmin())
        chosen.append(int(trials[best]))
        nearest = after[:, best]
    return X[chosen]


def perturbed_means(X: Array, _centers: Array, n_rows: int, rng: np.random.RandomState) -> Array:
    """Return copies of the mean of the data with every coordinate scaled at random."""
    factors = 1 + PERTURBATION * (rng.random_sample((n_rows, X.shape[1])) - 0.5)
    return np.asarray(X.mean(axis=0) * factors)


def _row_apart_from_all(links: LinkGraph, representatives: list[int]) -> int | None:
    """Return the first row in a link that differs from all representatives, or None."""
    for row in sorted({row for given in links for row in (given.left, given.right)}):
        if all(links.implied(row, other) is Answer.DIFFERENT for other in representatives):
            return row
    return None


def _random_argmax(values: Array, rng: np.random.RandomState) -> int:
    ties = np.flatnonzero(values == values.max())
    return int(ties[rng.randint(len(ties))]) if len(ties) > 1 else int(ties[0])
