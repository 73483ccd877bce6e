"""Three views of rows: features as they are, features of equal variance, principal axes.

Rows with several aspects have these views of each aspect, and of all side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.rows.threads import one_thread_each

MAX_FEATURES = 100
"""With more features than this, the main axes are used instead."""

N_AXES = 50
"""The most main axes. Mean adjusted Rand index of 50 pairs on ten of the paper's tasks, two seeds:
.618; with 25 axes .627, with 100 .623 (differences of .01 are noise)."""

_ROWS_FOR_AXES = 5000
"""The main axes are found from about this many rows, to save time."""
_ROWS_PER_BLOCK = 4096
"""How many rows are projected at a time. It changes the memory only."""
_FLAT = 1e-10
"""An axis with less variance than this share of the first one's is left out."""


class RowViews(NamedTuple):
    """Rows scaled as a whole, in equal scales and on main axes, with their given groups or -1.

    If the rows have several aspects, these are views of all of them side by side, and `alone` has
    those of each.
    """

    scaled: NDArray[np.float64]
    equal: NDArray[np.float64]
    axes: NDArray[np.float64]
    given: NDArray[np.intp]
    alone: tuple[RowViews, ...] = ()

    @property
    def mixes(self) -> tuple[RowViews, ...]:
        """The views of all aspects side by side, then those of each aspect alone."""
        return self, *self.alone

    def mix(self, number: int) -> RowViews:
        """Return one of `mixes`, with the given groups of the rows."""
        return self.alone[number - 1]._replace(given=self.given) if number else self

    def take(self, rows: NDArray[np.intp] | slice | list[int]) -> RowViews:
        """Return the views of the selected rows."""
        return RowViews(
            self.scaled[rows],
            self.equal[rows],
            self.axes[rows],
            self.given[rows],
            tuple(one.take(rows) for one in self.alone) if self.alone else (),
        )

    def followed_by(self, others: Sequence[RowViews]) -> RowViews:
        """Return the views of these rows and of others."""
        rows = (self, *others)
        return RowViews(
            np.concatenate([one.scaled for one in rows]),
            np.concatenate([one.equal for one in rows]),
            np.concatenate([one.axes for one in rows]),
            np.concatenate([one.given for one in rows]),
            tuple(
                first.followed_by(further)
                for first, *further in zip(*(one.alone for one in rows), strict=True)
            ),
        )

    def padded(self, n: int) -> RowViews:
        """Return the views with rows of zeros behind them, `n` rows in all."""
        return self.followed_by([self._zeros(n - len(self.given))])

    def _zeros(self, n: int) -> RowViews:
        scaled, equal, axes = (np.zeros((n, one.shape[1])) for one in self[:3])
        none = np.full(n, -1, dtype=np.intp)
        return RowViews(scaled, equal, axes, none, tuple(one._zeros(n) for one in self.alone))


@dataclass(frozen=True, eq=False, slots=True)
class Views:
    """How rows are viewed. Made by `views_of`; calling it returns a `RowViews`."""

    mean: NDArray[np.float64]
    axes: NDArray[np.float64]
    has_many_features: bool
    scale: float
    deviations: NDArray[np.float64]

    def __call__(self, rows: NDArray[Any]) -> RowViews:
        """Return the views of rows."""
        centered = np.asarray(rows, dtype=np.float64) - self.mean
        turned = centered @ self.axes
        if self.has_many_features:
            centered = turned
        none = np.full(len(turned), -1, dtype=np.intp)
        return RowViews(centered * self.scale, centered * self.deviations, turned, none)

    def for_single_rows(self) -> Views:
        """Return the same, fast for one row.

        Axes that lie as an eigendecomposition leaves them make a product with one row 50 times
        slower.
        """
        return replace(self, axes=np.ascontiguousarray(self.axes))


