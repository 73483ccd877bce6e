"""Statistical tests for the tables: those of SciPy, and those that SciPy does not have.

Scores are arrays with a row for every task and a column for every method; more is better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from likewise.errors import InputError

Array = NDArray[np.float64]
SAME_SCORE = 1e-12
"""Scores that differ by less are equal; the difference is rounding."""
LEVEL = 0.95
"""How often an interval should cover the mean of all tasks such as these."""
ROPE = 0.01
"""Region of practical equivalence: methods whose ARI differs by less are as good as each other. It
is the usual choice for accuracies (Benavoli et al. 2017), and ours for ARI (see `tables.toml`)."""
N_RESAMPLES = 10_000
N_POSTERIOR = 50_000
"""Samples of a bootstrap, and of a posterior."""


class Interval(NamedTuple):
    """A mean over tasks, and its bootstrap interval; `is_difference` shows its sign."""

    mean: float
    low: float
    high: float
    is_difference: bool = False

    def __str__(self) -> str:
        sign = "+" if self.is_difference else ""
        mean, low, high = (f"{value:{sign}.3f}" for value in self[:3])
        return f"{mean} [{low}, {high}]"


class Posterior(NamedTuple):
    """The probabilities that the first method is better, as good in practice, or worse."""

    better: float
    same: float
    worse: float


class Comparison(NamedTuple):
    """Two methods over the same tasks: who wins, by how much, and p of Wilcoxon's test."""

    wins: int
    losses: int
    ties: int
    win_margin: float
    loss_margin: float
    p_value: float
    difference: Interval
    posterior: Posterior

    @property
    def n_tasks(self) -> int:
        """On how many tasks the two were compared."""
        return self.wins + self.losses + self.ties


class PostHoc(NamedTuple):
    """One method against the control, by the difference of their mean aligned ranks.

    z is positive if the method is worse. Legacy values use the smaller standard error printed in
    Garcia et al. 2010; the permutation p is from shuffling the methods within every task.
    """

    z: float
    p_holm: float
    legacy_z: float
    legacy_p_holm: float
    p_permutation: float


def compare(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Count wins and losses and test the differences, task by task."""
    given = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    difference = np.where(np.abs(given) <= SAME_SCORE, 0.0, given)
    better, worse = difference[difference > 0], -difference[difference < 0]
    return Comparison(
        wins=len(better),
        losses=len(worse),
        ties=int((difference == 0).sum()),
        win_margin=float(better.mean()) if len(better) else float("nan"),
        loss_margin=float(worse.mean()) if len(worse) else float("nan"),
        p_value=signed_rank_p(difference),
        difference=bootstrap(given, is_difference=True),
        posterior=signed_rank_posterior(given),
    )


def signed_rank_p(difference: ArrayLike) -> float:
    """Return SciPy's two-sided p-value of Wilcoxon's signed-rank test, zeros dropped."""
    nonzero = np.asarray(difference, dtype=float)
    nonzero = nonzero[nonzero != 0]
    return float(stats.wilcoxon(nonzero, correction=True).pvalue) if len(nonzero) else 1.0


def bootstrap(values: ArrayLike, *, is_difference: bool = False) -> Interval:
    """Return the mean over tasks with its percentile bootstrap interval, the same every time."""
    given = np.asarray(values, dtype=float)
    rng = np.random.default_rng(0)
    means = given[rng.integers(len(given), size=(N_RESAMPLES, len(given)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(given.mean()), float(low), float(high), is_difference)


def signed_rank_posterior(difference: ArrayLike, rope: float = ROPE) -> Posterior:
    """Return the Bayesian signed-rank test of differences, task by task (Benavoli et al. 2014)."""
    # Differences are weighted by a Dirichlet distribution, with 1/2 for a pseudo-observation of 0.
    # A sample of weights says how often the mean of two differences is above, within and below the
    # region; the largest of the three wins the sample.
    z = np.append(0.0, np.asarray(difference, dtype=float))
    means = np.add.outer(z, z) / 2
    rng = np.random.default_rng(0)
    weights = rng.dirichlet([0.5, *[1.0] * (len(z) - 1)], N_POSTERIOR)

    def share(is_there: Array) -> Array:
        return np.asarray(((weights @ is_there) * weights).sum(axis=1))

    better, worse = share(np.heaviside(means - rope, 0.5)), share(np.heaviside(-means - rope, 0.5))
    winners = np.argmax([better, 1.0 - better - worse, worse], axis=0)
    return Posterior(*(np.bincount(winners, minlength=3) / N_POSTERIOR).tolist())


def critical_difference(n_methods: int, n_tasks: int) -> float:
    """Return by how much average ranks must differ in Nemenyi's test at 5 % (Demšar 2006)."""
    quantile = stats.studentized_range.ppf(LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_tasks)))


