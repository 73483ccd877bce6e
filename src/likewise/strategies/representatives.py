"""Strategies that ask about representatives, and labels of all rows that respect every answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.strategy import Strategy


class RepresentativeStrategy(Strategy):
    """Ask about pairs of representatives; other rows follow them, unless answers are about them."""

    def __init__(self, partition: SuperInstances) -> None:
        self.partition = partition
        self.links = LinkGraph(partition.n_rows)

    @cached_property
    def _position(self) -> dict[int, int]:
        """The number of every super-instance, by the row that stands for it."""
        return {int(row): i for i, row in enumerate(self.partition.representatives)}

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return self.partition.n_rows

    def labels(self, *, guess: bool = False) -> NDArray[np.intp]:
        """Return the group of every row by what is known now, numbered from 0."""
        names = self.guess_of_representatives() if guess else self.group_of_representatives()
        return self._spread(names)

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every super-instance, a name of its group."""
        return np.array([self.links.find(row) for row in self._position], dtype=np.intp)

    def guess_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every super-instance, a name of its group if what is undecided is guessed."""
        return self.group_of_representatives()

    def to_dict(self) -> dict[str, Any]:
        """Return the partition."""
        return {"partition": self.partition.to_dict()}

    def _spread(self, names: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the group of every row from the names of the super-instances' groups."""
        groups = np.unique(names, return_inverse=True)[1].astype(np.intp)
        labels = groups[self.partition.assignment]
        mentioned = {row for link in self.links for row in link.pair}
        rows = sorted(mentioned.difference(self._position))
        if rows:
            # Answers may set rows apart from the representatives of their super-instances.
            decided = {self.links.find(row): int(groups[k]) for row, k in self._position.items()}
            chances = np.eye(int(groups.max()) + 1)[labels[rows]]
            place = {row: k for k, row in enumerate(rows)}
            labels[rows] = respecting_groups(chances, self.links, decided, place)
        return labels


def respecting_groups(
    chances: NDArray[np.float64],
    links: LinkGraph,
    decided: Mapping[int, int],
    position: Mapping[int, int] | None = None,
) -> NDArray[np.intp]:
    """Return, for every row, the likeliest group that respects the answers, else a new group.

    Groups are numbered as the columns of `chances`. Some may be empty: their known rows all moved.
    """
    n_groups = chances.shape[1]
    labels: NDArray[np.intp] = np.argmax(chances, axis=1).astype(np.intp)
    members: dict[int, list[int]] = {}
    for row in {row: None for link in links for row in (link.left, link.right)}:
        place = row if position is None else position.get(row)
        if place is not None:
            members.setdefault(links.find(row), []).append(place)
    group_of = dict(decided)
    free = [root for root in members if root not in group_of]
    for root in sorted(free, key=lambda root: (-len(members[root]), root)):
        taken = {group_of[other] for other in links.differing(root) if other in group_of}
        means = chances[sorted(members[root])].mean(axis=0)
        allowed = [int(g) for g in np.argsort(-means, kind="stable") if int(g) not in taken]
        if not allowed:
            # A group that was opened for other rows may be allowed; a new one always is.
            allowed = [g for g in range(n_groups, n_groups + len(free) + 1) if g not in taken]
        group_of[root] = allowed[0]
    for root, rows in members.items():
        labels[rows] = group_of[root]
    return labels
