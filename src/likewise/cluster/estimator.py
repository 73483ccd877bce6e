"""What all estimators that ask have in common: fit, start, adopt."""

from __future__ import annotations

import os
import sys
import warnings
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial, update_wrapper
from importlib import import_module
from types import FunctionType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise.cluster.checkpoint import Checkpoint
from likewise.cluster.constraints import Pairs
from likewise.cluster.start import start_session
from likewise.core.answers import Answer, checked_budget, is_whole
from likewise.core.arrays import packed
from likewise.core.fingerprint import refuse_other_rows
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import InputError, InterruptedFitError, UnusedLabelsWarning
from likewise.inputs import index_ids, refuse_rows
from likewise.oracles import as_oracle, can_choose, run_for_fit
from likewise.rows.blocks import Compute, as_matrix
from likewise.rows.source import Rows, open_rows
from likewise.words import plural

T = TypeVar("T")

_INTEGERS = {"_labels", "_super_instances"}
"""Attributes with one number from 0 per row, which are packed in pickles."""

ANSWERS_PER_LINE = 10
"""With ``verbose=1``, a line of progress follows every so many answers."""


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
        """Whether large data is asked about by a sample of its rows."""
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
            Groups that are there already, as labels of another tool: a belief that answers
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


def _listed(pairs: Any) -> Any:
    """Return pairs that can be read twice."""
    return list(pairs) if isinstance(pairs, Iterator) else pairs


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


