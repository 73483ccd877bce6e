"""COBRAS (Van Craenendonck et al. 2018): super-instances that are split when they are large."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from likewise.cluster.asking import Asker
from likewise.cluster.cobra import COBRA
from likewise.cluster.constraints import checked_train_rows
from likewise.core.answers import Answer
from likewise.errors import BudgetExhausted
from likewise.rows.assignment import one_thread_each

N_INIT = 10


class COBRAS(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Split the largest super-instance, find by asking into how many, and merge again.

    A baseline for comparison. It is as published but for one closure of all answers: what earlier
    phases imply is not asked again. If the questions end within a phase, the labels are those of
    the last phase that was complete, so they need not respect the last answers.

    Parameters
    ----------
    max_queries : int, optional
        Stop after this many questions. By default it goes on until nothing can be split.
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
    n_features_in_ : int
        Number of features seen during `fit`.

    References
    ----------
    T. Van Craenendonck, S. Dumančić, E. Van Wolputte, H. Blockeel, "COBRAS: Interactive Clustering
    with Pairwise Queries", IDA 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from likewise import LabelOracle
    >>> from likewise.cluster.cobras import COBRAS
    >>> X, y = load_iris(return_X_y=True)
    >>> COBRAS(max_queries=50, random_state=0).fit(X, oracle=LabelOracle(y)).n_queries_
    50
    """

    def __init__(
        self,
        max_queries: int | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_queries = max_queries
        self.random_state = random_state

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
        may_show = np.ones(len(rows), dtype=bool)
        train = checked_train_rows(train_indices, len(rows))
        if train is not None:
            may_show[:] = False
            may_show[train] = True
        asker = Asker(len(rows), oracle, self.max_queries)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if oracle is None:
            self.labels_ = COBRA(random_state=seed).fit(rows).labels_
        else:
            for labels in phases(rows, may_show, asker, np.random.default_rng(seed)):
                self.labels_ = labels
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.queries_ = asker.queries
        self.n_queries_ = len(asker.queries)
        return self


def phases(
    X: NDArray[np.float64],
    may_show: NDArray[np.bool_],
    asker: Asker,
    rng: np.random.Generator,
) -> Iterator[NDArray[np.intp]]:
    """Yield the labels without an answer, then those of every complete phase.

    A super-instance is the array of its rows. Which ones form a cluster is what the answers imply
    about the rows that stand for them.
    """
    parts = [np.arange(len(X))]
    yield np.zeros(len(X), dtype=np.intp)
    is_whole: set[bytes] = set()
    while True:
        splittable = [
            k for k, p in enumerate(parts) if may_show[p].sum() >= 2 and p.tobytes() not in is_whole
        ]
        if not splittable:
            return
        k = max(splittable, key=lambda k: len(parts[k]))
        try:
            n = _split_level(X, may_show, parts[k], asker, rng)
            pieces = _split(X, may_show, parts[k], n, rng)
            if len(pieces) == 1:
                is_whole.add(parts[k].tobytes())
                continue
            parts = parts[:k] + parts[k + 1 :] + pieces
            labels = _merge(X, may_show, parts, asker)
        except BudgetExhausted:
            return
        yield labels


def _split_level(
    X: NDArray[np.float64],
    may_show: NDArray[np.bool_],
    part: NDArray[np.intp],
    asker: Asker,
    rng: np.random.Generator,
) -> int:
    """Return into how many to split, by halving the smaller part until its halves are the same."""
    n_different = 0
    current = part
    while True:
        halves = _split(X, may_show, current, 2, rng)
        if len(halves) == 1:
            break
        left, right = (_representative(X, may_show, half) for half in halves)
        if asker.ask(left, right) is not Answer.DIFFERENT:
            break
        n_different += 1
        large_enough = [half for half in halves if may_show[half].sum() >= 2]
        if not large_enough:
            break
        current = min(large_enough, key=len)
    return min(len(part), int(2 ** max(n_different, 1)))


def _split(
    X: NDArray[np.float64],
    may_show: NDArray[np.bool_],
    part: NDArray[np.intp],
    n: int,
    rng: np.random.Generator,
) -> list[NDArray[np.intp]]:
    """Return K-means parts; one without a row that may be shown joins the nearest that has one."""
    n = min(n, len(np.unique(X[part], axis=0)))
    if n < 2:
        return [part]
    model = KMeans(n, n_init=N_INIT, random_state=int(rng.integers(2**31 - 1)))
    with one_thread_each(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assignment = model.fit(X[part]).labels_
    pieces = [part[assignment == k] for k in range(n) if (assignment == k).any()]
    standing = [piece for piece in pieces if may_show[piece].any()]
    reps = [_representative(X, may_show, piece) for piece in standing]
    for piece in pieces:
        if not may_show[piece].any():
            far = cdist(X[piece].mean(axis=0)[None, :], X[reps])[0]
            k = int(np.argmin(far))
            standing[k] = np.sort(np.concatenate([standing[k], piece]))
    return standing


def _representative(
    X: NDArray[np.float64], may_show: NDArray[np.bool_], part: NDArray[np.intp]
) -> int:
    allowed = part[may_show[part]]
    return int(allowed[np.argmin(cdist(X[part].mean(axis=0)[None, :], X[allowed])[0])])


def _merge(
    X: NDArray[np.float64],
    may_show: NDArray[np.bool_],
    parts: list[NDArray[np.intp]],
    asker: Asker,
) -> NDArray[np.intp]:
    """Ask about the closest undecided super-instances until all is decided; return labels."""
    reps = [_representative(X, may_show, part) for part in parts]
    means = np.array([X[part].mean(axis=0) for part in parts])
    far = cdist(means, means)
    left, right = np.triu_indices(len(parts), 1)
    for k in np.argsort(far[left, right], kind="stable"):
        asker.ask(reps[int(left[k])], reps[int(right[k])])
    roots = np.array([asker.links.find(rep) for rep in reps])
    labels = np.empty(len(X), dtype=np.intp)
    for part, name in zip(parts, np.unique(roots, return_inverse=True)[1], strict=True):
        labels[part] = name
    return labels
