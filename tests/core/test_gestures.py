"""Choices, gestures of several links, and the other entries of a session's log."""

import json
from pathlib import Path

import numpy as np
import pytest

from likewise import Answer, Choice, Link, Query, Session
from likewise.core.journal import Told, upgraded_entry
from likewise.core.partition import singletons
from likewise.errors import (
    AnswerError,
    ContradictionError,
    InputError,
    SessionFileError,
    StaleQueryError,
)
from likewise.strategies import ClosestFirst

ASSETS = Path(__file__).parent / "assets"
POINTS = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.2]])


class Choosing(ClosestFirst):
    """Asks about row 5 and two groups before anything else."""

    name = "choosing"
    weighs_answers = False

    def next_choice(self):
        groups = ((0, 1), (2, 3))
        is_open = [self.links.implied(5, group[0]) is None for group in groups]
        is_asked = any(5 in entry[:2] for entry in self._log)
        return (5, groups) if all(is_open) and not is_asked else None


def choosing(ids=None):
    return Session(Choosing(singletons(POINTS)), sample_ids=ids)


def test_a_choice_shows_a_row_and_groups_with_their_ids():
    question = choosing(list("abcdef")).ask()
    assert isinstance(question, Choice)
    assert (question.number, question.row, question.groups) == (1, 5, ((0, 1), (2, 3)))
    assert (question.row_id, question.group_ids) == ("f", (("a", "b"), ("c", "d")))
    assert not question.is_check


def test_choosing_a_group_is_one_link_to_it():
    session = choosing()
    gesture = session.choose(1)
    assert gesture.links == (Link(5, 2, Answer.SAME),)
    assert gesture.groups == ((0, 1), (2, 3))
    assert session.links.implied(5, 0) is None


def test_none_of_these_differs_from_all_and_is_one_thing_to_undo():
    session = choosing()
    before = session.to_dict()["log"]
    session.choose(None)
    assert [session.links.implied(5, row) for row in (0, 2)] == [Answer.DIFFERENT] * 2
    assert session.progress.answered == len(session.events) == 1
    session.undo()
    assert session.to_dict()["log"] == before
    assert session.links.implied(5, 0) is None
    session.redo()
    assert session.links.implied(5, 2) is Answer.DIFFERENT


def test_a_choice_answered_by_links_still_says_what_was_shown():
    session = choosing()
    gesture = session.say([Link(5, 0, Answer.DIFFERENT), Link(5, 2, Answer.SAME)])
    assert gesture.groups == ((0, 1), (2, 3))
    pair = session.ask()
    assert isinstance(pair, Query)
    assert session.say([Link(*pair.pair, Answer.SAME)]).groups == ()


def test_choosing_two_groups_says_that_they_are_one():
    session = choosing()
    session.choose([0, 1])
    assert session.links.implied(0, 2) is Answer.SAME


def test_not_sure_about_a_choice_says_nothing():
    for skip in (Session.skip, lambda s: s.choose(Answer.UNSURE), lambda s: s.tell(None)):
        session = choosing()
        skip(session)
        assert session.progress.unsure == 1
        assert len(session.links) == 0
        assert isinstance(session.ask(), Query)


@pytest.mark.parametrize("chosen", [2, -1, True, 0.5, [], [0, 7]])
def test_what_cannot_be_chosen_is_named_and_changes_nothing(chosen):
    session = choosing()
    with pytest.raises(AnswerError):
        session.choose(chosen)
    assert session.events == ()


def test_a_choice_of_one_group_is_answered_like_a_pair(monkeypatch):
    monkeypatch.setattr(Choosing, "next_choice", lambda self: None if self._log else (5, ((0, 1),)))
    for said, implied in (("same", Answer.SAME), ("different", Answer.DIFFERENT)):
        session = choosing()
        session.tell(said)
        assert session.links.implied(5, 0) is implied


def test_pairs_are_told_and_choices_are_chosen():
    session = choosing()
    with pytest.raises(InputError, match=r"session\.choose"):
        session.tell("same")
    session.skip()
    with pytest.raises(InputError, match=r"session\.tell"):
        session.choose(0)


def test_a_choice_can_be_revised_and_refused_when_it_is_old():
    session = choosing()
    old = session.ask()
    session.choose(0, query=old)
    with pytest.raises(StaleQueryError, match="question 1, but the open one is question 2"):
        session.choose(0, query=old)
    session.revise(1, None)
    assert session.links.implied(5, 0) is Answer.DIFFERENT
    session.revise(1, 1)
    assert session.links.implied(5, 2) is Answer.SAME


def test_peeking_at_what_follows_a_choice_changes_nothing():
    session = choosing()
    before = session.to_dict()
    follow_up = session.peek(None)
    assert session.to_dict() == before
    session.choose(None)
    assert session.ask() == follow_up


def test_a_gesture_that_fails_in_the_middle_leaves_no_trace():
    session = choosing()
    session.give(0, 1, "same")
    before = session.to_dict()
    links = [Link(2, 3, Answer.SAME), Link(0, 1, Answer.DIFFERENT)]
    with pytest.raises(ContradictionError):
        session.give_links(links)
    assert session.to_dict() == before
    assert session.links.implied(2, 3) is None
    with pytest.raises(InputError, match="at least one link"):
        session.give_links([])


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


