"""`COBRA(labels="learned")`: labels learned from the representatives and their groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.learning.learner import Learned, Learner
from likewise.strategies.representatives import respecting_groups


def learn_representatives(
    partition: SuperInstances, groups: NDArray[np.intp], rows: NDArray[Any]
) -> Learned | None:
    """Learn from the representatives and their `groups`; return None if there is one group."""
    if groups.max() == 0:
        return None
    return Learner(rows).learn(partition.representatives, groups)


def most_likely(learned: Learned, rows: NDArray[Any]) -> NDArray[np.intp]:
    """Return the most likely group of each of any rows."""
    return np.asarray(learned.predict_proba(rows).argmax(axis=1), dtype=np.intp)


def learned_labels(
    learned: Learned, representatives: NDArray[np.intp], X: NDArray[Any], links: LinkGraph
) -> NDArray[np.intp]:
    """Return the group of every row: as answered, else the most likely one that no answer forbids.

    The groups are numbered from 0.
    """
    asked = [row for link in links for row in (link.left, link.right)]
    fixed = np.unique(np.concatenate([representatives, np.array(asked, dtype=np.intp)]))
    chances = learned.predict_proba(X[fixed])
    # The group of a representative is known; the learner does not overrule it.
    chances[np.searchsorted(fixed, representatives)] = np.eye(learned.n_groups)[learned.groups]
    decided = {
        links.find(int(row)): int(group)
        for row, group in zip(representatives, learned.groups, strict=True)
    }
    position = {int(row): i for i, row in enumerate(fixed)}
    groups = most_likely(learned, X)
    groups[fixed] = respecting_groups(chances, links, decided, position)
    # A group whose known rows all moved may be empty.
    return np.unique(groups, return_inverse=True)[1].astype(np.intp)
