"""The contract between a session and a strategy, which decides what to ask.

A strategy is a function of the answers: the session passes them, and the strategy keeps none. It
may keep what it computes of the rows alone. What it computes of the answers it keeps in them, by
`Answers.once`. No code depends on the class of a strategy; it only calls these hooks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.answered import Answers
from likewise.core.answers import Groups
from likewise.core.candidates import Candidates
from likewise.core.labels import answered_groups, labels_of_rows
from likewise.core.partition import SuperInstances, standing_for_rows
from likewise.core.reports import Assessment
from likewise.errors import CannotGrowError
from likewise.registry import Registry


class Strategy(ABC):
    """What to ask next, and what the answers so far make of the rows.

    A subclass defines `name` and `next_question`; the rest has defaults.

    Parameters
    ----------
    partition : SuperInstances
        Small groups of rows, each with a row that stands for it and may be asked about.

    Attributes
    ----------
    name : str
        Names the strategy in saved sessions. A subclass with a name can be loaded by it.
    partition : SuperInstances
        The small groups that it asks about.
    candidates : Candidates or None
        The only pairs that it asks about, if it has a list of them.
    group_names : tuple of str
        Groups that are known by name only. The session offers them beside those of the question.
    """

    name: ClassVar[str]
    candidates: Candidates | None = None
    group_names: tuple[str, ...] = ()
    partition: SuperInstances

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            STRATEGIES.register(cls.name, cls)

    def __init__(self, partition: SuperInstances) -> None:
        self.partition = partition

    # -- what every strategy defines -------------------------------------------------------------

    @abstractmethod
    def next_question(self, answers: Answers) -> tuple[int, Groups] | None:
        """Return a row and the groups that it may belong to, or None if nothing is left to ask.

        The first row of each group stands for it: the answer is a link to that row. Rows in
        ``answers.removed`` are not asked about. Where the strategy has ``group_names``, there may
        be no groups.
        """

    # -- what the answers make of the rows -------------------------------------------------------

    def labels(self, answers: Answers, *, guess: bool = False) -> NDArray[np.intp]:
        """Return the group of every row, numbered from 0; by default, only answers join rows.

        Parameters
        ----------
        answers : Answers
            The answers so far.
        guess : bool
            Whether groups whose relation is undecided may be joined by a guess.
        """
        names = answered_groups(self.partition, answers.links)
        return labels_of_rows(self.partition, names, answers.links)

    def assess(self, answers: Answers) -> Assessment:
        """Return what can be said about the answers so far, and how many questions are left.

        By default only the latter: the number of pairs of groups that are undecided.
        """
        rows = set(self.askable().tolist()) - answers.removed
        return Assessment(remaining=lambda: (answers.links.n_undecided(rows), None))

    # -- what does not depend on answers ---------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return self.partition.n_rows

    def askable(self) -> NDArray[np.intp]:
        """Return the rows that questions may be about, removed ones among them."""
        return self.partition.representatives

    def given_groups(self) -> tuple[NDArray[np.intp], Sequence[str]] | None:
        """Return the number of the group that each row had beforehand, -1 for none, and the labels.

        None for a session that began from nothing.
        """
        return None

    # -- making it -------------------------------------------------------------------------------

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Return a new strategy for rows.

        By default every row that may be asked about stands for itself and for the other rows to
        which it is nearest.

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
        return cls(standing_for_rows(X, train_indices))

    def grown(self, rows: NDArray[Any], unasked: frozenset[int]) -> Self:
        """Return the same strategy with further rows.

        What is computed from rows without answers still comes from the first ones, so growing
        changes no other label. Rows that leave do not concern the strategy: see
        `Answers.removed`.

        Parameters
        ----------
        rows : ndarray of shape (n_new, n_features)
            The rows that join, numbered after those of the session; empty if rows only leave or
            come back.
        unasked : frozenset of int
            Those among them that are never asked about.
        """
        raise CannotGrowError(
            f"the strategy {self.name!r} cannot take further rows. Start another session with all "
            "rows, or use 'most-doubt' or 'closest-first', the strategies of Likewise and COBRA."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what `load` needs to make this strategy again: plain values and arrays."""
        return {"partition": self.partition.to_dict()}

    @classmethod
    def load(cls, plain: Mapping[str, Any]) -> Self:
        """Return the strategy that `to_dict` wrote down."""
        return cls(SuperInstances.from_dict(plain["partition"]))


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
        "dsl": "likewise.lab.peers.dsl:SkeletonTree",
        "acdm": "likewise.lab.peers.acdm:DiffusionSkeleton",
        "a3s": "likewise.lab.peers.a3s:AdaptiveSampling",
    },
    group="likewise.strategies",
)
"""All strategies, by their names in saved sessions."""
