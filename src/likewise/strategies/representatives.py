"""What all strategies that ask about representatives of super-instances share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.strategy import Strategy
from likewise.learning.respect import respecting_labels


class RepresentativeStrategy(Strategy):
    """Ask about pairs of representatives; a row belongs where its super-instance belongs.

    Answers may be about any rows. A row that an answer is about is where the answers put it,
    whatever its super-instance.

    Parameters
    ----------
    partition : SuperInstances
        The super-instances and the rows that stand for them.
    """

    def __init__(self, partition: SuperInstances) -> None:
        self._partition = partition
        self.links = LinkGraph(partition.n_rows)
        self._log: list[tuple[int, int, Answer]] = []
        self._position = {int(row): i for i, row in enumerate(partition.representatives)}

    @property
    def partition(self) -> SuperInstances:
        """The super-instances and the rows that stand for them."""
        return self._partition

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return self.partition.n_rows

    def labels(self) -> NDArray[np.intp]:
        """Return the group of every row by what is known now, numbered from 0."""
        return self._spread(self.group_of_representatives())

    def labels_guess(self) -> NDArray[np.intp]:
        """Return the group of every row if what is undecided is guessed."""
        return self._spread(self.guess_of_representatives())

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every super-instance, a name of its group."""
        find = self.links.find
        return np.array([find(row) for row in self._position], dtype=np.intp)

    def to_dict(self) -> dict[str, Any]:
        """Return the partition."""
        return {"partition": self.partition.to_dict()}

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        return cls(SuperInstances.from_dict(plain["partition"]))

    def _spread(self, names: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the group of every row from the names of the super-instances' groups."""
        groups = number_groups(names)
        labels = groups[self.partition.assignment]
        if self._are_all_representatives():
            return labels
        decided = {self.links.find(row): int(groups[i]) for row, i in self._position.items()}
        return respecting_labels(np.eye(int(groups.max()) + 1)[labels], self.links, decided)

    def _are_all_representatives(self) -> bool:
        """Return whether all answers are about representatives."""
        position = self._position
        return all(left in position and right in position for left, right, _ in self._log)


def number_groups(names: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the groups of super-instances numbered from 0 in the order of their names."""
    return np.unique(names, return_inverse=True)[1].astype(np.intp)
