"""The thin estimators around the strategies of this room."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state

from likewise.cluster.constraints import Pairs, checked_pairs, checked_train_rows
from likewise.core.answers import Answer
from likewise.core.fingerprint import fingerprint
from likewise.core.session import Session
from likewise.errors import InputError
from likewise.oracles import run_for_fit
from likewise.strategies.rows import RowStrategy

PairList = list[tuple[int, int]]


class Selector(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Ask an oracle for links that help a clusterer."""

    max_queries: int | None
    random_state: Any

    @abstractmethod
    def _strategy(
        self, X: NDArray[np.float64], train: NDArray[np.intp], seed: int
    ) -> RowStrategy: ...

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
        asked = [event for event in session.events if event.source == "asked"]
        self.queries_ = [(event.left, event.right, event.answer) for event in asked]
        self.n_queries_ = len(asked)
        strategy = session.strategy
        assert isinstance(strategy, RowStrategy)
        return strategy.known().closure()

    def start(
        self,
        X: ArrayLike,
        *,
        train_indices: ArrayLike | None = None,
        sample_ids: Sequence[Hashable] | None = None,
        must_link: Pairs = (),
        cannot_link: Pairs = (),
    ) -> Session:
        """Return a session to be asked and told by hand; the parameters are those of `select`."""
        self._check_parameters()
        rows = check_array(X, dtype=np.float64, order="C", estimator=self)
        train = checked_train_rows(train_indices, len(rows))
        if train is None:
            train = np.arange(len(rows), dtype=np.intp)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        must = checked_pairs(len(rows), must_link, "must_link")
        cannot = checked_pairs(len(rows), cannot_link, "cannot_link")
        session = Session(
            self._strategy(rows, train, seed), sample_ids=sample_ids, digest=fingerprint(rows)
        )
        for pairs, answer in ((must, Answer.SAME), (cannot, Answer.DIFFERENT)):
            for left, right in pairs.tolist():
                session.give(left, right, answer)
        return session

    def _check_parameters(self) -> None:
        counts: list[tuple[str, Any, int]] = []
        if self.max_queries is not None:
            counts.append(("max_queries", self.max_queries, 0))
        if hasattr(self, "n_clusters"):
            counts.append(("n_clusters", self.n_clusters, 1))
        for name, value, least in counts:
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise InputError(f"{name} must be an integer of at least {least}; got {value!r}")
