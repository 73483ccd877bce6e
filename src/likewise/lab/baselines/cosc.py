"""COSC: constrained 1-spectral clustering (Rangapuram and Hein, 2012)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from likewise.cluster.constraints import Pairs, checked_links
from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.errors import InputError
from likewise.inputs import refuse_rows
from likewise.lab.baselines.onespectral.descent import Effort, Search
from likewise.lab.baselines.onespectral.graph import (
    CutGraph,
    Ints,
    checked_weights,
    cut_graph,
    knn_graph,
    merged,
    numbered,
    two_colored,
)
from likewise.lab.baselines.onespectral.objective import multicut, n_violated
from likewise.lab.baselines.onespectral.recursive import many_clusters
from likewise.lab.baselines.onespectral.split import two_clusters


class COSC(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Constrained 1-spectral clustering.

    Cuts a neighborhood graph into clusters that are large and weakly connected to each other: it
    minimizes the sum over clusters of the weight that leaves a cluster relative to its volume.
    Must-links always hold. With two clusters all cannot-links hold, too; with more, as many as the
    method can satisfy.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_neighbors : int, default=10
        Neighbors per sample in the graph, if there are as many. Only for ``affinity="knn"``.
    gamma : "auto" or float, default="auto"
        Price of a violated cannot-link, in units of the largest edge weight. "auto" raises it
        until the cannot-links hold; a number makes them soft.
    mode : {"full", "fast"}, default="full"
        "full" takes the best of several starts or recursions and then improves the clusters two
        by two; "fast" has one. Use it where many fits are needed, as inside of active selection.
    best_by : {"cut", "violations"}, default="cut"
        Which of several recursions is the best, for more than two clusters: the one with the
        smallest cut, as in the authors' program, or the one that violates the fewest
        cannot-links and, among those, has the smallest cut.
    affinity : {"knn", "precomputed"}, default="knn"
        With "precomputed", `X` is the graph: a symmetric, non-negative, dense or sparse matrix
        with an empty diagonal. Repeated fits to the same data then need not rebuild it.
    n_init : "auto" or int, default="auto"
        For two clusters, the number of starts; "auto" means 10, in fast mode 1. For more, the
        number of recursions, of which the best is kept; "auto" means 3, in fast mode 1.
    random_state : int, RandomState or None, default=None
        Seed of the random starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample, numbered in order of first sample.
    multicut_ : float
        Sum over clusters of the weight that leaves a cluster relative to its volume.
    n_violated_ : int
        Number of cannot-links with both ends in one cluster.
    n_features_in_ : int
        Number of columns of `X`.

    References
    ----------
    S. S. Rangapuram and M. Hein, "Constrained 1-Spectral Clustering", AISTATS 2012.

    Examples
    --------
    >>> from likewise import COSC
    >>> X = [[0.0], [0.1], [0.2], [0.3], [1.0], [1.1], [1.2], [1.3]]
    >>> COSC(n_clusters=2, n_neighbors=3, random_state=0).fit(X).labels_
    array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> apart = COSC(n_clusters=2, n_neighbors=5, random_state=0).fit(X, cannot_link=[(0, 3)])
    >>> apart.labels_, apart.n_violated_
    (array([0, 0, 0, 1, 1, 1, 1, 1]), 0)
    """

    _parameter_constraints = {  # noqa: RUF012  (scikit-learn's name and form)
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "gamma": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "mode": [StrOptions({"full", "fast"})],
        "best_by": [StrOptions({"cut", "violations"})],
        "affinity": [StrOptions({"knn", "precomputed"})],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 10,
        gamma: float | str = "auto",
        mode: str = "full",
        best_by: str = "cut",
        affinity: str = "knn",
        n_init: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.mode = mode
        self.best_by = best_by
        self.affinity = affinity
        self.n_init = n_init
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002  (scikit-learn's signature)
        *,
        must_link: Pairs = (),
        cannot_link: Pairs = (),
    ) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            The data, or their graph if ``affinity="precomputed"``.
        y : None
            Not used.
        must_link, cannot_link : iterable of (int, int)
            Pairs of rows that belong together, and that do not.

        Raises
        ------
        InputError
            If the graph or a pair cannot be used, or no such clusters exist.
        ContradictionError
            If the pairs contradict each other; it shows the chain of pairs that clash.
        """
        self._validate_params()
        refuse_rows(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        n_samples = X.shape[0]
        links = checked_links(n_samples, must_link, cannot_link)
        is_given = self.affinity == "precomputed"
        weights = checked_weights(X) if is_given else knn_graph(X, self.n_neighbors)
        graph = cut_graph(weights, _cannot_links(links))
        labels = self._labels(graph, links)
        self.labels_ = numbered(labels)
        self.multicut_ = multicut(graph, self.labels_)
        self.n_violated_ = n_violated(graph, labels)
        return self

    def _labels(self, graph: CutGraph, links: LinkGraph) -> Ints:
        group = numbered(np.array([links.find(i) for i in range(links.n_items)]))
        n_groups = int(group.max()) + 1
        if n_groups < self.n_clusters:
            raise InputError(
                f"n_clusters={self.n_clusters} is more than the {n_groups} groups that "
                f"{links.n_items} samples and the must-links leave; lower n_clusters"
            )
        if self.n_clusters == 1:
            return np.zeros(graph.n_vertices, dtype=np.intp)
        small = merged(graph, group)
        gamma = None if self.gamma == "auto" else float(self.gamma)
        search = Search(self._effort(), check_random_state(self.random_state), gamma)
        if self.n_clusters > 2:
            first = self.best_by == "violations"
            labels = many_clusters(small, self.n_clusters, search, violations_first=first)
            return labels[group]
        if gamma is None:
            # If all cannot-links hold in two clusters, vertices that differ from the same vertex
            # are the same.
            color = two_colored(small.n_vertices, small.cannot)
            small, group = merged(small, color), color[group]
        if small.n_vertices == 2:
            return group
        return two_clusters(small, search).astype(np.intp)[group]

    def _effort(self) -> Effort:
        is_fast, is_pair = self.mode == "fast", self.n_clusters == 2
        n_init = None if self.n_init == "auto" else int(self.n_init)
        if is_pair and is_fast:
            return Effort(n_init or 1, 1, tol=1e-3, is_patient=False, growth=4.0, resolution=0.3)
        if is_pair:
            return Effort(n_init or 10, 1, tol=1e-2, n_perturbations=10, resolution=0.05)
        if is_fast:
            return Effort(1, n_init or 1, tol=1e-3, is_patient=False)
        # With one start per split it takes two thirds of the time, and sometimes fails.
        return Effort(2, n_init or 3, tol=1e-3, is_patient=False, splits_pairs_again=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags


def _cannot_links(links: LinkGraph) -> Ints:
    """Return the distinct given cannot-links, smaller row first."""
    pairs = [(g.left, g.right) for g in links if g.answer is Answer.DIFFERENT]
    if not pairs:
        return np.zeros((0, 2), dtype=np.intp)
    return np.unique(np.sort(np.array(pairs, dtype=np.intp), axis=1), axis=0)
