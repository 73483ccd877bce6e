import numpy as np
import pytest
from sklearn.datasets import make_blobs

from likewise.rows.build import build_super_instances
from likewise.rows.kmeans import kmeans

X, _ = make_blobs(4000, centers=12, n_features=5, random_state=0)


@pytest.mark.parametrize("engine", ["full", "sample"])
def test_every_row_is_in_the_cell_of_its_nearest_center(engine):
    found = build_super_instances(X, 20, engine=engine, seed=0)
    nearest = np.argmin(((X[:, None, :] - found.centers) ** 2).sum(axis=2), axis=1)
    assert np.array_equal(found.assignment, found.cell_owner[nearest])
    assert len(np.unique(found.assignment)) == len(found.centers) == 20


def test_fewer_distinct_rows_than_cells_become_the_cells():
    rows = np.repeat(np.arange(7.0), 5)[:, None]
    assignment, centers = kmeans(rows, 20)
    assert centers.ravel().tolist() == list(range(7))
    assert assignment.tolist() == np.repeat(np.arange(7), 5).tolist()


def test_a_seed_decides_everything():
    one, other, third = (
        build_super_instances(X, 30, engine="sample", seed=s).assignment for s in (1, 1, 2)
    )
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)
