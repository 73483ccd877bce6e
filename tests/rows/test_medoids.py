import numpy as np
import pytest
from scipy.spatial.distance import cdist

from likewise.rows.build import build_super_instances, medoid, sums_of_distances


def brute_force(points):
    return int(np.argmin(cdist(points, points).sum(axis=1)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_medoid_has_the_smallest_sum_of_distances(dtype):
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 50, 300):
        points = rng.normal(size=(n, 4)).astype(dtype)
        assert medoid(points) == brute_force(points.astype(float))


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 8, 32])
def test_candidates_near_the_geometric_median_hold_the_medoid(d):
    rng = np.random.default_rng(d)
    for _ in range(5):
        points = rng.normal(size=(3000, d)) ** 3
        assert medoid(points) == brute_force(points)


def test_a_crowd_of_equal_points_is_no_trouble():
    points = np.zeros((2500, 3))
    points[7] = 1
    assert medoid(points) in set(range(2500)) - {7}


def test_sums_do_not_depend_on_blocks(monkeypatch):
    points = np.random.default_rng(0).normal(size=(500, 3))
    whole = sums_of_distances(points, points)
    monkeypatch.setattr("likewise.rows.build._ENTRIES_PER_BLOCK", 1000)
    assert np.allclose(sums_of_distances(points, points), whole, rtol=1e-13)


def test_the_row_with_the_smallest_sum_stands_for_its_group():
    rows = np.array([[0.0], [0.1], [0.2], [10.0]])
    assert build_super_instances(rows, 1).representatives.tolist() == [1]
