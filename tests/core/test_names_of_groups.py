"""Groups known by name only, several groups chosen as one, and groups that may be one."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import COBRA, Answer, LabelOracle, Likewise, Session, run
from likewise.errors import AnswerError, ContradictionError, InputError

X, Y = make_blobs(60, centers=3, cluster_std=0.5, random_state=3)
NAMES = ["ant", "bee", "cow"]
WORDS = np.array(NAMES)[Y]


def begun(**about):
    session = Likewise(random_state=0).start(X, **{"group_names": NAMES, **about})
    session.extend()
    return session


def test_every_name_is_offered_from_the_first_question_and_choosing_it_begins_the_group():
    session = begun()
    question = session.ask()
    assert (question.groups, question.names) == (((), (), ()), tuple(NAMES))
    session.choose(1)
    following = session.ask()
    assert following.groups == ((question.row,), (), ())
    assert following.names == ("bee", "ant", "cow")
    assert session.names == {question.row: "bee"}
    session.choose(2)
    assert session.ask().names[-1] == "ant"
    assert session.labels[following.row] != session.labels[question.row]


def test_an_oracle_that_knows_the_names_fills_them_and_every_group_has_its_own():
    session = run(begun(), LabelOracle(WORDS), max_queries=20)
    assert adjusted_rand_score(Y, session.labels) == 1.0
    assert sorted(session.names.values()) == NAMES
    assert all(WORDS[row] == name for row, name in session.names.items())
    assert not any(() in gesture.groups for gesture in session.events[3:])


def test_names_survive_saving_undo_redo_and_replay():
    session = run(begun(), LabelOracle(WORDS), max_queries=5)
    saved = json.loads(json.dumps(session.to_dict()))
    again = Session.from_dict(saved)
    assert again == session
    assert (again.names, again.ask()) == (session.names, session.ask())
    assert again.group_names == tuple(NAMES)
    names, first = session.names, session.events[0]
    while session.undo() is not None:
        pass
    assert (session.names, session.ask().names) == ({}, tuple(NAMES))
    while session.redo() is not None:
        pass
    assert (session.names, session.events[0]) == (names, first)


def test_none_and_not_sure_beside_names_alone():
    session = begun()
    row = session.ask().row
    session.choose(Answer.UNSURE)
    assert session.ask().row != row
    assert session.ask().names == tuple(NAMES)
    other = session.ask().row
    session.choose(Answer.NONE)
    assert session.ask().groups[0] == (other,)
    assert session.ask().names == (None, *NAMES)


def test_a_name_that_others_have_begun_meanwhile_is_their_group():
    session, (one, other, third) = begun(), np.flatnonzero(Y == 0)[:3].tolist()
    empty = ((), (), ())
    first, second, none = (
        session.put(row, empty, source="asked", names=NAMES) for row in (one, other, third)
    )
    assert second.names == tuple(NAMES)
    session.choose(0, question=first)
    session.choose(0, question=second)
    assert session.names == {one: "ant"}
    assert session.links.implied(one, other) is Answer.SAME
    assert session.events[1].groups == ((one,), (), ())
    session.choose(Answer.NONE, question=none)
    assert session.links.implied(third, one) is Answer.DIFFERENT
    assert Session.from_dict(json.loads(json.dumps(session.to_dict()))) == session
    # Whoever has the same row as the first may choose another name for it.
    again = session.put(one, empty, source="sampled", names=NAMES)
    session.choose(2, question=again)
    assert session.names == {one: "cow"}


def test_an_answer_is_revised_to_another_name():
    session = run(begun(), LabelOracle(WORDS), max_queries=2)
    first = session.events[0]
    place = next(
        k
        for k, name in enumerate(first.names)
        if name not in (first.name, WORDS[session.events[1].left])
    )
    session.revise(1, place)
    assert session.names[first.left] == first.names[place]
    with pytest.raises(AnswerError, match="cannot both be begun by one row"):
        session.revise(1, [0, 1])


def test_a_name_given_while_mending_is_not_offered_again():
    session = begun()
    row = session.ask().row
    session.choose(Answer.NONE)
    session.name({row: "cow"})
    assert session.ask().names == ("cow", "ant", "bee")


def test_given_groups_are_in_the_first_question_by_a_typical_member_and_named():
    session = begun(groups=WORDS, group_names=["dog"])
    question = session.ask()
    assert len(question.groups) == 4
    assert question.names[-1] == "dog"
    for group, name in zip(question.groups[:3], question.names[:3], strict=True):
        members = np.flatnonzero(name == WORDS)
        from_center = np.linalg.norm(X[members] - X[members].mean(axis=0), axis=1)
        assert from_center[members.tolist().index(group[0])] <= np.quantile(from_center, 0.1)
    session.choose(question.names.index(WORDS[question.row]))
    assert session.n_groups == 3


@pytest.mark.parametrize(
    ("names", "message"),
    [("cats", "several names"), (["a", "a"], "twice"), ([" "], "empty text"), ([1], "name")],
)
def test_names_that_are_none_are_refused(names, message):
    with pytest.raises(InputError, match=message):
        Likewise().start(X, group_names=names)


def test_names_are_for_choices():
    with pytest.raises(InputError, match="for choices"):
        Likewise(questions="pairs").start(X, group_names=NAMES)
    with pytest.raises(InputError, match="COBRA has no choices"):
        COBRA(5).start(X, group_names=NAMES)


# -- several groups are one ----------------------------------------------------------------------


def apart():
    """Return a session that knows three groups, told apart by answers."""
    session = Likewise(random_state=0).start(X)
    session.extend()
    return run(session, LabelOracle(Y), max_queries=10)


def test_several_groups_chosen_are_one_though_answers_told_them_apart():
    session = apart()
    before, question = session.to_dict(), session.ask()
    gesture = session.choose([0, 2])
    heads = [question.groups[place][0] for place in (0, 2)]
    assert [link.right for link in gesture.links] == heads
    assert session.n_groups == 2
    assert len({*session.labels[[question.row, *heads]]}) == 1
    again = Session.from_dict(session.to_dict())
    assert again.labels.tolist() == session.labels.tolist()
    session.undo()
    session._undone.clear()
    assert session.to_dict() == before
    session.choose(0)
    session.revise(len(session.events), [0, 2])
    assert session.n_groups == 2


def test_groups_that_certainly_differ_are_not_made_one_by_an_answer():
    session = apart()
    question = session.ask()
    session.judge(question.groups[0][0], question.groups[1][0], "different")
    before = session.to_dict()
    with pytest.raises(ContradictionError):
        session.choose([0, 1])
    assert session.to_dict() == before


# -- merges --------------------------------------------------------------------------------------


def doubled(n=24):
    """Return a session in which somebody began the same group twice."""
    session = Likewise(random_state=0).start(X)
    session.extend()
    run(session, LabelOracle(Y), max_queries=6)
    question = session.ask()
    session.choose(Answer.NONE)  # overlooked
    for _ in range(n):  # and takes the first of two groups that fit, as people do who see one
        asked = session.ask()
        fits = [k for k, rows in enumerate(asked.groups) if Y[rows[0]] == Y[asked.row]]
        session.choose(fits[0] if fits else Answer.NONE)
    return session, question.row


def test_a_group_that_was_begun_twice_is_suggested_and_merged_for_good():
    session, row = doubled()
    assert session.n_groups == 4
    merge = session.merges[0]
    assert row in (merge.left, merge.right)
    assert Y[merge.left] == Y[merge.right]
    session.judge(merge.left, merge.right, True)
    assert session.n_groups == 3
    assert adjusted_rand_score(Y, session.labels) == 1.0
    assert all(Y[m.left] != Y[m.right] for m in session.merges)


def test_groups_that_are_kept_apart_are_never_suggested_again():
    session, _ = doubled()
    n_groups = session.n_groups
    while session.merges:
        merge = session.merges[0]
        session.judge(merge.left, merge.right, "different")
        assert (merge.left, merge.right) not in {(m.left, m.right) for m in session.merges}
    assert session.n_groups == n_groups
    run(session, LabelOracle(Y), max_queries=5)
    pairs = {frozenset((Y[m.left], Y[m.right])) for m in session.merges}
    assert not pairs
    with pytest.raises(AnswerError, match="same or different"):
        session.judge(0, 1, "unsure")
