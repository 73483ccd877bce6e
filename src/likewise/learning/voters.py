"""The two built-in voters: kernel regressions, and a linear discriminant of all rows.

**Kernels.** Kernel ridge regression, several at once, each with a vote. Everything is in closed
form: for every kernel and every strength of smoothing, the predictions with one row left out cost
no more than the fit. They show how good each choice is. So the best choices vote, weighted by how
well they predict rows they have not seen.

**Discriminant.** Kernels learn from the known rows alone. Here all rows are used: each starts in
the group of the nearest known row, by the angle between them. Means of many rows are much less
noisy than single rows, which helps where there are many features, as in embeddings of texts and
pictures. The covariance within groups is shrunk (oracle approximating shrinkage: Chen, Wiesel,
Eldar, Hero, 2010), so it needs no tuning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtri
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from scipy.special import log_softmax, softmax

from likewise.learning.views import RowViews

# -- kernels -------------------------------------------------------------------------------------

KERNELS = ("gaussian", "gaussian of equal widths", "exponential", "sums of equal widths")
"""A kernel is exp(-width / 2 * d). Its d is the square of the distance, in both views; the distance
itself; or the sum of the differences of features. The last two also fit borders with corners: they
raise the adjusted Rand index by .01 to .05 on 8 KEEL sets with two groups. Trees add nothing."""

WIDTHS = (0.25, 1.0, 4.0)
"""The mean of d is about 2. With 16 as well the index is the same (.002)."""

SMOOTHINGS = 10.0 ** np.arange(-4, 1)
"""Without 10 and 100: with these, all rows may fall into one group where left-out rows are hard to
predict. On eight KEEL sets in two groups with 100 known rows the index would be .055 lower."""

SHARPNESSES = np.array([1.0, 2.0, 4.0, 8.0])
"""Twice as fine grids of this and of `SMOOTHINGS` change nothing on development tasks (.001)."""

TRUST = 0.3
"""How fast the weight of a vote falls with its loss on left-out rows. 1 would be Bayesian odds, but
similar choices make the same errors. From 0.1 to 1 the index changes by .002."""

N_VOTERS = 6
"""How many of the best choices vote. With 2 the index is .003 lower, with 12 the same."""

MAIN, TOGETHER = 0.75, 0.2
"""How much the kernels that see the main aspect, and those that see all, weigh before any answer.
The index at 30, 60 and 100 answers, on five practice sets of texts with meaning and words: .559,
.658 and .750; by meaning alone .551, .664 and .762; without a main aspect .515 and .641 at 30 and
60; with .85 and .12 .553, .656 and .759. Where another aspect than the main one is right (eight
practice sets), it costs .04 at 30 answers and .02 at 60."""

MAX_TUNED = 200
"""Choices are compared on at most this many known rows. A sample of rows lies farther apart: with
100 of 200 rows the index is .035 lower on KEEL sets."""

UNTUNED_KERNELS = (0, 1)
"""While all known rows but one are alone in their groups, these kernels vote, with a width of 1, a
smoothing of .1 and a sharpness of 4: no row can show which are better."""


class KernelChoice(NamedTuple):
    """One kernel regression: which kernel, smoothing, and how scores become probabilities.

    `mix` says what it compares: all aspects side by side (0), or one of them alone.
    """

    kernel: int
    width: float
    smoothing: float
    sharpness: float
    weight: float
    mix: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class KernelVote:
    """Fitted kernels; `left_out` predicts each known row from all other known rows."""

    left_out: NDArray[np.float64]
    _known: RowViews
    _shares: NDArray[np.float32]
    _choices: tuple[KernelChoice, ...]
    _coefficients: tuple[NDArray[np.float32], ...]

    def predict_proba(self, rows: RowViews) -> NDArray[np.float32]:
        """Return how likely each row belongs to each group."""
        # Groups by rows: sums over a few groups are fastest along the first axis.
        mixed = np.zeros((len(self._shares), len(rows.scaled)), dtype=np.float32)
        for mix, number in sorted({(choice.mix, choice.kernel) for choice in self._choices}):
            one, other = self._known.mixes[mix], rows.mixes[mix]
            kernel = _distances(one, other, number).astype(np.float32)
            kernel *= -0.5 * WIDTHS[0]
            np.exp(kernel, out=kernel)
            for width in WIDTHS:
                if width > WIDTHS[0]:
                    # Each width is four times the one before: the fourth power of its kernel.
                    np.square(np.square(kernel, out=kernel), out=kernel)
                for choice, coefficients in zip(self._choices, self._coefficients, strict=True):
                    if (choice.mix, choice.kernel, choice.width) == (mix, number, width):
                        scores = coefficients.T @ kernel
                        scores += self._shares[:, None]
                        scores *= choice.sharpness
                        mixed += choice.weight * softmax(scores, axis=0)
        return mixed.T


def mix_weights(choices: Sequence[KernelChoice], n_aspects: int) -> NDArray[np.float64]:
    """Return the weight of the kernels that see all aspects, and of those that see each alone."""
    weights = [choice.weight for choice in choices]
    mixes = np.bincount([choice.mix for choice in choices], weights, minlength=1 + n_aspects)
    return np.asarray(mixes / mixes.sum())


def aspect_weights(mixes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much each aspect weighs by the weights of `mix_weights`; together 1."""
    return np.asarray(mixes[1:] + mixes[0] / (len(mixes) - 1)) if len(mixes) > 1 else mixes


