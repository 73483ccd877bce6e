"""MPCKMeans against active-semi-supervised-clustering 0.0.1, and against one step of K-means.

Ratios, measured in one run on one machine. The peer is not a dependency; to include it:

    python -m pip install --no-deps --target DIR active-semi-supervised-clustering==0.0.1
    LIKEWISE_PEERS=DIR python -m benchmarks.mpckmeans

The peer looks for the farthest pair by a loop over all pairs in every iteration, so a whole fit
takes minutes. Timed is a fit of one iteration, on the first seed: what it makes of at most ten. The
ratio to our whole fit is therefore a lower bound. For the comparison of the results, its loop is
replaced by one that finds the same pair faster.
"""

from __future__ import annotations

import os
import sys
import time
import types
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks._results import save
from likewise import MPCKMeans

N_SEEDS = 10


def peer_class() -> Any:
    """Return the peer's MPCKMeans, or None where it is not at hand."""
    folder = os.environ.get("LIKEWISE_PEERS")
    if folder is None:
        return None
    sys.path.insert(0, folder)
    # Its package imports metric-learn for two other methods, which do not run any more.
    stub = types.ModuleType("metric_learn")
    for name in ("MMC", "RCA"):
        setattr(stub, name, object)
    sys.modules.setdefault("metric_learn", stub)
    handling = np.geterr()
    from active_semi_clustering.semi_supervised.pairwise_constraints import (
        MPCKMeans as Peer,
    )

    # It makes all of numpy raise at underflow.
    np.seterr(**handling)
    return Peer


def same_but_faster(peer: Any) -> Any:
    """Return the peer with its search for the farthest pair replaced by an equal one."""

    class Faster(peer):  # type: ignore[misc]
        def _find_farthest_pairs_of_points(self, X: Any, A: Any) -> Any:
            Z = X * np.sqrt(np.diag(A))
            norms = (Z**2).sum(axis=1)
            squared = norms[:, None] + norms - 2 * Z @ Z.T
            i, j = np.unravel_index(int(squared.argmax()), squared.shape)
            return max(i, j), min(i, j), self._dist(X[i], X[j], A)

    return Faster


def links(y: np.ndarray, n_pairs: int, seed: int) -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, len(y), (n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return [tuple(p) for p in pairs[same].tolist()], [tuple(p) for p in pairs[~same].tolist()]


def timed(work: Any) -> tuple[float, float]:
    """Return the seconds and processor seconds that a call takes."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def against_the_peer(peer: Any) -> list[dict[str, Any]]:
    """N = 2000, m = 20, K = 5, 200 links, 10 seeds."""
    rows = []
    for seed in range(N_SEEDS):
        X, y = make_blobs(2000, 20, centers=5, cluster_std=6, random_state=seed)
        must, cannot = links(y, 200, seed)
        ours = MPCKMeans(5, random_state=seed)
        seconds, cpu = timed(lambda: ours.fit(X, must_link=must, cannot_link=cannot))  # noqa: B023
        row = {
            "what": "fit N=2000 m=20 K=5 links=200",
            "seed": seed,
            "seconds": round(seconds, 4),
            "iterations": ours.n_iter_,
            "ari": round(adjusted_rand_score(y, ours.labels_), 4),
        }
        if peer is not None:
            np.random.seed(seed)  # noqa: NPY002  (the only seed it takes)
            theirs = same_but_faster(peer)(5)
            try:
                theirs.fit(X, ml=must, cl=cannot)
                row["peer_ari"] = round(adjusted_rand_score(y, theirs.labels_), 4)
            except Exception as error:
                row["peer_ari"] = type(error).__name__
        if peer is not None and seed == 0:
            slow = peer(5, max_iter=1)
            peer_seconds, peer_cpu = timed(lambda: slow.fit(X, ml=must, cl=cannot))  # noqa: B023
            row["peer_seconds_of_one_iteration"] = round(peer_seconds, 2)
            row["ratio"] = round(peer_seconds / seconds, 1)
            row["cpu_ratio"] = round(peer_cpu / cpu, 1)
        rows.append(row)
        print(row, flush=True)
    return rows


def step(fit: Any, n_steps: int = 40) -> tuple[float, float]:
    """Return the seconds and processor seconds per iteration, from runs of different length."""
    runs = []
    for n in (2, 2 + n_steps):
        wall, processor = time.perf_counter(), time.process_time()
        n_iter = fit(n)
        runs.append((time.perf_counter() - wall, time.process_time() - processor, n_iter))
    (a, b, n), (c, d, m) = runs
    if m - n < n_steps:
        raise RuntimeError("it converged; the difference is no measure")
    return (c - a) / (m - n), (d - b) / (m - n)


def against_lloyd(repeats: int = 15) -> list[dict[str, Any]]:
    """One iteration at N = 20 000, m = 20, K = 7, on data that let nothing converge early.

    All in one thread: a second one of K-means spends most of its processor time on waiting.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    start = X[:7].copy()
    y = KMeans(7, n_init=1, random_state=1).fit_predict(X[:, :10])
    must, cannot = links(y, 200, 0)

    def lloyd(n: int) -> int:
        model = KMeans(7, init=start, n_init=1, max_iter=n, tol=0, algorithm="lloyd").fit(X)
        return int(model.n_iter_)

    def ours(**options: Any) -> Any:
        def fit(n: int) -> int:
            model = MPCKMeans(7, init=start, max_iter=n, tol=0, random_state=0, **options)
            return int(model.fit(X, must_link=must, cannot_link=cannot).n_iter_)

        return fit

    variants = {
        "diagonal, shared, exact": ours(),
        "diagonal, shared, box": ours(max_separation="box"),
        "diagonal, per cluster, exact": ours(shared_metric=False),
        "full, shared, exact": ours(metric="full"),
        "full, per cluster, exact": ours(metric="full", shared_metric=False),
    }
    rows = []
    for name, fit in variants.items():
        with threadpool_limits(limits=1):
            pairs = np.array([(step(lloyd), step(fit)) for _ in range(repeats)])
        (base, _), (seconds, _) = np.median(pairs, axis=0)
        ratio, cpu_ratio = np.median(pairs[:, 1] / pairs[:, 0], axis=0)
        row = {
            "what": f"iteration N=20000 m=20 K=7 links=200: {name}",
            "seconds": round(float(seconds), 4),
            "lloyd_seconds": round(float(base), 4),
            "ratio": round(float(ratio), 2),
            "cpu_ratio": round(float(cpu_ratio), 2),
        }
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    rows = against_lloyd() + against_the_peer(peer_class())
    columns = dict.fromkeys(name for row in rows for name in row)
    save("mpckmeans", [{name: row.get(name, "") for name in columns} for row in rows])


if __name__ == "__main__":
    main()
