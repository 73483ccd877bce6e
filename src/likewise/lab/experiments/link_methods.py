"""Clusterers that take links, paired with strategies that ask for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from likewise.lab.baselines.cosc import COSC
from likewise.lab.baselines.mpckmeans import MPCKMeans
from likewise.lab.baselines.onespectral.graph import knn_graph
from likewise.lab.experiments.protocol import Method, State, Trial
from likewise.lab.selection import NPU, MinMax
from likewise.oracles import run

Pairs = list[tuple[int, int]]
Clustering = Callable[[Pairs, Pairs, bool], NDArray[np.intp]]
"""A function of must-links, cannot-links, and whether this is the final clustering."""

N_NEIGHBORS = 10
"""Neighbors in the graph of COSC."""
STARTS = 3
"""Starts of COSC for the final clustering. Inside NPU it runs in its fast mode."""
CURVE_POINTS = 12
"""How many points a curve of a method has that clusters again at each of them."""


def mpckm(trial: Trial) -> Clustering:
    """Return MPCKMeans with the defaults of WekaUT, the implementation that the paper used."""

    def cluster(must: Pairs, cannot: Pairs, is_last: bool) -> NDArray[np.intp]:  # noqa: ARG001
        model = MPCKMeans.weka(trial.n_clusters, random_state=trial.seed)
        return np.asarray(model.fit(trial.X, must_link=must, cannot_link=cannot).labels_)

    return cluster


def cosc(trial: Trial) -> Clustering:
    """Return COSC: in full mode at the end, in fast mode before; the graph is made once."""
    graph = knn_graph(trial.X, N_NEIGHBORS)
    given: dict[str, Any] = {"affinity": "precomputed", "random_state": trial.seed}
    full = {"n_init": STARTS, "best_by": "violations"}

    def cluster(must: Pairs, cannot: Pairs, is_last: bool) -> NDArray[np.intp]:
        model = COSC(trial.n_clusters, **given, **(full if is_last else {"mode": "fast"}))
        return np.asarray(model.fit(graph, must_link=must, cannot_link=cannot).labels_)

    return cluster


CLUSTERERS = {
    "MPCKM": (mpckm, MPCKMeans, "MPCKMeans.weka"),
    "COSC": (cosc, COSC, f"COSC full, best of {STARTS} by violations"),
}
"""By name: the function that makes the clustering of a trial, the class, and the settings in words.
"""


class SelectAndCluster(Method):
    """A competitor of COBRA: ask for links, then cluster under them. It is told K.

    Inside NPU the rows are clustered again once the number of answers has grown by the share
    `growth`; 0 is the method as published. The final clustering always uses all answers.
    """

    is_anytime = True

    def __init__(
        self, clusterer: str, selection: Literal["MinMax", "NPU"], *, growth: float = 0.0
    ) -> None:
        self.name = f"{clusterer}-{selection}"
        self.cluster, kind, self.settings = CLUSTERERS[clusterer]
        self.sources = (kind.__module__, f"likewise.lab.selection.{selection.lower()}")
        self.selection = selection
        self.growth = growth
        if selection == "NPU" and growth:
            self.settings += f"; in NPU anew after {growth:.0%} more answers"

    def run(self, trial: Trial) -> NDArray[np.intp]:
        """Ask for links and cluster all rows under them."""
        cluster = self.cluster(trial)
        selector = self._selector(cluster, trial)
        must, cannot = selector.select(
            trial.X, oracle=trial.oracle, train_indices=trial.train_indices
        )
        return cluster(must, cannot, True)

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield the clustering after a dozen numbers of answers up to the budget."""
        cluster = self.cluster(trial)
        selector = self._selector(cluster, trial)
        session = selector.start(trial.X, train_indices=trial.train_indices)
        yield 0, cluster([], [], True)
        stops = np.unique(np.linspace(0, trial.budget or 0, CURVE_POINTS + 1).round().astype(int))
        for stop in stops[1:].tolist():
            if session.is_done:
                return
            run(session, trial.oracle, max_queries=stop - trial.oracle.n_queries)
            strategy: Any = session.strategy
            must, cannot = strategy.run(session.answers).known().closure()
            yield trial.oracle.n_queries, cluster(must, cannot, True)

    def _selector(self, cluster: Clustering, trial: Trial) -> Any:
        if self.selection == "MinMax":
            return MinMax(trial.n_clusters, trial.budget, random_state=trial.seed)
        inner = Sparing(cluster, trial, self.growth)
        return NPU(trial.n_clusters, trial.budget, clusterer=inner, random_state=trial.seed)


class Sparing(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """The clusterer that NPU is given; it keeps its last clustering while there are few answers."""

    def __init__(self, cluster: Clustering, trial: Trial, growth: float) -> None:
        self.cluster = cluster
        self.trial = trial
        self.growth = growth
        self._asked = -1

    def __sklearn_clone__(self) -> Self:
        return self

    def fit(self, X: Any, *, must_link: Pairs, cannot_link: Pairs) -> Self:  # noqa: ARG002
        """Cluster, unless there are few new answers since the last time."""
        asked = self.trial.oracle.n_queries
        if self._asked < 0 or asked >= (1 + self.growth) * self._asked:
            self.labels_ = self.cluster(must_link, cannot_link, False)
            self._asked = asked
        return self
