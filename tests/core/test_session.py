import json
import re
from typing import Any

import numpy as np
import pytest

from likewise import COBRA, Answer, LabelOracle, Likewise, Link, Question, Session, run
from likewise.core.answers import ordered
from likewise.core.arrays import as_base64
from likewise.core.journal import SCHEMA, entry_to_dict
from likewise.core.partition import SuperInstances, singletons
from likewise.core.reports import Completeness, Progress
from likewise.errors import (
    AnswerError,
    ContradictionError,
    InputError,
    SessionFileError,
    StaleQueryError,
)
from likewise.strategies import ClosestFirst

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])


def line(n=6):
    return Session(ClosestFirst(singletons(np.arange(n, dtype=float)[:, None] ** 1.5)))


def test_an_answer_for_an_old_question_is_refused_by_number_and_changes_nothing():
    session = line()
    old = session.ask()
    session.tell(Answer.SAME, question=old)
    before = session.to_dict()
    for stale in (old, old.number, Question(2, 0, ((5,),))):
        with pytest.raises(StaleQueryError, match=r"the open one is question 2 about rows"):
            session.tell(Answer.SAME, question=stale)
    assert session.to_dict() == before


def test_telling_when_all_is_settled_is_refused():
    session = line(2)
    session.tell(Answer.DIFFERENT)
    with pytest.raises(StaleQueryError, match="no open question: nothing is left to ask"):
        session.tell(Answer.SAME)


@pytest.mark.parametrize("wrong", ["x", 1.5, [1]])
def test_something_that_is_no_question_is_refused(wrong):
    with pytest.raises(StaleQueryError, match=f"for question {re.escape(str(wrong))}, but"):
        line().tell(Answer.SAME, question=wrong)


WORD: Any = "same"  # which is no answer by itself


@pytest.mark.parametrize("wrong", [5, None, [1], "ab", [(0, 1)], [Link(0, 1, WORD)], []])
def test_something_that_is_no_link_is_refused_and_changes_nothing(wrong):
    session = line()
    with pytest.raises(InputError, match="link"):
        session.add_links(wrong)
    assert session.log == ()


@pytest.mark.parametrize("wrong", [5, None, ["a"], {0: 5}, {0: None}, {0: "a\0"}, {0: "\ud800"}])
def test_names_that_cannot_be_stored_or_shown_are_refused(wrong):
    session = line()
    with pytest.raises(InputError, match="name"):
        session.name(wrong)
    assert session.log == ()


def test_a_check_is_about_two_rows_and_a_strategy_is_one():
    session = line()
    with pytest.raises(InputError, match="row 1 was paired with itself"):
        session.check(1, 1, "same")
    wrong: Any = 5
    with pytest.raises(InputError, match="needs a strategy, got int"):
        session.rebuild(wrong)
    assert session.log == ()


def test_something_that_is_no_answer_is_refused():
    with pytest.raises(AnswerError, match="'yes'"):
        line().tell("yes")


def test_not_sure_is_never_a_constraint_and_the_groups_are_asked_about_from_another_pair():
    # Two pairs of close points; between them, pair after pair is asked until one is answered.
    X = np.array([[0.0], [1.0], [10.0], [11.2]])
    session = Session(ClosestFirst(singletons(X)))
    session.tell(Answer.SAME)  # 0, 1
    session.tell(Answer.SAME)  # 2, 3
    asked = []
    for _ in range(3):
        asked.append(ordered(session.ask().left, session.ask().right))
        session.skip()
    assert asked == [(1, 2), (0, 2), (1, 3)]
    assert (session.ask().left, session.ask().right) == (0, 3)
    assert session.progress.at_most == 1
    session.skip()
    assert session.is_done
    assert session.open_pairs == [(1, 2)]
    assert session.labels.tolist() == [0, 0, 1, 1]
    assert session.progress.unsure == 4


