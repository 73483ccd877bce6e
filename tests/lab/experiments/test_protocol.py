import time

import numpy as np
import pytest

from likewise import Answer, Question
from likewise.errors import BudgetExhausted
from likewise.lab.experiments.oracle import ForbiddenQueryError, GuardedOracle
from likewise.lab.experiments.protocol import folds, seed_of


def test_every_row_is_tested_once():
    parts = folds("iris", 147)
    assert len(parts) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(147))
    assert {len(part) for part in parts} == {29, 30}


def test_folds_depend_on_the_task_alone():
    np.testing.assert_array_equal(folds("iris", 100)[0], folds("iris", 100)[0])
    assert not np.array_equal(folds("iris", 100)[0], folds("wine", 100)[0])


def test_seeds_differ_by_every_part_and_are_small_enough_for_numpy():
    parts = [("iris", 0, 25, "A"), ("iris", 1, 25, "A"), ("iris", 0, 50, "A"), ("iris", 0, 25, "B")]
    seeds = {seed_of(*part) for part in parts}
    assert len(seeds) == 4
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_the_oracle_counts_and_logs_in_order():
    oracle = GuardedOracle([0, 0, 1], [0, 1, 2])
    assert oracle.answer(Question(1, 0, ((1,),))) is Answer.SAME
    assert not oracle.same(2, 0)
    assert oracle.answers == [Answer.SAME, Answer.DIFFERENT]


def test_the_oracle_refuses_test_rows_and_remembers_it():
    oracle = GuardedOracle([0, 0, 1], [0, 1])
    with pytest.raises(ForbiddenQueryError, match="row 2 of the test part"):
        oracle.same(0, 2)
    assert oracle.forbidden == (0, 2)
    assert oracle.n_queries == 0


@pytest.mark.parametrize("row", [-1, 3])
def test_the_oracle_refuses_rows_that_do_not_exist(row):
    with pytest.raises(ForbiddenQueryError):
        GuardedOracle([0, 0, 1], [0, 1, 2]).same(0, row)


def test_the_oracle_holds_the_budget():
    oracle = GuardedOracle([0, 0, 1], [0, 1, 2], budget=1)
    oracle.same(0, 1)
    with pytest.raises(BudgetExhausted):
        oracle.same(0, 2)
    assert oracle.n_queries == 1
    assert not oracle.is_late


def test_the_oracle_is_late_after_its_deadline():
    oracle = GuardedOracle([0, 0, 1], [0, 1, 2], deadline=time.thread_time() - 1)
    with pytest.raises(BudgetExhausted, match="time limit"):
        oracle.same(0, 1)
    assert oracle.is_late
