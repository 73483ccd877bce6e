"""Linear discriminant analysis of all rows, each with the group of the nearest known row.

A kernel regression learns from the known rows alone. Here all rows are used: each starts in the
group of the nearest known row, by the angle between them. Means of many rows are much less noisy
than single rows, which helps where there are many features, as in embeddings of texts and pictures.
The covariance within groups is shrunk (oracle approximating shrinkage: Chen, Wiesel, Eldar, Hero,
2010), so it needs no tuning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import log_softmax, softmax

from likewise.learning.views import RowViews

TEMPERATURES = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0])
"""Scores are multiplied by one of these, because rows of a group are not independent. Mean adjusted
Rand index of 50 pairs on ten small tasks of the paper, two seeds: .706; with 0.2 and 1 alone .702,
with twice as many .711 (differences of .01 are noise)."""

UNTUNED = 0.35
"""The temperature while no two known rows are in one group."""

UNKNOWN = 3.0
"""A group without rows scores this much less than the least likely of the others. With half or
twice as much the index is the same (.002)."""

LEAST_WITHIN = 1e-3
"""The variance within groups is at least this share of the variance along an axis. It would be less
if nearly all rows are known. A tenth or ten times as much changes nothing on these tasks."""


@dataclass(frozen=True, eq=False, slots=True)
class Discriminant:
    """A fitted discriminant; `left_out` predicts known rows without the rows nearest to them."""

    left_out: NDArray[np.float64]
    _coefficients: NDArray[np.float64]
    _offsets: NDArray[np.float64]

    def predict_proba(self, rows: RowViews) -> NDArray[np.float64]:
        """Return how likely each row belongs to each group, by its coordinates on main axes."""
        return np.asarray(softmax(rows.axes @ self._coefficients + self._offsets, axis=1))


def fit_discriminant(
    rows: RowViews,
    sizes: NDArray[np.float64],
    known: NDArray[np.intp],
    groups: NDArray[np.intp],
) -> Discriminant:
    """Fit a discriminant on all rows, weighted by `sizes`, of which some groups are known."""
    axes = rows.axes
    targets = np.eye(int(groups.max()) + 1)[groups]
    nearest = _nearest_by_angle(axes, known)
    moments = axes.T @ (sizes[:, None] * axes)
    in_cells = csr_array((sizes, (nearest, np.arange(len(axes)))), shape=(len(known), len(axes)))
    cell_sums: NDArray[np.float64] = np.asarray(in_cells @ axes)
    cell_sizes = np.bincount(nearest, sizes, minlength=len(known)).astype(np.float64)
    first = _Gaussians.fit(targets.T @ cell_sums, targets.T @ cell_sizes, moments)
    scores = first.scores_without(cell_sums, cell_sizes, axes[known], groups)
    # As for the kernels: rows that are alone in their group cannot show which temperature is best.
    paired = np.flatnonzero(np.bincount(groups)[groups] > 1)
    temperature = UNTUNED
    if len(paired) > 1:
        own = np.arange(len(paired)), groups[paired]
        losses = [-log_softmax(t * scores[paired], axis=1)[own].mean() for t in TEMPERATURES]
        temperature = float(TEMPERATURES[int(np.argmin(losses))])
    # Unknown rows move once, to the group of the first fit; known rows stay.
    coefficients, offsets = first.linear()
    members = softmax(axes @ coefficients + offsets, axis=1)
    members[known] = targets
    members *= sizes[:, None]
    second = _Gaussians.fit(members.T @ axes, members.sum(axis=0), moments)
    coefficients, offsets = second.linear()
    return Discriminant(
        np.asarray(softmax(temperature * scores, axis=1)),
        temperature * coefficients,
        temperature * offsets,
    )


def _nearest_by_angle(axes: NDArray[np.float64], known: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return which of the known rows is nearest to each row, by angle; known ones are their own."""
    rows = axes.astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
    nearest: NDArray[np.intp] = (rows @ rows[known].T).argmax(axis=1)
    nearest[known] = np.arange(len(known))
    return nearest


@dataclass(frozen=True, eq=False, slots=True)
class _Gaussians:
    """One normal distribution per group, all with the same covariance."""

    sums: NDArray[np.float64]
    sizes: NDArray[np.float64]
    precision: NDArray[np.float64]

    @classmethod
    def fit(
        cls, sums: NDArray[np.float64], sizes: NDArray[np.float64], moments: NDArray[np.float64]
    ) -> _Gaussians:
        """Return the distributions by sums of rows, numbers of rows and products of all rows."""
        total = sizes.sum()
        within = (moments - (sums / sizes[:, None]).T @ sums) / total
        narrowest = np.maximum(LEAST_WITHIN * np.diag(moments) / total, 1e-300)
        widths = np.sqrt(np.maximum(np.diag(within), narrowest))
        correlations = shrunk(within / np.outer(widths, widths), float(total))
        return cls(sums, sizes, np.linalg.inv(correlations) / np.outer(widths, widths))

    def linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return coefficients and offsets of the log-likelihood of each group."""
        means = self.sums / self.sizes[:, None]
        coefficients = self.precision @ means.T
        offsets = np.log(self.sizes / self.sizes.sum()) - 0.5 * (means * coefficients.T).sum(axis=1)
        return coefficients, offsets

    def scores_without(
        self,
        cell_sums: NDArray[np.float64],
        cell_sizes: NDArray[np.float64],
        rows: NDArray[np.float64],
        groups: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Return the scores of known rows when their cells are left out of the groups' means."""
        coefficients, offsets = self.linear()
        scores: NDArray[np.float64] = rows @ coefficients + offsets
        left = self.sizes[groups] - cell_sizes
        is_alone = left <= 0.5 * cell_sizes.min(initial=1.0)
        left[is_alone] = 1.0
        means = (self.sums[groups] - cell_sums) / left[:, None]
        toward = means @ self.precision
        own = ((rows - 0.5 * means) * toward).sum(axis=1) + np.log(left / self.sizes.sum())
        own[is_alone] = scores[is_alone].min(axis=1) - UNKNOWN
        scores[np.arange(len(groups)), groups] = own
        return scores


def shrunk(correlations: NDArray[np.float64], n_rows: float) -> NDArray[np.float64]:
    """Return correlations shrunk toward zero, depending on the number of rows."""
    n = len(correlations)
    if n == 0:
        return correlations
    spread = float((correlations**2).sum()) / n**2
    share = min(1.0, (spread + 1.0) / max((n_rows + 1.0) * (spread - 1.0 / n), 1e-12))
    return (1.0 - share) * correlations + share * np.eye(n)