def views_of(X: NDArray[Any]) -> Views:
    """Return a function that makes `RowViews`; constant features get no equal scale."""
    mean = X.mean(axis=0, dtype=np.float64)
    has_many = X.shape[1] > MAX_FEATURES
    with one_thread_each():
        axes = main_axes(X[:: max(1, -(-len(X) // _ROWS_FOR_AXES))] - mean)
        variances = np.zeros(axes.shape[1] if has_many else X.shape[1])
        for start in range(0, len(X), _ROWS_PER_BLOCK):
            block = X[start : start + _ROWS_PER_BLOCK] - mean
            variances += ((block @ axes if has_many else block) ** 2).sum(axis=0)
    variances /= len(X)
    total = variances.sum()
    is_alive = variances > 1e-18 * max(float(total), 1e-300)
    deviations = np.zeros(len(variances))
    deviations[is_alive] = 1.0 / np.sqrt(variances[is_alive] * is_alive.sum())
    scale = float(1.0 / np.sqrt(total)) if total > 0 else 1.0
    return Views(mean, axes, has_many, scale, deviations)


@dataclass(frozen=True, eq=False, slots=True)
class AspectViews:
    """How rows with several aspects are viewed; calling it returns a `RowViews`.

    Side by side, every aspect has the same variance: what scale it comes in says nothing.
    """

    columns: tuple[NDArray[np.intp], ...]
    alone: tuple[Views, ...]
    together: Views

    def __call__(self, rows: NDArray[Any]) -> RowViews:
        """Return the views of rows."""
        pairs = zip(self.columns, self.alone, strict=True)
        alone = tuple(views(rows[:, columns]) for columns, views in pairs)
        return self.together(np.hstack([one.scaled for one in alone]))._replace(alone=alone)

    def for_single_rows(self) -> AspectViews:
        """Return the same, fast for one row."""
        alone = tuple(views.for_single_rows() for views in self.alone)
        return AspectViews(self.columns, alone, self.together.for_single_rows())


@dataclass(frozen=True, eq=False, slots=True)
class ColumnViews:
    """How some columns of rows are viewed."""

    columns: NDArray[np.intp]
    views: Views

    def __call__(self, rows: NDArray[Any]) -> RowViews:
        """Return the views of rows."""
        return self.views(rows[:, self.columns])

    def for_single_rows(self) -> ColumnViews:
        """Return the same, fast for one row."""
        return ColumnViews(self.columns, self.views.for_single_rows())


AnyViews = Views | AspectViews | ColumnViews


def views_by_aspect(X: NDArray[Any], aspects: Mapping[str, NDArray[np.intp]]) -> AnyViews:
    """Return a function that makes `RowViews` of rows with these aspects; without any, of all."""
    blocks = list(aspects.values())
    if not blocks or (len(blocks) == 1 and len(blocks[0]) == X.shape[1]):
        return views_of(X)
    alone = tuple(views_of(X[:, columns]) for columns in blocks)
    if len(alone) == 1:
        return ColumnViews(blocks[0], alone[0])
    scaled = [views(X[:, c]).scaled for c, views in zip(blocks, alone, strict=True)]
    return AspectViews(tuple(blocks), alone, views_of(np.hstack(scaled)))


def weighed(rows: RowViews, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return rows in a scale where each aspect has as much variance as it weighs."""
    if weights is None or not rows.alone:
        return rows.scaled
    pairs = zip(weights, rows.alone, strict=True)
    return np.hstack([np.sqrt(weight) * one.scaled for weight, one in pairs])


def main_axes(centered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return up to 50 main axes as columns, by an eigendecomposition, faster than an SVD."""
    n_rows, n_features = centered.shape
    is_wide = n_features > n_rows
    values, vectors = np.linalg.eigh(centered @ centered.T if is_wide else centered.T @ centered)
    n_axes = min(N_AXES, int((values > _FLAT * max(float(values[-1]), 1e-300)).sum()))
    best = vectors[:, ::-1][:, :n_axes]
    if is_wide:
        best = centered.T @ (best / np.sqrt(values[::-1][:n_axes]))
    return np.asarray(best)
