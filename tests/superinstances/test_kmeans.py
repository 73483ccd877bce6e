import numpy as np
import pytest
from sklearn.datasets import make_blobs

from likewise.superinstances.kmeans import assign, kmeans

X, _ = make_blobs(4000, centers=12, n_features=5, random_state=0)


@pytest.mark.parametrize("engine", ["full", "sample"])
def test_every_row_is_in_the_cell_of_its_nearest_center(engine):
    assignment, centers = kmeans(X, 20, engine=engine, seed=0)
    nearest = np.argmin(((X[:, None, :] - centers) ** 2).sum(axis=2), axis=1)
    assert np.array_equal(assignment, nearest)
    assert len(np.unique(assignment)) == len(centers) == 20


def test_blocks_do_not_change_the_assignment(monkeypatch):
    _, centers = kmeans(X, 20, engine="sample", seed=0)
    whole = assign(X, centers)
    monkeypatch.setattr("likewise.superinstances.kmeans._ROWS_PER_BLOCK", 100)
    assert np.array_equal(assign(X, centers, n_jobs=2), whole)


def test_fewer_distinct_rows_than_cells_become_the_cells():
    rows = np.repeat(np.arange(7.0), 5)[:, None]
    assignment, centers = kmeans(rows, 20)
    assert centers.ravel().tolist() == list(range(7))
    assert assignment.tolist() == np.repeat(np.arange(7), 5).tolist()


def test_a_seed_decides_everything():
    one, other, third = (kmeans(X, 30, engine="sample", seed=s)[0] for s in (1, 1, 2))
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)
