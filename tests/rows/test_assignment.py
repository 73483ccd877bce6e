import numpy as np
import pytest
from scipy.spatial.distance import cdist

from likewise.rows.kmeans import assign

ROUNDING = 1e-5
"""Another center may be found if its squared distance differs by less than this part of the
largest: a few hundred units in the last place of float32."""


def rows_and_centers(n=20_000, d=12, k=300, offset=0.0):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(n, d)) + offset).astype(np.float32)
    return X, X[rng.choice(n, k, replace=False)] + np.float32(0.01)


def excess(X, centers, assignment):
    """Return how much farther the assignment centers are than the nearest, as squared distances."""
    squares = cdist(X.astype(float), centers.astype(float), "sqeuclidean")
    own = squares[np.arange(len(X)), assignment]
    return (own - squares.min(axis=1)) / squares.max()


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_the_center_found_is_the_nearest_but_for_rounding(offset):
    X, centers = rows_and_centers(offset=offset)
    assert excess(X, centers, assign(X, centers)).max() < ROUNDING


def test_neither_threads_nor_what_comes_with_a_block_change_a_row():
    X, centers = rows_and_centers(n=100_000, k=40)
    whole = assign(X, centers)
    assert np.array_equal(assign(X, centers, n_jobs=3), whole)
    assert np.array_equal(assign(X[: 2**15], centers), whole[: 2**15])
