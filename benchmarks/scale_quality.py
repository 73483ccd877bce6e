"""What training on a sample costs in inertia, and how often the medoid is missed.

Inertia is that of all rows, over that of scikit-learn's K-means on all rows from the same start
(k-means++ on the sample). A medoid is compared to the one of all members tried one by one.
"""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from benchmarks._results import save
from likewise.rows import streaming
from likewise.rows.assignment import assign
from likewise.rows.build import build_super_instances
from likewise.rows.kmeans import FEW
from likewise.rows.lloyd import plusplus
from likewise.rows.medoids import sums_of_distances


def mixture(n, d, n_places, seed):
    rng = np.random.default_rng(seed)
    places = 3 * rng.standard_normal((n_places, d), dtype=np.float32)
    return rng.standard_normal((n, d), dtype=np.float32) + places[rng.integers(n_places, size=n)]


def inertia(X, centers):
    away = X - centers[assign(X, centers)]
    return float(np.einsum("ij,ij->", away, away, dtype=np.float64))


def inertia_rows(n, d, k, seeds, per_center):
    found = {m: [] for m in per_center}
    for seed in seeds:
        X = mixture(n, d, 50, seed)
        rows = np.random.default_rng(seed).permutation(n)
        part = X[rows[: FEW.start_rows_per_center * k]]
        start = part[plusplus(part, k, np.random.default_rng(seed), first=0)]
        full = inertia(X, KMeans(k, init=start, n_init=1).fit(X).cluster_centers_)
        for m in per_center:
            model = KMeans(k, init=start, n_init=1, max_iter=FEW.max_iter).fit(X[rows[: m * k]])
            found[m].append(inertia(X, model.cluster_centers_) / full)
    return [
        {
            "what": "inertia over full K-means, same start",
            "data": f"{n} x {d}, {k} cells",
            "rows per center": m,
            "median": round(float(np.median(ratios)), 4),
            "worst": round(max(ratios), 4),
            "runs": len(ratios),
        }
        for m, ratios in found.items()
    ]


def built_row(n, d, k, seed):
    """Compare what is built, the best of a few starts, with the best of as many full runs."""
    X = mixture(n, d, 50, seed)
    ours = build_super_instances(X, k, engine="sample", seed=seed)
    full = KMeans(k, n_init=FEW.n_starts, random_state=seed).fit(X)
    return {
        "what": f"inertia as built over the best of {FEW.n_starts} full K-means",
        "data": f"{n} x {d}, {k} cells",
        "rows per center": FEW.rows_per_center,
        "median": round(inertia(X, ours.centers) / inertia(X, full.cluster_centers_), 4),
        "worst": "",
        "runs": 1,
    }


def medoid_row(name, X, k, sample_rows):
    streaming.SAMPLE_BYTES = sample_rows * X.shape[1] * X.itemsize
    found = build_super_instances(X, k, engine="sample", seed=0, n_jobs=-1)
    hits, excess = 0, []
    for cell, row in enumerate(found.representatives):
        members = np.flatnonzero(found.assignment == cell)
        sums = sums_of_distances(X[members], X[members])
        own = sums[np.flatnonzero(members == row)[0]]
        hits += bool(own <= sums.min() * (1 + 1e-9))
        excess.append(own / sums.min() - 1)
    return {
        "what": f"true medoids of {len(excess)} (sample of {sample_rows} rows)",
        "data": f"{name} {X.shape[0]} x {X.shape[1]}, {k} cells",
        "rows per center": "",
        "median": hits,
        "worst": f"{max(excess):.1e} more distance",
        "runs": 1,
    }


def main():
    rows = inertia_rows(200_000, 32, 100, range(3), (64, 256, 1024))
    rows += inertia_rows(200_000, 8, 100, range(3), (64, 256, 1024))
    rows += inertia_rows(200_000, 16, 400, range(2), (64, 256))
    rows.append(built_row(200_000, 32, 100, 0))
    for d in (2, 8, 32):
        X = mixture(100_000, d, 50, 1)
        rows.append(medoid_row("mixture", X, 10, 10_000))
    X = np.random.default_rng(0).uniform(size=(100_000, 4)).astype(np.float32)
    rows.append(medoid_row("uniform", X, 10, 10_000))
    X = np.repeat(load_digits().data.astype(np.float32), 30, axis=0)
    X += np.random.default_rng(0).normal(scale=2, size=X.shape).astype(np.float32)
    rows.append(medoid_row("noisy digits", X, 10, 10_000))
    save("scale_quality", rows)


if __name__ == "__main__":
    main()