def test_answers_known_beforehand_count_and_are_not_asked():
    session = line()
    session.add_link(0, 1, Answer.SAME)
    session.add_link(1, 2, Answer.DIFFERENT)
    asked = set()
    while (question := session.ask()) is not None:
        asked.add(ordered(question.left, question.right))
        session.tell(Answer.DIFFERENT)
    assert not asked & {(0, 1), (1, 2), (0, 2)}
    assert session.labels.tolist()[:2] == [0, 0]


def test_answers_about_other_rows_than_representatives_count_as_far_as_they_reach():
    # Rows 0-1, 2-3, 4-5 are super-instances; 0, 2 and 4 stand for them.
    partition = SuperInstances(
        np.repeat(np.arange(3), 2), np.array([0, 2, 4]), points=np.array([[0.0], [1.0], [3.0]])
    )
    session = Session(ClosestFirst(partition))
    session.add_link(1, 5, Answer.DIFFERENT)  # no representative among them: says nothing yet
    assert session.progress.at_most == 3
    session.add_link(0, 1, Answer.SAME)
    session.add_link(4, 5, Answer.SAME)  # now 0 and 4 differ
    assert session.progress.at_most == 2
    assert session.links.implied(0, 4) is Answer.DIFFERENT
    for _ in range(3):
        session.undo()
    assert session.progress.at_most == 3


def test_a_contradicting_answer_given_beforehand_is_refused_and_changes_nothing():
    session = line()
    session.add_link(0, 1, Answer.SAME)
    session.add_link(1, 2, Answer.SAME)
    before = session.to_dict()
    with pytest.raises(ContradictionError, match="0 different 2 contradicts"):
        session.add_link(0, 2, Answer.DIFFERENT)
    assert session.to_dict() == before
    assert session.ask() is not None


@pytest.mark.parametrize(
    ("pair", "words"),
    [((0, 99), "there is no row 99; the rows are 0 to"), ((2, 2), "paired with itself")],
)
def test_impossible_given_answers_are_refused(pair, words):
    with pytest.raises(InputError, match=words):
        line().add_link(*pair, Answer.SAME)


@pytest.mark.parametrize("number", [0, 3, -1])
def test_revising_an_answer_that_is_not_there_is_refused(number):
    session = line()
    session.skip()
    session.skip()
    with pytest.raises(InputError, match=f"there is no answer {number}"):
        session.revise(number, Answer.SAME)


def test_a_session_survives_json():
    session = line()
    session.tell(Answer.SAME)
    session.skip()
    session.undo()
    loaded = Session.from_dict(json.loads(json.dumps(session.to_dict())))
    assert loaded == session
    assert loaded.can_redo


def test_sample_ids_travel_with_every_query():
    session = Session(ClosestFirst(singletons(SQUARE)), sample_ids=["a", "b", "c", "d"])
    assert (session.ask().left_id, session.ask().right_id) == ("a", "b")


@pytest.mark.parametrize(
    ("ids", "words"),
    [(["a", "b", "a", "c"], "'a' occurs more than once"), (["a"], "1 entry, but .* 4 rows")],
)
def test_bad_sample_ids_are_refused(ids, words):
    with pytest.raises(InputError, match=words):
        Session(ClosestFirst(singletons(SQUARE)), sample_ids=ids)


def test_a_file_of_something_else_is_refused():
    with pytest.raises(SessionFileError, match="not a saved likewise session"):
        Session.from_dict({"rows": []})


def test_a_session_of_a_newer_release_is_refused():
    newer = line().to_dict() | {"schema": SCHEMA + 1}
    with pytest.raises(SessionFileError, match="newer release"):
        Session.from_dict(newer)


@pytest.mark.parametrize("key", ["strategy", "log", "undone"])
def test_a_cut_session_is_refused(key):
    cut = line().to_dict()
    del cut[key]
    with pytest.raises(SessionFileError, match=f"truncated: {key} missing"):
        Session.from_dict(cut)


def test_a_damaged_session_is_refused():
    damaged = line().to_dict()
    damaged["strategy"]["partition"] = {"assignment": [0, 1]}
    with pytest.raises(SessionFileError, match="has no 'metric'"):
        Session.from_dict(damaged)


