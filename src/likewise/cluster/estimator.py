"""What all estimators that ask have in common: fit, start, adopt."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from os import PathLike
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from likewise.cluster.constraints import Pairs, checked_pairs, checked_train_rows
from likewise.cluster.source_session import SourceSession
from likewise.core.answers import Answer
from likewise.core.fingerprint import fingerprint
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import InputError, UnusedLabelsWarning
from likewise.inputs import is_whole, refuse_rows
from likewise.oracles import run_for_fit
from likewise.rows.source import Source
from likewise.words import plural

Rows = NDArray[Any] | Source


class AskingEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Start a session about rows.

    A subclass says by `_strategy` what is asked, and checks its own parameters in
    `_check_parameters`.
    """

    max_queries: int | None
    random_state: Any
    n_jobs: int | None = None
    _label_by = "cells"

    @abstractmethod
    def _strategy(
        self, X: Rows, train: NDArray[np.intp] | None, seed: int, **options: Any
    ) -> Strategy:
        """Return the strategy for rows that were checked.

        Parameters
        ----------
        X : ndarray or Source
            The rows.
        train : ndarray of int or None
            The rows that may be asked about; None for all.
        seed : int
            Decides everything random.
        **options
            Further arguments of `start`, for sources.
        """

    def _check_parameters(self) -> None:
        budget: Any = self.max_queries
        if budget is not None and (not is_whole(budget) or budget < 0):
            raise InputError(f"max_queries must be None or a whole number from 0, got {budget!r}")
        n_jobs: Any = self.n_jobs
        if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
            raise InputError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")

    @overload
    def start(
        self,
        X: Source,
        *,
        train_indices: ArrayLike | None = ...,
        sample_ids: Sequence[Hashable] | None = ...,
        must_link: Pairs = ...,
        cannot_link: Pairs = ...,
        checkpoint: str | PathLike[str] | None = ...,
        progress: Callable[[str, int, int], None] | None = ...,
    ) -> SourceSession: ...
    @overload
    def start(
        self,
        X: ArrayLike,
        *,
        train_indices: ArrayLike | None = ...,
        sample_ids: Sequence[Hashable] | None = ...,
        must_link: Pairs = ...,
        cannot_link: Pairs = ...,
        checkpoint: str | PathLike[str] | None = ...,
        progress: Callable[[str, int, int], None] | None = ...,
    ) -> Session: ...
    def start(
        self,
        X: ArrayLike | Source,
        *,
        train_indices: ArrayLike | None = None,
        sample_ids: Sequence[Hashable] | None = None,
        must_link: Pairs = (),
        cannot_link: Pairs = (),
        checkpoint: str | PathLike[str] | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Session:
        """Return a session to be asked and told by hand.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Source
            The rows. A source of `likewise.scale` is read in batches and never held; the session
            is then a `likewise.scale.SourceSession`, which can write labels to files.
        train_indices : array-like of int, optional
            The rows that may be asked about. By default all.
        sample_ids : sequence of hashable, optional
            Names of the rows, passed to the oracle with every query.
        must_link, cannot_link : pairs of int
            Pairs of rows whose relation is known beforehand. They are certain: no answer
            overrules them, and they do not count as questions.
        checkpoint : path, optional
            For a source, a folder that keeps what is done when the start is interrupted. Starting
            again with the same folder goes on from there.
        progress : callable, optional
            For a source, called as ``progress(phase, rows_done, n_rows)``.
        """
        self._check_parameters()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        session: Session
        if isinstance(X, Source):
            self.n_features_in_ = X.n_features
            train = checked_train_rows(train_indices, X.n_rows)
            strategy = self._strategy(X, train, seed, checkpoint=checkpoint, progress=progress)
            about = SourceSession(strategy, sample_ids=sample_ids, digest=X.fingerprint())
            about.label_by = self._label_by
            session = about.attach(X, n_jobs=self.n_jobs)
        else:
            rows = self._validated(X)
            train = checked_train_rows(train_indices, len(rows))
            strategy = self._strategy(rows, train, seed)
            session = Session(
                strategy,
                sample_ids=sample_ids,
                digest=fingerprint(rows),
                max_queries=self.max_queries,
            )
        n_rows = strategy.n_rows
        for pairs, name, answer in (
            (must_link, "must_link", Answer.SAME),
            (cannot_link, "cannot_link", Answer.DIFFERENT),
        ):
            for left, right in checked_pairs(n_rows, pairs, name).tolist():
                session.give(left, right, answer)
        return session

    def _validated(self, X: Any, *, reset: bool = True) -> NDArray[Any]:
        refuse_mixed_frames(X)
        refuse_rows(X)
        rows: NDArray[Any] = validate_data(
            self, X, dtype=[np.float64, np.float32], order="C", reset=reset
        )
        return rows

    def _set_queries(self, session: Session) -> None:
        asked = [gesture for gesture in session.events if gesture.source == "asked"]
        self.session_ = session
        self.queries_ = [
            (link.left, link.right, link.answer) for gesture in asked for link in gesture.links
        ]
        self.n_queries_ = session.n_asked


class AskingClusterer(ClusterMixin, AskingEstimator):  # type: ignore[misc]
    """Cluster rows by asking an oracle."""

    @abstractmethod
    def adopt(self, session: Session, *, X: Any = None) -> Self:
        """Become the fitted estimator of a session, finished or not."""

    def fit(
        self,
        X: ArrayLike | Source,
        y: Any = None,
        *,
        oracle: Any = None,
        train_indices: ArrayLike | None = None,
        sample_ids: Sequence[Hashable] | None = None,
        must_link: Pairs = (),
        cannot_link: Pairs = (),
    ) -> Self:
        """Cluster rows by asking an oracle.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Source
            The rows, or a source of `likewise.scale`.
        y : ignored
            For compatibility. Labels that are known are an oracle: ``oracle=LabelOracle(y)``.
        oracle : Oracle or callable, optional
            Who answers: an object with ``answer(query)``, or a function of two row numbers that
            returns True, False or None. Without one nothing is asked.
        train_indices : array-like of int, optional
            The rows that may be asked about. By default all.
        sample_ids : sequence of hashable, optional
            Names of the rows, passed to the oracle with every query.
        must_link, cannot_link : pairs of int
            Pairs of rows whose relation is known beforehand. They are certain: no answer
            overrules them.

        Raises
        ------
        InterruptedFitError
            If the oracle raises an error. The error, and ``session_``, have the session with all
            answers so far.
        """
        if isinstance(oracle, str) and oracle == "widget":
            raise InputError(
                "fit cannot wait for a widget, which answers between the cells. Instead:\n"
                f"session = {self!r}.start(X); session.widget(items=items)\n"
                f"model = {type(self).__name__}().adopt(session)  # when you have answered"
            )
        if oracle is None and y is not None:
            warnings.warn(
                "nothing is asked without an oracle, and y is not used. To answer by these "
                "labels, pass oracle=LabelOracle(y)",
                UnusedLabelsWarning,
                stacklevel=2,
            )
        session = self.start(
            X,
            train_indices=train_indices,
            sample_ids=sample_ids,
            must_link=must_link,
            cannot_link=cannot_link,
        )
        self.session_ = session
        if oracle is not None:
            then = f" and {type(self).__name__}().adopt(error.session)"
            run_for_fit(session, oracle, then=then)
        return self._adopt_fitted(session, X, is_asked=oracle is not None)

    def _adopt_fitted(self, session: Session, X: Any, *, is_asked: bool) -> Self:  # noqa: ARG002
        return self.adopt(session, X=X)


def in_memory(X: Rows, estimator: AskingEstimator) -> NDArray[np.float64]:
    """Return rows that are in memory as float64, or refuse a source."""
    if isinstance(X, Source):
        name = type(estimator).__name__
        raise InputError(f"{name} needs all rows in memory, not a source; COBRA takes sources")
    return np.asarray(X, dtype=np.float64)


def refuse_mixed_frames(X: Any) -> None:
    """Refuse a data frame with text, categories, dates or missing values, and name the remedy."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return
    kinds = dict(zip(X.columns, X.dtypes, strict=True))
    is_number = {name: _is_numeric(kind) for name, kind in kinds.items()}
    remedy = (
        "likewise.open_items(X) turns such columns into features: "
        "model.fit(likewise.open_items(X), ...)"
    )
    for name, ok in is_number.items():
        if not ok:
            raise InputError(f"column {name!r} of X is {kinds[name]}, not numbers. {remedy}")
    for name in X.columns:
        column = np.asarray(X[name], dtype=np.float64)
        if np.isnan(column).any():
            n = int(np.isnan(column).sum())
            raise InputError(
                f"column {name!r} of X has {plural(n, 'missing value')} (NaN). {remedy}"
            )


def _is_numeric(kind: Any) -> bool:
    if hasattr(kind, "is_numeric"):  # polars
        return bool(kind.is_numeric()) or str(kind) == "Boolean"
    code = getattr(kind, "kind", "O")
    return code in "iufb"
