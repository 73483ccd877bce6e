"""Labels that respect the answers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances


def answered_groups(partition: SuperInstances, links: LinkGraph) -> NDArray[np.intp]:
    """Return, for every super-instance, a row that names its group by the answers alone."""
    names = partition.representatives.copy()
    for row in (row for link in links for row in link.pair):
        part = partition.assignment[row]
        if partition.representatives[part] == row:
            names[part] = links.find(row)
    return names


def labels_of_rows(
    partition: SuperInstances, names: NDArray[np.intp], links: LinkGraph
) -> NDArray[np.intp]:
    """Return the group of every row, from 0; `names` tells the groups of super-instances apart.

    Rows follow their representatives, unless answers are about them.
    """
    groups = np.unique(names, return_inverse=True)[1].astype(np.intp)
    labels = groups[partition.assignment]
    mentioned = {row for link in links for row in link.pair}
    rows = sorted(mentioned.difference(partition.representatives.tolist()))
    if rows:
        standing = partition.representatives.tolist()
        decided = {links.find(row): int(groups[k]) for k, row in enumerate(standing)}
        proba = np.eye(int(groups.max()) + 1)[labels[rows]]
        place = {row: k for k, row in enumerate(rows)}
        labels[rows] = respecting_groups(proba, links, decided, place)
    return labels


def respecting_groups(
    proba: NDArray[np.float64],
    links: LinkGraph,
    decided: Mapping[int, int],
    position: Mapping[int, int] | None = None,
) -> NDArray[np.intp]:
    """Return, for every row, the likeliest group that respects the answers, else a new group.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_groups)
        How likely each row belongs to each group. Some groups may stay empty.
    links : LinkGraph
        The answers.
    decided : mapping of int to int
        The groups of some components, by the rows that stand for them in `links`.
    position : mapping of int to int, optional
        The place in `proba` of every row that has one. By default all rows, by their numbers.
    """
    n_groups = proba.shape[1]
    labels: NDArray[np.intp] = np.argmax(proba, axis=1).astype(np.intp)
    members: dict[int, list[int]] = {}
    for row in {row: None for link in links for row in (link.left, link.right)}:
        place = row if position is None else position.get(row)
        if place is not None:
            members.setdefault(links.find(row), []).append(place)
    group_of = dict(decided)
    free = [root for root in members if root not in group_of]
    for root in sorted(free, key=lambda root: (-len(members[root]), root)):
        taken = {group_of[other] for other in links.differing(root) if other in group_of}
        means = proba[sorted(members[root])].mean(axis=0)
        allowed = [int(g) for g in np.argsort(-means, kind="stable") if int(g) not in taken]
        if not allowed:
            # A group that was opened for other rows may be allowed; a new one always is.
            allowed = [g for g in range(n_groups, n_groups + len(free) + 1) if g not in taken]
        group_of[root] = allowed[0]
    for root, rows in members.items():
        labels[rows] = group_of[root]
    return labels