def test_an_unknown_strategy_is_named():
    unknown = line().to_dict()
    unknown["strategy"]["name"] = "by-moonlight"
    with pytest.raises(SessionFileError, match="by-moonlight"):
        Session.from_dict(unknown)


def test_a_session_of_other_data_is_refused():
    session = COBRA(3, random_state=0).start(SQUARE)
    other = COBRA(3, random_state=0).start(SQUARE + 1)
    with pytest.raises(SessionFileError, match="other data"):
        Session.from_dict(session.to_dict(), digest=other.digest)
    assert Session.from_dict(session.to_dict(), digest=session.digest) == session


@pytest.mark.parametrize(
    ("assignment", "representatives", "words"),
    [
        ([0, 0], [], "at least one"),
        ([0, 1], [1, 0], "increasing"),
        ([0, 0], [0, 1], "belong to the super-instance"),
    ],
)
def test_partitions_that_make_no_sense_are_refused(assignment, representatives, words):
    with pytest.raises(InputError, match=words):
        SuperInstances(np.array(assignment), np.array(representatives, dtype=int))


def test_notebooks_show_sessions_questions_and_reports_as_escaped_html():
    session = COBRA(3).start([[0.0], [0.1], [5.0]], sample_ids=["<a>", "b", "c"])
    assert "&lt;a&gt; (row 0)" in session.ask()._repr_html_()
    session.tell("same")
    assert "<th>answers</th><td>1</td>" in session.progress._repr_html_()
    assert "about rows 1 and 2" in session._repr_html_()
    choice = Question(4, 7, ((1, 2), (3,)))
    assert "where does row 7 belong?" in choice._repr_html_()
    assert "<th>1</th><td>row 3</td>" in choice._repr_html_()
    assert "about 90%" in Completeness(0.9, 0.8)._repr_html_()


def test_what_can_be_undone_and_redone_is_said():
    session = COBRA(3).start([[0.0], [0.1], [5.0]])
    assert (session.can_undo, session.can_redo) == (False, False)
    session.tell("same")
    assert (session.can_undo, session.can_redo) == (True, False)
    session.undo()
    assert (session.can_undo, session.can_redo) == (False, True)


def test_one_of_several_answers_is_undone_and_redone_and_files_keep_that():
    session = line()
    for left, by in ((0, "Ana"), (2, "Ben"), (4, "Ben")):
        session.add_links([Link(left, left + 1, Answer.SAME)], by=by)
    plain = [entry.links[0].left for entry in session.log]
    session.undo(place=0)
    assert [entry.links[0].left for entry in session.log] == plain[1:]
    assert session.links.implied(0, 1) is None
    session.undo()
    assert [entry.by for entry in session.undone] == ["Ana", "Ben"]
    session.redo(place=0)
    assert [entry.by for entry in session.log] == ["Ben", "Ana"]
    again = line()
    for entry in (*session.log, {"do": "undo", "place": 0}, {"do": "redo", "place": 0}):
        again.apply(entry if isinstance(entry, dict) else entry_to_dict(entry))
    assert [entry.by for entry in again.log] == ["Ana", "Ben"]


@pytest.mark.parametrize("place", [-1, 1, "0", True, 0.0])
@pytest.mark.parametrize("do", ["undo", "redo"])
def test_what_is_not_there_cannot_be_undone_or_redone(do, place):
    session = line()
    session.add_link(0, 1, True)
    if do == "redo":
        session.undo()
    with pytest.raises(InputError, match=f"has 1 entries, none at {place!r}"):
        getattr(session, do)(place=place)
    with pytest.raises(SessionFileError, match="cannot be read"):
        session.apply({"do": do, "place": place})
    assert (len(session.log), len(session.undone)) == ((1, 0) if do == "undo" else (0, 1))


def test_a_partition_knows_how_many_rows_each_super_instance_has():
    assignment, standing = np.array([0, 0, 1]), np.array([0, 2])
    assert SuperInstances(assignment, standing).sizes().tolist() == [2, 1]


