"""Two coordinates per row, for a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.sparse.linalg import svds

GRID = 1000
"""Coordinates are whole numbers from 0 to this, enough for a screen and short to send."""

MOST_POINTS = 4_000
"""More points would only cover each other."""

N_COMPONENTS = 30
"""Directions that separate the groups are searched in this many principal components. With 10 the
groups of pictures lie closer together; more take longer and show noise."""

SHRINKAGE = 0.3
"""How far the variance within groups is shrunk toward that of all rows, so that directions that
separate a few known rows by chance count less. From .1 to .6 maps look the same."""

REST = 0.1
"""Weight of all rows beside the means of groups: it gives two groups a second axis."""

LEAST_SPREAD = 0.04
"""The rows of a group are spread over at least this share of the map. Otherwise, where a single
column separates the groups, all rows of a group would lie on one point. Below .03 they cover each
other, above .06 groups mix."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The rows on a map; `Z`, the slow part, does not depend on the groups."""

    rows: NDArray[np.intp]
    Z: NDArray[np.float64]
    is_scaled: bool

    @classmethod
    def of(cls, X: NDArray[Any], *, are_distances: bool = False) -> Layout:
        """Return the layout of at most `MOST_POINTS` rows, from features or distances."""
        n_rows = len(X)
        rows = np.arange(n_rows)
        if n_rows > MOST_POINTS:
            rows = np.sort(np.random.default_rng(0).choice(n_rows, MOST_POINTS, replace=False))
        if are_distances:
            return cls(rows, _classical_scaling(X[np.ix_(rows, rows)]), True)
        X = X[rows].astype(np.float64)
        X -= X.mean(axis=0)
        return cls(rows, X @ _largest(X, min(N_COMPONENTS, *X.shape)).T, False)

    def places(self, groups: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Return two coordinates for every row, along the axes that separate the groups best."""
        if groups is None or self.is_scaled:
            place = np.pad(self.Z, ((0, 0), (0, 1)))[:, :2]
        else:
            place = _discriminants(self.Z, groups[self.rows])
        low, high = place.min(axis=0), place.max(axis=0)
        scale = np.where(high > low, high - low, 1.0)
        places: NDArray[np.intp] = np.rint((place - low) / scale * GRID).astype(np.intp)
        return places


def _discriminants(Z: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the two linear discriminants of the groups."""
    numbers, group = np.unique(groups[groups >= 0], return_inverse=True)
    known, sizes = Z[groups >= 0], np.bincount(group)
    means = np.array([known[group == k].mean(axis=0) for k in range(len(numbers))])
    within = known - means[group]
    variance = Z.var(axis=0)
    spread = (1 - SHRINKAGE) * (within.T @ within) / len(known)
    spread += np.diag(SHRINKAGE * variance + 1e-9 * variance.max() + 1e-300)
    white = np.linalg.inv(np.linalg.cholesky(spread)).T
    means = (means - means.mean(axis=0)) * np.sqrt(sizes / len(known))[:, None]
    axes = _largest(np.vstack([means, REST * Z / np.sqrt(len(Z))]) @ white, 2)
    places: NDArray[np.float64] = Z @ white @ axes.T
    inner = np.zeros((len(Z), 2))
    inner[groups >= 0, : within.shape[1]] = within[:, :2]
    lacking = _lacking_spread(places, group, groups >= 0)
    places += lacking * inner / (inner.std(axis=0) + 1e-300)
    return places


def _lacking_spread(
    places: NDArray[np.float64], group: NDArray[np.intp], is_known: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return, for both coordinates, how much the spread of groups is below `LEAST_SPREAD`."""
    known = places[is_known]
    sums = np.array([np.bincount(group, column) for column in known.T]).T
    own = known - (sums / np.bincount(group)[:, None])[group]
    lacking: NDArray[np.float64] = LEAST_SPREAD * np.ptp(places, axis=0) - own.std(axis=0)
    return np.maximum(0.0, lacking)


def _largest(matrix: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the first right singular vectors, each with its largest entry positive."""
    if min(matrix.shape) > max(100, 3 * n):
        _, _, axes = svds(matrix, k=n, v0=np.ones(min(matrix.shape)), solver="arpack")
        axes = axes[::-1]
    else:
        _, _, axes = svd(matrix, full_matrices=False)
    axes = np.vstack([axes[:n], np.zeros((n - len(axes[:n]), matrix.shape[1]))])
    signs = np.sign(axes[np.arange(n), np.abs(axes).argmax(axis=1)])
    turned: NDArray[np.float64] = axes * np.where(signs == 0, 1, signs)[:, None]
    return turned


def _classical_scaling(distances: NDArray[Any]) -> NDArray[np.float64]:
    squared = distances.astype(np.float64) ** 2
    centered = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    axes = _largest(-0.5 * centered, 2)
    places: NDArray[np.float64] = (-0.5 * centered) @ axes.T
    return places
