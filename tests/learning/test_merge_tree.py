"""Groups below a line through a tree, and what answers change about them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from likewise import Answer
from likewise.learning.merge_tree import join_by_guess, merge_tree

POINTS = np.array([[0.0], [1.0], [8.0], [9.0]])
SAME, DIFFERENT = Answer.SAME, Answer.DIFFERENT


@pytest.mark.parametrize(
    ("answers", "groups"),
    [
        ([], [0, 0, 2, 2]),
        ([(0, 2, DIFFERENT)], [0, 0, 2, 2]),
        ([(0, 3, SAME)], [0, 0, 0, 0]),
        # Both of two near leaves are told apart from others: they are taken to be whole.
        ([(0, 2, DIFFERENT), (1, 3, DIFFERENT)], [0, 1, 2, 3]),
    ],
)
def test_near_leaves_are_joined_unless_answers_speak_against_it(answers, groups):
    assert join_by_guess(merge_tree(pdist(POINTS), is_euclidean=True), answers).tolist() == groups


@given(st.lists(st.integers(0, 2), min_size=3, max_size=9), st.data())
def test_every_answer_is_respected(truth, data):
    rows = st.integers(0, len(truth) - 1)
    drawn = data.draw(st.lists(st.tuples(rows, rows).filter(lambda p: p[0] != p[1]), max_size=12))
    answers = [(i, j, SAME if truth[i] == truth[j] else DIFFERENT) for i, j in drawn]
    tree = merge_tree(pdist(np.arange(len(truth))[:, None] ** 1.3), is_euclidean=True)
    groups = join_by_guess(tree, answers)
    assert all((groups[i] == groups[j]) == (answer is SAME) for i, j, answer in answers)
