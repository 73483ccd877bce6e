"""Which answers are checked, and what that says about all of them."""

import numpy as np

from likewise.core.answers import Answer
from likewise.strategies.row_by_row.checks import Checks, odds_of_wrong, turns_of, worth_a_check

S, D, U = Answer


def test_turns_end_when_a_row_is_placed_and_begin_again_with_a_check():
    log = [(0, 1, D), (2, 0, D), (2, 1, S), (3, 0, U), (2, 0, D), (2, 1, S)]
    turns = turns_of(log, 1, 4)
    assert [(t.row, t.is_check) for t in turns] == [
        (0, False),
        (2, False),
        (3, False),
        (2, True),
        (2, True),
    ]
    assert [t.n_questions(1) for t in turns] == [1, 2, 1, 1, 1]
    assert turns_of(log, 6, 4)[1].n_questions(6) == 2


def test_fewer_errors_are_expected_when_checks_find_nothing_and_more_when_they_do():
    checked = turns_of([(k, 0, S) for k in (*range(1, 41), *range(1, 5))], 6, 60)
    rates = [Checks(checked, out, "estimate").rate for out in ((), {0}, {0, 1})]
    assert rates[0] < 0.05 < rates[2]
    assert rates == sorted(rates)
    assert Checks(checked, {0, 1}, 0.2).rate == 0.2


def test_checks_stop_when_few_errors_are_expected():
    left_out = np.array([[0.95, 0.05]] * 10 + [[0.05, 0.95]] * 10)
    groups = np.repeat([0, 1], 10)
    groups[3] = 1
    no_first = np.zeros(20, dtype=bool)
    for rate, expected in ((0.05, [(3, False)]), (0.005, [])):
        assert worth_a_check(left_out, groups, no_first, rate=rate, max_groups=6) == expected


def test_the_first_row_of_a_group_that_looks_like_another_one_is_checked():
    left_out = np.array([[0.9, 0.06, 0.04]] * 10 + [[0.05, 0.9, 0.05]] * 10 + [[0.7, 0.1, 0.2]] * 4)
    groups = np.repeat([0, 1, 2], [10, 10, 4])
    is_first = np.isin(np.arange(24), [0, 10, 20])
    assert worth_a_check(left_out, groups, is_first, rate=0.1, max_groups=6) == [(20, True)]
    single = groups[:21]
    assert worth_a_check(left_out[:21], single, is_first[:21], rate=0.1, max_groups=6) == [
        (20, True)
    ]


def test_a_row_that_the_others_speak_against_is_probably_wrong():
    left_out = np.array([[0.95, 0.05], [0.9, 0.1], [0.1, 0.9], [0.97, 0.03]])
    odds = odds_of_wrong(left_out, np.array([0, 0, 1, 1]), rate=0.05, max_groups=6)
    assert np.argmax(odds) == 3


def test_a_row_is_undecided_while_as_many_of_its_answers_are_overruled_as_not():
    log = [(1, 0, S), (2, 0, D), (1, 2, S)]
    turns = turns_of(log, 1, 4)
    assert Checks(turns, {0}, 0.1).undecided() == [(1, False)]
    assert Checks(turns, {1}, 0.1).undecided() == [(2, True)]
    assert Checks(turns, (), 0.1).undecided() == []
    thrice = turns_of([*log, (1, 3, S)], 1, 5)
    assert Checks(thrice, {0}, 0.1).undecided() == []


def test_no_row_is_asked_about_more_than_four_times():
    turns = turns_of([(0, 1, D), (2, 0, S), *[(2, 1, S), (2, 0, S)] * 2], 1, 4)
    assert len([turn for turn in turns if turn.row == 2]) == 5
    assert Checks(turns, {1, 2, 3}, 0.1).undecided() == []


def test_a_check_ends_with_as_many_groups_as_are_shown():
    log = [(0, 1, D), (2, 0, D), (2, 1, D), (2, 0, D), (2, 1, D), (2, 0, S)]
    assert [turn.places for turn in turns_of(log, 2, 4)] == [(0,), (1, 2), (3, 4), (5,)]


def test_the_first_row_of_a_larger_group_is_checked_for_all_its_rows():
    # Odds of .05 / .95 / 2: of 4 rows they move .1, of 3 rows less.
    left_out = np.array([[0.5, 0.5]] * 12)
    groups = np.repeat([0, 1], [8, 4])
    is_first = np.isin(np.arange(12), [0, 8])
    found = worth_a_check(left_out, groups, is_first, rate=0.05, max_groups=6)
    assert found == [(0, True), (8, True)]
    fewer = groups[:11]
    found = worth_a_check(left_out[:11], fewer, is_first[:11], rate=0.05, max_groups=6)
    assert found == [(0, True)]
