import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.datasets import make_blobs

from likewise.rows.build import build_super_instances
from likewise.rows.kmeans import MANY_CENTERS, draw_starts, kmeans, plusplus

X, _ = make_blobs(4000, centers=12, n_features=5, random_state=0)


@pytest.mark.parametrize("engine", ["full", "sample"])
def test_every_row_is_in_the_cell_of_its_nearest_center(engine):
    found = build_super_instances(X, 20, engine=engine, seed=0)
    assert found.centers is not None
    assert found.cell_owner is not None
    nearest = np.argmin(((X[:, None, :] - found.centers) ** 2).sum(axis=2), axis=1)
    assert np.array_equal(found.assignment, found.cell_owner[nearest])
    assert len(np.unique(found.assignment)) == len(found.centers) == 20


def test_fewer_distinct_rows_than_cells_become_the_cells():
    rows = np.repeat(np.arange(7.0), 5)[:, None]
    assignment, centers = kmeans(rows, 20)
    assert centers.ravel().tolist() == list(range(7))
    assert assignment.tolist() == np.repeat(np.arange(7), 5).tolist()


@pytest.mark.slow
def test_a_seed_decides_everything():
    one, other, third = (
        build_super_instances(X, 30, engine="sample", seed=s).assignment for s in (1, 1, 2)
    )
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)


def potential(rows, start):
    return float(cdist(rows, start, "sqeuclidean").min(axis=1).sum())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_starts_are_as_good_as_those_of_scikit_learn(dtype):
    rows = (X + 100).astype(dtype)
    seeds = range(5)
    ours = [potential(rows, rows[plusplus(rows, 40, seed)]) for seed in seeds]
    theirs = [potential(rows, kmeans_plusplus(rows, 40, random_state=seed)[0]) for seed in seeds]
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.03)


def test_starts_are_distinct_rows_while_there_are_any():
    rows = np.repeat(np.arange(50.0), 40)[:, None]
    chosen = plusplus(rows, 50, 0)
    assert sorted(rows[chosen].ravel()) == list(range(50))
    assert len(plusplus(rows, 60, 0)) == 60


@pytest.mark.slow
def test_the_published_sizes_have_ten_starts_and_many_cells_one(monkeypatch):
    starts = []

    class Counted(KMeans):
        def fit(self, rows):
            starts.append(self.init)
            return super().fit(rows)

    monkeypatch.setattr("sklearn.cluster.KMeans", Counted)
    kmeans(X, 100)
    assert starts == ["k-means++"] * 10
    starts.clear()
    assignment, centers = kmeans(X, MANY_CENTERS)
    assert len(starts) == 1
    assert len(draw_starts(len(X), MANY_CENTERS, 0)) == 1
    assert np.array_equal(assignment, cdist(X, centers).argmin(axis=1))
