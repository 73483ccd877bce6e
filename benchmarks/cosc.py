"""COSC against scikit-learn's SpectralClustering on the same graph.

`ratio` is the time of COSC by that of SpectralClustering: CPU time on one thread, best of three
fits (of one in full mode), the graph given to both. With numba (extra `fast`) loops are compiled.
"""

import warnings
from time import process_time as clock  # CPU time: other programs' load must not count

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks._results import save
from likewise import COSC
from likewise.lab.baselines.onespectral.graph import knn_graph

# data, rows, features, clusters, links, seed of the links, whether to time full mode, too.
# How long a fit takes depends much on the links, so the case of two clusters has several seeds.
CASES = [
    *(("moons", 4000, 2, 2, 100, seed, seed == 0) for seed in range(6)),
    *(("blobs", 4000, 10, 2, 100, seed, False) for seed in range(3)),
    ("blobs", 150, 4, 3, 50, 0, True),
    ("blobs", 150, 4, 3, 120, 0, True),
    ("blobs", 600, 20, 20, 50, 0, True),
    ("blobs", 600, 20, 20, 120, 0, False),
    ("blobs", 1450, 8, 10, 50, 0, False),
    ("blobs", 1450, 8, 10, 120, 0, False),
    ("blobs", 2086, 18, 7, 50, 0, False),
    ("blobs", 2086, 18, 7, 120, 0, False),
    ("blobs", 4207, 20, 2, 50, 0, False),
    ("blobs", 4207, 20, 2, 120, 0, False),
]


def data(kind, n, m, k):
    if kind == "moons":
        return make_moons(n, noise=0.15, random_state=0)
    return make_blobs(n, n_features=m, centers=k, cluster_std=5.0, random_state=0)


def best_time(fit, repeats):
    times = []
    for _ in range(repeats):
        start = clock()
        fit()
        times.append(clock() - start)
    return min(times)


def measure(kind, n, m, k, n_links, seed, has_full):
    X, y = data(kind, n, m, k)
    graph = knn_graph(X, 10)
    pairs = np.random.default_rng(seed).integers(0, n, (2 * n_links, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:n_links]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    links = {"must_link": pairs[same], "cannot_link": pairs[~same]}
    spectral = SpectralClustering(k, affinity="precomputed", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about graphs that are not connected
        base = best_time(lambda: spectral.fit(graph), 3)
    for mode, repeats in [("fast", 3)] + [("full", 1)] * has_full:
        model = COSC(k, mode=mode, affinity="precomputed", random_state=0)
        seconds = best_time(lambda model=model: model.fit(graph, **links), repeats)
        yield {
            "data": kind,
            "rows": n,
            "features": m,
            "clusters": k,
            "links": n_links,
            "seed": seed,
            "mode": mode,
            "spectral_s": round(base, 3),
            "cosc_s": round(seconds, 3),
            "ratio": round(seconds / base, 2),
            "spectral_ari": round(adjusted_rand_score(y, spectral.labels_), 3),
            "cosc_ari": round(adjusted_rand_score(y, model.labels_), 3),
            "violated": model.n_violated_,
            "multicut": round(model.multicut_, 5),
        }


def main():
    with threadpool_limits(1):
        save("cosc", [row for case in CASES for row in measure(*case)])
