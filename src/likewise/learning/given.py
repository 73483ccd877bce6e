"""A vote by groups that were given beforehand, made by another tool or by hand.

They are a belief, not a fact. A given group votes for the groups of its known rows, each known row
once. How much that counts follows, as for every voter, from how well it predicts known rows, and
from whether known rows of one given group belong together (`agreement`).

A member is suspicious if the rows nearest to it are mostly in another given group. The first
questions are about such members. Where they belong says nothing about the others of their group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.learning.views import RowViews
from likewise.words import check_text

PRIOR = 0.05
"""The weight of the shares of all groups beside the known rows of a given group, in rows. With .5,
exactly right groups lost .02 of their adjusted Rand index in the first ten answers (six sets)."""

TRUSTED = 0.4
"""Below this agreement given groups count less, and those that no question was about are dropped.
After ten answers random groups cost .3 of the index without this, and .03 with it."""


N_NEAREST = 10
"""Whether a row is suspicious depends on the given groups of at most this many nearest rows."""

CLEARLY = 0.5
"""The share of them in another given group must exceed that in its own by at least this much."""

MOST_ELSEWHERE = 0.4
"""If more than this share of the rows have more near rows in another given group than in their own,
as with random groups, no row is suspicious."""


@dataclass(frozen=True, eq=False, slots=True)
class GivenVote:
    """Fitted counts; `left_out` predicts known rows from others of the same given group."""

    left_out: NDArray[np.float64]
    _proba: NDArray[np.float64]

    def predict_proba(self, rows: RowViews) -> NDArray[np.float64]:
        """Return how likely each row belongs to each group; NaN for rows without a given group."""
        proba = np.full((len(rows.given), self._proba.shape[1]), np.nan)
        has_given = rows.given >= 0
        proba[has_given] = self._proba[rows.given[has_given]]
        return proba


def fit_given(
    rows: RowViews,
    sizes: NDArray[np.float64],
    known: NDArray[np.intp],
    groups: NDArray[np.intp],
    suspicion: NDArray[np.float64] | None = None,
) -> GivenVote:
    """Count the known rows of every group in every given group, without suspicious ones."""
    del sizes
    given, n_groups = believed(rows.given[known], known, suspicion), int(groups.max()) + 1
    shares = np.bincount(groups, minlength=n_groups) / len(groups)
    counts = np.zeros((int(rows.given.max(initial=-1)) + 1, n_groups))
    has_given = given >= 0
    np.add.at(counts, (given[has_given], groups[has_given]), 1.0)
    others = np.zeros((len(known), n_groups))
    others[has_given] = counts[given[has_given]]
    others[has_given, groups[has_given]] -= 1.0
    return GivenVote(_with_prior(others, shares), _with_prior(counts, shares))


def _with_prior(counts: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    weighed = counts + PRIOR * shares
    return np.asarray(weighed / weighed.sum(axis=1, keepdims=True))


def suspicion_of(distances: NDArray[np.float32], given: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return by how much the share of near rows in another given group exceeds that in a row's own.

    It is 0 if the difference is small, and for rows without a given group.
    """
    suspicion = np.zeros(len(given))
    inside = np.flatnonzero(given >= 0)
    n_near = min(N_NEAREST, len(inside) - 1)
    if n_near < 1:
        return suspicion
    among = distances[np.ix_(inside, inside)]
    np.fill_diagonal(among, np.inf)
    near = np.argsort(among, axis=1, kind="stable")[:, :n_near]
    names, groups, sizes = np.unique(given[inside], return_inverse=True, return_counts=True)
    # In a small group, a row has no more votes than the group has other rows.
    n_asked = np.clip(sizes[groups] - 1, 1, n_near)[:, None]
    places = np.arange(len(inside))
    votes = np.zeros((len(inside), len(names)))
    shares = np.where(np.arange(n_near) < n_asked, 1.0 / n_asked, 0.0)
    np.add.at(votes, (places[:, None], groups[near]), shares)
    own = votes[places, groups]
    votes[places, groups] = 0.0
    more = np.maximum(0.0, votes.max(axis=1) - own)
    if (more > 0.0).mean() <= MOST_ELSEWHERE:
        suspicion[inside] = np.where(more >= CLEARLY, more, 0.0)
    return suspicion


