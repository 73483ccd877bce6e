import numpy as np
import pytest
from scipy.spatial.distance import cdist

from likewise.core import closest_pairs
from likewise.core.closest_pairs import MAX_ROWS, ClosestPairs
from likewise.errors import InputError


def between(points):
    return lambda rows, columns: cdist(points[rows], points[columns])


def listed(pairs):
    """Return all pairs in their order."""
    pieces = iter(map(pairs.piece, range(1000)).__next__, None)
    return [pair for left, right in pieces for pair in zip(left, right, strict=True)]


@pytest.mark.parametrize("n", [1, 2, 23, 24, 25])
def test_the_order_is_by_distance_then_by_items_whatever_is_done_at_a_time(n, monkeypatch):
    points = np.random.default_rng(0).integers(0, 5, (n, 2)).astype(float)
    distance = cdist(points, points)
    pairs = [(i, j) for i in range(n) for j in range(n) if i < j]
    expected = sorted(pairs, key=lambda pair: (distance[pair], pair))
    assert listed(ClosestPairs(np.arange(n), between(points))) == expected
    monkeypatch.setattr(closest_pairs, "_ROWS_PER_BLOCK", 4)
    monkeypatch.setattr(closest_pairs, "PIECE", 64)
    assert listed(ClosestPairs(np.arange(n), between(points))) == expected


def test_too_many_items_are_refused_with_the_memory_they_would_take():
    with pytest.raises(InputError, match=r"20001 representatives are too many.*1\.6 GB"):
        ClosestPairs(np.arange(MAX_ROWS + 1), between(np.zeros((1, 1))))


def test_as_many_items_as_are_allowed_are_taken(monkeypatch):
    monkeypatch.setattr(closest_pairs, "MAX_ROWS", 5)
    assert listed(ClosestPairs(np.arange(5), between(np.arange(5.0)[:, None])))[0] == (0, 1)


def test_a_distance_that_is_not_finite_is_named():
    points = np.array([[0.0], [1.0], [np.inf]])
    with pytest.raises(InputError, match="representatives 0 and 2 is not finite"):
        ClosestPairs(np.arange(3), between(points))
