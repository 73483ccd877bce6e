import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from likewise.rows.build import build_super_instances
from likewise.rows.kmeans import MANY_CENTERS, from_one_start, kmeans

X, _ = make_blobs(4000, centers=12, n_features=5, random_state=0)


def test_every_row_is_in_the_cell_of_its_nearest_center():
    cells = build_super_instances(X, 20, seed=0)
    assert cells.centers is not None
    assert cells.cell_owner is not None
    nearest = np.argmin(((X[:, None, :] - cells.centers) ** 2).sum(axis=2), axis=1)
    assert np.array_equal(cells.assignment, cells.cell_owner[nearest])
    assert len(np.unique(cells.assignment)) == len(cells.centers) == 20


def test_fewer_distinct_rows_than_cells_become_the_cells():
    rows = np.repeat(np.arange(7.0), 5)[:, None]
    assignment, centers = kmeans(rows, 20)
    assert centers.ravel().tolist() == list(range(7))
    assert assignment.tolist() == np.repeat(np.arange(7), 5).tolist()


@pytest.mark.slow
def test_a_seed_decides_everything():
    one, other, third = (build_super_instances(X, 30, seed=s).assignment for s in (1, 1, 2))
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)


@pytest.mark.slow
def test_the_published_sizes_have_ten_starts_and_many_cells_one(monkeypatch):
    seeds = []

    def counted(rows, n_clusters, seed):
        seeds.append(seed)
        return from_one_start(rows, n_clusters, seed)

    monkeypatch.setattr("likewise.rows.kmeans.from_one_start", counted)
    kmeans(X, 100)
    assert len(set(seeds)) == len(seeds) == 10
    seeds.clear()
    assignment, centers = kmeans(X, MANY_CENTERS)
    assert not seeds
    assert np.array_equal(assignment, cdist(X, centers).argmin(axis=1))
