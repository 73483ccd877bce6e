"""What all strategies that ask about representatives of super-instances share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.strategy import Strategy
from likewise.learning.respect import respecting_groups


class RepresentativeStrategy(Strategy):
    """Ask about pairs of representatives; other rows follow them, unless answers are about them."""

    def __init__(self, partition: SuperInstances) -> None:
        self._partition = partition
        self.links = LinkGraph(partition.n_rows)
        self._log: list[tuple[int, int, Answer]] = []

    @cached_property
    def _position(self) -> dict[int, int]:
        """The number of every super-instance, by the row that stands for it."""
        return {int(row): i for i, row in enumerate(self.partition.representatives)}

    @property
    def partition(self) -> SuperInstances:
        """The super-instances and the rows that stand for them."""
        return self._partition

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
        find = self.links.find
        return np.array([find(row) for row in self._position], dtype=np.intp)

    def guess_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every super-instance, a name of its group if what is undecided is guessed."""
        return self.group_of_representatives()

    def to_dict(self) -> dict[str, Any]:
        """Return the partition."""
        return {"partition": self.partition.to_dict()}

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        return cls(SuperInstances.from_dict(plain["partition"]))

    def _spread(self, names: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the group of every row from the names of the super-instances' groups."""
        groups, rows, of_rows = number_groups(names, self.partition, self.links)
        labels = groups[self.partition.assignment]
        labels[rows] = of_rows
        return labels


def number_groups(
    names: NDArray[np.intp], partition: SuperInstances, links: LinkGraph
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the groups of super-instances, the rows that answers set apart, and their groups."""
    groups = np.unique(names, return_inverse=True)[1].astype(np.intp)
    reps = partition.representatives
    mentioned = {row for given in links for row in (given.left, given.right)}
    rows = np.setdiff1d(np.array(sorted(mentioned), dtype=np.intp), reps)
    if not len(rows):
        return groups, rows, rows
    decided = {
        links.find(row): group for row, group in zip(reps.tolist(), groups.tolist(), strict=True)
    }
    chances = np.eye(int(groups.max()) + 1)[groups[partition.assignment[rows]]]
    place = {row: k for k, row in enumerate(rows.tolist())}
    return groups, rows, respecting_groups(chances, links, decided, place)
