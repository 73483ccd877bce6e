"""COBRA (Van Craenendonck, Dumančić, Blockeel 2017) as a scikit-learn estimator."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from likewise.cluster.asking import rows_in_data
from likewise.cluster.estimator import AskingClusterer, most_likely
from likewise.core.answers import is_whole
from likewise.core.candidates import Candidates
from likewise.core.labels import respecting_groups
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.session import Session, refuse_session
from likewise.errors import InputError
from likewise.learning.learner import Learned, Learner
from likewise.rows.blocks import Compute
from likewise.rows.build import nearest_super_instance
from likewise.rows.candidates import candidates_from_sparse, is_sparse
from likewise.rows.source import Rows
from likewise.strategies.candidate_pairs import CandidatePairs
from likewise.strategies.closest_first import DEFAULT_SUPER_INSTANCES, ClosestFirst


class COBRA(AskingClusterer):
    """Constraint-based repeated aggregation: cluster by asking about the closest pairs first.

    K-means makes many small groups, the super-instances, each represented by its medoid. Then the
    closest two representatives whose relation is unknown are asked about, until what was answered
    implies the rest. The number of clusters is found, not given.

    Parameters
    ----------
    n_super_instances : int, default=50
        How many super-instances to make. More of them give finer groups and take more questions:
        roughly one each, and one for every two groups.
    metric : str, default="euclidean"
        Any metric scikit-learn knows by name, or "precomputed" if `X` is a matrix of distances.
        All but the Euclidean one use agglomerative clustering instead of K-means. A sparse matrix
        of distances lists candidate pairs: every row is a super-instance, only stored pairs are
        asked about, and rows stay apart unless answers imply that they belong together.
    max_queries : int, optional
        Stop after this many questions. By default all are asked.
    incomplete : {"separate", "guess"}, default="separate"
        What becomes of groups that are undecided when the questions end early: they stay apart,
        or are joined by a guess (`Session.labels_guess`).
    labels : {"cells", "learned"}, default="cells"
        Where a row belongs: to the group of its super-instance, as in the paper, or where a
        learner puts it that was trained on the representatives and their groups. Learned labels
        respect every answer too; they take no further questions and are often, not always,
        better. They need features, not `metric="precomputed"`.
    n_jobs : int, optional
        Never changes the result.
    verbose : int, default=0
        With 1, `fit` prints a line of progress on standard error after every ten answers.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same questions every time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The cluster of every row.
    n_clusters_ : int
        The number of clusters found.
    n_queries_ : int
        The number of questions asked.
    queries_ : list of (int, int, Answer)
        The rows asked about and the answers, in order.
    super_instances_ : ndarray of shape (n_rows,)
        The super-instance of every row.
    representatives_ : ndarray of shape (n_super_instances,)
        The row that stands for each super-instance.
    session_ : Session
        The session, which can be continued, undone, revised and saved. The attributes are those of
        the end of `fit`: after further answers, ``model.adopt(model.session_)`` follows
        (``X=X`` with ``labels="learned"``).
    learned_ : Learned or None
        With ``labels="learned"``: what was learned; None while there is one group.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, if `X` had any.

    Notes
    -----
    Without an oracle, `fit` makes its best guess from the data alone, with no questions.

    References
    ----------
    T. Van Craenendonck, S. Dumančić, H. Blockeel, "COBRA: A Fast and Simple Method for Active
    Clustering with Pairwise Constraints", IJCAI 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from likewise import COBRA, LabelOracle
    >>> X, y = load_iris(return_X_y=True)
    >>> model = COBRA(n_super_instances=25, random_state=0).fit(X, oracle=LabelOracle(y))
    >>> model.n_clusters_, model.n_queries_
    (3, 26)
    >>> round(adjusted_rand_score(y, model.labels_), 2)
    0.94
    """

    def __init__(
        self,
        n_super_instances: int = DEFAULT_SUPER_INSTANCES,
        *,
        metric: str = "euclidean",
        max_queries: int | None = None,
        incomplete: Literal["separate", "guess"] = "separate",
        labels: Literal["cells", "learned"] = "cells",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_super_instances = n_super_instances
        self.metric = metric
        self.max_queries = max_queries
        self.incomplete = incomplete
        self.labels = labels
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    _super_instances: NDArray[np.intp] | None = None

    def adopt(self, session: Session, *, is_guess: bool | None = None, X: Any = None) -> Self:
        """Become the fitted estimator of a session, finished or not.

        Parameters
        ----------
        session : Session
            Made by `start`, or loaded by `Session.from_dict`.
        is_guess : bool, optional
            Whether what is undecided is guessed; by default as `incomplete` says.
        X : as for `fit`, optional
            The rows, which ``labels="learned"`` needs. If the session is about a sample, pass all
            rows of the data: without them there is no `labels_`.
        """
        refuse_session(session)
        return self._become(session, *self._rows_for(session, X), is_guess=is_guess)

    def _become(
        self, session: Session, rows: Any, data: Rows | None, *, is_guess: bool | None
    ) -> Self:
        is_guess = self.incomplete == "guess" if is_guess is None else bool(is_guess)
        partition = session.strategy.partition
        labels = session.labels_guess if is_guess else session.labels
        self._group_of_representatives = labels[partition.representatives]
        if self.labels == "learned":
            labels = self._learn(session, labels, rows)
        self._set_queries(session)
        self.n_clusters_ = int(labels.max()) + 1
        self.representatives_ = rows_in_data(session)[partition.representatives]
        points = partition.points
        self.n_features_in_ = partition.n_rows if points is None else points.shape[1]
        nearest = partial(nearest_super_instance, partition)
        self._super_instances = self._for_all_rows(nearest, partition.assignment, session, data)
        self._labels = labels
        if session.row_numbers is not None:
            self._labels = self._for_all_rows(self._predictor(), labels, session, data)
        return self

    @property
    def super_instances_(self) -> NDArray[np.intp]:
        """The super-instance of every row."""
        instead = "model.session_.strategy.partition.assignment has those of the sample"
        return self._of_all_rows("super_instances_", self._super_instances, instead)

    def _predictor(self) -> Compute:
        if self.labels == "learned" and self.learned_ is not None:
            return partial(most_likely, self.learned_.for_new_rows().predict_proba)
        partition = self.session_.strategy.partition
        if partition.points is None and partition.distances is None:
            raise InputError(
                "candidate pairs do not say where other rows belong; labels_ has the groups of all "
                "rows of the fit"
            )
        return partial(group_of_nearest, partition, self._group_of_representatives)

    @property
    def _learns_from_rows(self) -> bool:  # type: ignore[override]
        return self.labels == "learned"

    @property
    def _asks_about_samples(self) -> bool:
        return self.metric != "precomputed"

    def _data(self, X: Any) -> Any:
        if self.metric == "precomputed" and is_sparse(X):
            return candidates_from_sparse(X)
        return super()._data(X)

    def _strategy(
        self, X: Any, *, train_indices: NDArray[np.intp] | None, seed: int, is_choice: bool
    ) -> ClosestFirst | CandidatePairs:
        del is_choice  # pairs can always be answered
        about: Any = {"train_indices": train_indices, "seed": seed, "n_jobs": self.n_jobs}
        if isinstance(X, Candidates):
            return CandidatePairs.from_rows(X, **about)
        n = int(self.n_super_instances)
        return ClosestFirst.from_rows(X, n_super_instances=n, metric=self.metric, **about)

    def _learn(self, session: Session, labels: NDArray[np.intp], X: Any) -> NDArray[np.intp]:
        """Learn from the representatives where rows belong, and return that as labels."""
        partition = session.strategy.partition
        if X is None or partition.points is None:
            lack = "rows: pass X" if X is None else 'features, not metric="precomputed"'
            raise InputError(f'labels="learned" needs the {lack}')
        rows: NDArray[Any] = np.asarray(X, dtype=partition.points.dtype)
        groups = self._group_of_representatives
        self.learned_ = None
        if groups.max() == 0:
            return labels
        self.learned_ = Learner(rows).learn(partition.representatives, groups)
        return learned_labels(self.learned_, rows, session.links)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        n: Any = self.n_super_instances
        if not is_whole(n) or n < 1:
            raise InputError(f"n_super_instances must be a positive integer, got {n!r}")
        self._check_choice("incomplete", "separate", "guess")
        self._check_choice("labels", "cells", "learned")
        if self.labels == "learned" and self.metric == "precomputed":
            raise InputError('labels="learned" needs features, not metric="precomputed"')

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self.metric == "precomputed"
        return tags


def group_of_nearest(
    partition: SuperInstances, groups: NDArray[np.intp], rows: NDArray[Any]
) -> NDArray[np.intp]:
    """Return the groups of the super-instances that new rows fall into."""
    return groups[nearest_super_instance(partition, rows)]


def learned_labels(learned: Learned, X: NDArray[Any], links: LinkGraph) -> NDArray[np.intp]:
    """Return the group of every row: as answered, else the likeliest that no answer forbids."""
    representatives = learned.known
    asked = [row for link in links for row in link.pair]
    fixed = np.union1d(representatives, asked).astype(np.intp)
    proba = learned.predict_proba(X[fixed])
    # The group of a representative is known; the learner does not overrule it.
    proba[np.searchsorted(fixed, representatives)] = np.eye(learned.n_groups)[learned.groups]
    decided = {
        links.find(int(row)): int(group)
        for row, group in zip(representatives, learned.groups, strict=True)
    }
    position = {int(row): i for i, row in enumerate(fixed)}
    groups = most_likely(learned.predict_proba, X)
    groups[fixed] = respecting_groups(proba, links, decided, position)
    # A group whose known rows all moved may be empty.
    return np.unique(groups, return_inverse=True)[1].astype(np.intp)
