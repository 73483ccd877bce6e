"""The contract between a session and a strategy, which decides what to ask.

`Strategy` declares every hook. What every strategy must implement is abstract. Every other hook has
a default that is right for a simple strategy. No code looks at the class of a strategy; it only
calls these hooks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.reports import Completeness, Suspect
from likewise.errors import InputError
from likewise.registry import Registry

Examples = tuple[NDArray[np.intp], NDArray[np.intp]]


class Strategy(ABC):
    """What to ask next, and what the answers so far make of the rows.

    A strategy is deterministic: the same records in the same order give the same state. It is
    told of every link by `record`, and of every link taken back by `rewind`.

    Attributes
    ----------
    name : str
        Names the strategy in saved sessions. A subclass with a name can be loaded by it.
    links : LinkGraph
        What the links that count imply. A strategy that weighs answers leaves out those that it
        overrules.
    weighs_answers : bool
        Whether it accepts links that contradict others, and asks about what is implied already, as
        a check.
    estimator : str
        The estimator of `likewise` that makes most of its sessions, by ``adopt``.
    """

    name: ClassVar[str]
    weighs_answers: bool = False
    estimator: ClassVar[str] = "COBRA"
    links: LinkGraph

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            STRATEGIES.register(cls.name, cls)

    # -- what every strategy says ----------------------------------------------------------------

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows of the data."""

    @abstractmethod
    def next_pair(self) -> tuple[int, int] | None:
        """Return the two rows to ask about now, or None when nothing is left to ask."""

    @abstractmethod
    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:
        """Take in a link between two rows, asked for or not.

        Parameters
        ----------
        left, right : int
            The rows.
        answer : Answer
            What was said about them.
        is_certain : bool
            Whether it was known beforehand. Only strategies that weigh answers care.
        """

    @abstractmethod
    def rewind(self) -> None:
        """Take back the last record."""

    @abstractmethod
    def remaining(self) -> tuple[int, int]:
        """Return how many yes/no questions are left at the most, and an estimate of how many."""

    @abstractmethod
    def labels(self) -> NDArray[np.intp]:
        """Return the group of every row by what is known now, numbered from 0."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what `load` needs to make this strategy again: plain values and arrays."""

    @classmethod
    @abstractmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:
        """Return the strategy that `to_dict` wrote down, without answers.

        Parameters
        ----------
        plain : mapping
            What `to_dict` returned.
        X : array-like or None
            The data, for strategies that do not store what they need of it.
        """

    # -- what a strategy may say -----------------------------------------------------------------

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None = None,
        budget: int | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Return a new strategy for rows, as page and experiment begin it.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            The rows.
        train_indices : ndarray of int, optional
            The rows that may be asked about. By default all.
        budget : int, optional
            How many questions there will be, if that is known.
        seed : int
            Decides everything random.
        n_jobs : int, optional
            Never changes the result.
        """
        raise InputError(
            f"the strategy {cls.name!r} cannot be made from rows alone; choose another one, "
            "such as 'row-by-row' or 'closest-first'"
        )

    def next_choice(self) -> tuple[int, tuple[tuple[int, ...], ...]] | None:
        """Return a row and the groups to choose from, or None to ask about a pair."""
        return None

    def why(self) -> str:
        """Return in a few words why the open question is asked."""
        return "what the answer says about the other items"

    @property
    def partition(self) -> SuperInstances:
        """The small groups it asks about; by default every row is one."""
        rows = np.arange(self.n_rows, dtype=np.intp)
        return SuperInstances(rows, rows)

    @property
    def n_parts(self) -> int:
        """The number of small groups at the end, when nothing is left to ask."""
        return self.partition.n_super_instances

    def on(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.intp] | None = None,
        n_parts: int | None = None,
    ) -> Strategy:
        """Return a strategy of the same kind about other small groups, without answers.

        Parameters
        ----------
        partition : SuperInstances
            The small groups. Every earlier representative is one of theirs, too.
        askable : ndarray of int, optional
            The rows that may be asked about. By default all.
        n_parts : int, optional
            How many parts there are in the end, for strategies that do not ask about each of them.
        """
        raise InputError(f"a session by the strategy {self.name!r} cannot be refined")

    def askable(self) -> NDArray[np.intp]:
        """Return the rows that questions may be about."""
        return self.partition.representatives

    @property
    def n_groups(self) -> int:
        """Number of groups by what is known now."""
        return int(self.labels().max()) + 1

    def labels_guess(self) -> NDArray[np.intp]:
        """Return the group of every row if what is undecided is guessed."""
        return self.labels()

    def known(self) -> LinkGraph:
        """Return what is known about pairs: the answers and what else the strategy was told."""
        return self.links

    def labels_as_published(self) -> NDArray[np.intp]:
        """Return the labels as published; late answers may contradict them."""
        return self.labels()

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every small group, a name of its group."""
        return self.labels()[self.partition.representatives]

    def guess_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every small group, a name of its group if what is undecided is guessed."""
        return self.group_of_representatives()

    def open_pairs(self) -> list[tuple[int, int]]:
        """Return pairs of rows, one for every two groups that stayed undecided."""
        return []

    def examples(self, *, guess: bool = False) -> Examples:
        """Return the rows to learn from and their groups, numbered from 0.

        Parameters
        ----------
        guess : bool
            Whether groups that are undecided are joined by a guess.
        """
        names = self.guess_of_representatives() if guess else self.group_of_representatives()
        return self.partition.representatives, np.unique(names, return_inverse=True)[1]

    def completeness(self) -> Completeness | None:
        """Return how complete the groups are, or None if that cannot be said."""
        return None

    def doubts(self) -> NDArray[np.float64] | None:
        """Return, for every row, the chance that its label is wrong, or None."""
        return None

    def worked_out(self) -> dict[str, Any]:
        """Return what was computed from the rows alone, arrays by name; project files keep it."""
        return {}

    def take_worked_out(self, found: Mapping[str, Any]) -> None:
        """Take what `worked_out` returned about the same rows, so that it is not computed again."""
        del found  # nothing was

    def suspects(self) -> list[Suspect]:
        """Return links that are probably wrong, the least credible first.

        They are numbered from 1 in the order of their records; `Session.suspects` has the numbers
        of the answers.
        """
        return []


STRATEGIES: Registry[type[Strategy]] = Registry(
    "strategy",
    {
        "closest-first": "likewise.strategies.closest_first:ClosestFirst",
        "random-order": "likewise.lab.peers.random_order:RandomOrder",
        "row-by-row": "likewise.strategies.row_by_row.strategy:RowByRow",
        "random-pairs": "likewise.lab.selection.random:RandomPairs",
        "min-max": "likewise.lab.selection.minmax:ExploreConsolidate",
        "npu": "likewise.lab.selection.npu:MostInformative",
        "cobras": "likewise.lab.peers.cobras:SplitAndMerge",
        "ncobras": "likewise.lab.peers.ncobras:CheckedSplitAndMerge",
        "dsl": "likewise.lab.peers.dsl:SkeletonTree",
        "acdm": "likewise.lab.peers.acdm:DiffusionSkeleton",
        "a3s": "likewise.lab.peers.a3s:AdaptiveSampling",
        # names of earlier releases
        "refine": "likewise.strategies.row_by_row.strategy:RowByRow",
        "coarse-to-fine": "likewise.strategies.row_by_row.strategy:RowByRow",
        "careful": "likewise.strategies.row_by_row.strategy:RowByRow",
    },
    group="likewise.strategies",
)
"""All strategies, by the names that saved sessions have them under."""
