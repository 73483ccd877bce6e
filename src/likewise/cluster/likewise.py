"""The flagship estimator: no number of clusters, no number of super-instances, stop any time."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from likewise.cluster.estimator import AskingClusterer, Predict
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import InputError
from likewise.inputs import refuse_session
from likewise.learning.learner import Learned, Learner
from likewise.strategies.row_by_row.cells import cells_of
from likewise.strategies.row_by_row.questions import MAX_GROUPS
from likewise.strategies.row_by_row.strategy import RowByRow

MAX_ERROR_RATE = 0.3
"""The largest `error_rate`. With more wrong answers, a session of a hundred questions finds
nothing."""


class Likewise(AskingClusterer):
    """Cluster by asking: coarse regions first, finer ones next, then where there is doubt.

    The data are cut into a few regions. Their representatives are compared, one after another, with
    the groups found so far, the most likely first. Then come finer regions; earlier answers still
    count. Last come rows where a learner, trained on the rows whose group is known, is in doubt
    about many others. The same learner labels all other rows. The number of groups is found, and
    the labels are sensible after every answer.

    Parameters
    ----------
    max_queries : int, optional
        Stop after this many questions. By default all are asked: about one for each of the rows,
        or of `n_cells` cells. A known number is planned for: it decides how fine the regions are.
    questions : {"pairs", "choices"}, default="pairs"
        "pairs" asks whether two rows belong together; "choices" asks to which of up to six groups
        a row belongs, if to any. A choice counts as one question, unless the oracle answers pairs
        only: then every pair it is put as counts.
    error_rate : float or "estimate", default="estimate"
        The share of wrong answers that is to be expected, up to 0.3. Answers on which much
        depends, and those that others speak against, are checked by a few redundant questions.
        What loses is overruled and named in `suspects_`. "estimate" begins with 5 %, and follows
        the errors found. With 0 nothing is asked twice, and an answer that contradicts others is
        an error.
    n_cells : int, optional
        Data of more rows are cut into this many cells, the finest that is asked about. By default
        each row counts on its own, but data of more than 6000 rows are cut into 1000 cells.
    n_jobs : int, optional
        Never changes the result.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same questions every time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The cluster of every row; they respect every answer that was not overruled.
    n_clusters_ : int
        The number of clusters found.
    n_queries_ : int
        The number of questions asked.
    queries_ : list of (int, int, Answer)
        The rows asked about and the answers, in order.
    doubts_ : ndarray of shape (n_rows,)
        For every row, the learner's chance that its label is wrong; 0 for rows whose group
        follows from answers.
    completeness_ : Completeness or None
        How much of the grouping is right, as an estimate and with a lower bound; None while
        there are not two groups.
    suspects_ : list of Suspect
        Answers that are probably wrong, the least credible first: each with its number in the
        log, the two rows, the answer and the probability that it is right. With an `error_rate`,
        overruled answers are among them. ``session_.revise(number, answer)`` changes one.
    learned_ : Learned or None
        What was learned; None while there are not two groups.
    session_ : Session
        The session, which can be asked on, undone, revised and saved.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, if `X` had any.

    Notes
    -----
    Without an oracle, `fit` makes its best guess from the data alone, with no questions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from likewise import LabelOracle, Likewise
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Likewise(max_queries=30, random_state=0).fit(X, oracle=LabelOracle(y))
    >>> model.n_clusters_, model.n_queries_
    (3, 30)
    >>> adjusted_rand_score(y, model.labels_) > 0.85
    True
    """

    def __init__(
        self,
        max_queries: int | None = None,
        *,
        questions: Literal["pairs", "choices"] = "pairs",
        error_rate: float | Literal["estimate"] = "estimate",
        n_cells: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_queries = max_queries
        self.questions = questions
        self.error_rate = error_rate
        self.n_cells = n_cells
        self.n_jobs = n_jobs
        self.random_state = random_state

    def adopt(self, session: Session, *, X: Any = None) -> Self:
        """Become the fitted estimator of a session, at any point of it.

        Parameters
        ----------
        session : Session
            Made by `start`, or loaded by `Session.from_dict`.
        X : array-like, optional
            The rows, only to check that the session is about as many.
        """
        refuse_session(session)
        strategy = session.strategy
        points = strategy.partition.points
        if points is None:
            raise InputError(
                "Likewise adopts sessions about features; this one, by the strategy "
                f"{strategy.name!r}, has none. Use COBRA().adopt(session)"
            )
        if X is not None and len(X) != strategy.n_rows:
            raise InputError(f"X has {len(X)} rows, the session is about {strategy.n_rows}")
        self._set_queries(session)
        self.n_features_in_ = points.shape[1]
        self.learned_ = learn_examples(strategy)
        doubts = strategy.doubts()
        self.doubts_ = np.ones(strategy.n_rows) if doubts is None else doubts
        self.completeness_ = strategy.completeness()
        self.suspects_ = session.suspects
        self.labels_ = session.labels
        self._group_of_representatives = self.labels_[strategy.partition.representatives]
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def predict(self, X: Any) -> Any:
        """Return the most likely cluster of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), path, Dask array or Dask data frame
            New rows, read block by block.

        Returns
        -------
        ndarray, Dask array or Dask series of shape (n_rows,)
            Of a Dask collection it is one that computes when it is asked to.
        """
        check_is_fitted(self, "n_clusters_")
        return self._predict_in_blocks(self._predictor(), X, np.intp)

    def predict_proba(self, X: Any) -> Any:
        """Return how likely each row belongs to each cluster, one column per cluster.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), path, Dask array or Dask data frame
            New rows, read block by block.
        """
        check_is_fitted(self, "n_clusters_")
        return self._predict_in_blocks(self._chances(), X, np.float64, self.n_clusters_)

    def _predictor(self) -> Predict:
        return partial(_most_likely, self._chances())

    def _chances(self) -> Predict:
        """Return a function from rows to how likely each belongs to each cluster."""
        if self.learned_ is not None:
            return partial(_learned_chances, self.learned_.for_new_rows(), self.n_clusters_)
        points: Any = self.session_.strategy.partition.points
        groups = np.eye(self.n_clusters_)[self._group_of_representatives]
        return partial(_nearest_chances, points, groups)

    @property
    def _asks_about_samples(self) -> bool:
        return True

    def _strategy(self, X: NDArray[Any], train: NDArray[np.intp] | None, seed: int) -> RowByRow:
        partition, is_askable = cells_of(
            X, self.n_cells, train_indices=train, seed=seed, n_jobs=self.n_jobs
        )
        return RowByRow(
            partition,
            max_groups=MAX_GROUPS if self.questions == "choices" else 1,
            error_rate=self.error_rate,
            askable=is_askable,
            budget=self.max_queries,
            seed=seed,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        rate: Any = self.error_rate
        is_share = isinstance(rate, Real) and 0 <= float(rate) <= MAX_ERROR_RATE
        if not is_share and rate != "estimate":
            raise InputError(
                f"error_rate must be from 0 to {MAX_ERROR_RATE} or 'estimate', got {rate!r}"
            )
        if self.questions not in ("pairs", "choices"):
            raise InputError(f"questions must be 'pairs' or 'choices', got {self.questions!r}")
        n: Any = self.n_cells
        if n is not None and (not isinstance(n, Integral) or n < 2):
            raise InputError(f"n_cells must be None or an integer from 2, got {n!r}")


def learn_examples(strategy: Strategy) -> Learned | None:
    """Return what is learned from the rows whose group is known; None before two groups are."""
    rows, groups = strategy.examples()
    partition = strategy.partition
    if len(groups) == 0 or groups.max() == 0 or partition.points is None:
        return None
    cells = np.searchsorted(partition.representatives, rows)
    return Learner(partition.points, partition.sizes()).learn(cells, groups)


def _most_likely(chances: Predict, rows: NDArray[Any]) -> NDArray[np.intp]:
    return np.asarray(chances(rows).argmax(axis=1), dtype=np.intp)


def _learned_chances(learned: Learned, n_clusters: int, rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return what was learned, with columns of zeros for groups that the learner does not know."""
    chances = learned.predict_proba(rows)
    n_lacking = max(0, n_clusters - chances.shape[1])
    return np.hstack([chances, np.zeros((len(chances), n_lacking))])


def _nearest_chances(
    points: NDArray[Any], groups: NDArray[np.float64], rows: NDArray[Any]
) -> NDArray[np.float64]:
    """Return 1 for the group of the nearest point."""
    return np.asarray(groups[pairwise_distances_argmin(rows, points)])
