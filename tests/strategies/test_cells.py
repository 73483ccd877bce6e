"""What a log says about groups and rows whose group is still looked for; labels that respect it."""

import numpy as np
import pytest

from likewise import Answer, Gesture, Link
from likewise.core.answered import Answers
from likewise.core.labels import respecting_groups
from likewise.core.links import LinkGraph
from likewise.learning.learner import Learner
from likewise.strategies.cells import known_cells, proba_of_new

SAME, DIFFERENT, UNSURE = Answer
POINTS = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1]])
LEARNER = Learner(POINTS, np.ones(len(POINTS)))


def known(*log, rows=range(8)):
    return known_cells(said(*log), {row: row for row in rows}, LEARNER, by_pairs=True)


def said(*links):
    return Answers(50, [Gesture(0, (Link(*link),)) for link in links])


def test_before_the_first_answer_nothing_is_known():
    empty = known()
    assert (empty.groups, empty.pending, empty.learned) == ([], [], None)


@pytest.mark.parametrize(
    ("answer", "groups"), [(SAME, [[0, 3]]), (DIFFERENT, [[0], [3]]), (UNSURE, [])]
)
def test_the_first_answer_makes_one_group_or_two_or_none(answer, groups):
    assert known((0, 3, answer)).groups == groups


def test_a_row_that_differs_from_all_groups_is_a_group():
    now = known((1, 0, SAME), (3, 0, DIFFERENT), (6, 0, DIFFERENT), (6, 3, DIFFERENT))
    assert sorted(map(sorted, now.groups)) == [[0, 1], [3], [6]]
    assert now.pending == []


def test_a_row_that_was_compared_with_one_of_several_groups_is_pending():
    now = known(
        (1, 0, SAME), (2, 0, SAME), (4, 3, SAME), (5, 3, SAME), (3, 0, DIFFERENT),
        (6, 0, DIFFERENT),
    )  # fmt: skip
    assert now.pending == [6]
    assert now.groups == [[1, 0, 2], [4, 3, 5]]
    assert now.open_groups(6) == [1]


def test_a_row_that_nobody_is_sure_about_is_neither_pending_nor_a_group():
    now = known((1, 0, SAME), (4, 3, SAME), (3, 0, DIFFERENT), (6, 0, UNSURE), (6, 3, UNSURE))
    assert now.unsure == {6}
    assert 6 not in now.order
    assert now.pending == []


def test_examples_are_the_rows_of_groups_by_first_mention():
    now = known((4, 3, SAME), (1, 0, SAME), (1, 4, DIFFERENT))
    rows, groups = now.examples()
    assert rows.tolist() == [4, 3, 1, 0]
    assert groups.tolist() == [0, 0, 1, 1]


def test_rows_that_may_not_be_shown_are_no_examples():
    now = known((0, 1, SAME), (1, 7, SAME), rows=range(7))
    assert now.order == [0, 1]


def test_the_likeliest_group_comes_first_and_the_nearest_before_anything_is_learned():
    one = known((1, 0, SAME))
    assert one.likeliest(3, [0]) == [0]
    now = known((1, 0, SAME), (4, 3, SAME), (3, 0, DIFFERENT))
    assert now.likeliest(2, [0, 1]) == [0, 1]
    assert now.likeliest(5, [0, 1]) == [1, 0]


def test_a_new_group_is_the_less_likely_the_more_rows_were_placed_per_group():
    assert proba_of_new(2, 0) == 0.5
    assert proba_of_new(2, 1) == 0.5
    proba = [proba_of_new(3, n) for n in (3, 10, 100)]
    assert proba == sorted(proba, reverse=True)


def test_labels_respect_links_also_where_all_groups_are_forbidden():
    links = LinkGraph(6)
    for i, j in ((0, 1), (0, 2), (1, 2), (2, 3)):
        links.add(i, j, DIFFERENT)
    links.add(3, 4, SAME)
    proba = np.tile([[0.6, 0.4]], (6, 1))
    labels = respecting_groups(proba, links, {0: 0, 1: 1})
    assert len({*labels[:3]}) == 3
    assert labels[3] == labels[4] != labels[2]


def test_of_rows_that_differ_those_that_are_more_choose_their_group_first():
    links = LinkGraph(4)
    links.add(1, 2, SAME)
    links.add(2, 3, SAME)
    links.add(0, 3, DIFFERENT)
    proba = np.tile([[0.6, 0.4]], (4, 1))
    assert respecting_groups(proba, links, {}).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("by_pairs", [True, False])
def test_a_row_is_not_asked_about_beside_unlikely_groups_alone(by_pairs):
    # The last row lies in the first of twenty groups, but differs from it.
    centers = np.random.default_rng(0).normal(size=(20, 8)) * 10.0
    rows = np.concatenate([np.repeat(centers, 2, axis=0), centers[:1]])
    firsts = range(0, 40, 2)
    log = [(row + 1, row, SAME) for row in firsts]
    log += [(row, other, DIFFERENT) for row in firsts for other in range(0, row, 2)]
    log += [(40, 0, DIFFERENT)]
    cells = {row: row for row in range(41)}
    now = known_cells(said(*log), cells, Learner(rows), by_pairs=by_pairs)
    assert now.pending == []
    assert now.groups[-1] == [40]


def test_a_row_that_was_put_into_none_of_all_groups_is_a_group_for_good():
    links = Link(6, 0, DIFFERENT), Link(6, 3, DIFFERENT)
    answers = [
        Gesture(1, (Link(0, 3, DIFFERENT),)),
        Gesture(2, links, source="asked", groups=((0,), (3,))),
        # Somebody makes a group of rows near it, which it was not compared with.
        Gesture(3, (Link(5, 7, SAME),), source="given"),
    ]
    now = known_cells(Answers(50, answers), {row: row for row in range(8)}, LEARNER, by_pairs=False)
    assert [6] in now.groups
    assert 6 not in now.pending
