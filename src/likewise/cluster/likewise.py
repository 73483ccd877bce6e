"""The flagship estimator: no number of clusters, no number of super-instances, stop any time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from likewise.cluster.asking import asked_links, is_items, rows_in_data
from likewise.cluster.estimator import AskingClusterer, most_likely
from likewise.core.answers import Answer
from likewise.core.reports import Completeness, Suspect
from likewise.core.session import Session, refuse_session
from likewise.errors import InputError
from likewise.learning.aspects import check_aspects, find_columns
from likewise.learning.learner import Learned
from likewise.rows.blocks import Compute, as_matrix
from likewise.rows.metrics import refuse_zeros, unit_rows
from likewise.rows.source import Rows
from likewise.strategies.most_doubt import MostDoubt


class Likewise(AskingClusterer):
    """Cluster by asking about the row that is nearest to the most doubt.

    A learner, trained on the rows whose group is known, says how likely every row belongs to each
    of the groups found so far. The row that is nearest to the most doubt is shown beside
    all groups, the likeliest first: it belongs to one of them, or it is the first of a new group.
    The same learner labels all other rows. The number of groups is found, and the labels are
    sensible after every answer.

    Parameters
    ----------
    max_queries : int, optional
        The budget: stop after this many questions. By default `fit` stops when more questions
        would bring little.
    questions : {"auto", "choices", "pairs"}, default="auto"
        "choices" asks to which of all groups a row belongs, if to any; "pairs" asks whether two
        rows belong together; "auto" asks choices of an oracle that can choose, else pairs.
        A choice counts as one question, unless the oracle answers pairs only: then every pair it
        is put as counts.
    metric : {"euclidean", "cosine"}, default="euclidean"
        How rows are compared. "cosine" brings every row to unit length first, in `fit` and in
        `predict`, as is usual for embeddings of texts and pictures; a row of zeros is refused.
    aspects : mapping of str to columns, "prefix" or None, default=None
        Blocks of columns that rows can be alike in, such as content and layout of pictures:
        ``{"content": slice(0, 1280), "layout": slice(1280, None)}``. Columns are a slice, their
        numbers or, of a data frame, their names; every column is in one aspect. What predicts the
        answers best counts most, in what is learned and in what is asked. `output_indices_` of a
        fitted `ColumnTransformer` is such a mapping; with "prefix" it follows from the names of
        columns, as in ``num__age``. Items have aspects of their own, which need not be named.
    warm_start : bool, default=False
        Whether `fit` goes on from the session of the last `fit`, if that was about the same rows,
        with a budget of `max_queries` in all.
    n_jobs : int, optional
        Never changes the result.
    verbose : int, default=0
        With 1, `fit` prints a line of progress on standard error after every ten answers.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same questions every time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The cluster of every row; they respect every answer.
    n_clusters_ : int
        The number of clusters found.
    n_queries_ : int
        The number of questions asked.
    queries_ : list of (int, int, Answer)
        The rows asked about and the answers, in order. Row numbers are those of the data, here
        and in `suspects_`, also where a sample was asked about.
    doubts_ : ndarray of shape (n_rows,)
        For every row, the learner's probability that its label is wrong; 0 for rows whose group
        follows from answers.
    completeness_ : Completeness or None
        How much of the grouping is right, as an estimate and with a lower bound. It is estimated
        from rows whose group is known by answers, so it is None until the answers tell two groups
        apart, however many groups `labels_` has by a guess or by ``groups=``.
    suspects_ : list of Suspect
        Answers that are probably wrong, the least credible first: each with its number in the
        log, the two rows, the answer and the probability that it is right.
        ``session_.revise(number, answer)`` changes one.
    session_ : Session
        The session, which can be continued, undone, revised and saved. All attributes follow it:
        after ``run(model.session_, oracle)`` they are those of the longer session. Only where a
        sample of larger data was asked about, `labels_` and `doubts_` stay those of the end of
        `fit`; ``model.adopt(model.session_, X=X)`` computes the current ones.
    aspects_ : dict of str to float, or None
        How much each aspect counts, by name; in sum 1. None before anything is known, or without
        aspects. ``session_.grouped_by`` says it in words, and ``session_.switch`` switches one off.
    learned_ : Learned or None
        What was learned from rows of the session; None before two groups are known.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, if `X` had any.

    Notes
    -----
    Without an oracle, nothing is asked, and `fit` makes its best guess from the data alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from likewise import LabelOracle, Likewise
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Likewise(max_queries=20, random_state=0).fit(X, oracle=LabelOracle(y))
    >>> model.n_clusters_, model.n_queries_
    (3, 20)
    >>> adjusted_rand_score(y, model.labels_) > 0.85
    True
    """

    _asks_about_samples = True
    _learns_from_groups = True
    _doubts: NDArray[np.float64] | None = None
    _own_aspects: Mapping[str, Any] | None = None
    _main_aspect: str | None = None
    """Those of items."""

    def __init__(
        self,
        max_queries: int | None = None,
        *,
        questions: Literal["auto", "choices", "pairs"] = "auto",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        aspects: Mapping[str, Any] | Literal["prefix"] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_queries = max_queries
        self.questions = questions
        self.metric = metric
        self.aspects = aspects
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def adopt(self, session: Session, *, X: Any = None) -> Self:
        """Become the fitted estimator of a session, at any point of it.

        Parameters
        ----------
        session : Session
            Made by `start`, or loaded by `Session.from_dict`.
        X : as for `fit`, optional
            The rows, to check that the session was made from them. If it is about a sample, pass
            all rows of the data: without them there are no `labels_` and `doubts_`.
        """
        refuse_session(session)
        if session.assessment.learned is None:
            raise InputError(
                f"this session uses the strategy {session.strategy.name!r}, which learns nothing: "
                "use COBRA().adopt(session)"
            )
        return self._become(session, *self._rows_for(session, X), is_guess=None)

    def _become(
        self,
        session: Session,
        rows: Any,  # noqa: ARG002  (the session has them)
        data: Rows | None,
        *,
        is_guess: bool | None,
    ) -> Self:
        self.session_ = session
        points: Any = session.strategy.partition.points
        self.n_features_in_ = points.shape[1]
        self._is_guess = bool(is_guess)
        self._labels = self._doubts = None
        if session.row_numbers is not None and data is not None and data.is_in_memory:
            both = partial(_label_and_doubt, self._proba())
            found = data.map(both, as_matrix, np.float64, 2)
            self._labels, self._doubts = found[:, 0].astype(np.intp), found[:, 1].copy()
            self._labels[session.row_numbers] = self._labels_now
            if self._learned_now() is None:
                self._doubts[:] = 1.0
            self._doubts[session.row_numbers] = self._doubts_now
        return self

    # -- what was found follows the session; for other estimators these are plain attributes -----

    @property
    def labels_(self) -> NDArray[np.intp]:
        """The cluster of every row."""
        is_whole = hasattr(self, "session_") and self.session_.row_numbers is None
        return self._labels_now if is_whole else super().labels_

    @property
    def _labels_now(self) -> NDArray[np.intp]:
        """The cluster of every row of the session."""
        return self.session_.labels_guess if self._is_guess else self.session_.labels

    @property
    def n_clusters_(self) -> int:
        """The number of clusters found."""
        learned = self.learned_
        if self._is_guess and learned is not None:
            return learned.n_groups
        return self.session_.n_groups

    @property
    def n_queries_(self) -> int:  # type: ignore[override]
        """The number of questions asked."""
        return self.session_.n_asked

    @property
    def queries_(self) -> list[tuple[int, int, Answer]]:  # type: ignore[override]
        """The rows asked about and the answers, in order."""
        return asked_links(self.session_)

    @property
    def learned_(self) -> Learned | None:
        """What was learned; None while there is one group."""
        return self._learned_now(self._is_guess)

    def _learned_now(self, is_guess: bool = False) -> Learned | None:
        learned: Any = self.session_.assessment.learned
        return learned(is_guess)  # type: ignore[no-any-return]  # `adopt` made sure it is there

    @property
    def doubts_(self) -> NDArray[np.float64]:
        """For every row, the probability that its label is wrong, by the learner."""
        if hasattr(self, "session_") and self.session_.row_numbers is None:
            return self._doubts_now
        instead = (
            "1 - model.predict_proba(X).max(axis=1) is the doubt about rows without answers, and "
            "a pickle has none"
        )
        return self._of_all_rows("doubts_", self._doubts, instead)

    @property
    def _doubts_now(self) -> NDArray[np.float64]:
        """The doubt about every row of the session."""
        doubts: Any = self.session_.once("doubts", self.session_.assessment.doubts)
        return doubts  # type: ignore[no-any-return]

    @property
    def completeness_(self) -> Completeness | None:
        """How much of the grouping is right; None before two groups are known by answers."""
        return self.session_.completeness

    @property
    def suspects_(self) -> list[Suspect]:
        """Answers that are probably wrong, the least credible first."""
        numbers = rows_in_data(self.session_).tolist()
        return [
            suspect._replace(left=numbers[suspect.left], right=numbers[suspect.right])
            for suspect in self.session_.suspects
        ]

    @property
    def aspects_(self) -> dict[str, float] | None:
        """How much each aspect counts; None before anything is known, or without aspects."""
        return self.session_.aspects

    def predict_proba(self, X: Any) -> Any:
        """Return how likely each row belongs to each cluster, one column per cluster.

        Parameters
        ----------
        X
            As for `predict`.
        """
        check_is_fitted(self, "n_clusters_")
        return self._predict_in_blocks(self._proba(), X, np.float64, self.n_clusters_)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle has: not the doubts about all rows of large data."""
        return {name: value for name, value in super().__getstate__().items() if name != "_doubts"}

    def _predictor(self) -> Compute:
        return partial(most_likely, self._proba())

    def _proba(self) -> Compute:
        """Return a function from rows to how likely each belongs to each cluster."""
        learned = None if self.learned_ is None else self.learned_.for_new_rows()
        # The session knows how its rows were compared, also where another model made it.
        is_cosine = self.session_.strategy.partition.metric == "cosine"
        return partial(_learned_proba, learned, self.n_clusters_, is_cosine)

    def _strategy(
        self,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None,
        seed: int,
        is_choice: bool,
        **given: Any,
    ) -> MostDoubt:
        auto = "choices" if is_choice else "pairs"
        asked = auto if self.questions == "auto" else self.questions
        about: Any = {"train_indices": train_indices, "seed": seed, "metric": self.metric}
        rows = unit_rows(X) if self.metric == "cosine" else X
        names = getattr(self, "feature_names_in_", None)
        aspects = self._own_aspects if self.aspects is None else self.aspects
        about["aspects"] = find_columns(aspects, X.shape[1], names)
        about["main_aspect"] = self._main_aspect if self.aspects is None else None
        return MostDoubt.from_rows(rows, questions=asked, **about, **given)

    def _data(self, X: Any) -> Rows:
        self._own_aspects = self._main_aspect = None
        if is_items(X):
            features = X.features()
            self._own_aspects, self._main_aspect = features.columns, features.main_aspect
            X = features.X
        return super()._data(X)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_aspects(self.aspects)
        self._check_choice("questions", "auto", "choices", "pairs")
        self._check_choice("metric", "euclidean", "cosine", others="; COBRA has others")

    def _refuse(self, X: Any, first: int) -> None:
        super()._refuse(X, first)
        if self.metric == "cosine" and isinstance(X, np.ndarray) and X.ndim == 2:
            refuse_zeros(X, first)


def _label_and_doubt(proba: Compute, rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the most likely group of each row, and the probability that it is another one."""
    likely = proba(rows)
    return np.column_stack([likely.argmax(axis=1), 1.0 - likely.max(axis=1)])


def _learned_proba(
    learned: Learned | None, n_clusters: int, is_cosine: bool, rows: NDArray[Any]
) -> NDArray[np.float64]:
    """Return what was learned; groups that the learner does not know have probability 0."""
    rows = unit_rows(rows) if is_cosine else rows
    proba = np.zeros((len(rows), n_clusters))
    if learned is None:
        proba[:, 0] = 1.0
    else:
        proba[:, : learned.n_groups] = learned.predict_proba(rows)
    return proba
