"""Who said it: ranks, and answers that are set aside and taken back."""

import pytest

from likewise import Answer, Likewise, Link, Session
from likewise.core.answered import Answers
from likewise.core.answers import Gesture, rank_of
from likewise.core.journal import Revised, SetAside, TakenBack
from likewise.errors import InputError, SessionFileError
from likewise.testing.states import visible

SAME, DIFFERENT = Answer.SAME, Answer.DIFFERENT
MODEL, RULE = "model:llama3", "rule:digits"


def said(left, right, answer, by=None, source="asked"):
    return Gesture(0, (Link(left, right, answer),), source, by=by)


def counted(*log):
    return [(g.pair, g.answer, g.by) for g in Answers(6, log).gestures]


@pytest.mark.parametrize(("first", "second"), [("Ann", MODEL), ("Ann", RULE), (RULE, MODEL)])
def test_a_person_counts_more_than_a_rule_and_a_rule_more_than_a_model(first, second):
    one, other = said(0, 1, SAME, first), said(0, 1, DIFFERENT, second)
    assert counted(one, other) == counted(other, one) == [((0, 1), SAME, first)]


@pytest.mark.parametrize("by", [None, "Ann", RULE, MODEL])
def test_within_a_rank_the_newest_counts(by):
    assert counted(said(0, 1, SAME, by), said(0, 1, DIFFERENT, by)) == [((0, 1), DIFFERENT, by)]


def test_a_given_link_counts_more_than_a_person():
    given = said(0, 1, DIFFERENT, RULE, "known")
    assert counted(given, said(0, 1, SAME, "Ann")) == [((0, 1), DIFFERENT, RULE)]


def test_setting_aside_brings_back_what_was_overruled():
    log = [said(0, 1, SAME, "Ann"), said(1, 2, SAME, MODEL), said(0, 2, DIFFERENT, "Bob")]
    without = [log[0], log[2]]
    assert counted(*log) == counted(*without)
    assert counted(*log, SetAside("Bob")) == counted(*log[:2])
    assert counted(*log, SetAside("Bob"), TakenBack("Bob")) == counted(*log)
    assert counted(*log, SetAside("Bob"), SetAside("Ann")) == counted(log[1])


def test_a_change_by_another_person_outlives_the_one_who_answered_first():
    log = [said(0, 1, SAME, MODEL), said(2, 3, SAME, "Ann")]
    log.append(Revised(1, (Link(0, 1, DIFFERENT),), by="Ann"))
    assert counted(*log, SetAside(MODEL)) == counted(*log)
    assert counted(*log, SetAside("Ann")) == [((0, 1), SAME, MODEL)]
    assert counted(*log, SetAside("Ann"), SetAside(MODEL)) == []


def test_what_somebody_says_while_set_aside_counts_when_taken_back():
    log = [said(0, 1, SAME, MODEL), SetAside(MODEL), said(2, 3, SAME, MODEL)]
    assert counted(*log) == []
    assert counted(*log, TakenBack(MODEL)) == [((0, 1), SAME, MODEL), ((2, 3), SAME, MODEL)]


# -- in a session --------------------------------------------------------------------------------


def session_of_two():
    session = Likewise(max_queries=20, random_state=0).start([[float(k)] for k in range(8)])
    for k in range(6):
        session.choose(Answer.NONE if k % 2 else 0, by=["Ann", MODEL][k % 2], seconds=1.0)
    return session


def test_setting_aside_is_one_entry_that_undo_takes_back_and_files_keep():
    session = session_of_two()
    before = visible(session)
    session.set_aside(MODEL, by="Ann")
    assert {gesture.by for gesture in session.events} == {"Ann"}
    assert session.answerers == {"Ann": 3, MODEL: 3}
    assert session.aside == {MODEL}
    assert session.log[-1] == SetAside(MODEL, by="Ann")
    assert visible(Session.from_dict(session.to_dict())) == visible(session)
    aside = visible(session)
    session.undo()
    assert visible(session) == before
    session.redo()
    assert visible(session) == aside
    session.take_back(MODEL)
    assert visible(session) | {"log": ()} == before | {"log": ()}


def test_who_has_not_answered_cannot_be_set_aside():
    session = session_of_two()
    with pytest.raises(InputError, match=r"'Bob' has answered; answers are by 'Ann', 'model:llam"):
        session.set_aside("Bob")
    with pytest.raises(InputError, match="not set aside, only nobody's are"):
        session.take_back("Ann")
    session.set_aside("Ann")
    with pytest.raises(InputError, match="set aside already"):
        session.set_aside("Ann")
    with pytest.raises(InputError, match="no answer is signed"):
        Likewise().start([[0.0], [1.0]]).set_aside("Ann")


def test_a_model_gives_no_certain_link_and_changes_no_answer():
    session = session_of_two()
    before = visible(session)
    with pytest.raises(InputError, match="never certain"):
        session.add_links([Link(0, 1, SAME)], by=MODEL)
    with pytest.raises(InputError, match="changes no answer"):
        session.revise(1, Answer.UNSURE, by=MODEL)
    assert visible(session) == before
    entry = {"do": "tell", "links": [[0, 1, "same"]], "source": "known", "by": MODEL}
    with pytest.raises(InputError, match="never certain"):
        session.apply(entry)


def test_an_answerer_of_a_damaged_file_is_refused():
    with pytest.raises(SessionFileError, match="cannot be read"):
        session_of_two().apply({"do": "set-aside"})


def test_ranks():
    assert [rank_of(by) for by in (None, "Ann", "models", RULE, MODEL)] == [0, 0, 0, 1, 2]
