"""Voters that predict all rows from a few known ones, weighted by how well they predict.

A kernel vote follows curved borders; a linear discriminant of all rows is steady where there are
many features and few known rows (`likewise.learning.voters`). `VOTERS` may have others. Each voter
predicts every known row from the other known rows. The better these predictions, the more weight it
has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist, squareform

from likewise.errors import InputError
from likewise.learning.given import TRUSTED, agreement, believed, fit_given
from likewise.learning.views import AnyViews, RowViews, views_by_aspect
from likewise.learning.voters import (
    TRUST,
    KernelChoice,
    aspect_weights,
    first_mixes,
    fit_discriminant,
    fit_kernels,
    mix_weights,
    tune_kernels,
)
from likewise.registry import Registry
from likewise.rows.threads import one_thread_each
from likewise.words import plural

CREDIT = 0.5
"""Known rows are farther from each other than other rows are from them (see `nearness`), so
left-out predictions underrate kernels. This share of the difference is corrected. Without it the
index is .04 to .07 lower on two KEEL sets with 100 known rows; 1 is as good."""

ROWS_AT_ONCE = 1024
"""Rows are predicted in blocks of this many, so that batches that begin at a multiple of it give
the same bits."""

_KEPT = 64
"""How many fits are kept. Testing whether single rows begin new groups fits once for each of them,
and most of these fits are needed again after the next answer."""

_ROWS_FOR_NEARNESS = 500
"""`nearness` uses this many rows; 250 or 1000 change the adjusted Rand index by less than .001."""
_SHARES = np.linspace(0.0, 1.0, 21)

T = TypeVar("T")


class Voter(Protocol):
    """What was learned from known rows."""

    @property
    def left_out(self) -> NDArray[np.float64]:
        """How likely each known row belongs to each group, by everything known but itself."""

    def predict_proba(self, rows: RowViews) -> NDArray[Any]:
        """Return how likely each row belongs to each group."""


KERNEL_VOTER = "kernels"

Fit = Callable[[RowViews, NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]], Voter]

_BUILT_IN: dict[str, Fit] = {"discriminant": fit_discriminant}
VOTERS: Registry[Fit] = Registry("learner", _BUILT_IN, group="likewise.learners")
"""Who votes beside the kernels: functions of all rows, how much each counts, which of them are
known, and their groups. A `Learner` takes those that are registered when it is made."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned from known rows: probabilities for all rows, and the voters' weights.

    `aspects` says how much each aspect weighs, in order.
    """

    known: NDArray[np.intp]
    groups: NDArray[np.intp]
    left_out: NDArray[np.float64]
    voters: dict[str, float]
    aspects: NDArray[np.float64]
    _mix: int
    _views: AnyViews
    _rows: RowViews
    _fitted: dict[str, Voter]
    _n_first: int

    def __repr__(self) -> str:
        return f"<Learned: {plural(self.n_groups, 'group')} from {len(self.known)} known rows>"

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.left_out.shape[1])

    @cached_property
    def proba(self) -> NDArray[np.float64]:
        """How likely each row belongs to each group, by the voters alone, even for known rows."""
        n_rows, n_first = len(self._rows.scaled), self._n_first
        if not n_rows:
            raise InputError(
                "the rows that this was learned from are not here, as after pickling: "
                "predict_proba(X) returns the probabilities of any rows"
            )
        # Rows that joined later are predicted apart, in blocks of one size: a product of matrices
        # of another shape can end in other bits.
        first, later = self._rows.take(slice(n_first)), self._rows.take(slice(n_first, None))
        n_later = -(-(n_rows - n_first) // ROWS_AT_ONCE) * ROWS_AT_ONCE
        of_later = self._in_blocks(n_later, lambda block: later.take(block).padded(ROWS_AT_ONCE))
        return np.vstack([self._in_blocks(n_first, first.take), of_later[: n_rows - n_first]])

    def known_proba(self) -> NDArray[np.float64]:
        """Return `proba`, with 1 for the group of every known row."""
        proba = self.proba.copy()
        proba[self.known] = np.eye(self.n_groups)[self.groups]
        return proba

    def for_new_rows(self) -> Learned:
        """Return a copy without the rows it was fitted on, small enough to send to workers."""
        return replace(self, _rows=self._rows.take(slice(0)), _n_first=0)

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return how likely each of these rows belongs to each group."""
        return self._in_blocks(len(X), lambda block: self._views(X[block]))

    def _in_blocks(self, n_rows: int, look: Callable[[slice], RowViews]) -> NDArray[np.float64]:
        proba = np.zeros((n_rows, self.n_groups))
        with one_thread_each():
            for start in range(0, n_rows, ROWS_AT_ONCE):
                block = slice(start, start + ROWS_AT_ONCE)
                rows = look(block)
                seen = rows.mix(self._mix)
                for name, weight in self.voters.items():
                    fitted = self._fitted[name]
                    vote = fitted.predict_proba(rows if name == KERNEL_VOTER else seen)
                    proba[block] += weight * np.nan_to_num(vote)
                # Where a voter has nothing to say, the others share its weight.
                proba[block] /= np.maximum(proba[block].sum(axis=1, keepdims=True), 1e-12)
        return proba


