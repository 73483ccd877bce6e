"""What NPU costs per question beyond the clusterer and the forest: at most 2 ms at N = 2000."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks._results import save
from likewise import NPU, LabelOracle, MPCKMeans, run
from likewise.lab.selection import npu


class Stopwatch:
    """Adds up the time spent in the methods it wraps."""

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = 0.0

    def wrap(self, method: Any) -> Any:
        def timed(*args: Any, **kwargs: Any) -> Any:
            wall, processor = time.perf_counter(), time.process_time()
            try:
                return method(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - wall
                self.cpu_seconds += time.process_time() - processor

        return timed


def measure(n_samples: int, n_queries: int) -> dict[str, Any]:
    X, y = make_blobs(n_samples, 20, centers=5, cluster_std=6, random_state=0)
    watch = Stopwatch()

    class Clusterer(MPCKMeans):
        fit = watch.wrap(MPCKMeans.fit)

    class Forest(npu.RandomForestClassifier):
        fit = watch.wrap(npu.RandomForestClassifier.fit)
        apply = watch.wrap(npu.RandomForestClassifier.apply)

    original, npu.RandomForestClassifier = npu.RandomForestClassifier, Forest
    try:
        session = NPU(5, n_queries, clusterer=Clusterer(5), random_state=0).start(X)
        wall, processor = time.perf_counter(), time.process_time()
        run(session, LabelOracle(y))
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    finally:
        npu.RandomForestClassifier = original
    return {
        "n_samples": n_samples,
        "n_queries": n_queries,
        "seconds_per_query": round(wall / n_queries, 4),
        "overhead_ms_per_query": round(1000 * (wall - watch.seconds) / n_queries, 2),
        "overhead_cpu_ms_per_query": round(1000 * (processor - watch.cpu_seconds) / n_queries, 2),
    }


def main() -> None:
    np.seterr(all="warn")
    measure(300, 6)  # what is compiled is compiled now
    save("npu", [measure(n, 40) for n in (2000, 4000)])


if __name__ == "__main__":
    main()