class AskingClusterer(ClusterMixin, AskingEstimator):  # type: ignore[misc]
    """Cluster rows by asking an oracle.

    A subclass that can say where new rows belong has ``_asks_about_samples = True`` and a
    `_predictor`.
    """

    _labels: NDArray[np.intp] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Python's messages about arguments name methods; users know the name of this class alone.
        for name in ("fit", "start", "predict"):
            function: Any = getattr(cls, name)
            parts = function.__globals__, name, function.__defaults__, function.__closure__
            own: Any = update_wrapper(FunctionType(function.__code__, *parts), function)
            own.__kwdefaults__ = function.__kwdefaults__
            own.__qualname__ = f"{cls.__name__}.{name}"
            del own.__wrapped__
            setattr(cls, name, own)

    @property
    def labels_(self) -> NDArray[np.intp]:
        """The cluster of every row."""
        return self._of_all_rows(
            "labels_",
            self._labels,
            "model.predict(X) returns the labels of "
            "all rows, lazily for a Dask collection; model.session_.labels has those of the sample",
        )

    def _of_all_rows(self, name: str, value: T | None, instead: str) -> T:
        """Return the value of an attribute with one entry per row, or say how to get it."""
        if value is not None:
            return value
        if not hasattr(self, "session_"):
            raise AttributeError(f"this {type(self).__name__} has no {name} yet: call fit first")
        raise AttributeError(
            f"{name} would be about all rows, but the session is about a sample of them. For rows "
            f"in memory, model.adopt(model.session_, X=X) computes it; {instead}"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle has: labels take one byte each, unless there are many groups."""
        state: dict[str, Any] = dict(super().__getstate__())
        state |= packed({name: state[name] for name in _INTEGERS.intersection(state)})
        if state.get("learned_") is not None:
            state["learned_"] = state["learned_"].for_new_rows()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        wide = {
            name: state[name].astype(np.intp)
            for name in _INTEGERS.intersection(state)
            if state[name] is not None
        }
        super().__setstate__({**state, **wide})

    @abstractmethod
    def adopt(self, session: Session, *, X: Any = None) -> Self:
        """Become the fitted estimator of a session, finished or not."""

    @abstractmethod
    def _become(
        self, session: Session, rows: Any, data: Rows | None, *, is_guess: bool | None
    ) -> Self:
        """Set all attributes by a session.

        Parameters
        ----------
        session : Session
            The session.
        rows : ndarray or None
            The rows that it is about, if they are at hand.
        data : Rows or None
            Where it is about a sample: the data that this is a sample of, if it is at hand.
        is_guess : bool or None
            Whether what is undecided is guessed; None leaves that to the parameters.
        """

    def _rows_for(self, session: Session, X: Any) -> tuple[Any, Rows | None]:
        """Return the rows that a session is about, and the data they are a sample of, if so."""
        numbers, n_rows = session.row_numbers, session.strategy.n_rows
        if X is None:
            return None, None
        if numbers is None:
            if len(X) != n_rows:
                raise InputError(f"X has {len(X)} rows, but the session is about {n_rows}")
            refuse_other_rows(session.digest, X, session.n_first_rows)
            return X, None
        data = self._data(X)
        if data.n_rows <= numbers[-1]:
            raise InputError(
                f"X has {data.n_rows} rows, but the session is about a sample of the data, up to "
                f"row {numbers[-1]}: pass all rows of the data"
            )
        rows = self._rows_of(data, numbers)
        refuse_other_rows(session.digest, rows)
        return rows, data

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        oracle: Any = None,
        train_indices: ArrayLike | None = None,
        sample_ids: Sequence[Hashable] | None = None,
        must_link: Pairs = (),
        cannot_link: Pairs = (),
        groups: ArrayLike | None = None,
        group_names: Sequence[str] = (),
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Cluster rows by asking an oracle.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), path, Dask array or Dask data frame
            The rows; a path is one of Parquet files, a folder of them or a ``.npy`` file. Of more
            than 20 000 rows a random sample is asked about, and the others are predicted.
        y : ignored
            For compatibility. Labels that are known are an oracle: ``oracle=LabelOracle(y)``.
        oracle : Oracle or callable, optional
            Who answers: an object with ``answer(question)``, or a function of two row numbers that
            returns True, False or None. Without one nothing is asked.
        train_indices, sample_ids, must_link, cannot_link, groups, group_names
            As for `start`.
        checkpoint : path, optional
            A file for the answers, each on disk as soon as it is given. If it exists, `fit` goes
            on from the session in it; links, groups and ids are those of the first `fit`, also
            where they are left out. Others, other rows, parameters or seeds (unless
            ``random_state`` is None) and a smaller budget are refused; a larger `max_queries` goes
            on. It is a session file: ``likewise check`` and ``likewise backup`` work on it.

        Raises
        ------
        InterruptedFitError
            If the oracle raises an error. The error, and ``session_``, have the session with all
            answers so far.
        KeyboardInterrupt
            If it was stopped by Ctrl-C. Here, too, the model has all answers so far; the message
            says how to go on.
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
        data = self._data(X)
        self._describe_new = X.describe if is_items(X) else None
        self._check_parameters()
        must_link, cannot_link = map(_listed, (must_link, cannot_link))
        about: Any = {"train_indices": train_indices, "sample_ids": sample_ids}
        about |= {"groups": groups, "group_names": group_names}
        with ExitStack() as stack:
            file = None
            if checkpoint is not None:
                passed = {**about, "must_link": must_link, "cannot_link": cannot_link}
                passed = {name: value for name, value in passed.items() if value is not None}
                file = stack.enter_context(closing(Checkpoint(checkpoint, self, passed)))
            resumed = file and file.load(partial(self._rows_of, data))
            if resumed:
                session, rows = resumed
                session.max_queries = self.max_queries
            else:
                is_choice = oracle is None or can_choose(as_oracle(oracle))
                session, rows = self._start(
                    X, data, must_link, cannot_link, is_choice=is_choice, **about
                )
                earlier = getattr(self, "session_", None) if self.warm_start else None
                if earlier is not None and earlier.digest == session.digest:
                    session = earlier
                    session.extend(0)  # not endless any more
                    session.max_queries = self.max_queries
                if file is not None:
                    file.begin(session)
            self.session_ = session
            if oracle is not None:
                then = f" and {type(self).__name__}().adopt(error.session)"
                try:
                    run_for_fit(
                        session, oracle, then=then, on_answer=partial(self._after_answer, file)
                    )
                except (InterruptedFitError, KeyboardInterrupt) as error:
                    self._become(session, rows, None, is_guess=None)
                    if isinstance(error, KeyboardInterrupt):
                        raise KeyboardInterrupt(self._how_to_continue(session)) from error
                    raise
            return self._become(session, rows, data, is_guess=None if oracle is not None else True)

    def _how_to_continue(self, session: Session) -> str:
        """Return what to do after an interrupted `fit`."""
        needs_rows = session.row_numbers is not None or self._learns_from_rows
        n_answers = plural(session.n_asked, "answer")
        return (
            f"fit was stopped after {n_answers}, which the model has: labels_, predict and "
            "session_ follow them. To go on, call run(model.session_, oracle) and "
            f"model.adopt(model.session_{', X=X' if needs_rows else ''})"
        )

    def _after_answer(self, file: Checkpoint | None, session: Session) -> None:
        if file is not None:
            file.append(session)
        if self.verbose and session.n_asked % ANSWERS_PER_LINE == 0:
            print(session.progress, file=sys.stderr, flush=True)

    def _for_all_rows(
        self, compute: Compute, of_sample: NDArray[Any], session: Session, data: Rows | None
    ) -> NDArray[np.intp] | None:
        """Return what is computed of all rows, if they are in memory, and known for the sample."""
        if session.row_numbers is None:
            return of_sample
        if data is None or not data.is_in_memory:
            return None
        values: NDArray[np.intp] = data.map(compute, as_matrix, of_sample.dtype)
        values[session.row_numbers] = of_sample
        return values

    def predict(self, X: Any) -> Any:
        """Return the cluster of each row.

        That is the most likely one; of `COBRA` without ``labels="learned"``, it is the one of the
        super-instance that the row falls into.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), path, Dask array or Dask data frame
            New rows, read block by block. A model that was fitted on `open_items` takes what
            `open_items` takes: data frames, texts, pictures, series. With
            ``metric="precomputed"``, distances to all rows of the fit.

        Returns
        -------
        ndarray, Dask array or Dask series of shape (n_rows,)
            Of a Dask collection it is one that computes when it is asked to.
        """
        check_is_fitted(self, "n_clusters_")
        return self._predict_in_blocks(self._predictor(), X, np.intp)

    @abstractmethod
    def _predictor(self) -> Compute:
        """Return a function from rows to labels that workers can be sent."""

    def _predict_in_blocks(
        self, predict: Compute, X: Any, dtype: Any, n_columns: int | None = None
    ) -> Any:
        """Return what is predicted for all rows, block by block; lazily for Dask collections."""
        describe = getattr(self, "_describe_new", None)
        if describe is not None and describe.takes(X):
            X = describe(X).X
        data = open_rows(X)
        if data.is_in_memory:
            return data.map(predict, partial(self._validated, reset=False), dtype, n_columns)
        self._check_columns(data)
        return data.map(predict, self._not_refused, dtype, n_columns)

    def _not_refused(self, block: NDArray[Any], first: int) -> NDArray[Any]:
        self._refuse(block, first)
        return block

    def _check_columns(self, data: Any) -> None:
        expected = getattr(self, "feature_names_in_", None)
        if expected is not None and data.names is not None and list(expected) != data.names:
            raise InputError(
                f"the columns must be those of the fit, in their order: {', '.join(expected)}; "
                f"got {', '.join(data.names)}"
            )
        if data.n_features != self.n_features_in_:
            raise InputError(f"X has {data.n_features} columns, the fit had {self.n_features_in_}")


def most_likely(proba: Compute, rows: NDArray[Any]) -> NDArray[np.intp]:
    """Return the most likely group of each row, by a function from rows to probabilities."""
    return np.asarray(proba(rows).argmax(axis=1), dtype=np.intp)


def is_items(X: Any) -> bool:
    """Whether these are items; the method knows nothing else of them."""
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
