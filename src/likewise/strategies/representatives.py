"""What all strategies that ask about representatives of super-instances share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.session import Session


class RepresentativeStrategy(ABC):
    """Ask about pairs of representatives; a row belongs where its super-instance belongs.

    Answers may be about any rows. Those about other rows than representatives count as far as
    they imply something about representatives.

    Parameters
    ----------
    partition : SuperInstances
        The super-instances and the rows that stand for them.
    """

    name: ClassVar[str]

    def __init__(self, partition: SuperInstances) -> None:
        self.partition = partition
        self.links = LinkGraph(partition.n_rows)
        self._log: list[tuple[int, int, Answer]] = []
        self._position = {int(row): i for i, row in enumerate(partition.representatives)}

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return self.partition.n_rows

    @property
    @abstractmethod
    def n_groups(self) -> int:
        """Number of groups by what is known now."""

    @abstractmethod
    def next_pair(self) -> tuple[int, int] | None:
        """Return the two rows to ask about now, or None when nothing is left to ask."""

    @abstractmethod
    def record(self, left: int, right: int, answer: Answer) -> None:
        """Take in an answer about two rows."""

    @abstractmethod
    def rewind(self) -> None:
        """Take back the last record."""

    @abstractmethod
    def remaining(self) -> tuple[int, int]:
        """Return how many yes/no questions are left at the most, and an estimate of how many."""

    @abstractmethod
    def open_pairs(self) -> list[tuple[int, int]]:
        """Return the closest pair of rows of every two undecided groups."""

    def labels(self) -> NDArray[np.intp]:
        """Return the group of every row by what is known now, numbered from 0."""
        return self._spread(self.group_of_representatives())

    def labels_guess(self) -> NDArray[np.intp]:
        """Return the group of every row if what is undecided is guessed."""
        return self._spread(self.guess_of_representatives())

    def askable(self) -> NDArray[np.intp]:
        """Return the representatives."""
        return self.partition.representatives

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every super-instance, a name of its group."""
        find = self.links.find
        return np.array([find(row) for row in self._position], dtype=np.intp)

    def guess_of_representatives(self) -> NDArray[np.intp]:
        """Return names of groups; here there is no guess beyond what is known."""
        return self.group_of_representatives()

    def to_dict(self) -> dict[str, Any]:
        """Return the partition as plain values."""
        return {"partition": self.partition.to_dict()}

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        return cls(SuperInstances.from_dict(plain["partition"]))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            Session.register(cls.name, cls.load)

    def _spread(self, groups: NDArray[np.intp]) -> NDArray[np.intp]:
        return number_groups(groups)[self.partition.assignment]


def number_groups(names: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the groups of super-instances numbered from 0 in the order of their names."""
    return np.unique(names, return_inverse=True)[1].astype(np.intp)
