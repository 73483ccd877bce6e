"""`Likewise.fit` with 100 questions against scikit-learn's KMeans and COBRA; `predict`.

All figures are CPU seconds of the best of a few runs in one process, and ratios of them.
"""

import time

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from benchmarks._results import felt, save
from likewise import COBRA, LabelOracle, Likewise

N_QUERIES = 100
N_PREDICTED = 100_000
SIZES = {10_000: (10, "10.5 s"), 100_000: (2, "13.4 s"), 1_000_000: (5, "44 s")}
"""Rows, with the aim and with CPU of version 0.1.0."""


def mixture(n, d=32, n_places=100, seed=1):
    """Rows around a hundred places; a person's group is ten places that lie near each other."""
    rng = np.random.default_rng(seed)
    groups = 3 * rng.standard_normal((10, d), dtype=np.float32)
    places = groups[np.arange(n_places) % 10] + 2 * rng.standard_normal(
        (n_places, d), dtype=np.float32
    )
    place = rng.integers(n_places, size=n)
    return places[place] + rng.standard_normal((n, d), dtype=np.float32), place % 10


def cpu_seconds(function, n_runs):
    runs = []
    for _ in range(n_runs):
        start = time.process_time()
        function()
        runs.append(time.process_time() - start)
    return min(runs)


def measure(n):
    X, y = mixture(n)
    oracle = LabelOracle(y)
    n_runs = 3 if n < 1_000_000 else 1
    if n < 1_000_000:
        peer = "`KMeans(100, n_init=1)`"
        floor = cpu_seconds(lambda: KMeans(100, n_init=1, random_state=0).fit(X), n_runs)
    else:
        peer = "`COBRA(100)`"
        model = COBRA(100, max_queries=N_QUERIES, random_state=0)
        floor = cpu_seconds(lambda: model.fit(X, oracle=oracle), n_runs)
    fit = cpu_seconds(lambda: Likewise(N_QUERIES, random_state=0).fit(X, oracle=oracle), n_runs)
    aim, before = SIZES[n]
    return felt(
        f"`Likewise(100).fit`, {n:_} rows".replace("_", " "),
        fit,
        "s",
        peer,
        floor,
        aim=aim,
        before=before,
    )


def product_seconds(n, inner, outer):
    left, right = np.ones((n, inner), np.float32), np.ones((inner, outer), np.float32)
    return cpu_seconds(lambda: left @ right, 3)


def measure_predict(n):
    """Compare `predict` with the float32 matrix products it contains."""
    X, y = mixture(n)
    some = slice(10_000)
    model = Likewise(N_QUERIES, random_state=0).fit(X[some], oracle=LabelOracle(y[some]))
    learned = model.learned_
    votes = learned._fitted["kernels"]
    n_known, d, n_groups = len(learned.known), X.shape[1], learned.n_groups
    n_axes = learned._rows.axes.shape[1]
    # The turn to main axes, distances of each kernel, votes of each choice, the discriminant.
    n_kernels = len({choice.kernel for choice in votes._choices})
    shapes = [(d, n_axes), *[(d, n_known)] * n_kernels, (n_axes, n_groups)]
    shapes += [(n_known, n_groups)] * len(votes._choices)
    with threadpool_limits(1):
        least = sum(product_seconds(n, *shape) for shape in shapes)
        took = cpu_seconds(lambda: model.predict(X), 3)
    what = f"`predict`, {n:_} rows, {n_known} known".replace("_", " ")
    return felt(what, 1000 * took, "ms", "its float32 products", 1000 * least, aim=4)


def main():
    save("scale_fit", [*map(measure, SIZES), measure_predict(N_PREDICTED)])


if __name__ == "__main__":
    main()