def test_who_said_something_and_when_is_kept():
    session = choosing()
    session.choose(0, by="Ann", at="2026-01-01T00:00:00Z")
    loaded = Session.from_dict(json.loads(json.dumps(session.to_dict())))
    assert isinstance(loaded.log[0], Told)
    assert (loaded.events[0].by, loaded.events[0].at) == ("Ann", "2026-01-01T00:00:00Z")


def test_another_strategy_takes_over_all_answers_and_can_be_undone():
    session = Session(ClosestFirst(singletons(POINTS)))
    session.give(0, 1, "same")
    first = session.strategy
    made = Choosing(singletons(POINTS))
    session.rebuild(made, why="misfit", ask=(4, 2))
    assert session.strategy is made
    assert session.links.implied(0, 1) is Answer.SAME
    assert session.strategy.name == "choosing"
    assert (session.ask().left, session.ask().right) == (4, 2)
    assert session.marks == {4}
    session.tell("different")
    assert isinstance(session.ask(), Choice)
    assert Session.from_dict(session.to_dict()) == session
    session.undo()
    session.undo()
    assert session.strategy is first
    assert session.open_focus is None
    session.redo()
    assert session.open_focus == (4, 2)


def test_a_strategy_that_contradicts_the_answers_is_not_taken():
    class Stubborn(ClosestFirst):
        name = "stubborn"

        def __init__(self, partition):
            super().__init__(partition)
            self.record(0, 1, Answer.DIFFERENT)

    session = Session(ClosestFirst(singletons(POINTS)))
    session.give(0, 1, "same")
    before = session.to_dict()
    with pytest.raises(ContradictionError):
        session.rebuild(Stubborn(singletons(POINTS)))
    assert session.to_dict() == before


def test_a_session_of_schema_1_opens_as_it_was():
    saved = json.loads((ASSETS / "session-schema-1.json").read_text())
    session = Session.from_dict(saved["session"])
    assert session.labels.tolist() == saved["labels"]
    question = session.ask()
    assert [question.number, question.left, question.right] == saved["ask"]
    events = [[e.number, e.left, e.right, e.answer.value, e.source] for e in session.events]
    assert events == saved["events"]
    assert session.to_dict()["schema"] == 2
    assert Session.from_dict(session.to_dict()) == session
    assert session.redo() is not None


@pytest.mark.parametrize(
    "entry", [{"do": "name", "names": [[0, "a"]]}, {"do": "tell", "links": [[0, 4, "same"]]}]
)
def test_what_is_the_same_in_both_schemas_is_not_changed(entry):
    assert upgraded_entry(entry) == entry


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"do": "dance"}, "does not know"),
        ({"do": "tell"}, "cannot be read"),
        ({"do": "tell", "links": [[0, 1, "perhaps"]]}, "cannot be read"),
        ({"do": "revise", "number": 1}, "cannot be read"),
        ({}, "cannot be read"),
    ],
)
def test_an_entry_that_cannot_be_read_is_named(entry, words):
    with pytest.raises(SessionFileError, match=words):
        choosing().apply(entry)


def test_revising_keeps_earlier_answers_that_said_nothing_new():
    session = Session(ClosestFirst(singletons(POINTS)))
    for left, right in ((0, 1), (1, 2), (0, 2), (3, 4)):
        session.give(left, right, "same")
    revision = session.revise(4, "different")
    assert [gesture.links[0].pair for gesture in revision.kept] == [(0, 1), (1, 2), (0, 2), (3, 4)]
    assert revision.dropped == ()


def test_revising_drops_a_later_choice_that_contradicts_it():
    session = choosing()
    session.give(0, 2, "same")
    session.choose([0, 1])
    revision = session.revise(1, "different")
    assert [gesture.links for gesture in revision.dropped] == [
        (Link(5, 0, Answer.SAME), Link(5, 2, Answer.SAME))
    ]
    assert session.links.implied(0, 2) is Answer.DIFFERENT
    assert session.links.implied(5, 0) is None


def test_what_is_done_again_is_numbered_as_it_counts():
    session = Session(ClosestFirst(singletons(POINTS)))
    session.tell("same")
    session.tell("different")
    session.undo()
    loaded = Session.from_dict(session.to_dict())
    assert loaded.redo() == Told(loaded.events[-1])
    assert loaded.log[-1].gesture.number == 2


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


def test_revising_to_two_groups_that_are_known_to_differ_is_refused_and_changes_nothing():
    session = choosing()
    session.give(0, 2, Answer.DIFFERENT)
    session.choose(0)
    before = session.to_dict()
    for attempt in (session.preview, session.revise):
        with pytest.raises(ContradictionError, match="5 same 2 contradicts"):
            attempt(2, [0, 1])
    assert session.to_dict() == before
    assert session.revise(2, 1).kept[1].links == (Link(5, 2, Answer.SAME),)