@pytest.mark.parametrize("row", ["a", 0.5, None])
def test_rows_are_called_by_whole_numbers(row):
    session = line()
    with pytest.raises(InputError, match=f"from 0 to 5, got {row!r}"):
        session.add_link(row, 1, True)
    assert session.events == ()


def test_row_numbers_of_numpy_can_be_saved():
    session, row = line(), np.arange(6)
    session.add_links([Link(row[0], row[1], Answer.SAME)])
    session.name({row[2]: "two"})
    session.mark(row[3], row[4])
    session.check(row[4], row[5], True)
    assert Session.from_dict(json.loads(json.dumps(session.to_dict()))) == session


@pytest.mark.parametrize("number", ["x", 1.5, 0, 2])
def test_answers_are_called_by_their_number(number):
    session = line()
    session.tell(True)
    with pytest.raises(InputError, match=f"no answer {number!r}: the log has 1 answer"):
        session.revise(number, False)


@pytest.mark.parametrize("n", [-1, 2.5, "x"])
def test_an_audit_takes_a_number(n):
    with pytest.raises(InputError, match=f"from 0, got {n!r}"):
        line().audit(n)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (5, "one id per row, got 5"),
        ([1], "has 1 entry, but the data has 3 rows"),
        ([[1], [2], [3]], r"numbers, texts or tuples, got \[1\]"),
        ([(1,), (2,), ([3],)], r"numbers, texts or tuples, got \(\[3\],\)"),
        ([1, 1, 2], "1 occurs more than once"),
    ],
)
def test_ids_that_cannot_be_used_are_refused(ids, words):
    with pytest.raises(InputError, match=words):
        COBRA(2).start([[0.0], [1.0], [2.0]], sample_ids=ids)


@pytest.mark.parametrize("saved", [None, 5, [], "text", {}])
def test_what_is_no_saved_session_is_named(saved):
    with pytest.raises(SessionFileError, match="not a saved likewise session"):
        Session.from_dict(saved)


def test_large_arrays_are_saved_and_come_back():
    session = COBRA(120, random_state=0).start(np.random.default_rng(0).normal(size=(150, 2)))
    session.tell(False)
    saved = json.loads(json.dumps(session.state(), default=as_base64))
    assert "base64" in str(saved["strategy"])
    again = Session.from_dict(saved)
    assert again == session
    assert again.ask() == session.ask()


def test_only_long_arrays_of_numbers_become_bytes():
    words = np.array(["a"] * 200)
    assert as_base64(words) == words.tolist()
    assert as_base64(np.arange(99)) == list(range(99))
    assert set(as_base64(np.arange(100))) == {"base64", "dtype", "shape"}


def test_a_session_equals_no_other_thing():
    session = line()
    assert (session == 5) is False
    assert (session != 5) is True
    assert session == line()


def test_what_telling_returns_is_what_stands_in_the_log():
    session = line()
    for number in (1, 2, 3):
        assert session.tell(False) == session.events[-1]
        assert session.events[-1].number == number


@pytest.mark.parametrize(
    ("value", "chosen"), [(True, 0), (False, Answer.NONE), ("unsure", Answer.UNSURE)], ids=str
)
def test_peeking_shows_what_follows_each_answer(value, chosen):
    session = line()
    follow_up = session.peek(chosen)
    assert session.events == ()
    session.tell(value)
    assert session.ask() == follow_up


def test_reports_can_be_read():
    assert str(Completeness(0.934, 0.861)) == "about 93% right, at least 86%"
    for progress, words in (
        (Progress(25, 0, 2, 5, 1, 3), "25 answers · 3 groups · about 1 to go"),
        (Progress(1, 2, 0, 5, 0, 1), "1 answer and 2 not sure · 1 group · about 1 to go"),
        (Progress(3, 0, 2, 0, 0, 2), "3 answers · 2 groups · nothing left to ask"),
        (Progress(0, 0, 0, 9, None, 4), "0 answers · 4 groups before any answer"),
        (Progress(3, 0, 2, 0, 0, 2, True), "3 answers · 2 groups · done; more questions available"),
    ):
        assert str(progress) == words


