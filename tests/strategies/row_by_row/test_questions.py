"""How a question looks."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from likewise.core.answers import Answer
from likewise.core.partition import SuperInstances
from likewise.strategies.row_by_row.cells import cells_of
from likewise.strategies.row_by_row.checks import N_BEFORE_CHECKS, Checks, turns_of
from likewise.strategies.row_by_row.known import read_log
from likewise.strategies.row_by_row.questions import Questions, rows_to_show
from likewise.strategies.row_by_row.strategy import RowByRow

S, D, U = Answer

X, Y = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
EACH = np.arange(60)


def questions_after(log, *, max_groups=6, rate=0.1):
    """Return the questions after some answers, by a strategy that was told them."""
    options = {"max_groups": max_groups, "error_rate": rate}
    strategy = RowByRow(SuperInstances(EACH, EACH, points=X), **options)
    for said in log:
        strategy.record(*said)
    cell_of = {int(row): int(row) for row in EACH}
    known = read_log(strategy._log, strategy.links, cell_of, strategy._learner)
    checks = Checks(turns_of(log, max_groups, 60), set(strategy.overruled()), rate)
    return Questions(
        known.with_first_cells(max_groups),
        log,
        EACH,
        cell_of,
        strategy._regions,
        max_groups,
        checks if rate else None,
    )


def members(group, n):
    return np.flatnonzero(group == Y)[:n].tolist()


def placed(n):
    """Return a log that puts `n` rows into each of the three groups."""
    rows = [members(group, n) for group in range(3)]
    log = [(rows[1][0], rows[0][0], D), (rows[2][0], rows[0][0], D), (rows[2][0], rows[1][0], D)]
    return [*log, *((row, own[0], S) for own in rows for row in own[1:])]


def test_where_answers_may_be_wrong_only_credible_rows_are_shown():
    some, belief = [1, 2, 3, 4], {1: 0.9, 2: 0.3, 3: 0.95, 4: 0.85}
    shown = rows_to_show(some, [1, 2, 3, 4], n_same={1: 5}, belief=belief, distances=None)
    assert shown == [1, 3, 4]


def test_the_first_question_is_about_two_of_the_heads():
    ask = questions_after([])
    assert ask.first([4, 7, 9]) == (4, ((7,),))
    row, groups = ask.first([4])
    assert row == 4
    assert groups[0][0] != 4


def test_a_row_is_shown_beside_the_groups_it_may_belong_to_the_likeliest_first():
    ask = questions_after(placed(5))
    row = members(1, 6)[-1]
    _, groups = ask.place(row)
    assert Y[groups[0][0]] == 1
    assert len(groups) == 3
    assert all(len(set(Y[list(group)])) == 1 for group in groups)
    row_out = [*placed(5), (row, members(1, 1)[0], D)]
    _, groups = questions_after(row_out).place(row)
    assert 1 not in {Y[group[0]] for group in groups}


def test_no_row_is_checked_while_few_are_placed():
    wrong = [*placed(3), (members(0, 4)[-1], members(1, 1)[0], S)]
    ask = questions_after(wrong)
    assert ask.known.n_placed < N_BEFORE_CHECKS
    assert list(ask.suspicious()) == []


@pytest.mark.parametrize("max_groups", [1, 6])
def test_a_row_that_others_contradict_is_asked_about_again(max_groups):
    row = members(0, 9)[-1]
    wrong = [*placed(8), (row, members(1, 1)[0], S)]
    ask = questions_after(wrong, max_groups=max_groups)
    asked, groups = next(q for q in ask.suspicious() if q is not None)
    assert asked == row
    assert Y[groups[0][0]] == 0
    assert not [q for q in ask.suspicious(only_first=True) if q is not None and q[0] == row]
    assert list(questions_after(wrong, max_groups=max_groups, rate=0.0).suspicious()) == []


def test_the_first_row_of_a_group_that_exists_by_mistake_is_checked():
    rows = members(0, 12)
    log = [*placed(8), *((rows[8], members(group, 1)[0], D) for group in range(3))]
    log += [(row, rows[8], S) for row in rows[9:]]
    ask = questions_after(log)
    firsts = [q[0] for q in ask.suspicious(only_first=True) if q is not None]
    assert rows[8] in firsts
    own = ask.known.links.find(rows[8])
    _, groups = next(q for q in ask.suspicious(only_first=True) if q and q[0] == rows[8])
    assert all(ask.known.links.find(group[0]) != own for group in groups)


def test_a_row_with_two_answers_that_differ_is_asked_about_a_third_time_unless_it_fits():
    row = members(0, 9)[-1]
    there, back = (row, members(1, 1)[0], S), (row, members(0, 2)[-1], S)
    undecided = [*placed(8), back, there]
    assert [q[0] for q in questions_after(undecided).third_answers() if q] == [row]
    fits = [*placed(8), there, back]
    assert list(questions_after(fits).third_answers()) == []


def test_when_no_newcomer_is_left_the_closest_open_pair_is_asked_about():
    ask = questions_after([(3, 0, D), (7, 0, D), (5, 3, U)])
    left, ((right,),) = ask.leftover()
    open_pairs = [(3, 7), (0, 5), (5, 7)]
    far = {
        pair: np.linalg.norm(ask.regions.points[pair[0]] - ask.regions.points[pair[1]])
        for pair in open_pairs
    }
    assert (left, right) == min(far, key=far.__getitem__)


def test_rows_that_may_not_be_asked_about_are_cells_too():
    partition, is_askable = cells_of(X, train_indices=np.array([1, 5]), seed=0)
    assert partition.n_super_instances == 60
    assert is_askable is not None
    assert np.flatnonzero(is_askable).tolist() == [1, 5]
    assert cells_of(X, train_indices=None, seed=0)[1] is None
    strategy = RowByRow(partition, askable=is_askable)
    assert strategy.askable().tolist() == [1, 5]
    other = strategy.on(partition, askable=np.array([2, 7]), n_parts=7)
    assert other.askable().tolist() == [2, 7]
    assert (other.n_regions[-1], other.n_parts) == (7, 7)
    assert strategy.on(partition).is_askable.all()
