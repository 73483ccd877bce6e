"""Cells, and regions of them that are cut ever finer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.partition import SuperInstances
from likewise.strategies.coarse_to_fine.cells import cells_of
from likewise.strategies.coarse_to_fine.closest import closest_open
from likewise.strategies.coarse_to_fine.groups import Known
from likewise.strategies.coarse_to_fine.regions import most_telling
from likewise.strategies.learning import LearningStrategy

N_REGIONS = (12, 24, 48, 96)

FOR_PEOPLE = (12, 24, 48)
"""The cuts after which a session without a budget is done: more than about sixty answers are for
those who want to refine further."""

DOUBT_FLOOR = 0.2
"""How much a row counts that the learner is sure of, where a row of mean doubt counts 1 more."""


class RegionStrategy(LearningStrategy):
    """Ask about what stands for regions, coarse ones first; then where the learner is in doubt.

    Parameters
    ----------
    partition : SuperInstances
        Fine cells, at best one per row, and the rows that stand for them.
    askable : ndarray of bool, optional
        The cells whose rows may be shown. By default all.
    n_regions : sequence of int, default=(12, 24, 48, 96)
        Into how many regions the data are cut, one after the other, if `budget` is not known.
    budget : int, optional
        How many questions there will be. It decides how fine the regions are; the strategy goes
        on asking when they are spent.
    to_the_end : bool, default=True
        Whether to go on, after the finest regions, until every cell is placed.
    seed : int, default=0
        Decides what is random in finding regions.
    """

    def __init__(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.bool_] | None = None,
        n_regions: Sequence[int] = N_REGIONS,
        budget: int | None = None,
        to_the_end: bool = True,
        seed: int = 0,
    ) -> None:
        super().__init__(partition, askable=askable, n_regions=n_regions, seed=seed)
        self.budget = budget
        self.to_the_end = to_the_end

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None = None,
        budget: int | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        **options: Any,
    ) -> Self:
        """Return the strategy for rows, with further options of its own.

        Without a budget it is done after a few cuts into regions, about sixty answers; refining
        goes on from there.
        """
        partition, askable = cells_of(X, train_indices=train_indices, seed=seed, n_jobs=n_jobs)
        if budget is None:
            options = {"n_regions": FOR_PEOPLE, "to_the_end": False, **options}
        return cls(partition, askable=askable, budget=budget, seed=seed, **options)

    @property
    def n_parts(self) -> int:
        """Into how many regions the rows are cut by the time nothing is left to ask."""
        return min(self.partition.n_super_instances, self.n_regions[-1])

    def on(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.intp] | None = None,
        n_parts: int | None = None,
    ) -> Self:
        """Return the strategy for other cells, or for more regions."""
        options = self._options()
        if n_parts is not None:
            options["n_regions"] = (*self.n_regions, n_parts)
        is_askable = None if askable is None else np.isin(partition.representatives, askable)
        return type(self)(partition, askable=is_askable, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the partition, the askable cells and all options as plain values."""
        return {
            **super().to_dict(),
            "askable": np.flatnonzero(self.is_askable).tolist(),
            **self._options(),
            "n_regions": list(self.n_regions),
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        options = {k: v for k, v in plain.items() if k not in ("name", "partition", "askable")}
        partition = SuperInstances.from_dict(plain["partition"])
        askable = np.zeros(partition.n_super_instances, dtype=bool)
        askable[plain["askable"]] = True
        return cls(partition, askable=askable, **options)

    def _options(self) -> dict[str, Any]:
        """Return the options that a copy is made with."""
        return {
            "n_regions": self.n_regions,
            "budget": self.budget,
            "to_the_end": self.to_the_end,
            "seed": self.seed,
        }

    def _newcomer(self, known: Known, but: Sequence[int] = ()) -> int | None:
        """Return the cell to ask about next, where many rows are in doubt; None if all were."""
        answered = [*known.order, *but]
        if len(answered) == len(self._cell_of):
            return None
        weights = self.partition.sizes().astype(np.float64)
        if len(known.groups) > 1:
            doubt = 1.0 - self._chances(known).max(axis=1)
            weights *= DOUBT_FLOOR + doubt / max(float(np.average(doubt, weights=weights)), 1e-12)
        return most_telling(self._regions, weights, answered)

    def _leftover(self, known: Known) -> tuple[int, int] | None:
        """Return the closest two rows that nothing is known about, when no newcomers are left."""
        asked = [(self._cell_of.get(a, -1), self._cell_of.get(b, -1)) for a, b, _ in self._log]
        cells = closest_open(self._views[0], known.cells, self.links, asked)
        return None if cells is None else self._rows(*cells)

    def _rows(self, i: int, j: int) -> tuple[int, int]:
        """Return the rows that stand for two cells, the smaller one first."""
        left, right = sorted(int(r) for r in self.partition.representatives[[i, j]])
        return left, right
