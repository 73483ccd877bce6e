"""What all estimators that ask have in common: checked rows, and a session about them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from likewise.cluster.constraints import Pairs
from likewise.cluster.start import start_session
from likewise.core.answers import Answer, checked_budget, is_whole
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import InputError
from likewise.inputs import index_ids, refuse_rows
from likewise.rows.source import Rows, open_rows


class AskingEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Start a session about rows.

    A subclass says by `_strategy` what is asked, and checks its own parameters in
    `_check_parameters`.
    """

    max_queries: int | None
    random_state: Any
    n_jobs: int | None = None
    verbose: int = 0
    warm_start: bool = False
    _learns_from_groups: ClassVar[bool] = False
    _learns_from_rows: bool = False
    """Whether `adopt` needs the rows."""

    @property
    def _asks_about_samples(self) -> bool:
        """Whether questions about large data are about a sample of its rows."""
        return False

    @abstractmethod
    def _strategy(
        self,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None,
        seed: int,
        is_choice: bool,
    ) -> Strategy:
        """Return the strategy for rows that were checked, as `start_session` calls it.

        `is_choice` says whether questions with several groups can be answered. A subclass with
        `_learns_from_groups` also takes `given` and `given_labels`, as its strategy does.
        """

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return what a notebook shows: scikit-learn's diagram and, after `fit`, the map."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle and hasattr(self, "session_"):
            # By its name, since it draws models and so lies above them.
            bundle["text/html"] += import_module("likewise.plotting").as_html(self)
        return bundle

    def _check_parameters(self) -> None:
        checked_budget(self.max_queries)
        n_jobs: Any = self.n_jobs
        if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
            raise InputError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")
        verbose: Any = self.verbose
        if not isinstance(verbose, bool) and (not is_whole(verbose) or verbose < 0):
            raise InputError(f"verbose must be a whole number from 0, got {verbose!r}")

    def _check_choice(self, name: str, *allowed: str, others: str = "") -> None:
        """Refuse a parameter that is not one of some words; `others` says who takes others."""
        if getattr(self, name) not in allowed:
            words = ", ".join(map(repr, allowed))
            raise InputError(f"{name} must be one of {words}, got {getattr(self, name)!r}{others}")

    def start(
        self,
        X: Any,
        *,
        train_indices: ArrayLike | None = None,
        sample_ids: Sequence[Hashable] | None = None,
        must_link: Pairs = (),
        cannot_link: Pairs = (),
        groups: ArrayLike | None = None,
        group_names: Sequence[str] = (),
    ) -> Session:
        """Return a session that you ask and answer yourself.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), path, Dask array or Dask data frame
            The rows; a path is one of Parquet files, a folder of them or a ``.npy`` file. Of more
            than 20 000 rows the session is about a random sample: row 0 of the session is row
            ``session.row_numbers[0]`` of `X`, and this number is its id if there are no others.
        train_indices : array-like of int, optional
            The rows that may be asked about. By default all.
        sample_ids : sequence of hashable, optional
            Names of the rows, passed to the oracle with every question. By default those of the
            index of a pandas data frame, if they are different texts or whole numbers.
        must_link, cannot_link : pairs of int or of labels
            Pairs of rows whose relation is known beforehand, by row numbers from 0 or by labels:
            those of the index of a data frame, the ids of items, or `sample_ids`. Whole numbers
            are always row numbers. These links are certain: no answer overrules them, and they do
            not count as questions.
        groups : array-like of shape (n_rows,), optional
            Existing groups, as labels of another tool: a belief that answers
            correct. -1, None, NaN, "" and "noise" stand for rows without a group. Their labels
            are the names of groups on the page. Only for `Likewise`.
        group_names : sequence of str
            Names of groups that are known beforehand, which no row needs to have yet. Questions
            offer them after the others, as empty groups with these names. Only for choices of
            `Likewise`.
        """
        about: Any = {"train_indices": train_indices, "sample_ids": sample_ids, "groups": groups}
        about["group_names"] = group_names
        return self._start(X, self._data(X), must_link, cannot_link, **about)[0]

    def _start(
        self,
        X: Any,
        data: Rows,
        must_link: Pairs,
        cannot_link: Pairs,
        *,
        sample_ids: Sequence[Hashable] | None,
        is_choice: bool = True,
        **about: Any,
    ) -> tuple[Session, NDArray[Any]]:
        """Return a session by `start_session`, and its rows; `is_choice` as for `_strategy`."""
        self._check_parameters()
        if about["groups"] is not None and not self._learns_from_groups:
            raise InputError(f"groups= is for Likewise; {type(self).__name__} cannot use them")
        if len(about["group_names"]) and not self._learns_from_groups:
            raise InputError(f"group_names= is for Likewise; {type(self).__name__} has no choices")
        labels = row_labels(X, sample_ids)
        sample_ids = index_ids(X) if sample_ids is None else sample_ids
        return start_session(
            data,
            partial(self._strategy, is_choice=is_choice),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            sample_ids=sample_ids,
            must_link=must_link,
            cannot_link=cannot_link,
            row_labels=labels,
            takes_sample=self._asks_about_samples,
            max_queries=self.max_queries,
            read=self._rows_of,
            **about,
        )

    def _data(self, X: Any) -> Rows:
        """Return rows in memory, checked, or rows that are read when they are needed."""
        data: Any = open_rows(X)
        if data.is_in_memory:
            data = data.checked(self._checked_block)
        elif not self._asks_about_samples:
            raise InputError(f"{type(self).__name__} needs all rows in memory, as an array")
        return data  # type: ignore[no-any-return]

    def _checked_block(self, block: Any, first: int) -> NDArray[Any]:
        return self._validated(block, reset=first == 0, first=first)

    def _rows_of(self, data: Rows, numbers: NDArray[np.intp] | None) -> NDArray[Any]:
        """Return the rows of some numbers, or all, checked."""
        rows = data.take(numbers)
        if data.is_in_memory:
            return rows
        for bad in np.flatnonzero(~np.isfinite(rows).all(axis=1))[:1]:
            number = bad if numbers is None else numbers[bad]
            self._refuse(rows[bad : bad + 1], int(number))  # by its number in the data
        rows = self._validated(rows)
        if data.names is not None:
            self.feature_names_in_ = np.array(data.names, dtype=object)
        return rows

    def _validated(self, X: Any, first: int = 0, *, reset: bool = True) -> NDArray[Any]:
        refuse_sparse(X, type(self).__name__)
        refuse_mixed_frames(X)
        self._refuse(X, first)
        rows: NDArray[Any] = validate_data(
            self, X, dtype=[np.float64, np.float32], order="C", reset=reset
        )
        return rows

    def _refuse(self, X: Any, first: int) -> None:
        """Refuse rows that cannot be used; `first` is the number of the first of them."""
        refuse_rows(X, first)

    def _set_queries(self, session: Session) -> None:
        self.session_ = session
        self.queries_ = asked_links(session)
        self.n_queries_ = session.n_asked


