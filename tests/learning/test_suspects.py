"""Answers that are probably wrong, by what is known without them."""

import numpy as np
import pytest

from likewise import Answer
from likewise.learning.suspects import surprising_answers

CHANCES = {0: np.array([0.9, 0.1]), 1: np.array([0.8, 0.2]), 2: np.array([0.3, 0.7])}


def test_answers_less_likely_than_not_are_named_the_least_credible_first():
    log = [
        (0, 1, Answer.SAME),  # likely
        (0, 2, Answer.SAME),  # 0.9 * 0.3 + 0.1 * 0.7
        (1, 2, Answer.UNSURE),  # says nothing
        (0, 1, Answer.DIFFERENT),  # 1 - (0.9 * 0.8 + 0.1 * 0.2)
        (0, 3, Answer.SAME),  # nothing is known about row 3
    ]
    found = surprising_answers(log, CHANCES)
    assert [(s.number, s.left, s.right) for s in found] == [(4, 0, 1), (2, 0, 2)]
    assert [s.credibility for s in found] == pytest.approx([0.26, 0.34])


def test_equally_credible_answers_are_named_in_their_order():
    found = surprising_answers([(0, 2, Answer.SAME)] * 3, CHANCES)
    assert [s.number for s in found] == [1, 2, 3]
