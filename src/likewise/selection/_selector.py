"""The thin estimators around the strategies of this room."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.cluster.constraints import Pairs
from likewise.cluster.estimator import AskingEstimator, Rows, in_memory
from likewise.errors import InputError
from likewise.oracles import run_for_fit
from likewise.strategies.rows import RowStrategy

PairList = list[tuple[int, int]]


class Selector(AskingEstimator):
    """Ask an oracle for links that help a clusterer."""

    @abstractmethod
    def _about(self, X: NDArray[np.float64], train: NDArray[np.intp], seed: int) -> RowStrategy:
        """Return the strategy for rows, of which `train` may be asked about."""

    def select(
        self,
        X: ArrayLike,
        *,
        oracle: Any,
        train_indices: ArrayLike | None = None,
        sample_ids: Sequence[Hashable] | None = None,
        must_link: Pairs = (),
        cannot_link: Pairs = (),
    ) -> tuple[PairList, PairList]:
        """Ask until the budget is spent or nothing is left to ask.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        oracle : Oracle or callable
            Who answers: an object with ``answer(query)``, or a function of two rows that returns
            True, False or None.
        train_indices : array-like of int, optional
            The rows that may be asked about. By default all.
        sample_ids : sequence of hashable, optional
            Names of the rows, passed to the oracle with every query.
        must_link, cannot_link : pairs of int
            Pairs whose relation is known beforehand; they are not asked and not counted.

        Returns
        -------
        must_link, cannot_link : list of (int, int)
            All pairs that are known to belong together or not, those implied included.

        Raises
        ------
        InterruptedFitError
            If the oracle raises an error. The error, and ``session_``, have the session with all
            answers so far.
        """
        session = self.start(
            X,
            train_indices=train_indices,
            sample_ids=sample_ids,
            must_link=must_link,
            cannot_link=cannot_link,
        )
        self.session_ = session
        run_for_fit(session, oracle)
        self._set_queries(session)
        return session.strategy.known().closure()

    def _strategy(
        self, X: Rows, train: NDArray[np.intp] | None, seed: int, **_: Any
    ) -> RowStrategy:
        rows = in_memory(X, self)
        return self._about(rows, np.arange(len(rows)) if train is None else train, seed)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        n = getattr(self, "n_clusters", 1)
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise InputError(f"n_clusters must be an integer of at least 1; got {n!r}")
