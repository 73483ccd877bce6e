"""Clusterers that take links, paired with strategies that ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from likewise.cluster.baselines.cosc import COSC
from likewise.cluster.baselines.mpckmeans import MPCKMeans
from likewise.cluster.baselines.onespectral.graph import knn_graph
from likewise.core.session import Session
from likewise.experiments.oracle import GuardedOracle
from likewise.experiments.protocol import Method, State, Trial
from likewise.oracles import run
from likewise.selection import NPU, MinMax

Pairs = list[tuple[int, int]]
N_NEIGHBORS = 10
COSC_STARTS = 3
CURVE_POINTS = 12


class SelectAndCluster(Method):
    """A competitor of COBRA: ask for links, then cluster under them. It is told K.

    Parameters
    ----------
    clusterer : str
        One of `CLUSTERINGS`.
    selection : {"MinMax", "NPU"}
    growth : float, default=0
        Inside NPU, cluster anew only after the number of answers has grown by this share; 0 is
        the method as published, which clusters before every row. The clustering in the end is
        always made of all answers.
    """

    is_anytime = True

    def __init__(
        self, clusterer: str, selection: Literal["MinMax", "NPU"], *, growth: float = 0.0
    ) -> None:
        self.name = f"{clusterer}-{selection}"
        self.sources = (
            CLUSTERINGS[clusterer].source,
            f"likewise.selection.{selection.lower()}",
        )
        self.clusterer = clusterer
        self.selection = selection
        self.growth = growth
        self.settings = str(CLUSTERINGS[clusterer].settings)
        if selection == "NPU" and growth:
            self.settings += f"; in NPU anew after {growth:.0%} more answers"

    def run(self, trial: Trial) -> NDArray[np.intp]:
        """Ask for links and cluster all rows under them."""
        clustering = self._clustering(trial)
        selector = self._selector(clustering, trial)
        must, cannot = selector.select(
            trial.X, oracle=trial.oracle, train_indices=trial.train_indices
        )
        return clustering.final(must, cannot)

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield the clustering at a dozen stops on the way to the budget."""
        clustering = self._clustering(trial)
        session = self._selector(clustering, trial).start(
            trial.X, train_indices=trial.train_indices
        )
        yield 0, clustering.final([], [])
        stops = np.unique(np.linspace(0, trial.budget or 0, CURVE_POINTS + 1).round().astype(int))
        for stop in stops[1:].tolist():
            if session.is_done:
                return
            run(session, trial.oracle, max_queries=stop - trial.oracle.n_queries)
            yield trial.oracle.n_queries, clustering.final(*known_links(session))

    def _clustering(self, trial: Trial) -> Clustering:
        found: Clustering = CLUSTERINGS[self.clusterer](trial.X, trial.n_clusters, trial.seed)
        return found

    def _selector(self, clustering: Clustering, trial: Trial) -> Any:
        if self.selection == "MinMax":
            return MinMax(trial.n_clusters, trial.budget, random_state=trial.seed)
        inner = Sparing(_Memory(clustering, trial.oracle, self.growth))
        return NPU(trial.n_clusters, trial.budget, clusterer=inner, random_state=trial.seed)


def known_links(session: Session) -> tuple[Pairs, Pairs]:
    """Return all pairs that a selection's session knows, those implied included."""
    return session.strategy.known().closure()


class Clustering(Protocol):
    """A clusterer for one set of rows."""

    def final(self, must: Pairs, cannot: Pairs) -> NDArray[np.intp]:
        """Return the clustering in the end."""

    def quick(self, must: Pairs, cannot: Pairs) -> NDArray[np.intp]:
        """Return a clustering on the way there."""


class MPCKClustering:
    """MPCKMeans with the defaults of WekaUT, the implementation that the paper used."""

    settings = "MPCKMeans.weka"
    source = MPCKMeans.__module__

    def __init__(self, X: NDArray[np.float64], n_clusters: int, seed: int) -> None:
        self._X = X
        self._n_clusters = n_clusters
        self._seed = seed

    def final(self, must: Pairs, cannot: Pairs) -> NDArray[np.intp]:
        """Return the clustering in the end."""
        model = MPCKMeans.weka(self._n_clusters, random_state=self._seed)
        return np.asarray(model.fit(self._X, must_link=must, cannot_link=cannot).labels_)

    quick = final


class COSCClustering:
    """COSC in its fast mode; the graph is made once."""

    settings = f"COSC fast, best of {COSC_STARTS}"
    source = COSC.__module__

    def __init__(self, X: NDArray[np.float64], n_clusters: int, seed: int) -> None:
        self._graph = knn_graph(X, N_NEIGHBORS)
        self._n_clusters = n_clusters
        self._seed = seed

    def final(self, must: Pairs, cannot: Pairs) -> NDArray[np.intp]:
        """Return the clustering in the end: the best of several starts."""
        return self._fit(must, cannot, COSC_STARTS)

    def quick(self, must: Pairs, cannot: Pairs) -> NDArray[np.intp]:
        """Return a clustering on the way there, from one start."""
        return self._fit(must, cannot, 1)

    def _fit(self, must: Pairs, cannot: Pairs, n_init: int) -> NDArray[np.intp]:
        model = COSC(
            self._n_clusters,
            mode="fast",
            affinity="precomputed",
            n_init=n_init,
            random_state=self._seed,
        )
        return np.asarray(model.fit(self._graph, must_link=must, cannot_link=cannot).labels_)


CLUSTERINGS: dict[str, Any] = {"MPCKM": MPCKClustering, "COSC": COSCClustering}


class _Memory:
    """The last clustering inside NPU. Copies are the same memory, so that clones share it."""

    def __init__(self, clustering: Clustering, oracle: GuardedOracle, growth: float) -> None:
        self._clustering = clustering
        self._oracle = oracle
        self._growth = growth
        self._asked = 0
        self._labels: NDArray[np.intp] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def labels(self, must: Pairs, cannot: Pairs) -> NDArray[np.intp]:
        asked = self._oracle.n_queries
        if self._labels is None or asked >= (1 + self._growth) * self._asked:
            self._labels = self._clustering.quick(must, cannot)
            self._asked = asked
        return self._labels


class Sparing(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """The clusterer that NPU is given."""

    def __init__(self, memory: _Memory) -> None:
        self.memory = memory

    def fit(self, X: Any, *, must_link: Pairs, cannot_link: Pairs) -> Self:  # noqa: ARG002
        """Cluster, or take the last clustering if little has been learned since."""
        self.labels_ = self.memory.labels(must_link, cannot_link)
        return self
