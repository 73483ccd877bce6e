"""Answers that may be wrong, weighed."""

from itertools import pairwise

import numpy as np

from likewise.strategies.beliefs import CERTAIN
from likewise.strategies.weighing import Weighing


def weighed(answers, groups, *, first, expected=None, new=0.2):
    groups = np.array(groups)
    n_groups = int(groups.max()) + 1
    expected = np.full((len(groups), n_groups), 0.8 / n_groups) if expected is None else expected
    weighing = Weighing(np.array(answers), groups, np.array(expected), new, 2.0)
    weighing.settle(first)
    return weighing


def chain(*rows):
    return [[a, b, 1] for a, b in pairwise(rows)]


def test_a_row_that_no_answer_puts_anywhere_stays_alone_however_likely_a_group_is():
    answers = [*chain(0, 1, 2), *chain(3, 4, 5), [6, 3, -1]]
    expected = np.full((7, 3), 0.05)
    expected[6] = [0.9, 0.03, 0.03]
    weighing = weighed(answers, [0, 0, 0, 1, 1, 1, 2], first=[6], expected=expected)
    assert weighing.groups.tolist() == [0, 0, 0, 1, 1, 1, 2]


def test_one_answer_does_not_join_large_groups_but_two_do():
    answers = [*chain(0, 1, 2), *chain(3, 4, 5), [0, 3, 1]]
    assert len(np.unique(weighed(answers, [0, 0, 0, 1, 1, 1], first=[0, 3]).groups)) == 2
    answers.append([1, 4, 1])
    assert len(np.unique(weighed(answers, [0, 0, 0, 1, 1, 1], first=[1, 4]).groups)) == 1


def test_two_answers_against_one_join_large_groups():
    answers = [*chain(0, 1, 2), *chain(3, 4, 5), [0, 3, -1], [1, 4, 1], [2, 5, 1]]
    assert len(np.unique(weighed(answers, [0, 0, 0, 1, 1, 1], first=[2, 5]).groups)) == 1


def test_between_counts_answers_for_and_against():
    answers = [*chain(0, 1), *chain(2, 3), [0, 2, -1], [1, 3, -1], [0, 3, 1]]
    weighing = Weighing(np.array(answers), np.array([0, 0, 1, 1]), np.full((4, 2), 0.4), 0.2, 2.0)
    assert weighing.between() == {(0, 1): (1, 2)}
    assert weighing.net() == {(0, 1): -1}


def test_what_is_certain_outweighs_any_number_of_answers():
    answers = [[0, 1, -CERTAIN], *([0, 1, 1] for _ in range(50)), *chain(1, 2, 3)]
    weighing = weighed(answers, [0, 0, 0, 0], first=[0, 1])
    assert weighing.groups[0] != weighing.groups[1]
