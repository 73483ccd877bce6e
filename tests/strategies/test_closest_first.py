import numpy as np

from likewise import Answer
from likewise.core.partition import singletons
from likewise.strategies import ClosestFirst


def test_groups_nobody_answered_about_take_one_question_each_and_the_others_are_apart():
    strategy = ClosestFirst(singletons(np.array([[0.0], [1.0], [3.0], [9.0]])))
    assert strategy.remaining() == (6, 4)
    strategy.record(0, 1, Answer.DIFFERENT)
    assert strategy.remaining() == (5, 2)
    strategy.record(1, 2, Answer.SAME)
    assert strategy.remaining() == (2, 1)