class Learner:
    """Learns about the same rows again and again, each time from more known ones."""

    def __init__(
        self,
        points: NDArray[Any],
        sizes: NDArray[Any] | None = None,
        given: NDArray[np.intp] | None = None,
        aspects: Mapping[str, NDArray[np.intp]] | None = None,
        main: str | None = None,
    ) -> None:
        aspects = aspects or {}
        self._views = views_by_aspect(points, aspects)
        self.rows = self._views(points)
        place = {name: k for k, name in enumerate(aspects)}.get(main or "")
        self._first_mixes = first_mixes(len(self.rows.alone), place)
        self.sizes = np.ones(len(points)) if sizes is None else np.asarray(sizes, dtype=np.float64)
        self._others = {name: VOTERS.find(name) for name in VOTERS.names}
        if given is not None:
            self.rows = self.rows._replace(given=given)
            self._others["given"] = fit_given
        self.suspicion: NDArray[np.float64] | None = None
        self._first = self.rows
        self._models: dict[tuple[bytes, bytes], Learned] = {}
        self._choices: dict[tuple[bytes, bytes], tuple[KernelChoice, ...]] = {}

    def doubt_given(self, suspicion: NDArray[np.float64]) -> None:
        """Let rows with a suspicion be no evidence about the given groups that they are in."""
        self.suspicion = suspicion
        self._others["given"] = partial(fit_given, suspicion=suspicion)

    def grown(self, points: NDArray[Any]) -> Learner:
        """Return the learner with further rows; only those that become known are learned from."""
        other = copy(self)
        views = self._views.for_single_rows()
        # One by one, so that their bits do not depend on how many there are.
        other.rows = self.rows.followed_by([views(row[None]) for row in points])
        other.sizes = np.append(self.sizes, np.ones(len(points)))
        other._models, other._choices = {}, dict(self._choices)
        return other

    @property
    def first_weights(self) -> NDArray[np.float64]:
        """How much each aspect weighs before any answer; together 1."""
        return aspect_weights(self._first_mixes)

    def learn(self, known: NDArray[np.intp], groups: NDArray[np.intp]) -> Learned:
        """Learn from known rows, in the order they became known, in at least two groups."""

        def fit() -> Learned:
            with one_thread_each():
                return self._fit(known, groups)

        return _remembered(self._models, known, groups, fit)

    def _fit(self, known: NDArray[np.intp], groups: NDArray[np.intp]) -> Learned:
        everything, sizes, places = self._learned_from(known)
        rows = self.rows.take(known)
        n_tuned = milestone(len(known))
        numbers = np.unique(groups[:n_tuned], return_inverse=True)[1]
        choices = _remembered(
            self._choices,
            known[:n_tuned],
            numbers,
            lambda: tune_kernels(rows.take(slice(n_tuned)), numbers, self._first_mixes),
        )
        fitted: dict[str, Voter] = {KERNEL_VOTER: fit_kernels(rows, groups, choices)}
        weights = {KERNEL_VOTER: 1.0}
        # The other voters see what most kernels see.
        mixes = mix_weights(choices, len(rows.alone))
        mix = int(np.argmax(mixes))
        everything = everything.mix(mix)
        credit = CREDIT * (1.0 - nearness(everything.scaled, places))
        left_out = fitted[KERNEL_VOTER].left_out
        credited = credit + (1.0 - credit) * left_out
        for name, fit in self._others.items():
            fitted[name] = fit(everything, sizes, places, groups)
            other = fitted[name].left_out
            share = best_share(credited, other, groups)
            if name == "given":
                beliefs = believed(rows.given, known, self.suspicion)
                share *= min(1.0, agreement(rows.given, groups, beliefs) / TRUSTED)
            left_out = (1.0 - share) * left_out + share * other
            credited = (1.0 - share) * credited + share * other
            weights = {earlier: (1.0 - share) * weight for earlier, weight in weights.items()}
            weights[name] = share
        n_first = len(self._first.scaled)
        aspects = aspect_weights(mixes)
        about = self._views, self.rows, fitted, n_first
        return Learned(known, groups, left_out, weights, aspects, mix, *about)

    def _learned_from(
        self, known: NDArray[np.intp]
    ) -> tuple[RowViews, NDArray[np.float64], NDArray[np.intp]]:
        """Return the first rows and later ones that are known, their sizes, and where these are."""
        n_first = len(self._first.scaled)
        is_later = known >= n_first
        if not is_later.any():
            return self._first, self.sizes[:n_first], known
        among = np.append(np.arange(n_first), known[is_later])
        places = known.copy()
        places[is_later] = n_first + np.arange(is_later.sum())
        return self.rows.take(among), self.sizes[among], places


