from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from likewise import Answer, Gesture, Link
from likewise.core.answered import Answers
from likewise.core.partition import singletons
from likewise.strategies import ClosestFirst

# Few distinct coordinates make many ties.
grids = st.integers(2, 9).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=n, max_size=n)
)


@given(grids, st.lists(st.sampled_from(Answer), max_size=30))
def test_it_asks_about_the_first_of_all_pairs_that_is_neither_settled_nor_was_asked(grid, answers):
    points = np.array(grid, dtype=float)
    strategy, n = ClosestFirst(singletons(points)), len(grid)
    distance = cdist(points, points)
    order = sorted((distance[i, j], i, j) for i in range(n) for j in range(i + 1, n))
    asked, said = set(), Answers(n)
    for answer in answers:
        is_open = ((i, j) for _, i, j in order if said.links.implied(i, j) is None)
        pair = next((pair for pair in is_open if pair not in asked), None)
        question = strategy.next_question(said)
        assert question == (None if pair is None else (pair[0], ((pair[1],),)))
        roots = {said.links.find(i) for i in range(n)}
        undecided = [p for p in combinations(roots, 2) if said.links.implied(*p) is None]
        assert strategy.assess(said).remaining()[0] == len(undecided)
        if pair is None:
            break
        asked.add(pair)
        say(said, *pair, answer)


def say(answers, left, right, answer):
    answers.take(Gesture(0, (Link(left, right, answer),)))


def test_groups_nobody_answered_about_take_one_question_each_and_the_others_are_apart():
    strategy = ClosestFirst(singletons(np.array([[0.0], [1.0], [3.0], [9.0]])))
    answers = Answers(4)
    assert strategy.assess(answers).remaining() == (6, 4)
    say(answers, 0, 1, Answer.DIFFERENT)
    assert strategy.assess(answers).remaining() == (5, 2)
    say(answers, 1, 2, Answer.SAME)
    assert strategy.assess(answers).remaining() == (2, 1)
