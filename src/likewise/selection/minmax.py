"""MinMax: place first the row that is most unlike all that is known."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.selection._neighborhoods import Choice, NeighborhoodStrategy
from likewise.selection._selector import Selector

Array = NDArray[np.float64]
Ints = NDArray[np.intp]


class ExploreConsolidate(NeighborhoodStrategy):
    """Find one neighborhood per cluster, then place the rows farthest from all neighborhoods.

    The method's criterion is the smallest largest similarity ``exp(-d² / 2σ²)``. It falls with the
    distance whatever σ is, so the distance decides.
    """

    name: ClassVar[str] = "min-max"

    def _opens_neighborhood(self) -> bool:
        return len(self._state.members) < self.n_clusters

    def _choose(self) -> Choice | None:
        free = self.candidates()
        if len(free) == 0:
            return None
        neighborhoods = self.neighborhoods
        is_exploring = len(neighborhoods) < self.n_clusters
        known = self._state.settled if is_exploring else {r for n in neighborhoods for r in n}
        row = int(free[self._nearest.distances(known)[free].argmax()])
        return Choice(row, self._ranking(row, neighborhoods))

    @cached_property
    def _nearest(self) -> NearestOf:
        return NearestOf(self.X)

    def _ranking(
        self, row: int, neighborhoods: list[list[int]]
    ) -> tuple[tuple[int, tuple[int, ...]], ...]:
        nearest, ranked = [], []
        for all_rows, answered in zip(neighborhoods, self._state.members, strict=True):
            distances = squared_distances(self.X[all_rows], self.X[row])
            nearest.append(distances.min())
            # Only members by answers can be asked: a link to an inferred one would prove nothing.
            order = np.argsort(distances[: len(answered)], kind="stable")
            ranked.append(tuple(answered[i] for i in order))
        return tuple((int(p), ranked[p]) for p in np.argsort(nearest, kind="stable"))


class NearestOf:
    """The squared distance of every row to the nearest of a set of rows that mostly grows."""

    def __init__(self, X: Array) -> None:
        self._X = X
        self._rows: set[int] = set()
        self._distances = np.full(len(X), np.inf)

    def distances(self, rows: set[int]) -> Array:
        """Return the distances to the nearest of these rows."""
        if not self._rows <= rows:
            self._rows, self._distances = set(), np.full(len(self._X), np.inf)
        for row in sorted(rows - self._rows):
            to_row = squared_distances(self._X, self._X[row])
            self._distances = np.minimum(self._distances, to_row)
        self._rows = set(rows)
        return self._distances


def squared_distances(X: Array, point: Array) -> Array:
    """Return the squared distance of every row to a point."""
    differences = X - point
    return np.asarray(np.einsum("ij,ij->i", differences, differences))


class MinMax(Selector):
    """Ask about the rows that are most unlike all that is known.

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
    >>> from likewise.cluster.baselines.mpckmeans import MPCKMeans
    >>> from likewise.selection.minmax import MinMax
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
            X,
            train,
            self.max_queries,
            seed,
            n_clusters=self.n_clusters,
            infer_last=self.infer_last,
        )
