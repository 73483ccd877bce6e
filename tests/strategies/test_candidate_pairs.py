import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.distance import pdist

from likewise import Answer, Gesture, Link
from likewise.core.answered import Answers
from likewise.core.candidates import Candidates
from likewise.strategies import CandidatePairs, ClosestFirst
from likewise.testing.walks import cases, states, walks


def all_pairs(partition):
    reps = partition.representatives
    left, right = (reps[k] for k in np.triu_indices(len(reps), 1))
    return Candidates.sorted(partition.n_rows, left, right, pdist(partition.points))


@given(case=cases(ties=False), walk=walks("link", "mend", "revise", "undo", "redo", max_size=30))
def test_with_all_pairs_listed_it_asks_as_cobra_does(case, walk):
    listed = states(CandidatePairs(all_pairs(case.partition), case.partition), case, walk)
    for here, cobra in zip(listed, states(ClosestFirst(case.partition), case, walk), strict=True):
        assert here.ask() == cobra.ask()
        assert here.progress.at_most <= cobra.progress.at_most
        assert here.labels.tolist() == cobra.labels.tolist()


def names(questions):
    """Four spellings in a row, and two that are like the last of them only."""
    left, right = [0, 1, 2, 3, 3], [1, 2, 3, 4, 5]
    candidates = Candidates.sorted(7, np.array(left), np.array(right), [0.1, 0.2, 0.3, 0.4, 0.5])
    return CandidatePairs(candidates, questions=questions)


def say(answers, left, right, answer):
    answers.take(Gesture(0, (Link(left, right, answer),)))


def test_what_is_not_listed_is_not_asked_and_stays_apart_unless_it_follows():
    strategy, answers, asked = names("pairs"), Answers(7), []
    while (question := strategy.next_question(answers)) is not None:
        row, ((other,),) = question
        asked.append((row, other))
        say(answers, row, other, Answer.SAME if other < 4 else Answer.DIFFERENT)
    assert asked == [(0, 1), (1, 2), (2, 3), (3, 4), (3, 5)]
    assert strategy.labels(answers).tolist() == [0, 0, 0, 0, 1, 2, 3]


def test_a_choice_shows_the_groups_of_a_rows_candidates_and_none_of_these_settles_all():
    strategy, answers = names("choices"), Answers(7)
    for row, other in ((0, 1), (1, 2)):
        say(answers, row, other, Answer.SAME)
    # Row 3 is in the smaller group; beside it are the three joined ones and its two others.
    assert strategy.next_question(answers) == (3, ((2, 1, 0), (4,), (5,)))
    assert strategy.assess(answers).remaining() == (3, 3)
    for head in (2, 4, 5):
        say(answers, 3, head, Answer.DIFFERENT)
    assert strategy.next_question(answers) is None
    assert strategy.assess(answers).remaining() == (0, 0)


def test_after_not_sure_a_row_is_not_shown_beside_that_group_again():
    candidates = Candidates.sorted(3, np.array([0, 0, 1]), np.array([1, 2, 2]), [0.1, 0.2, 0.3])
    choices, pairs = CandidatePairs(candidates, questions="choices"), CandidatePairs(candidates)
    answers = Answers(3)
    say(answers, 0, 1, Answer.SAME)
    say(answers, 2, 0, Answer.UNSURE)
    assert choices.next_question(answers) is None
    assert pairs.next_question(answers) == (1, ((2,),))


def test_of_a_pair_listed_twice_the_closest_counts():
    listed = Candidates.sorted(3, np.array([2, 0, 1]), np.array([0, 2, 2]), [0.5, 0.2, 0.3])
    assert [listed.left.tolist(), listed.right.tolist()] == [[0, 1], [2, 2]]
    assert listed.distances.tolist() == [0.2, 0.3]


def test_distances_are_looked_up_as_in_a_matrix():
    listed = Candidates.sorted(4, np.array([0, 1]), np.array([2, 2]), [0.2, 0.3])
    rows = np.array([0, 2, 3])
    assert listed[np.ix_(rows, rows)] == pytest.approx(
        np.array([[0, 0.2, 1.3], [0.2, 0, 1.3], [1.3, 1.3, 0]])
    )