def test_a_session_says_in_a_line_where_it_is():
    session = Likewise(30, random_state=0).start(np.arange(400.0).reshape(200, 2))
    assert repr(session) == "<Session: 0 answers · 1 group before any answer · about 30 to go>"
    assert "as many as you like" in Progress(0, 0, 0, 9, None, 4)._repr_html_()


# -- the budget ----------------------------------------------------------------------------------

N = 12
TRUTH = np.arange(N) % 3


def budgeted(n):
    return COBRA(N, max_queries=n, random_state=0).start(np.arange(float(N))[:, None] ** 1.3)


def test_a_session_asks_as_much_as_its_budget_and_says_that_there_is_more():
    session = run(budgeted(4), LabelOracle(TRUTH))
    assert (session.ask(), session.is_done, session.n_asked) == (None, True, 4)
    assert session.progress.has_more
    assert str(session.progress).endswith("done; more questions available")
    with pytest.raises(StaleQueryError, match=r"session\.extend\(10\) asks more"):
        session.tell(True)


def test_not_sure_is_a_question_and_given_answers_are_none():
    session = budgeted(2)
    session.add_link(0, 3, "same")
    session.skip()
    assert session.ask() is not None
    session.skip()
    assert session.ask() is None
    session.undo()
    assert session.ask() is not None


def test_what_is_left_of_a_budget_is_saved_resumed_and_adopted():
    session = budgeted(5)
    run(session, LabelOracle(TRUTH), max_queries=2)
    loaded = Session.from_dict(json.loads(json.dumps(session.to_dict())))
    assert loaded.max_queries == 5
    run(loaded, LabelOracle(TRUTH))
    assert loaded.n_asked == 5
    model = COBRA().adopt(loaded)
    assert (model.n_queries_, model.session_.max_queries) == (5, 5)
    model.session_.extend(2)
    assert run(model.session_, LabelOracle(TRUTH)).n_asked == 7


def test_extending_counts_from_what_was_asked_or_was_to_be_asked():
    session = budgeted(5)
    session.extend(3)
    assert session.max_queries == 8
    session = budgeted(None)
    run(session, LabelOracle(TRUTH), max_queries=2)
    session.extend(1)
    assert session.max_queries == 3


def test_without_a_number_it_goes_on_to_the_end_also_after_saving():
    session = run(budgeted(1), LabelOracle(TRUTH))
    session.extend()
    loaded = Session.from_dict(session.to_dict())
    assert loaded == session
    assert not run(loaded, LabelOracle(TRUTH)).progress.has_more
    assert loaded.labels.tolist() == TRUTH.tolist()


@pytest.mark.parametrize("n", [-1, 2.5, "x"])
def test_a_budget_is_a_number(n):
    session = budgeted(1)
    with pytest.raises(InputError, match=f"from 0, got {n!r}"):
        session.extend(n)
    with pytest.raises(InputError, match=f"whole number from 0, got {n!r}"):
        Session(ClosestFirst(singletons(SQUARE)), max_queries=n)
    assert session.max_queries == 1


def test_the_last_question_of_a_budget_is_followed_by_none():
    session = budgeted(2)
    assert session.peek(0) is not None
    session.tell(True)
    assert session.peek(0) is None
    session.extend()
    following = session.peek(0)
    session.tell(True)
    assert session.ask() == following is not None


def test_peeking_beyond_a_marked_row_shows_what_follows():
    session = line()
    session.mark(3, 5)
    following = session.peek(Answer.UNSURE)
    session.skip()
    assert session.ask() == following


def test_what_fails_takes_a_raised_budget_back():
    session = budgeted(2)

    def fail():
        with session.transaction():
            session.extend(5)
            session.tell(True)
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert (session.max_queries, session.n_asked) == (2, 0)
    session.extend()
    with pytest.raises(OSError, match="full"):
        fail()
    session.tell(True)
    session.tell(True)
    assert session.ask() is not None