def believed(
    given: NDArray[np.intp], known: NDArray[np.intp], suspicion: NDArray[np.float64] | None
) -> NDArray[np.intp]:
    """Return the given group that each known row is evidence for: its own, -1 if suspicious."""
    if suspicion is None:
        return given
    is_first = known < len(suspicion)  # later ones have no given group
    is_suspicious = suspicion[np.where(is_first, known, 0)] > 0.0
    return np.where(is_first & is_suspicious, -1, given)


def agreement(
    given: NDArray[np.intp], groups: NDArray[np.intp], beliefs: NDArray[np.intp] | None = None
) -> float:
    """Return how much more often known rows of one given group belong together: 1 always, 0 not.

    With `beliefs`, which are -1 for suspicious rows, these rows count as in no given group.
    """
    beliefs = given if beliefs is None else beliefs
    groups, beliefs, given = (x[given >= 0] for x in (groups, beliefs, given))
    above = np.triu_indices(len(given), 1)
    is_one_given, is_same = ((x[:, None] == x)[above] for x in (beliefs, groups))
    is_one_given &= (beliefs[:, None] >= 0)[above[0], 0]
    if not is_one_given.any():
        return 1.0
    n, by_chance = is_one_given.sum(), is_same.mean()
    # One more pair that agrees, so that a single one does not decide.
    beyond = is_same[is_one_given].sum() - by_chance * n + 1.0
    return float(beyond / ((1.0 - by_chance) * n + 1.0))


def met_groups(given: NDArray[np.intp], groups: NDArray[np.intp]) -> list[int]:
    """Return the given groups that known rows are evidence about."""
    # A single known row is no evidence if its group has two rows of another given group: it may be
    # misplaced.
    groups, given = groups[given >= 0], given[given >= 0]
    n_known = Counter(given.tolist())
    n_shared = Counter(zip(given.tolist(), groups.tolist(), strict=True))
    settled = {group for (_, group), n in n_shared.items() if n > 1}
    return sorted({name for name, group in n_shared if n_known[name] > 1 or group not in settled})


def unmet_rows(
    rows: RowViews,
    known: NDArray[np.intp],
    groups: NDArray[np.intp],
    is_there: NDArray[np.bool_],
    taken_out: Collection[int] = (),
    suspicion: NDArray[np.float64] | None = None,
) -> list[int]:
    """Return the central row of each given group that was not met, if given groups are trusted.

    It is one that `is_there`, if the group has any. A group is not met by known rows that were
    `taken_out` of it, nor by suspicious ones.
    """
    beliefs = believed(rows.given[known], known, suspicion)
    if agreement(rows.given[known], groups, beliefs) < TRUSTED:
        return []
    given = rows.given.copy()
    given[known] = -1
    central = []
    beliefs = np.where(np.isin(known, list(taken_out)), -1, beliefs)
    for number in np.setdiff1d(given, [-1, *met_groups(beliefs, groups)]):
        members = np.flatnonzero(given == number)
        squares = ((rows.scaled[members] - rows.scaled[members].mean(axis=0)) ** 2).sum(axis=1)
        if is_there[members].any():
            squares[~is_there[members]] = np.inf
        central.append(int(members[np.argmin(squares)]))
    return central


def keep_together(
    proba: NDArray[np.float64],
    given: NDArray[np.intp],
    unmet: list[int],
    mentioned: list[int],
    n_groups: int,
) -> None:
    """Make the given group of each `unmet` row a group, without rows that answers are about."""
    for k, row in enumerate(unmet, start=n_groups):
        members = given == given[row]
        members[mentioned] = False
        proba[members] = 0.0
        proba[members, k] = 1.0


def number_groups(groups: Any, n_rows: int) -> tuple[NDArray[np.intp], list[str]]:
    """Return the number of the given group of every row, -1 for none, and the groups' labels."""
    given = np.asarray(groups, dtype=object)
    if given.shape != (n_rows,):
        raise InputError(
            f"groups must have one label per row, {n_rows} in all, got shape {given.shape}"
        )
    texts = [
        "" if is_no_group(label) else check_text(str(label), "a label in groups") for label in given
    ]
    labels = sorted(set(texts) - {""})
    number = {"": -1} | {label: k for k, label in enumerate(labels)}
    return np.array([number[text] for text in texts], dtype=np.intp), labels


def is_no_group(label: Any) -> bool:
    """Return whether a label means that there is no group: -1, None, NaN, "" and "noise"."""
    if isinstance(label, str):
        return label.strip().lower() in ("", "noise", "-1")
    return label is None or bool(label != label) or bool(label == -1)  # noqa: PLR0124  (NaN)
