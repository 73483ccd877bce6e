"""COBRA end to end against scikit-learn's KMeans and against cobras-ts, one million rows.

cobras-ts is not needed for the rest. It is the authors' package of COBRA's successor; to include
it: pip install --no-deps --target /tmp/cobras cobras-ts && PYTHONPATH=/tmp/cobras make bench
"""

import subprocess
import sys
import time

import numpy as np

from benchmarks._cobras import cobras
from benchmarks._results import felt, save, saved
from likewise import COBRA, LabelOracle

N = 1_000_000


def mixture(d, n_centers=100, dtype=np.float32):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, n_centers, N)
    X = rng.standard_normal((N, d), dtype=dtype)
    X += 3 * rng.standard_normal((n_centers, d), dtype=dtype)[truth]
    # Groups of ten neighboring components, so that a person's groups are not the components.
    return X, truth % 10


def timed(function):
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def inertia(X, assignment, n_cells):
    total = 0.0
    for cell in range(n_cells):
        members = X[assignment == cell].astype(np.float64)
        total += float(((members - members.mean(axis=0)) ** 2).sum()) if len(members) else 0.0
    return total


def compared(peer, cluster, X, truth, *, size, max_queries):
    """Time a peer and COBRA on the same rows; `cluster` returns its cells, or None."""
    cells, wall, cpu = timed(cluster)
    model = COBRA(size, max_queries=max_queries, n_jobs=-1, random_state=0)
    ours, our_wall, our_cpu = timed(lambda: model.fit(X, oracle=LabelOracle(truth)))
    share = ""
    if cells is not None:
        share = round(inertia(X, ours.super_instances_, size) / inertia(X, cells, size), 4)
    data = f"{len(X):_} x {X.shape[1]} {X.dtype}".replace("_", " ")
    return {
        **felt(f"COBRA by the clock, {data}", our_wall, "s", peer, wall),
        "CPU ratio": round(our_cpu / cpu, 3),
        "inertia ratio": share,
    }


def against_kmeans():
    from sklearn.cluster import KMeans

    X, truth = mixture(32)
    kmeans = KMeans(100, n_init=1, random_state=0)
    peer = "scikit-learn KMeans(100, n_init=1)"
    return compared(peer, lambda: kmeans.fit_predict(X), X, truth, size=100, max_queries=200)


def against_faiss():
    import faiss

    X, truth = mixture(32)
    kmeans = faiss.Kmeans(32, 100, niter=10, seed=0, max_points_per_centroid=len(X))

    def cluster():
        kmeans.train(X)
        return kmeans.assign(X)[1]

    peer = "faiss, 10 iterations on all rows"
    return compared(peer, cluster, X, truth, size=100, max_queries=200)


def against_cobras():
    X, truth = mixture(20, dtype=np.float64)

    def cluster():
        cobras(X, truth, 50)

    return compared("cobras-ts, 50 questions", cluster, X, truth, size=25, max_queries=50)


def earlier(peer):
    """Return the line of a peer from the last run that had it."""
    return [row for row in saved("endtoend") if row.get("compared with", "").startswith(peer)]


def memory():
    """Return peak memory above the input over the size of the input."""
    code = """
import resource, numpy as np
from likewise import COBRA, LabelOracle
X = np.random.default_rng(0).standard_normal((2_000_000, 32), dtype=np.float32)
truth = np.arange(len(X)) % 7
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() // 1024
COBRA(100, max_queries=50, random_state=0).fit(X, oracle=LabelOracle(truth))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((peak - before) * 1024 / X.nbytes)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return round(float(done.stdout), 3)


def main():
    rows = [against_kmeans()]
    for peer, measure in (("faiss", against_faiss), ("cobras-ts", against_cobras)):
        try:
            rows.append(measure())
        except ImportError as error:
            print(f"{peer} is left out, its line stays as it was: {error}")
            rows += earlier(peer)
    save("endtoend", rows)
    save(
        "footprint",
        [
            {
                "what": "peak memory above the input / input, 2 000 000 x 32 float32",
                "value": memory(),
            },
        ],
    )
