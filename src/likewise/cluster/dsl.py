"""DSL, data skeleton learning (2025): check the longest edges of a nearest-neighbor tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from likewise.cluster.asking import Asker
from likewise.cluster.cobra import COBRA
from likewise.cluster.constraints import checked_train_rows
from likewise.core.answers import Answer
from likewise.errors import BudgetExhausted

_ROWS_PER_BLOCK = 512


class DSL(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Join all rows to a tree of nearest neighbors and ask about its edges, longest first.

    A baseline for comparison. Where an edge joins what differs it is cut, and the part that came
    loose is compared with the groups found so far, nearest first. Asked to the end, every row is
    where it belongs.

    Parameters
    ----------
    max_queries : int, optional
        Stop after this many questions. By default all edges are asked about.

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
    n_features_in_ : int
        Number of features seen during `fit`.

    Notes
    -----
    The tree is made of the rows that may be asked about; any other row goes with the nearest of
    them.

    References
    ----------
    "Data Skeleton Learning: Scalable Active Clustering with Sparse Graph Structures",
    arXiv 2509.08530.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from likewise import LabelOracle
    >>> from likewise.cluster.dsl import DSL
    >>> X, y = load_iris(return_X_y=True)
    >>> DSL(max_queries=30).fit(X, oracle=LabelOracle(y)).n_clusters_
    3
    """

    def __init__(self, max_queries: int | None = None) -> None:
        self.max_queries = max_queries

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,  # noqa: ARG002  (for scikit-learn)
        *,
        oracle: Any = None,
        train_indices: ArrayLike | None = None,
    ) -> Self:
        """Cluster rows by asking an oracle.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : ignored
            For compatibility.
        oracle : Oracle or callable, optional
            Who answers. Without one nothing is asked and the labels are the guess of `COBRA`.
        train_indices : array-like of int, optional
            The rows that may be asked about. By default all.
        """
        rows = validate_data(self, X, dtype=np.float64)
        train = checked_train_rows(train_indices, len(rows))
        shown = np.arange(len(rows)) if train is None else np.unique(train)
        asker = Asker(len(rows), oracle, self.max_queries)
        if oracle is None:
            self.labels_ = COBRA(random_state=0).fit(rows).labels_
        else:
            for parent in trees(rows, shown, asker):
                last = parent
            self.labels_ = tree_labels(last, nearest_shown(rows, shown))
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.queries_ = asker.queries
        self.n_queries_ = len(asker.queries)
        return self


def skeleton(points: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return a tree on all points: every point's parent, the root its own, and edge lengths.

    Every point hangs on its nearest neighbor. Of two that are each other's nearest, the one with
    more others hanging on it goes on to the next round, where only those are left that did. On a
    tie it is the one whose others hang on longer edges.

    Examples
    --------
    >>> import numpy as np
    >>> parent, length = skeleton(np.array([[0.0], [1.0], [3.0], [9.0], [9.5]]))
    >>> parent.tolist(), length.tolist()
    ([1, 1, 1, 1, 3], [1.0, 0.0, 2.0, 8.0, 0.5])
    """
    n = len(points)
    parent = np.arange(n, dtype=np.intp)
    length = np.zeros(n)
    # How many hang on a point, and by how long edges, in this round and before.
    hanging, weight = np.zeros(n, dtype=np.intp), np.zeros(n)
    active = np.arange(n)
    while len(active) > 1:
        to, far = _nearest_other(points[active])
        hanging[active] += np.bincount(to, minlength=len(active))
        weight[active] += np.bincount(to, far, minlength=len(active))
        goes_on = np.zeros(len(active), dtype=bool)
        for i in np.flatnonzero(to[to] == np.arange(len(active))):
            a, b = active[i], active[to[i]]
            goes_on[i] = (hanging[a], weight[a], -a) > (hanging[b], weight[b], -b)
        # Who goes on no longer hangs on the other of the two.
        mates = active[to[goes_on]]
        hanging[mates] -= 1
        weight[mates] -= far[goes_on]
        parent[active[~goes_on]] = active[to[~goes_on]]
        length[active[~goes_on]] = far[~goes_on]
        active = active[goes_on]
    return parent, length


def trees(
    X: NDArray[np.float64], shown: NDArray[np.intp], asker: Asker
) -> Iterator[NDArray[np.intp]]:
    """Yield the tree over the rows `shown`, every one's parent, before each question and at last.

    It is one array that changes. Every group found so far has a head, the root of its tree; when
    a part joins it, the root with more others hanging on it is the head from then on.
    """
    parent, length = skeleton(X[shown])
    root = int(np.flatnonzero(parent == np.arange(len(parent)))[0])
    heads = [root]
    hanging = np.bincount(parent, minlength=len(parent))
    hanging[root] -= 1
    for u in np.argsort(-length, kind="stable").tolist():
        if u == root:
            continue
        yield parent
        try:
            answer = asker.ask(int(shown[u]), int(shown[parent[u]]))
            if answer is not Answer.DIFFERENT:
                continue
            hanging[parent[u]] -= 1
            parent[u] = u
            order = np.argsort(cdist(X[shown[[u]]], X[shown[heads]])[0], kind="stable")
            for k in order.tolist():
                yield parent
                if asker.ask(int(shown[u]), int(shown[heads[k]])) is Answer.SAME:
                    low, high = sorted((u, heads[k]), key=lambda v: (hanging[v], v == heads[k]))
                    parent[low] = heads[k] = high
                    hanging[high] += 1
                    break
            else:
                heads.append(u)
        except BudgetExhausted:
            break
    yield parent


def nearest_shown(X: NDArray[np.float64], shown: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for every row the place in `shown` of the nearest row that is there."""
    nearest = np.arange(len(shown))
    if len(shown) < len(X):
        nearest = _nearest(X, X[shown])
        nearest[shown] = np.arange(len(shown))
    return nearest


def tree_labels(parent: NDArray[np.intp], nearest: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the labels of all rows: those of one tree are one cluster."""
    return np.unique(_roots(parent)[nearest], return_inverse=True)[1].astype(np.intp)


def _nearest_other(points: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return every point's nearest other point, the earlier one on a tie, and how far it is."""
    to = np.empty(len(points), dtype=np.intp)
    far = np.empty(len(points))
    for start in range(0, len(points), _ROWS_PER_BLOCK):
        block = np.arange(start, min(start + _ROWS_PER_BLOCK, len(points)))
        distances = cdist(points[block], points)
        distances[np.arange(len(block)), block] = np.inf
        to[block] = distances.argmin(axis=1)
        far[block] = distances.min(axis=1)
    return to, far


def _nearest(rows: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.intp]:
    blocks = range(0, len(rows), _ROWS_PER_BLOCK)
    found = [
        cdist(rows[start : start + _ROWS_PER_BLOCK], points).argmin(axis=1) for start in blocks
    ]
    return np.concatenate(found).astype(np.intp)


def _roots(parent: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the root of every node, by jumping ever further up."""
    while True:
        up = parent[parent]
        if np.array_equal(up, parent):
            return parent
        parent = up
