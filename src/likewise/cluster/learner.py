"""`COBRA(labels="learned")`: labels learned from the representatives and their groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.cluster.source_session import SourceSession
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.learning.learner import Learned, Learner
from likewise.learning.respect import respecting_groups
from likewise.rows.kmeans import FULL_LIMIT


@dataclass(frozen=True, eq=False, slots=True)
class LearnedRows:
    """The group of every row: as answered, else the most likely one that no answer forbids.

    Attributes
    ----------
    learned : Learned
        Says how likely each group is.
    rows : ndarray of int
        The representatives and the rows that answers are about, increasing.
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
        groups: NDArray[np.intp] = self.learned.predict_proba(block).argmax(axis=1)
        low, high = np.searchsorted(self.rows, [start, start + len(block)])
        groups[self.rows[low:high] - start] = self.groups[low:high]
        return groups


def learn_representatives(
    partition: SuperInstances, groups: NDArray[np.intp], read: Callable[[], NDArray[Any]]
) -> Learned | None:
    """Learn from the representatives and their `groups`; return None if there is one group.

    The learner sees all rows, which `read` returns; of data of more than 50 000 rows it sees the
    representatives only.
    """
    assert partition.points is not None
    if groups.max() == 0:
        return None
    if partition.n_rows > FULL_LIMIT:
        cells = np.arange(partition.n_super_instances)
        return Learner(partition.points, partition.sizes()).learn(cells, groups)
    return Learner(read()).learn(partition.representatives, groups)


def learn_session(session: SourceSession, guess: bool) -> Learned | None:
    """Learn from the answers of a session about a source."""
    assert session.source is not None
    partition = session.strategy.partition
    _, groups = session.strategy.examples(guess=guess)
    if len(groups) < partition.n_super_instances:
        # A strategy that does not ask about every cell has a learner of its own.
        return None
    return learn_representatives(partition, groups, session.source.to_array)


def label_rows(session: SourceSession, guess: bool) -> LearnedRows | None:
    """Return what labels every row of a session's source."""
    learned = learn_session(session, guess)
    if learned is None:
        return None
    assert session.source is not None
    reps = session.strategy.partition.representatives
    return learned_rows(learned, reps, session.source.rows, session.links)


def learned_rows(
    learned: Learned,
    representatives: NDArray[np.intp],
    rows_of: Callable[[NDArray[np.intp]], NDArray[Any]],
    links: LinkGraph,
) -> LearnedRows:
    """Return what labels every row, with the rows that answers are about in their groups."""
    asked = [row for given in links for row in (given.left, given.right)]
    fixed = np.unique(np.concatenate([representatives, np.array(asked, dtype=np.intp)]))
    chances = learned.predict_proba(rows_of(fixed))
    # The group of a representative is known; the learner does not overrule it.
    chances[np.searchsorted(fixed, representatives)] = np.eye(learned.n_groups)[learned.groups]
    decided = {
        links.find(int(row)): int(group)
        for row, group in zip(representatives, learned.groups, strict=True)
    }
    position = {int(row): i for i, row in enumerate(fixed)}
    groups = respecting_groups(chances, links, decided, position)
    return LearnedRows(learned, fixed, groups, max(learned.n_groups, int(groups.max()) + 1))


def learned_labels(
    learned: Learned, representatives: NDArray[np.intp], X: NDArray[Any], links: LinkGraph
) -> NDArray[np.intp]:
    """Return the group of every row of an array, numbered from 0."""
    groups = learned_rows(learned, representatives, lambda rows: X[rows], links).of(0, X)
    # A group whose known rows all moved may be empty.
    return np.unique(groups, return_inverse=True)[1].astype(np.intp)


SourceSession.register_labels("learned", label_rows)
