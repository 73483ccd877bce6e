"""Choices, gestures of several links, and the other entries of a session's log."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from likewise import Answer, Gesture, Likewise, Link, Session
from likewise.core.partition import singletons
from likewise.errors import (
    AnswerError,
    ContradictionError,
    InputError,
    SessionFileError,
    StaleQueryError,
)
from likewise.strategies import ClosestFirst

POINTS = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.2]])


class Choosing(ClosestFirst):
    """Asks about row 5 and two groups before anything else."""

    name = "choosing"

    def next_question(self, answers):
        groups = ((0, 1), (2, 3))
        is_open = [answers.links.implied(5, group[0]) is None for group in groups]
        is_unsure = any(5 in pair for pair in answers.unsure)
        return (5, groups) if all(is_open) and not is_unsure else super().next_question(answers)


def choosing(ids=None):
    return Session(Choosing(singletons(POINTS)), sample_ids=ids)


def test_a_choice_shows_a_row_and_groups_with_their_ids():
    question = choosing(list("abcdef")).ask()
    assert question is not None
    assert (question.number, question.row, question.groups) == (1, 5, ((0, 1), (2, 3)))
    assert (question.row_id, question.group_ids) == ("f", (("a", "b"), ("c", "d")))


def test_choosing_a_group_is_one_link_to_it():
    session = choosing()
    gesture = session.choose(1)
    assert gesture.links == (Link(5, 2, Answer.SAME),)
    assert gesture.groups == ((0, 1), (2, 3))
    assert session.links.implied(5, 0) is None


def test_none_of_these_differs_from_all_and_is_one_thing_to_undo():
    session = choosing()
    before = session.to_dict()["log"]
    session.choose(Answer.NONE)
    assert [session.links.implied(5, row) for row in (0, 2)] == [Answer.DIFFERENT] * 2
    assert session.progress.answered == len(session.events) == 1
    session.undo()
    assert session.to_dict()["log"] == before
    assert session.links.implied(5, 0) is None
    session.redo()
    assert session.links.implied(5, 2) is Answer.DIFFERENT


def test_choosing_two_groups_says_that_they_are_one():
    session = choosing()
    session.choose([0, 1])
    assert session.links.implied(0, 2) is Answer.SAME


def test_not_sure_about_a_choice_says_nothing():
    for skip in (Session.skip, lambda s: s.choose(Answer.UNSURE), lambda s: s.tell(Answer.UNSURE)):
        session = choosing()
        skip(session)
        assert session.progress.unsure == 1
        assert len(session.links) == 0
        question = session.ask()
        assert question is not None
        assert question.is_pair


@pytest.mark.parametrize("chosen", [2, -1, True, 0.5, [], [0, 7]])
def test_what_cannot_be_chosen_is_named_and_changes_nothing(chosen):
    session = choosing()
    with pytest.raises(AnswerError):
        session.choose(chosen)
    assert session.events == ()


def test_a_choice_can_be_revised_and_refused_when_it_is_old():
    session = choosing()
    old = session.ask()
    session.choose(0, question=old)
    with pytest.raises(StaleQueryError, match="question 1, but the open one is question 2"):
        session.choose(0, question=old)
    session.revise(1, Answer.NONE)
    assert session.links.implied(5, 0) is Answer.DIFFERENT
    session.revise(1, 1)
    assert session.links.implied(5, 2) is Answer.SAME


def test_peeking_at_what_follows_a_choice_changes_nothing():
    session = choosing()
    before = session.to_dict()
    follow_up = session.peek(Answer.NONE)
    assert session.to_dict() == before
    session.choose(Answer.NONE)
    assert session.ask() == follow_up


def test_peeking_shows_the_names_of_groups():
    session = choosing()
    session.name({3: "small"})
    follow_up = session.peek(Answer.NONE)
    assert follow_up is not None
    assert (follow_up.row, follow_up.groups, follow_up.names) == (2, ((3,),), ("small",))


def test_a_gesture_that_fails_in_the_middle_leaves_no_trace():
    session = choosing()
    session.add_link(0, 1, "same")
    before = session.to_dict()
    links = [Link(2, 3, Answer.SAME), Link(0, 1, Answer.DIFFERENT)]
    with pytest.raises(ContradictionError):
        session.add_links(links)
    assert session.to_dict() == before
    assert session.links.implied(2, 3) is None
    with pytest.raises(InputError, match="at least one link"):
        session.add_links([])


def test_what_fails_inside_a_transaction_is_taken_back():
    session = choosing()
    session.choose(0)
    session.undo()
    before = session.to_dict()

    def fail_after(deed):
        with session.transaction():
            deed()
            raise OSError("the disk is full")

    for deed in (lambda: session.choose(1), session.redo):
        with pytest.raises(OSError, match="full"):
            fail_after(deed)
        assert session.to_dict() == before
    session.choose(1)
    before = session.to_dict()
    with pytest.raises(OSError, match="full"):
        fail_after(session.undo)
    assert session.to_dict() == before


def test_names_marks_and_checks_are_entries_of_the_log():
    session = choosing()
    session.name({0: "zeros", 4: "nines"})
    session.name({0: "", 1: "small"}, by="Ann", at="2026-01-01")
    session.mark(3)
    session.check(0, 1, "same")
    assert session.names == {4: "nines", 1: "small"}
    assert session.marks == {3}
    assert session.checks == {(0, 1): Answer.SAME}
    assert (session.log[1].by, session.log[1].at) == ("Ann", "2026-01-01")
    session.choose(0)
    assert session.checks == {}
    for _ in range(2):
        session.undo()
    assert session.checks == {}
    for _ in range(2):
        session.undo()
    assert session.names == {0: "zeros", 4: "nines"}
    assert Session.from_dict(session.to_dict()) == session


def test_earlier_questions_are_asked_again_the_other_way_round():
    session = choosing()
    first = session.ask()
    session.choose(0, by="Ann")
    session.choose(Answer.UNSURE, by="Ann")
    session.choose(Answer.NONE, by="model:small")
    labels = session.labels.tolist()
    (repeat,) = session.repeats(5)
    assert repeat.number == 1
    assert repeat.question.row == first.row
    assert repeat.question.groups == first.groups[::-1]
    assert session.repeats(5, by="Bob") == []
    # The group that was the first is now the last.
    last = len(first.groups) - 1
    ways = [(last, True), (0, False), (Answer.NONE, False), (Answer.UNSURE, None)]
    for chosen, is_same in ways:
        session.repeat(repeat, chosen, by="Ann", seconds=2.0)
        assert session.agrees(session.repeated[-1]) is is_same
    assert session.agreement == (3, 1)
    assert str(session.agreement) == "1 of 3 the same"
    assert session.labels.tolist() == labels
    assert session.ask().number == 4
    assert session.repeats(5) == [repeat]
    assert Session.from_dict(session.to_dict()) == session
    session.undo()
    assert len(session.repeated) == 3


def test_the_two_rows_of_a_pair_change_sides_when_it_is_asked_again():
    session = Session(ClosestFirst(singletons(POINTS)))
    question = session.ask()
    session.tell("different")
    (repeat,) = session.repeats(1)
    assert (repeat.question.left, repeat.question.right) == (question.right, question.left)
    session.repeat(repeat, Answer.NONE)
    assert session.agreement == (1, 1)
    session.repeat(repeat, 0)
    assert session.agreement == (2, 1)
    with pytest.raises(InputError):
        session.repeats(-1)


def test_groups_with_only_a_name_are_not_asked_about_again():
    model = Likewise(9, random_state=0)
    session = model.start(np.arange(12.0)[:, None] * 3, group_names=["small", "large"])
    for _ in range(4):
        session.choose(Answer.NONE)
    for repeat in session.repeats(9):
        assert all(repeat.question.groups)
        session.repeat(repeat, Answer.NONE)
    assert session.agreement.n == session.agreement.n_same > 0


def test_groups_that_became_one_are_the_same_answer():
    session = choosing()
    first = session.ask()
    session.choose(0)
    (repeat,) = session.repeats(1)
    session.repeat(repeat, 0)
    assert session.agreement == (1, 0)
    heads = [group[0] for group in first.groups]
    links = [Link(heads[0], head, Answer.SAME) for head in heads[1:]]
    session.add_links(links, overrules=True)
    assert session.agreement == (1, 1)


def test_who_said_something_and_when_is_kept():
    session = choosing()
    session.choose(0, by="Ann", at="2026-01-01T00:00:00Z")
    loaded = Session.from_dict(json.loads(json.dumps(session.to_dict())))
    assert isinstance(loaded.log[0], Gesture)
    assert (loaded.events[0].by, loaded.events[0].at) == ("Ann", "2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"do": "dance"}, "does not know"),
        ({"do": "tell"}, "cannot be read"),
        ({"do": "tell", "links": [[0, 1, "perhaps"]]}, "cannot be read"),
        ({"do": "revise", "number": 1}, "cannot be read"),
        ({"do": "revise", "number": 0, "links": [[0, 1, "same"]]}, "cannot be read"),
        ({"do": "revise", "number": 1, "answer": "same"}, "cannot be read"),
        ({}, "cannot be read"),
    ],
)
def test_an_entry_that_cannot_be_read_is_named(entry, words):
    with pytest.raises(SessionFileError, match=words):
        choosing().apply(entry)


def test_what_is_done_again_is_numbered_as_it_counts():
    session = Session(ClosestFirst(singletons(POINTS)))
    session.tell("same")
    session.tell("different")
    session.undo()
    loaded = Session.from_dict(session.to_dict())
    assert isinstance(loaded.redo(), Gesture)
    assert loaded.log[-1] == loaded.events[-1] == session.redo()
    assert loaded.events[-1].number == 2


def test_when_nothing_is_left_to_ask_nothing_is_left():
    session = Session(ClosestFirst(singletons(POINTS[:3])))
    while session.ask() is not None:
        session.skip()
    assert (session.progress.at_most, session.progress.estimate) == (0, 0)
    assert len(session.open_pairs) == 3


def test_a_choice_can_be_revised_to_not_sure_by_its_word():
    session = choosing()
    session.choose(0)
    session.revise(1, "unsure")
    assert session.events[0].answer is Answer.UNSURE


def test_one_group_is_answered_by_tell_and_by_choose(monkeypatch):
    ask = ClosestFirst.next_question

    def next_question(self, answers):
        return ask(self, answers) if answers.gestures else (5, ((0, 1),))

    monkeypatch.setattr(Choosing, "next_question", next_question)
    answers: list[tuple[Any, Any]] = [(True, 0), (False, Answer.NONE), ("unsure", Answer.UNSURE)]
    for value, chosen in answers:
        by_tell, by_choose = choosing(), choosing()
        by_tell.tell(value)
        by_choose.choose(chosen)
        assert by_tell == by_choose
        assert by_tell.events[0].groups == ((0, 1),)


def test_tell_is_refused_where_there_are_several_groups_and_choose_answers_pairs():
    session = choosing()
    with pytest.raises(AnswerError, match="question 1 has 2 groups to choose from"):
        session.tell("same")
    assert session.events == ()
    session.tell(Answer.UNSURE)
    question = session.ask()
    assert question is not None
    session.choose(0)
    assert session.links.implied(question.left, question.right) is Answer.SAME
    session.choose(Answer.NONE)
    assert session.events[-1].answer is Answer.DIFFERENT


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (1, "same"),
        (0, "different"),
        (np.int64(1), "same"),
        (np.bool_(False), "different"),
        ("unsure", "unsure"),
    ],
)
def test_zero_and_one_are_answers(value, answer):
    session = Session(ClosestFirst(singletons(POINTS)))
    assert session.tell(value).answer is Answer(answer)


@pytest.mark.parametrize("value", [2, -1, 1.0, "1", "yes"])
def test_other_numbers_and_words_are_no_answers(value):
    session = Session(ClosestFirst(singletons(POINTS)))
    with pytest.raises(AnswerError, match="is not an answer"):
        session.tell(value)
    assert session.events == ()


def test_a_part_of_the_question_can_be_answered_and_nothing_else():
    session = choosing()
    question = session.ask()
    assert question is not None
    with pytest.raises(StaleQueryError, match="the open question is about row 5 and 2 groups"):
        session.answer(replace(question, groups=((4,),)), 0)
    with pytest.raises(StaleQueryError, match="not about rows 4 and 0"):
        session.answer(replace(question, row=4).pair(), 0)
    gesture = session.answer(question.pair(1), Answer.NONE)
    assert gesture.links == (Link(5, 2, Answer.DIFFERENT),)
    assert gesture.groups == ()


def test_another_strategy_takes_over_all_answers_and_can_be_undone():
    session = Session(ClosestFirst(singletons(POINTS)))
    session.add_link(0, 1, "same")
    session.rebuild(Choosing(singletons(POINTS)))
    assert session.links.implied(0, 1) is Answer.SAME
    assert session.strategy.name == "choosing"
    assert session.ask().row == 5
    assert Session.from_dict(session.to_dict()) == session
    session.undo()
    assert session.strategy.name == "closest-first"
    session.redo()
    assert session.strategy.name == "choosing"


def test_a_row_that_does_not_fit_is_asked_about_next_beside_its_group():
    session = Session(ClosestFirst(singletons(POINTS)))
    session.mark(4, 2)
    question = session.ask()
    assert (question.left, question.right) == (4, 2)
    assert session.marks == {4}
    session.tell(Answer.UNSURE)
    assert {session.ask().left, session.ask().right} != {4, 2}
    session.undo()
    assert session.ask() == question
    session.undo()
    assert session.marks == set()


def test_a_mark_whose_answer_is_known_asks_nothing():
    session = Session(ClosestFirst(singletons(POINTS)))
    session.add_link(4, 2, "different")
    question = session.ask()
    session.mark(4, 2)
    assert session.ask() == question


def test_answers_become_a_data_frame():
    pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    session = choosing(list("abcdef"))
    session.add_link(0, 1, "same")
    session.choose(Answer.NONE, by="Ann", seconds=2.5)
    frame = session.to_frame()
    assert choosing(list("abcdef")).to_frame().columns.equals(frame.columns)  # before an answer
    assert frame["number"].tolist() == [1, 2, 2]
    assert frame["row_id"].tolist() == ["a", "f", "f"]
    assert frame["other"].tolist() == [1, 0, 2]
    assert frame["answer"].tolist() == ["same", "different", "different"]
    assert frame["source"].tolist() == ["known", "asked", "asked"]
    assert frame["seconds"].tolist()[1:] == [2.5, 2.5]
    session.check(0, 1, "same")
    session.repeat(session.repeats(1)[0], Answer.NONE)
    frame = session.to_frame()
    assert frame["source"].tolist()[3:] == ["check", "repeat", "repeat"]
    assert frame["number"].tolist()[3:] == [0, 2, 2]
    assert frame["answer"].tolist()[3:] == ["same", "different", "different"]