def average_ranks(scores: ArrayLike) -> Array:
    """Return the mean rank of every method, 1 for the best of a task, ties shared."""
    return np.asarray(stats.rankdata(-_checked(scores), axis=1).mean(axis=0))


def aligned_ranks(scores: ArrayLike) -> Array:
    """Return the rank of every score among all, 1 for the best, after removing task means."""
    table = _checked(scores)
    aligned = table - table.mean(axis=1, keepdims=True)
    # Scores that differ only by rounding are a tie.
    ranks = stats.rankdata(-np.round(aligned, 12)).reshape(table.shape)
    return np.asarray(ranks)


def friedman_aligned(scores: ArrayLike) -> tuple[float, float]:
    """Return the statistic and the p-value of Friedman's test on aligned ranks, ties included."""
    ranks = aligned_ranks(scores)
    n, k = ranks.shape
    columns, rows = ranks.sum(axis=0), ranks.sum(axis=1)
    spread = (ranks**2).sum() - (rows**2).sum() / k
    if spread <= 0:
        return 0.0, 1.0
    statistic = (k - 1) * ((columns**2).sum() - k * n**2 / 4 * (k * n + 1) ** 2) / spread
    return float(statistic), float(stats.chi2.sf(statistic, k - 1))


def holm(p_values: ArrayLike) -> Array:
    """Return p-values adjusted by Holm's step-down procedure."""
    given = np.asarray(p_values, dtype=float)
    order = np.argsort(given, kind="stable")
    factors = np.arange(len(given), 0, -1)
    adjusted = np.minimum(1.0, np.maximum.accumulate(factors * given[order]))
    result = np.empty_like(given)
    result[order] = adjusted
    return result


def post_hoc(
    scores: ArrayLike, control: int = 0, *, n_permutations: int = 100_000
) -> dict[int, PostHoc]:
    """Compare every method with the control after `friedman_aligned`; keys are their columns."""
    ranks = aligned_ranks(scores)
    n, k = ranks.shape
    others = [j for j in range(k) if j != control]
    means = ranks.mean(axis=0)
    difference = means[others] - means[control]
    columns = []
    for error in (np.sqrt(k * (k * n + 1) / 6), np.sqrt(k * (n + 1) / 6)):
        z = difference / error
        columns += [z, holm(2 * stats.norm.sf(np.abs(z)))]
    columns.append(permutation_p(ranks, control, n_permutations=n_permutations))
    lines = np.column_stack(columns).tolist()
    return {j: PostHoc(*line) for j, line in zip(others, lines, strict=True)}


def permutation_p(ranks: Array, control: int = 0, *, n_permutations: int = 100_000) -> Array:
    """Return how often shuffling methods within tasks makes as large a difference."""
    # Shuffling a task does not change its mean, so the aligned ranks are shuffled the same way.
    others = [j for j in range(ranks.shape[1]) if j != control]
    sums = ranks.sum(axis=0)
    observed = np.abs(sums[others] - sums[control])
    rng = np.random.default_rng(0)
    count = np.zeros(len(others))
    for start in range(0, n_permutations, 5000):  # all at once would take much memory
        batch = np.broadcast_to(ranks, (min(5000, n_permutations - start), *ranks.shape))
        shuffled = rng.permuted(batch, axis=2).sum(axis=1)
        distance = np.abs(shuffled[:, others] - shuffled[:, [control]])
        count += (distance >= observed - 1e-9).sum(axis=0)
    return np.asarray((count + 1) / (n_permutations + 1))


def area_under(answers: ArrayLike, scores: ArrayLike, end: float) -> float:
    """Return the mean score from no answer to `end` answers, a score holding until the next."""
    at, values = np.asarray(answers, dtype=float), np.asarray(scores, dtype=float)
    if end <= 0:
        return float(values[-1])
    widths = np.diff(np.append(np.minimum(at, end), end))
    return float((widths * values).sum() / end)


def answers_to_reach(answers: ArrayLike, scores: ArrayLike, share: float = 0.95) -> int:
    """Return after how many answers the score reaches a share of the last one, for good."""
    at, values = np.asarray(answers), np.asarray(scores, dtype=float)
    goal = share * values[-1] if values[-1] > 0 else values[-1]
    below = np.flatnonzero(values < goal - SAME_SCORE)
    return int(at[below[-1] + 1]) if len(below) else int(at[0])


def _checked(scores: ArrayLike) -> Array:
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise InputError(
            f"scores must be a table of numbers, tasks by methods, got shape {table.shape}"
        )
    return table