def rows_in_data(session: Session) -> NDArray[np.intp]:
    """Return, for every row of a session, its number in the data."""
    if session.row_numbers is None:
        return np.arange(session.strategy.n_rows)
    numbers: NDArray[np.intp] = session.row_numbers
    return numbers


def asked_links(session: Session) -> list[tuple[int, int, Answer]]:
    """Return the rows asked about, by their numbers in the data, and the answers, in order."""
    numbers = rows_in_data(session).tolist()
    return [
        (numbers[link.left], numbers[link.right], link.answer)
        for gesture in session.events
        if not gesture.is_certain
        for link in gesture.links
    ]


def is_items(X: Any) -> bool:
    """Whether these are items; the method knows nothing else about them."""
    # By the class: a data frame has its columns as attributes.
    return hasattr(type(X), "aspects")


def row_labels(X: Any, sample_ids: Sequence[Hashable] | None) -> Sequence[Any] | None:
    """Return the labels by which links may name rows: sample ids, ids of items, or an index."""
    if sample_ids is not None:
        return sample_ids
    if is_items(X):
        ids: Sequence[Any] = X.ids
        return ids
    is_pandas = hasattr(X, "iloc") and hasattr(X, "columns") and not hasattr(X, "__dask_graph__")
    return list(X.index) if is_pandas else None


def refuse_sparse(X: Any, estimator: str) -> None:
    """Refuse a sparse matrix, and name the way for TF-IDF."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InputError(
            f"X is a sparse matrix of shape {X.shape}, and {estimator} needs dense rows. For "
            "TF-IDF reduce it to 100 dimensions first: make_pipeline(TfidfVectorizer(), "
            f'TruncatedSVD(100), {estimator}(metric="cosine")).fit(texts, '
            f"{estimator.lower()}__oracle=...)"
        )


def refuse_mixed_frames(X: Any) -> None:
    """Refuse a data frame with text, categories or dates, and name the remedy."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return
    for name, kind in zip(X.columns, X.dtypes, strict=True):
        if not _is_numeric(kind):
            raise InputError(
                f"column {name!r} of X is {kind}, not numbers. likewise.open_items(X) turns such "
                "columns into features: model.fit(likewise.open_items(X), ...)"
            )


def _is_numeric(kind: Any) -> bool:
    if hasattr(kind, "is_numeric"):  # polars
        return bool(kind.is_numeric()) or str(kind) == "Boolean"
    return getattr(kind, "kind", "O") in "iufb"
