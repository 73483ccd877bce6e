"""Labels learned from rows whose group is known, for estimators.

Two learners that err in different places speak with equal weight: the kernel vote, which follows
smooth borders, and extremely randomized trees, which do not mind features that say nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier

from likewise.cluster.source_session import SourceSession
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.strategy import Strategy
from likewise.learning.kernel_vote import ROWS_AT_ONCE, KernelVote, learn
from likewise.learning.respect import respecting_groups
from likewise.learning.views import Views, views_of
from likewise.rows.kmeans import FULL_LIMIT
from likewise.rows.threads import one_thread_each

N_TREES = 60

_ROWS_OF_TREES = 2**14
"""Calling the trees takes as long as they take for about a thousand rows."""


@dataclass(frozen=True, eq=False, slots=True)
class Learned:
    """A learner that was trained on known rows.

    Attributes
    ----------
    views : Views
        How it looks at rows.
    vote : KernelVote
        What the kernels learned.
    trees : ExtraTreesClassifier
        What the trees learned.
    rows : ndarray of int
        The known rows.
    groups : ndarray of int
        Their groups.
    """

    views: Views
    vote: KernelVote
    trees: Any
    rows: NDArray[np.intp]
    groups: NDArray[np.intp]

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return how likely each row belongs to each group."""
        by_trees: NDArray[np.float64] = self.trees.predict_proba(X)
        starts = range(0, len(X), ROWS_AT_ONCE)
        with one_thread_each():
            views = [self.views(X[start : start + ROWS_AT_ONCE]) for start in starts]
            own, equal = (np.concatenate(view) for view in zip(*views, strict=True))
            return (self.vote.predict_proba((own, equal)) + by_trees) / 2.0


@dataclass(frozen=True, eq=False, slots=True)
class LearnedRows:
    """The group of every row: as answered, else the likeliest that no answer forbids.

    Attributes
    ----------
    learned : Learned
        Says which is likeliest.
    rows : ndarray of int
        The known rows and those that answers are about, increasing.
    groups : ndarray of int
        Their groups.
    n_groups : int
        Number of groups: those that were learned, and those that answers opened.
    """

    learned: Learned
    rows: NDArray[np.intp]
    groups: NDArray[np.intp]
    n_groups: int

    def of(self, start: int, block: NDArray[Any]) -> NDArray[np.intp]:
        """Return the groups of the rows from `start` on, a multiple of 1024."""
        groups = np.empty(len(block), dtype=np.intp)
        for first in range(0, len(block), _ROWS_OF_TREES):
            chances = self.learned.predict_proba(block[first : first + _ROWS_OF_TREES])
            groups[first : first + len(chances)] = chances.argmax(axis=1)
        low, high = np.searchsorted(self.rows, [start, start + len(block)])
        groups[self.rows[low:high] - start] = self.groups[low:high]
        return groups


def learn_from(
    X: NDArray[Any],
    known: NDArray[np.intp],
    labels: NDArray[np.intp],
    *,
    rows: NDArray[np.intp] | None = None,
) -> Learned:
    """Learn from the rows `known` of `X`, whose groups `labels` has.

    If `X` has only some of the data, `rows` says which rows of all data the known ones are.
    """
    groups = np.unique(labels[known], return_inverse=True)[1].astype(np.intp)
    views = views_of(X)
    with warnings.catch_warnings():
        # Early in a session most groups have one known row; that is no regression problem.
        warnings.filterwarnings("ignore", message="The number of unique classes is greater")
        trees = ExtraTreesClassifier(N_TREES, random_state=0).fit(X[known], groups)
    return Learned(
        views, learn(views(X[known]), groups), trees, known if rows is None else rows, groups
    )


def learn_placed(strategy: Strategy) -> Learned | None:
    """Learn from the rows that a strategy has placed; None while there are not two groups."""
    known, groups = strategy.examples()
    if len(groups) == 0 or groups.max() == 0:
        return None
    partition = strategy.partition
    labels = np.zeros(partition.n_super_instances, dtype=np.intp)
    cells = np.searchsorted(partition.representatives, known)
    labels[cells] = groups
    assert partition.points is not None
    return learn_from(partition.points, cells, labels, rows=known)


def learn_representatives(
    partition: SuperInstances, groups: NDArray[np.intp], read: Callable[[], NDArray[Any]]
) -> Learned:
    """Learn from the representatives, whose groups `groups` has.

    How wide the features are is seen from all rows, which `read` returns; of data of more than
    50 000 rows, from the representatives.
    """
    reps = partition.representatives
    assert partition.points is not None
    if partition.n_rows > FULL_LIMIT:
        return learn_from(partition.points, np.arange(len(reps)), groups, rows=reps)
    labels = np.zeros(partition.n_rows, dtype=np.intp)
    labels[reps] = groups
    return learn_from(read(), reps, labels)


def learn_session(session: SourceSession, guess: bool) -> Learned | None:
    """Learn from the answers of a session about a source."""
    strategy = session.strategy
    assert session.source is not None
    rows, groups = strategy.examples(guess=guess)
    if len(rows) < strategy.partition.n_super_instances:
        return learn_placed(strategy)
    return learn_representatives(strategy.partition, groups, session.source.to_array)


def label_rows(session: SourceSession, guess: bool) -> LearnedRows | None:
    """Return what labels every row of a session's source."""
    learned = learn_session(session, guess)
    assert session.source is not None
    return None if learned is None else learned_rows(learned, session.source.rows, session.links)


def learned_rows(
    learned: Learned, rows_of: Callable[[NDArray[np.intp]], NDArray[Any]], links: LinkGraph
) -> LearnedRows:
    """Return what labels every row, with the rows that answers are about in their groups."""
    asked = [row for given in links for row in (given.left, given.right)]
    fixed = np.unique(np.concatenate([learned.rows, np.array(asked, dtype=np.intp)]))
    chances = learned.predict_proba(rows_of(fixed))
    # What a known row's group is was decided before; the learner does not overrule it.
    n_groups = learned.vote.n_groups
    chances[np.searchsorted(fixed, learned.rows)] = np.eye(n_groups)[learned.groups]
    decided = {
        links.find(int(row)): int(group)
        for row, group in zip(learned.rows, learned.groups, strict=True)
    }
    position = {int(row): i for i, row in enumerate(fixed)}
    groups = respecting_groups(chances, links, decided, position)
    return LearnedRows(learned, fixed, groups, max(n_groups, int(groups.max()) + 1))


def learned_labels(learned: Learned, X: NDArray[Any], links: LinkGraph) -> NDArray[np.intp]:
    """Return the group of every row of an array, numbered from 0."""
    groups = learned_rows(learned, lambda rows: X[rows], links).of(0, X)
    # Nobody said anything about the rows of a group whose known rows all moved: it may be empty.
    return np.unique(groups, return_inverse=True)[1].astype(np.intp)


def predict_learned(learned: Learned, X: NDArray[Any]) -> NDArray[np.intp]:
    """Return the likeliest group of new rows."""
    return np.asarray(np.argmax(learned.predict_proba(X), axis=1), dtype=np.intp)


SourceSession.register_labels("learned", label_rows)
