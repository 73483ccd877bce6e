"""What clusterers that ask have in common: fit, adopt, labels, predict."""

from __future__ import annotations

import os
import sys
import warnings
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from likewise.cluster.asking import AskingEstimator, is_items
from likewise.cluster.checkpoint import Checkpoint
from likewise.cluster.constraints import Pairs
from likewise.core.arrays import packed
from likewise.core.fingerprint import refuse_other_rows
from likewise.core.session import Session
from likewise.errors import InputError, UnusedLabelsWarning
from likewise.oracles import as_oracle, can_choose, run_for_fit
from likewise.rows.blocks import Compute, as_matrix
from likewise.rows.source import Rows, open_rows
from likewise.words import plural

T = TypeVar("T")

_INTEGERS = {"_labels", "_super_instances"}
"""Attributes with one number from 0 per row, which are packed in pickles."""

ANSWERS_PER_LINE = 10
"""How many answers lie between two lines of progress, with ``verbose=1``."""


def _listed(pairs: Any) -> Any:
    """Return pairs as a list, so that they can be read twice."""
    return list(pairs) if isinstance(pairs, Iterator) else pairs


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
        """Set all attributes from a session.

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
            where they are left out. Other ones are refused, and so are other rows, parameters or
            seeds (unless ``random_state`` is None or a generator, which draws another seed every
            time) and a smaller budget; with a larger `max_queries` it continues. It is a session
            file: ``likewise check`` and ``likewise backup`` work on it.

        Raises
        ------
        InterruptedFitError
            If the oracle raises an error, or its answer contradicts a certain link. The error, and
            ``session_``, have the session with all answers so far.
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
                then = f" and {self._adopting('error.session', session, file)}"
                try:
                    run_for_fit(
                        session, oracle, then=then, on_answer=partial(self._after_answer, file)
                    )
                except (Exception, KeyboardInterrupt) as error:
                    self._become(session, rows, None, is_guess=None)
                    if isinstance(error, KeyboardInterrupt):
                        raise KeyboardInterrupt(self._how_to_continue(session, file)) from error
                    raise
            return self._become(session, rows, data, is_guess=None if oracle is not None else True)

    def _how_to_continue(self, session: Session, file: Checkpoint | None) -> str:
        """Return what to do after an interrupted `fit`."""
        is_sample = session.row_numbers is not None
        n_answers = plural(session.n_asked, "answer")
        return (
            f"fit was stopped after {n_answers}, which the model has: "
            f"{'' if is_sample else 'labels_, '}predict and session_ follow them. To go on, call "
            f"run(model.session_, oracle) and {self._adopting('model.session_', session, file)}"
        )

    def _adopting(self, name: str, session: Session, file: Checkpoint | None) -> str:
        """Return the call that brings the model up to date with a session of some name."""
        is_sample = session.row_numbers is not None
        rows = ", X=X" if is_sample or self._learns_from_rows else ""
        labels = ", which labels all rows" if is_sample else ""
        again = "" if file is None else ", or fit again, which writes answers to the checkpoint"
        return f"model.adopt({name}{rows}){labels}{again}"

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