def first_mixes(n_aspects: int, main: int | None = None) -> NDArray[np.float64]:
    """Return the weights of `mix_weights` before any answer; `main` is the main aspect."""
    if main is None or n_aspects < 2:
        return np.full(1 + n_aspects, 1.0 / (1 + n_aspects))
    mixes = np.full(1 + n_aspects, (1.0 - MAIN - TOGETHER) / (n_aspects - 1))
    mixes[[0, 1 + main]] = TOGETHER, MAIN
    return mixes


def tune_kernels(
    known: RowViews, groups: NDArray[np.intp], first: NDArray[np.float64]
) -> tuple[KernelChoice, ...]:
    """Return the kernels that predict left-out known rows best, with their weights.

    What kernels see counts as in `first`, until it predicts better or worse.
    """
    sample = np.linspace(0, len(groups) - 1, min(len(groups), MAX_TUNED)).astype(np.intp)
    targets = np.eye(int(groups.max()) + 1)[groups[sample]]
    ahead = np.log(first) / (TRUST * len(sample))
    mixes = enumerate(known.take(sample).mixes)
    found = [(mix, entry) for mix, rows in mixes for entry in _losses(rows, targets, mix)]
    losses = [(loss - float(ahead[mix]), choice) for mix, (loss, choice) in found]
    best = sorted(losses, key=itemgetter(0))[:N_VOTERS]
    weights = softmax([-TRUST * len(sample) * loss for loss, _ in best])
    return tuple(
        choice._replace(weight=float(weight))
        for (_, choice), weight in zip(best, weights, strict=True)
        if weight > 1e-3
    )


def fit_kernels(
    known: RowViews, groups: NDArray[np.intp], choices: Sequence[KernelChoice]
) -> KernelVote:
    """Fit kernels, chosen by `tune_kernels`, on rows whose group is known."""
    targets = np.eye(int(groups.max()) + 1)[groups]
    shares = targets.mean(axis=0)
    left_out = np.zeros_like(targets)
    coefficients = []
    seen = {(choice.mix, choice.kernel) for choice in choices}
    mixes = known.mixes
    distances = {(mix, kernel): _distances(mixes[mix], mixes[mix], kernel) for mix, kernel in seen}
    for choice in choices:
        kernel = np.exp(-0.5 * choice.width * distances[choice.mix, choice.kernel])
        own, without = ridge(kernel, targets - shares, choice.smoothing)
        left_out += choice.weight * softmax(choice.sharpness * (without + shares), axis=1)
        coefficients.append(own.astype(np.float32))
    shares32 = shares.astype(np.float32)
    return KernelVote(left_out, known, shares32, tuple(choices), tuple(coefficients))


