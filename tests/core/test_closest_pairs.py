from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from likewise.core.closest_pairs import MAX_ITEMS, ClosestPairs
from likewise.errors import InputError


def between(points):
    return lambda rows, columns: cdist(points[rows], points[columns])


class SortedPairs:
    """The plain way: all pairs sorted, the first that is not settled."""

    def __init__(self, points):
        n = len(points)
        distance = cdist(points, points)
        self.order = sorted((distance[i, j], i, j) for i in range(n) for j in range(i + 1, n))
        self.component = list(range(n))
        self.apart = set()
        self.excluded = set()

    def closest(self):
        for _, i, j in self.order:
            a, b = self.component[i], self.component[j]
            if a != b and frozenset((a, b)) not in self.apart and (i, j) not in self.excluded:
                return i, j
        return None

    def merge(self, a, b):
        a, b = min(a, b), max(a, b)
        self.component = [a if c == b else c for c in self.component]
        self.apart = {frozenset(a if c == b else c for c in pair) for pair in self.apart}

    def undecided(self):
        names = sorted(set(self.component))
        return sum(frozenset((a, b)) not in self.apart for a in names for b in names if a < b)


# Few distinct coordinates make many ties.
grids = st.integers(2, 9).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=n, max_size=n)
)
moves = st.lists(st.sampled_from(["merge", "separate", "exclude"]), max_size=30)


@given(grids, moves)
def test_it_offers_what_a_sorted_list_of_all_pairs_would(grid, steps):
    points = np.array(grid, dtype=float)
    pairs = ClosestPairs(len(points), between(points))
    history: list[Any] = []

    def replayed():
        plain = SortedPairs(points)
        for move, i, j in history:
            a, b = plain.component[i], plain.component[j]
            if move == "merge":
                plain.merge(a, b)
            elif move == "separate":
                plain.apart.add(frozenset((a, b)))
            else:
                plain.excluded.add((i, j))
        return plain

    for step in steps:
        plain = replayed()
        assert pairs.closest() == plain.closest()
        assert pairs.component.tolist() == plain.component
        assert pairs.undecided == plain.undecided()
        pair = pairs.closest()
        if pair is None:
            break
        i, j = pair
        a, b = pairs.component[i], pairs.component[j]
        if step == "merge":
            pairs.merge(int(a), int(b))
        elif step == "separate":
            pairs.separate(int(a), int(b))
        else:
            pairs.exclude(i, j)
        history.append((step, i, j))


def test_too_many_items_are_refused_with_the_memory_they_would_take():
    with pytest.raises(InputError, match=r"20001 representatives are too many.*2\.4 GB"):
        ClosestPairs(MAX_ITEMS + 1, between(np.zeros((1, 1))))


def test_as_many_items_as_are_allowed_are_taken(monkeypatch):
    monkeypatch.setattr("likewise.core.closest_pairs.MAX_ITEMS", 5)
    assert ClosestPairs(5, between(np.arange(5.0)[:, None])).closest() == (0, 1)


def test_a_distance_that_is_not_finite_is_named():
    points = np.array([[0.0], [1.0], [np.inf]])
    with pytest.raises(InputError, match="representatives 0 and 2 is not finite"):
        ClosestPairs(3, between(points))


@pytest.mark.parametrize("n", [23, 24, 25])
def test_blocks_of_rows_make_no_difference(n, monkeypatch):
    points = np.random.default_rng(0).integers(0, 5, (n, 2)).astype(float)
    whole = ClosestPairs(n, between(points))
    monkeypatch.setattr("likewise.core.closest_pairs._ROWS_PER_BLOCK", 4)
    blocks = ClosestPairs(n, between(points))
    for one, other in zip(whole.pairs_of_components(), blocks.pairs_of_components(), strict=True):
        assert one.tolist() == other.tolist()
    assert whole.closest() == blocks.closest() == SortedPairs(points).closest()
