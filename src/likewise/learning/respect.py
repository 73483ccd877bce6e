"""Labels from probabilities that respect every answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from likewise.core.links import LinkGraph


def respecting_labels(
    chances: NDArray[np.float64],
    links: LinkGraph,
    decided: Mapping[int, int],
    position: Mapping[int, int] | None = None,
) -> NDArray[np.intp]:
    """Return, for every row, the likeliest group that respects the answers, else a new group."""
    labels = respecting_groups(chances, links, decided, position)
    # A group whose known rows all moved may be empty.
    return np.unique(labels, return_inverse=True)[1].astype(np.intp).reshape(len(chances))


def respecting_groups(
    chances: NDArray[np.float64],
    links: LinkGraph,
    decided: Mapping[int, int],
    position: Mapping[int, int] | None = None,
) -> NDArray[np.intp]:
    """Return `respecting_labels` with the groups numbered as the columns of `chances`."""
    n_groups = chances.shape[1]
    labels: NDArray[np.intp] = np.argmax(chances, axis=1).astype(np.intp)
    members: dict[int, list[int]] = {}
    for given in links:
        for row in (given.left, given.right):
            place = row if position is None else position.get(row)
            if place is not None:
                members.setdefault(links.find(row), []).append(place)
    group_of = dict(decided)
    free = [root for root in members if root not in group_of]
    for root in sorted(free, key=lambda root: (-len(set(members[root])), root)):
        taken = {group_of[other] for other in links.differing(root) if other in group_of}
        means = chances[sorted(set(members[root]))].mean(axis=0)
        allowed = [int(g) for g in np.argsort(-means, kind="stable") if int(g) not in taken]
        if not allowed:
            # A group that was opened for other rows may be allowed; a new one always is.
            allowed = [g for g in range(n_groups, n_groups + len(free) + 1) if g not in taken]
        group_of[root] = allowed[0]
    for root, rows in members.items():
        labels[rows] = group_of[root]
    return labels