def nearness(points: NDArray[np.float64], known: NDArray[np.intp]) -> float:
    """Return the median distance of rows to the nearest known row, over that of known rows."""
    sample = np.arange(0, len(points), -(-len(points) // _ROWS_FOR_NEARNESS))
    sample = np.setdiff1d(sample, known)
    between = squareform(pdist(points[known]))
    np.fill_diagonal(between, np.inf)
    spacing = float(np.median(between.min(axis=1)))
    if not len(sample) or spacing <= 0.0:
        return 1.0
    return min(1.0, float(np.median(cdist(points[sample], points[known]).min(axis=1))) / spacing)


def best_share(
    one: NDArray[np.float64], other: NDArray[np.float64], groups: NDArray[np.intp]
) -> float:
    """Return the other voter's share: the mean over shares, weighted by left-out likelihood."""
    paired = np.flatnonzero(np.bincount(groups)[groups] > 1)
    right = one[paired, groups[paired]], other[paired, groups[paired]]
    mixed = np.outer(1.0 - _SHARES, right[0]) + np.outer(_SHARES, right[1])
    likelihoods = TRUST * np.log(np.maximum(mixed, 1e-9)).sum(axis=1)
    weights = np.exp(likelihoods - likelihoods.max())
    return float(weights @ _SHARES / weights.sum())


def milestone(n: int) -> int:
    """Return the largest number up to `n` at which kernels are tuned again."""
    last = n if n < 8 else 8
    while n >= 8 and last + last // 8 <= n:
        last += last // 8
    return last


def _remembered(
    kept: dict[tuple[bytes, bytes], T],
    known: NDArray[np.intp],
    groups: NDArray[np.intp],
    make: Callable[[], T],
) -> T:
    """Return what was computed for the same rows and groups, or compute it; the latest are kept."""
    key = known.tobytes(), groups.tobytes()
    value = kept.pop(key) if key in kept else make()
    kept[key] = value
    if len(kept) > _KEPT:
        del kept[next(iter(kept))]
    return value