def ridge(
    kernel: NDArray[np.float64], targets: NDArray[np.float64], smoothing: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return kernel ridge coefficients a = C y, and left-out predictions y_i - a_i / C_ii."""
    factor, _ = dpotrf(kernel + smoothing * np.eye(len(kernel)), lower=1, clean=1)
    half, _ = dtrtri(factor, lower=1)
    coefficients = half.T @ (half @ targets)
    return coefficients, targets - coefficients / (half**2).sum(axis=0)[:, None]


def _losses(
    known: RowViews, targets: NDArray[np.float64], mix: int
) -> list[tuple[float, KernelChoice]]:
    """Return every kernel and smoothing at its best sharpness, with its left-out loss."""
    # Rows that are alone in their group do not count: no other row can predict them.
    is_alone = targets.sum(axis=0)[targets.argmax(axis=1)] < 2
    if np.count_nonzero(~is_alone) < 2:
        return [(0.0, KernelChoice(kernel, 1.0, 0.1, 4.0, 0.0, mix)) for kernel in UNTUNED_KERNELS]
    weights = ~is_alone / np.count_nonzero(~is_alone)
    shares = targets.mean(axis=0)
    found = []
    for kernel in range(len(KERNELS)):
        distances = _distances(known, known, kernel)
        for width in WIDTHS:
            values, vectors = np.linalg.eigh(np.exp(-0.5 * width * distances))
            # All smoothings at once, as in `ridge`: one more axis in front.
            shrunk = 1.0 / (np.maximum(values, 0.0) + SMOOTHINGS[:, None])
            coefficients = vectors @ (shrunk[:, :, None] * (vectors.T @ (targets - shares)))
            left_out = targets - coefficients / (shrunk @ (vectors**2).T)[:, :, None]
            right = (left_out * targets).sum(axis=2)
            # The loss is the mean of log(sum(exp(scores))) - score of the right group.
            over = left_out - right[:, :, None]
            losses = np.array([np.log(np.exp(s * over).sum(axis=2)) @ weights for s in SHARPNESSES])
            for k, smoothing in enumerate(SMOOTHINGS.tolist()):
                best = int(np.argmin(losses[:, k]))
                sharpness = float(SHARPNESSES[best])
                choice = KernelChoice(kernel, width, smoothing, sharpness, 0.0, mix)
                found.append((float(losses[best, k]), choice))
    return found


def _distances(known: RowViews, rows: RowViews, kernel: int) -> NDArray[Any]:
    """Return the d of a kernel between known rows and others; about 2 on average."""
    one, other = known[:2][kernel % 2], rows[:2][kernel % 2]
    if kernel == 3:
        scale = np.sqrt(np.pi / max(one.shape[1], 1))
        return np.asarray(scale * cdist(one, other, "cityblock"))
    squares: NDArray[Any] = (
        cdist(one, other, "sqeuclidean")
        if rows is known
        else squared_distances(one.astype(np.float32), other.astype(np.float32))
    )
    return np.sqrt(2.0 * squares) if kernel == 2 else squares


def squared_distances(
    rows: NDArray[np.float32], columns: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the squares of the distances of rows to columns, by one matrix product."""
    twice = -2.0 * columns
    # Beside busy processes, OpenBLAS's product with a single column was seen to raise the flag of
    # an invalid operation on finite numbers, which NumPy warns about. It is done without BLAS.
    is_one = len(columns) == 1
    squares = (rows * twice).sum(axis=1, keepdims=True) if is_one else rows @ twice.T
    squares += (rows**2).sum(axis=1)[:, None]
    squares += (columns**2).sum(axis=1)
    return np.asarray(np.maximum(squares, np.float32(0.0), out=squares))


# -- discriminant --------------------------------------------------------------------------------

TEMPERATURES = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0])
"""Scores are multiplied by one of these, because rows of a group are not independent. With two, or
with twice as many, the index on ten small tasks of the paper differs by noise (.005)."""

UNTUNED_TEMPERATURE = 0.35
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
    temperature = UNTUNED_TEMPERATURE
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
