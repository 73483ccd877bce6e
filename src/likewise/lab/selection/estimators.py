"""`MinMax`, `NPU` and `Random`: thin estimators around the strategies of this package."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from likewise.cluster.asking import AskingEstimator
from likewise.cluster.constraints import Pairs
from likewise.errors import InputError
from likewise.lab.baselines.mpckmeans import MPCKMeans
from likewise.lab.peers.random_pairs import RandomPairs
from likewise.lab.peers.rows import Array, Ints, RowStrategy
from likewise.lab.selection.minmax import ExploreConsolidate
from likewise.lab.selection.npu import MostInformative
from likewise.oracles import run_for_fit

PairList = list[tuple[int, int]]


class Selector(AskingEstimator):
    """Ask an oracle for links that help a clusterer."""

    @abstractmethod
    def _about(self, X: Array, train: Ints, seed: int) -> RowStrategy:
        """Return the strategy for rows, of which `train` may be asked about."""

    def select(
        self,
        X: ArrayLike,
        *,
        oracle: Any,
        train_indices: ArrayLike | None = None,
        sample_ids: Sequence[Hashable] | None = None,
        must_link: Pairs = (),
        cannot_link: Pairs = (),
    ) -> tuple[PairList, PairList]:
        """Ask until the budget is spent or nothing is left to ask.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        oracle : Oracle or callable
            Who answers: an object with ``answer(query)``, or a function of two row numbers that
            returns True, False or None.
        train_indices : array-like of int, optional
            The rows that may be asked about. By default all.
        sample_ids : sequence of hashable, optional
            Names of the rows, passed to the oracle with every query.
        must_link, cannot_link : pairs of int
            Pairs whose relation is known beforehand; they are not asked and not counted.

        Returns
        -------
        must_link, cannot_link : list of (int, int)
            All pairs that are known to belong together or not, those implied included.

        Raises
        ------
        InterruptedFitError
            If the oracle raises an error. The error, and ``session_``, have the session with all
            answers so far.
        """
        session = self.start(
            X,
            train_indices=train_indices,
            sample_ids=sample_ids,
            must_link=must_link,
            cannot_link=cannot_link,
        )
        self.session_ = session
        run_for_fit(session, oracle)
        self._set_queries(session)
        strategy: Any = session.strategy
        links: tuple[PairList, PairList] = strategy.run(session.answers).known().closure()
        return links

    def _strategy(
        self, X: Array, *, train_indices: Ints | None, seed: int, **_: Any
    ) -> RowStrategy:
        rows = X.astype(np.float64)
        train = np.arange(len(rows)) if train_indices is None else train_indices
        strategy = self._about(rows, train, seed)
        strategy.max_queries = self.max_queries
        return strategy

    def _check_parameters(self) -> None:
        super()._check_parameters()
        n = getattr(self, "n_clusters", 1)
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise InputError(f"n_clusters must be an integer of at least 1; got {n!r}")


class MinMax(Selector):
    """Ask about the rows that are least similar to all known rows.

    It first finds one row of every cluster (*explore*), going to the row farthest from all visited
    ones. Then (*consolidate*) it takes the row whose most similar known row is least similar, and
    asks about it and the neighborhoods, the nearest first.

    Parameters
    ----------
    n_clusters : int, default=8
    max_queries : int, optional
        How many questions to ask. By default until every row is placed.
    infer_last : bool, default=True
        Whether a row that differs from all but one of `n_clusters` neighborhoods is placed into
        that one without a question. Set it to False if `n_clusters` may be too small.
    random_state : int, RandomState or None, default=None
        For the first row.

    Attributes
    ----------
    queries_ : list of (int, int, Answer)
        The rows asked about and the answers, in order.
    n_queries_ : int
    session_ : Session

    References
    ----------
    P. K. Mallapragada, R. Jin, A. K. Jain (2008). Active query selection for semi-supervised
    clustering. ICPR.
    S. Basu, A. Banerjee, R. J. Mooney (2004). Active semi-supervision for pairwise constrained
    clustering. SDM.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from likewise import LabelOracle
    >>> from likewise.lab.baselines.mpckmeans import MPCKMeans
    >>> from likewise.lab.selection import MinMax
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = MinMax(n_clusters=3, max_queries=20, random_state=0)
    >>> must, cannot = selector.select(X, oracle=LabelOracle(y))
    >>> selector.n_queries_
    20
    >>> labels = MPCKMeans(3, random_state=0).fit(X, must_link=must, cannot_link=cannot).labels_
    """

    def __init__(
        self,
        n_clusters: int = 8,
        max_queries: int | None = None,
        *,
        infer_last: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_queries = max_queries
        self.infer_last = infer_last
        self.random_state = random_state

    def _about(self, X: Array, train: Ints, seed: int) -> ExploreConsolidate:
        return ExploreConsolidate(
            X, train, seed, n_clusters=self.n_clusters, infer_last=self.infer_last
        )


class NPU(Selector):
    """Ask about the most informative rows per question (normalized point-based uncertainty).

    Before every row it clusters the data under the answers so far, and learns from a random forest
    how similar rows are. The row whose neighborhood is most uncertain, divided by the number of
    questions it is likely to take, is asked about next.

    Parameters
    ----------
    n_clusters : int, default=8
    max_queries : int, optional
        How many questions to ask. By default until every row is placed.
    clusterer : estimator, optional
        With ``fit(X, must_link=..., cannot_link=...)`` and ``labels_``. By default
        `MPCKMeans(n_clusters)`.
    infer_last : bool, default=False
        Whether a row that differs from all but one of `n_clusters` neighborhoods is placed into
        that one without a question.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    queries_ : list of (int, int, Answer)
        The rows asked about and the answers, in order.
    n_queries_ : int
    session_ : Session

    References
    ----------
    S. Xiong, J. Azimi, X. Z. Fern (2014). Active learning of constraints for semi-supervised
    clustering. IEEE TKDE 26(1).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from likewise import LabelOracle
    >>> from likewise.lab.baselines.mpckmeans import MPCKMeans
    >>> from likewise.lab.selection import NPU
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = NPU(n_clusters=3, max_queries=5, clusterer=MPCKMeans(3), random_state=0)
    >>> must, cannot = selector.select(X, oracle=LabelOracle(y))
    >>> selector.n_queries_
    5
    """

    def __init__(
        self,
        n_clusters: int = 8,
        max_queries: int | None = None,
        *,
        clusterer: Any = None,
        infer_last: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_queries = max_queries
        self.clusterer = clusterer
        self.infer_last = infer_last
        self.random_state = random_state

    def _about(self, X: Array, train: Ints, seed: int) -> MostInformative:
        clusterer = MPCKMeans(self.n_clusters) if self.clusterer is None else clone(self.clusterer)
        # The same answers must lead to the same question, also after loading.
        if "random_state" in (params := clusterer.get_params()) and params["random_state"] is None:
            clusterer.set_params(random_state=seed)
        return MostInformative(
            X,
            train,
            seed,
            n_clusters=self.n_clusters,
            infer_last=self.infer_last,
            clusterer=clusterer,
        )


class Random(Selector):
    """Ask about random pairs, and never about what earlier answers imply.

    Parameters
    ----------
    max_queries : int, optional
        How many questions to ask. By default until everything is settled.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    queries_ : list of (int, int, Answer)
        The rows asked about and the answers, in order.
    n_queries_ : int
    session_ : Session

    Examples
    --------
    >>> from likewise.lab.selection import Random
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> must, cannot = Random(random_state=0).select(X, oracle=lambda i, j: i // 2 == j // 2)
    >>> must, cannot
    ([(0, 1), (2, 3)], [(0, 2), (0, 3), (1, 2), (1, 3)])
    """

    def __init__(self, max_queries: int | None = None, *, random_state: Any = None) -> None:
        self.max_queries = max_queries
        self.random_state = random_state

    def _about(self, X: Array, train: Ints, seed: int) -> RandomPairs:
        return RandomPairs(X, train, seed)
