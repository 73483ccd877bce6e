"""What answers say about cells, and how likely a cell is in each group."""

import numpy as np
import pytest

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.learning.learner import Learner
from likewise.strategies.row_by_row.known import likeliest, read_log

S, D, U = Answer

POINTS = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [0.3]])


def known_after(*log, max_groups=1):
    links = LinkGraph(len(POINTS))
    for said in log:
        if said[2].is_link:
            links.add(*said)
    cell_of = {row: row for row in range(len(POINTS))}
    return read_log(log, links, cell_of, Learner(POINTS)).with_first_cells(max_groups)


def test_equally_likely_groups_are_shown_by_distance():
    found = likeliest([3, 4], np.array([0.5, 0.5]), [2.0, 1.0], n_groups=2, n_placed=9)
    assert found.groups == [4, 3]
    assert found.chances.sum() + found.new == pytest.approx(1.0)


def test_before_there_are_two_groups_nothing_is_learned():
    known = known_after((1, 0, S))
    assert (known.order, len(known.groups), known.pending) == ([1, 0], 1, [])
    assert known.learned is None
    assert known.chances_in(known.groups[0]) == {}
    assert known.chances_of(5).tolist() == [1.0]


def test_a_cell_that_differs_from_all_groups_is_the_first_of_its_own():
    known = known_after((1, 0, S), (4, 3, S), (3, 0, D), (6, 0, D), (6, 3, D))
    assert len(known.groups) == 3
    assert known.pending == []
    assert known.n_placed == 5
    assert known.learned is not None


def test_a_cell_that_may_be_in_a_group_is_not_the_first_of_its_own():
    known = known_after((1, 0, S), (4, 3, S), (3, 0, D), (7, 3, D))
    assert known.pending == [7]
    assert [len(known.cells[group]) for group in known.groups] == [2, 2]


def test_a_cell_that_somebody_was_unsure_about_is_not_the_first_of_its_own():
    known = known_after((1, 0, S), (4, 3, S), (3, 0, D), (6, 3, D), (6, 0, U))
    assert known.pending == [6]
    assert len(known.unsure) == 2


def test_known_cells_are_judged_by_the_others():
    known = known_after((1, 0, S), (2, 0, S), (4, 3, S), (5, 3, S), (3, 0, D))
    low, high = (known.links.find(row) for row in (0, 3))
    inside = known.chances_in(low)
    assert inside.keys() == {0, 1, 2, 3, 4, 5}
    assert min(inside[cell] for cell in (0, 1, 2)) > 0.5 > max(inside[cell] for cell in (3, 4, 5))
    assert known.chances_of(1)[known.groups.index(low)] == inside[1]
    assert known.likeliest(7, known.groups).groups == [low, high]
    assert known.likeliest(6, known.groups).groups == [high, low]


def test_all_cells_have_chances_and_known_ones_are_sure():
    known = known_after((1, 0, S), (4, 3, S), (3, 0, D))
    chances = known.chances(None)
    assert chances.shape == (8, 2)
    number = known.groups.index(known.links.find(0))
    assert chances[[0, 1, 3, 4], number].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert chances[2, number] > 0.5 > chances[6, number]


def test_a_region_nobody_asked_about_is_a_group_while_most_rows_begin_one():
    regions = np.array([0, 0, 0, 1, 1, 1, 2, 0])
    few = known_after((3, 0, D))
    assert few.n_placed == 2
    chances = few.chances(regions)
    assert chances.shape == (8, 3)
    assert np.flatnonzero(chances[:, 2]).tolist() == [6]
    many = known_after((1, 0, S), (2, 0, S), (4, 3, S), (5, 3, S), (3, 0, D))
    assert many.chances(regions).shape == (8, 2)
