import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.datasets import make_blobs

from likewise.rows.kmeans import from_one_start, lloyd, plusplus

X, _ = make_blobs(4000, centers=12, n_features=5, random_state=0)


@pytest.mark.parametrize(("n_clusters", "seed"), [(2, 0), (7, 1), (40, 2), (90, 3)])
@pytest.mark.parametrize("place", [0, 100])
def test_clusters_are_those_of_scikit_learn(n_clusters, seed, place):
    rows = X[:700] + place
    theirs = KMeans(n_clusters, n_init=1, random_state=seed).fit(rows)
    ours = from_one_start(rows, n_clusters, seed)
    assert np.array_equal(ours.labels, theirs.labels_)
    assert np.allclose(ours.centers, theirs.cluster_centers_, rtol=1e-12)
    assert ours.inertia == pytest.approx(theirs.inertia_)


@pytest.mark.parametrize("max_iter", [1, 3, 300])
def test_from_a_start_it_goes_as_far_as_scikit_learn(max_iter):
    start = X[:30]
    theirs = KMeans(30, init=start, n_init=1, max_iter=max_iter).fit(X)
    ours = lloyd(X, start, max_iter=max_iter)
    assert np.array_equal(ours.labels, theirs.labels_)
    assert np.allclose(ours.centers, theirs.cluster_centers_, rtol=1e-12)


def test_empty_clusters_get_the_rows_farthest_from_their_centers():
    rows = np.array([[0.0], [1.0], [2.0], [50.0], [90.0]])
    start = np.array([[1.0], [1000.0], [2000.0]])
    clustering = lloyd(rows, start)
    assert sorted(clustering.centers.ravel()) == [1, 50, 90]
    same = lloyd(np.ones((6, 2)), np.ones((3, 2)))
    assert (same.labels == 0).all()
    assert same.inertia == 0


def potential(rows, start):
    return float(cdist(rows, start, "sqeuclidean").min(axis=1).sum())


def drawn(rows, n_clusters, seed):
    return rows[plusplus(rows, n_clusters, np.random.default_rng(seed), first=seed)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_starts_are_as_good_as_those_of_scikit_learn(dtype):
    rows = (X + 100).astype(dtype)
    seeds = range(5)
    ours = [potential(rows, drawn(rows, 40, seed)) for seed in seeds]
    theirs = [potential(rows, kmeans_plusplus(rows, 40, random_state=seed)[0]) for seed in seeds]
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.03)


def test_starts_are_distinct_rows_while_there_are_any():
    rows = np.repeat(np.arange(50.0), 40)[:, None]
    assert sorted(drawn(rows, 50, 0).ravel()) == list(range(50))
    assert len(drawn(rows, 60, 0)) == 60
