"""MPCKMeans: K-means with soft links and a learned metric."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from likewise.cluster.constraints import Pairs, checked_links
from likewise.errors import InputError
from likewise.inputs import refuse_rows
from likewise.lab.baselines.mpck.farthest import box_difference, farthest_difference
from likewise.lab.baselines.mpck.init import starting_centers
from likewise.lab.baselines.mpck.means import Settings, mpck_means, nearest
from likewise.lab.baselines.mpck.metric import Array, Metric, identity


class MPCKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """K-means that learns a metric and pays for violated links.

    It alternates, as K-means does, between labels and centers, and learns from the links and the
    clusters found so far how much each feature counts. Links are soft: they may be violated at a
    cost. The cost of a must-link grows with the distance of its rows; that of a cannot-link grows
    the closer they are. The links implied by those given count as well.

    Parameters
    ----------
    n_clusters : int, default=8
    metric : {"diagonal", "full", "identity"}, default="diagonal"
        Learn a weight per feature or a full matrix, or keep Euclidean distances.
    shared_metric : bool, default=True
        One metric for all clusters, or one for each.
    max_separation : {"exact", "box"}, default="exact"
        The scale of a violated cannot-link: the distance of the two rows farthest apart, or the
        diagonal of the box around the data and the origin, which costs nothing.
    w_must, w_cannot : float, default=1
        What a violated link weighs.
    init : {"k-means++", "perturbed"} or array of shape (n_clusters, n_features)
        First centers. The two names start at the means of must-linked rows and fill up with
        far rows or with random scalings of the mean of the data.
    visit_order : {"random", "index"}, default="random"
        The order in which linked rows choose their labels.
    carry_labels : bool, default=False
        Whether linked rows, when they choose, see the labels that the others had in the last
        iteration (as in WekaUT), or only those chosen before them in this one. The latter finds
        lower objectives: a must-linked group can leave a cluster it is wrong in.
    max_iter : int, default=200
    tol : float, default=1e-5
        Stop when the objective changes by less.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    metrics_ : ndarray of shape (n_metrics, n_features[, n_features])
        Weights or matrices: one if `shared_metric`, else one per cluster.
    objective_ : float
    n_iter_ : int
    n_features_in_ : int

    References
    ----------
    M. Bilenko, S. Basu, R. J. Mooney (2004). Integrating constraints and metric learning in
    semi-supervised clustering. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.lab.baselines.mpckmeans import MPCKMeans
    >>> X = np.array([[0, 0], [0, 9], [1, 1], [5, 0], [5, 9], [6, 8]], dtype=float)
    >>> model = MPCKMeans(2, random_state=0)
    >>> model.fit(X, must_link=[(0, 1), (3, 4)], cannot_link=[(0, 3)]).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> bool(model.metrics_[0, 0] > model.metrics_[0, 1])
    True
    """

    _parameter_constraints = {  # noqa: RUF012  (scikit-learn's name and form)
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"diagonal", "full", "identity"})],
        "shared_metric": ["boolean"],
        "max_separation": [StrOptions({"exact", "box"})],
        "w_must": [Interval(Real, 0, None, closed="left")],
        "w_cannot": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"k-means++", "perturbed"}), "array-like"],
        "visit_order": [StrOptions({"random", "index"})],
        "carry_labels": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Literal["diagonal", "full", "identity"] = "diagonal",
        shared_metric: bool = True,
        max_separation: Literal["exact", "box"] = "exact",
        w_must: float = 1,
        w_cannot: float = 1,
        init: Any = "k-means++",
        visit_order: Literal["random", "index"] = "random",
        carry_labels: bool = False,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.shared_metric = shared_metric
        self.max_separation = max_separation
        self.w_must = w_must
        self.w_cannot = w_cannot
        self.init = init
        self.visit_order = visit_order
        self.carry_labels = carry_labels
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def weka(cls, n_clusters: int = 8, *, random_state: Any = 42) -> Self:
        """Return an estimator with the defaults of WekaUT, the first implementation of the method.

        WekaUT also weighs the log-determinant by 0.01. With its one metric for all clusters that
        only scales the metric and changes no label, so it is left out.
        """
        return cls(
            n_clusters,
            metric="diagonal",
            shared_metric=True,
            max_separation="box",
            init="perturbed",
            visit_order="index",
            carry_labels=True,
            random_state=random_state,
        )

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,  # noqa: ARG002
        *,
        must_link: Pairs = (),
        cannot_link: Pairs = (),
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.
        must_link, cannot_link : pairs of int
            Rows that belong together, and rows that do not.

        Returns
        -------
        MPCKMeans
            The estimator itself.
        """
        self._validate_params()
        refuse_rows(X)
        X_checked: Array = validate_data(self, X, dtype=np.float64)
        if self.n_clusters > len(X_checked):
            raise InputError(
                f"n_samples={len(X_checked)} is fewer than n_clusters={self.n_clusters}; ask for "
                "at most as many clusters as there are rows"
            )
        links = checked_links(len(X_checked), must_link, cannot_link)
        rng = check_random_state(self.random_state)
        if isinstance(self.init, str):
            centers, labels = starting_centers(X_checked, links, self.n_clusters, rng, self.init)
        else:
            centers = self._given_centers(X_checked.shape[1])
            labels = np.full(len(X_checked), -1, dtype=np.intp)
        offset = X_checked.mean(axis=0)
        centered = X_checked - offset
        start = identity(X_checked.shape[1], diagonal=self.metric != "full")
        metrics = [start] * (1 if self.shared_metric else self.n_clusters)
        separation = farthest_difference(centered)
        if self.max_separation == "box":
            low = np.minimum(X_checked.min(axis=0), 0)
            separation = partial(box_difference, np.maximum(X_checked.max(axis=0), 0) - low)
        settings = Settings(
            learns_metric=self.metric != "identity",
            w_must=self.w_must,
            w_cannot=self.w_cannot,
            visits_at_random=self.visit_order == "random",
            carries_labels=self.carry_labels,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        # As in scikit-learn's K-means: the products are too small for threads to help.
        with threadpool_limits(limits=1, user_api="blas"):
            solution = mpck_means(
                centered, links, centers - offset, labels, metrics, separation, settings, rng
            )
        self.labels_ = solution.labels
        self.cluster_centers_ = solution.centers + offset
        self.metrics_ = np.stack([metric.weights for metric in solution.metrics])
        self.objective_ = solution.objective
        self.n_iter_ = solution.n_iter
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the cluster whose center is nearest under its metric, for every row.

        Links play no part, so on the training data this may differ from `labels_` for rows that
        links hold in another cluster.
        """
        check_is_fitted(self)
        refuse_rows(X)
        X_checked: Array = validate_data(self, X, dtype=np.float64, reset=False)
        offset = self.cluster_centers_.mean(axis=0)
        metrics = [Metric(weights) for weights in self.metrics_]
        return nearest(X_checked - offset, self.cluster_centers_ - offset, metrics)

    def _given_centers(self, n_features: int) -> Array:
        centers = np.asarray(self.init, dtype=np.float64)
        if centers.shape != (self.n_clusters, n_features):
            raise InputError(
                f"init must have shape (n_clusters, n_features) = ({self.n_clusters}, "
                f"{n_features}); got {centers.shape}"
            )
        if not np.isfinite(centers).all():
            raise InputError("init must be finite; it contains NaN or infinity")
        return centers.copy()
