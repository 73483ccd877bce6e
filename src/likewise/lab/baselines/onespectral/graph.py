"""The graph that is cut: k nearest neighbors, vertices merged by must-links, induced parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.neighbors import NearestNeighbors

from likewise.errors import InputError
from likewise.lab.baselines.onespectral.inner import Edges, edges_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Sides = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CutGraph:
    """A weighted graph, what its vertices weigh, and which pairs of them must be apart."""

    weights: Any  # symmetric, non-negative, with an empty diagonal
    volumes: Floats  # positive vertex weights
    cannot: Ints  # distinct pairs of vertices, smaller index first
    exterior: Floats  # in a part of a larger graph, the weight to the rest of it

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.volumes)

    @property
    def n_cannot(self) -> int:
        """Number of cannot-links between vertices."""
        return len(self.cannot)

    @cached_property
    def volume(self) -> float:
        """Weight of all vertices together."""
        return float(self.volumes.sum())

    @cached_property
    def dual_edges(self) -> Edges:
        """The edges, as the inner problem needs them."""
        return edges_of(self.weights)

    @property
    def edges(self) -> tuple[Ints, Ints, Floats]:
        """Ends and weight of every edge, smaller end first."""
        return self.dual_edges[:3]

    def components(self) -> tuple[int, Ints]:
        """Return the number of connected components and the component of every vertex."""
        count, labels = csgraph.connected_components(self.weights, directed=False)
        return int(count), labels.astype(np.intp)

    def induced(self, vertices: Ints) -> CutGraph:
        """Return the part of the graph on these vertices, which remembers the rest by weight."""
        weights = self.weights[vertices][:, vertices]
        outside = self.weights[vertices].sum(axis=1) - weights.sum(axis=1)
        place = np.full(self.n_vertices, -1)
        place[vertices] = np.arange(len(vertices))
        pairs = place[self.cannot]
        pairs = np.sort(pairs[(pairs >= 0).all(axis=1)], axis=1)
        exterior = self.exterior[vertices] + np.maximum(outside, 0.0)
        return CutGraph(weights, self.volumes[vertices], pairs, exterior)


def knn_graph(X: Any, n_neighbors: int) -> Any:
    """Return the symmetric k-nearest-neighbor graph with locally scaled Gaussian weights."""
    X = np.asarray(X, dtype=np.float64) if not sparse.issparse(X) else X
    n_samples = X.shape[0]
    n_neighbors = min(n_neighbors, n_samples - 1)
    distances, neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    scale = distances[:, -1].copy()
    positive = scale[scale > 0]
    scale[scale == 0] = positive.min() if positive.size else 1.0
    values = np.exp(-4.0 * (distances / scale[:, None]) ** 2)
    # 32-bit indices: scikit-learn's own graph routines take no others.
    starts = np.arange(0, n_samples * n_neighbors + 1, n_neighbors, dtype=np.int32)
    directed = sparse.csr_array(
        (values.ravel(), neighbors.ravel().astype(np.int32), starts),
        shape=(n_samples, n_samples),
    )
    graph = directed.maximum(directed.T).tocsr()
    graph.sort_indices()
    return graph


def checked_weights(affinity: Any) -> Any:
    """Return a given graph as a sparse matrix of floats, or raise `InputError`."""
    if affinity.shape[0] != affinity.shape[1]:
        raise InputError(
            f"a precomputed affinity must be square, got shape {affinity.shape}; "
            "pass the graph itself, or affinity='knn' with a table of features"
        )
    graph = sparse.csr_array(affinity, dtype=np.float64, copy=True)
    graph.sum_duplicates()
    graph.eliminate_zeros()
    if graph.nnz and graph.data.min() < 0:
        at = int(np.argmin(graph.data))
        row = int(np.searchsorted(graph.indptr, at, side="right")) - 1
        raise InputError(
            f"affinities must not be negative, got {graph.data[at]} at ({row}, "
            f"{graph.indices[at]}); a distance is no affinity, take for example exp(-distance)"
        )
    loops = np.flatnonzero(graph.diagonal())
    if loops.size:
        raise InputError(
            f"an affinity must have an empty diagonal, but sample {loops[0]} is linked to itself"
            f" ({loops.size} such samples); set the diagonal to zero"
        )
    apart = abs(graph - graph.T).tocoo()
    if apart.nnz and apart.data.max() > 1e-10 * graph.data.max():
        at = int(np.argmax(apart.data))
        i, j = int(apart.row[at]), int(apart.col[at])
        raise InputError(
            f"an affinity must be symmetric, but it is {graph[i, j]} at ({i}, {j}) and "
            f"{graph[j, i]} at ({j}, {i}); take for example (W + W.T) / 2"
        )
    return graph


def cut_graph(weights: Any, cannot: Ints) -> CutGraph:
    """Return the graph whose vertices weigh their degrees, scaled to a largest weight of one."""
    # A vertex without edges gets the smallest degree, to be a cluster of its own at no cost.
    largest = weights.data.max() if weights.nnz else 1.0
    weights = weights / largest
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    positive = degrees[degrees > 0]
    degrees[degrees == 0] = positive.min() if positive.size else 1.0
    return CutGraph(weights.tocsr(), degrees, cannot, np.zeros(len(degrees)))


def merged(graph: CutGraph, group: Ints) -> CutGraph:
    """Return the graph in which the vertices of each group are one vertex."""
    n_groups = int(group.max()) + 1
    i, j, w = graph.edges
    i, j = group[i].astype(np.int32), group[j].astype(np.int32)
    kept = i != j
    i, j, w = i[kept], j[kept], w[kept]
    both = (np.concatenate([w, w]), (np.concatenate([i, j]), np.concatenate([j, i])))
    weights = sparse.coo_array(both, shape=(n_groups, n_groups)).tocsr()
    pairs = np.sort(group[graph.cannot], axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if len(pairs):
        pairs = np.unique(pairs, axis=0)
    volumes = totals(group, graph.volumes, n_groups)
    exterior = totals(group, graph.exterior, n_groups)
    return CutGraph(weights, volumes, pairs, exterior)


def totals(group: Ints, values: Floats, n_groups: int) -> Floats:
    """Return the sum of the values of each group."""
    return np.bincount(group, weights=values, minlength=n_groups).astype(np.float64, copy=False)


def numbered(groups: NDArray[Any]) -> Ints:
    """Return the same partition with groups numbered in order of their first member."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.ravel()]


def two_colored(n_vertices: int, cannot: Ints) -> Ints:
    """Return the groups that follow from cannot-links if there are two clusters."""
    # They are the components of a graph that has every vertex once for each side, and joins the
    # ends of a link on different sides.
    left, right = cannot.T
    ends = np.concatenate([left, left + n_vertices]), np.concatenate([right + n_vertices, right])
    shape = (2 * n_vertices, 2 * n_vertices)
    graph = sparse.coo_array((np.ones(len(ends[0])), ends), shape=shape)
    labels = csgraph.connected_components(graph, directed=False)[1]
    on_both_sides = np.flatnonzero(labels[:n_vertices] == labels[n_vertices:])
    if on_both_sides.size:
        raise InputError(
            "the cannot-links leave no room for two clusters: they form a cycle of odd length "
            f"around the group of vertex {on_both_sides[0]}; raise n_clusters or withdraw one of "
            "them"
        )
    return numbered(labels[:n_vertices])
