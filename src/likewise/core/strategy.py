"""The contract between a session and a strategy, which decides what to ask.

A strategy is a function of its records: the same records in the same order give the same state.
Undo starts a `fresh` one and replays the records that are left. No code depends on the class of a
strategy; it only calls these hooks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Groups
from likewise.core.candidates import Candidates
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.reports import Completeness, Suspect
from likewise.errors import CannotGrowError, InputError
from likewise.registry import Registry


class Strategy(ABC):
    """What to ask next, and what the answers so far make of the rows.

    Attributes
    ----------
    name : str
        Names the strategy in saved sessions. A subclass with a name can be loaded by it.
    estimator : str
        The estimator of `likewise` that makes most of its sessions, by ``adopt``.
    links : LinkGraph
        What the links that count imply.
    weighs_answers : bool
        Whether it takes links that contradict others, and asks about what is implied already, as
        a check.
    X : ndarray or None
        The data, if `load` needs it; a strategy that stores what it needs has none.
    candidates : Candidates or None
        The only pairs that it asks about, if it has a list of them.
    """

    name: ClassVar[str]
    estimator: ClassVar[str] = "COBRA"
    weighs_answers: bool = False
    X: Any = None
    candidates: Candidates | None = None
    links: LinkGraph

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            STRATEGIES.register(cls.name, cls)

    # -- what every strategy defines -------------------------------------------------------------

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows of the data."""

    @abstractmethod
    def next_question(self) -> tuple[int, Groups] | None:
        """Return a row and the groups that it may belong to, or None if nothing is left to ask.

        The first row of each group stands for it: the answer is a link to that row.
        """

    @abstractmethod
    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:
        """Take in a link between two rows, asked for or not.

        Parameters
        ----------
        left, right : int
            The rows.
        answer : Answer
            The answer about them.
        is_certain : bool
            Whether it was given beforehand or made while mending. Only strategies that weigh
            answers use this.
        """

    @abstractmethod
    def fresh(self) -> Self:
        """Return the same strategy before its first record."""

    @abstractmethod
    def remaining(self) -> tuple[int, int | None]:
        """Return how many yes/no questions are left at most, and an estimate if there is one.

        The first number never grows on a yes or no.
        """

    @abstractmethod
    def labels(self, *, guess: bool = False) -> NDArray[np.intp]:
        """Return the group of every row by what is known now, numbered from 0.

        Parameters
        ----------
        guess : bool
            Whether groups whose relation is undecided may be joined by a guess.
        """

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

    # -- what a strategy may define --------------------------------------------------------------

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None = None,
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
        seed : int
            Decides everything random.
        n_jobs : int, optional
            Never changes the result.
        """
        raise InputError(
            f"the strategy {cls.name!r} cannot be made from rows alone; choose another one, "
            "such as 'most-doubt' or 'closest-first'"
        )

    @cached_property
    def partition(self) -> SuperInstances:
        """The small groups it asks about; by default every row is one."""
        rows = np.arange(self.n_rows, dtype=np.intp)
        return SuperInstances(rows, rows)

    def askable(self) -> NDArray[np.intp]:
        """Return the rows that questions may be about."""
        return self.partition.representatives

    def given_groups(self) -> tuple[NDArray[np.intp], Sequence[str]] | None:
        """Return the number of the group that each row had beforehand, -1 for none, and the labels.

        None for a session that began from nothing.
        """
        return None

    def grown(
        self,
        rows: NDArray[Any],
        unasked: frozenset[int],
        removed: frozenset[int],
    ) -> Self:
        """Return the same strategy before its first record, with further rows.

        What is computed of rows without answers still comes from the first ones, so that growing
        changes no other label.

        Parameters
        ----------
        rows : ndarray of shape (n_new, n_features)
            The rows that join; their numbers follow those there are.
        unasked : frozenset of int
            Those among them that are never asked about.
        removed : frozenset of int
            All rows that are gone. What is known of them counts, but no question shows them.
        """
        raise CannotGrowError(
            f"the strategy {self.name!r} cannot take further rows. Start another session with all "
            "rows, or use 'most-doubt' or 'closest-first', the strategies of Likewise and COBRA."
        )

    def is_enough(self) -> bool:
        """Return whether more questions would bring little, so that `fit` without a budget ends."""
        return False

    def doubts(self) -> NDArray[np.float64] | None:
        """Return, for every row, the chance that its label is wrong, or None."""
        return None

    def completeness(self) -> Completeness | None:
        """Return how much of the grouping is right, or None if there is no estimate."""
        return None

    def suspects(self) -> list[Suspect]:
        """Return links that are probably wrong, the least credible first.

        They are numbered from 1 in the order of their records; `Session.suspects` has the numbers
        of the answers.
        """
        return []


STRATEGIES: Registry[type[Strategy]] = Registry(
    "strategy",
    {
        "most-doubt": "likewise.strategies.most_doubt:MostDoubt",
        "closest-first": "likewise.strategies.closest_first:ClosestFirst",
        "candidate-pairs": "likewise.strategies.candidate_pairs:CandidatePairs",
        "random-order": "likewise.lab.peers.random_pairs:RandomOrder",
        "random-pairs": "likewise.lab.peers.random_pairs:RandomPairs",
        "min-max": "likewise.lab.selection.minmax:ExploreConsolidate",
        "npu": "likewise.lab.selection.npu:MostInformative",
        "cobras": "likewise.lab.peers.cobras:SplitAndMerge",
        "ncobras": "likewise.lab.peers.ncobras:CheckedSplitAndMerge",
        "dsl": "likewise.lab.peers.dsl:SkeletonTree",
        "acdm": "likewise.lab.peers.acdm:DiffusionSkeleton",
        "a3s": "likewise.lab.peers.a3s:AdaptiveSampling",
    },
    group="likewise.strategies",
)
"""All strategies, by the names that saved sessions have them under."""
