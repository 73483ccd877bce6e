"""Several people at one project: other questions for each, some put to two, and how they agree."""

import numpy as np
import pytest

from likewise.core.answers import Answer
from likewise.errors import InputError, StaleQueryError
from likewise.page.calls import reply_to
from likewise.project import open_project
from likewise.project.people import (
    Person,
    acting,
    agreements,
    checked_people,
    cohens_kappa,
    doubles,
)
from likewise.project.record import session_in

PEOPLE = ("Ana", "Ben", "Cleo")


@pytest.fixture
def points(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 15)
    rows = np.array([[0, 0], [9, 0], [0, 9]])[y] + rng.normal(size=(45, 2))
    lines = [f"p{k},{a:.3f},{b:.3f}" for k, (a, b) in enumerate(rows)]
    (tmp_path / "points.csv").write_text("name,x,y\n" + "\n".join(lines) + "\n")
    return tmp_path / "points.csv", y


@pytest.fixture
def project(points):
    opened = open_project(points[0], options={"id": "name"}, seed=0)
    opened.project.gather(PEOPLE, every=4)
    yield opened.project
    opened.project.close()


def right(question, y):
    """What a person says who knows the truth and reads the first row of each group."""
    fits = [k for k, rows in enumerate(question.groups) if y[rows[0]] == y[question.row]]
    return fits[0] if fits else Answer.NONE


def answer(project, name, chosen):
    """Answer the question of a person, at a position that others have made outdated."""
    with acting(Person(name)):
        question = project.ask()
        said = chosen(question) if callable(chosen) else chosen
        project.choose(said, number=question.number, position=-1)
        return question


def asked(project, name):
    with acting(Person(name)):
        return project.ask()


def test_each_gets_another_question_and_keeps_it(project, points):
    for _ in range(12):
        answer(project, "Ana", lambda q: right(q, points[1]))
    project.gather(PEOPLE, every=0)
    first = [asked(project, name) for name in PEOPLE]
    assert len({(q.number, q.row) for q in first}) == len(PEOPLE)
    assert [asked(project, name) for name in PEOPLE] == first
    answer(project, "Ben", lambda q: right(q, points[1]))
    again = [asked(project, name) for name in PEOPLE]
    assert (again[0], again[2]) == (first[0], first[2])
    assert again[1] not in first


def test_in_the_beginning_nobody_waits_but_some_answer_the_same_question(project, points):
    first = [asked(project, name) for name in PEOPLE]
    assert len({q.row for q in first}) == 1
    assert len({q.number for q in first}) == len(PEOPLE)
    for name in PEOPLE:
        answer(project, name, lambda q: right(q, points[1]))
    assert project.session.n_asked == 1
    assert [double.agree for double in doubles(project.session)] == [True, True]


def test_who_answered_is_in_the_log_whoever_started_the_page(project, points):
    for name in ("Ana", "Ben", "Ana"):
        answer(project, name, lambda q: right(q, points[1]))
    assert [g.by for g in project.session.events] == ["Ana", "Ben", "Ana"]
    assert [row.by for row in project.store.read(0)] == ["Ana", "Ben", "Ana"]


def test_an_answer_to_a_question_of_somebody_else_is_refused(project):
    with acting(Person("Ana")):
        question = project.ask()
    with acting(Person("Ben")), pytest.raises(StaleQueryError, match="no longer yours"):
        project.choose(0, number=question.number, position=project.position)
    assert not project.session.events


def test_every_so_many_questions_go_to_two_who_do_not_see_the_first_answer(project, points):
    for k in range(24):
        answer(project, PEOPLE[k % 3], lambda q: right(q, points[1]))
    found = doubles(project.session)
    assert len(found) >= 4
    for double in found:
        assert double.first.by != double.second.by
        assert (double.first.left, double.first.groups) == (
            double.second.left,
            double.second.groups,
        )
        assert double.agree is True
    # What was put a second time costs nothing.
    assert project.session.n_asked == 24 - len(found)


def test_groups_that_are_known_by_name_only_keep_their_names_for_everybody(points):
    path, y = points
    names = ["north", "east", "south"]
    opened = open_project(
        [path], options={"id": "name"}, group_names=names, session=path.with_suffix(".two")
    )
    project = opened.project
    project.gather(PEOPLE[:2], every=1)

    def named(question):
        by_name = [k for k in range(len(names)) if question.name(k) == names[y[question.row]]]
        return by_name[0] if by_name else Answer.NONE

    first = [asked(project, name) for name in PEOPLE[:2]]
    assert [question.names for question in first] == [tuple(names)] * 2
    for k in range(10):
        with acting(Person(PEOPLE[k % 2])):
            status, _ = reply_to(project, "query")
            assert status == 200
            assert reply_to(project, "agreement")[0] == 200
        question = answer(project, PEOPLE[k % 2], named)
        assert None not in question.names
    assert sorted(project.session.names.values()) == sorted(names)
    # Only questions in which all groups have rows are compared.
    assert all(() not in double.first.groups for double in project.doubles())
    assert all(double.agree for double in project.doubles())
    assert [line.people for line in agreements(project.session)] == [PEOPLE[:2]]
    opened.project.close()


def test_what_is_to_be_put_to_two_survives_a_restart(project, points):
    path, y = points
    for _ in range(4):
        answer(project, "Ana", lambda q: right(q, y))
    fourth = project.session.events[-1]
    project.close()
    again = open_project(path, options={"id": "name"}, seed=0).project
    again.gather(PEOPLE, every=4)
    with acting(Person("Ana")):
        assert again.ask().row != fourth.left
    with acting(Person("Ben")):
        question = again.ask()
    assert (question.row, question.groups) == (fourth.left, fourth.groups)
    again.close()


def disagreement(project, y):
    """Let Ana answer four questions, and Ben the fourth, wrongly."""
    for _ in range(4):
        answer(project, "Ana", lambda q: right(q, y))
    return answer(project, "Ben", lambda q: (right(q, y) + 1) % len(q.groups))


def test_where_two_disagree_one_decides_for_good(project, points):
    question = disagreement(project, points[1])
    (double,) = doubles(project.session)
    assert (double.first.by, double.second.by, double.agree) == ("Ana", "Ben", False)
    with acting(Person("Cleo")):
        project.decide(0, right(question, points[1]), position=project.position)
    (double,) = doubles(project.session)
    assert double.is_decided
    head = question.groups[right(question, points[1])][0]
    assert project.session.links.implied(question.row, head) is Answer.SAME
    assert project.session.events[-1].by == "Cleo"
    with pytest.raises(InputError, match="no disagreement 3: there are 1"):
        project.decide(3, 0, position=project.position)


def test_how_often_two_agree_is_said_with_an_interval(project, points):
    disagreement(project, points[1])
    (line,) = agreements(project.session)
    assert (line.people, line.n, line.n_same, line.n_unsure) == (("Ana", "Ben"), 1, 0, 0)
    assert line.interval[0] == 0.0
    assert 0.5 < line.interval[1] < 1.0


def test_not_sure_is_no_disagreement(project, points):
    for _ in range(4):
        answer(project, "Ana", lambda q: right(q, points[1]))
    answer(project, "Cleo", Answer.UNSURE)
    (line,) = agreements(project.session)
    assert (line.n, line.n_unsure, line.kappa) == (0, 1, None)
    assert doubles(project.session)[0].agree is None


def test_each_undoes_and_redoes_their_own_answers_whatever_others_have_said(project, points):
    y = points[1]
    seen = {}
    for name in ("Ana", "Ben", "Ana", "Ben", "Ben"):
        answer(project, name, lambda q: right(q, y))
        seen[name] = project.position
    (_, ana), bens = (
        [g for g in project.session.events if g.by == name] for name in ("Ana", "Ben")
    )
    with acting(Person("Cleo")):
        assert not project.can_undo
        project.undo(position=project.position)
    with acting(Person("Ana")):
        project.undo(position=seen["Ana"])  # Ben has answered twice since
        assert (project.can_undo, project.can_redo) == (True, True)
        again = project.ask()
        assert (again.row, again.groups) == (ana.left, ana.groups or ((ana.right,),))
    events = project.session.events
    assert [g.by for g in events] == ["Ana", "Ben", "Ben", "Ben"]
    assert [g.links for g in events if g.by == "Ben"] == [g.links for g in bens]
    with acting(Person("Ben")):
        assert not project.can_redo
        project.undo(position=project.position)
    with acting(Person("Ana")):
        project.redo(position=project.position)
        assert not project.can_redo
        assert project.ask().row != ana.left
    assert [g.by for g in project.session.events] == ["Ana", "Ben", "Ben", "Ana"]
    stored = session_in(project.store)[0]
    assert (stored.log, stored.undone) == (project.session.log, project.session.undone)


def test_what_others_say_takes_no_redo_away_and_what_one_says_oneself_does(project, points):
    for name in ("Ana", "Ben"):
        answer(project, name, lambda q: right(q, points[1]))
    with acting(Person("Ana")):
        project.undo(position=project.position)
    answer(project, "Ben", lambda q: right(q, points[1]))
    with acting(Person("Ana")):
        assert project.can_redo
    answer(project, "Ana", lambda q: right(q, points[1]))
    with acting(Person("Ana")):
        assert not project.can_redo
    stored = session_in(project.store)[0]
    assert (stored.log, stored.undone) == (project.session.log, project.session.undone)


def test_undo_that_was_decided_before_ones_own_last_answer_is_refused(project, points):
    for _ in range(2):
        answer(project, "Ana", lambda q: right(q, points[1]))
    seen = project.position
    with acting(Person("Ana")):
        project.undo(position=seen)
        with pytest.raises(StaleQueryError, match="nothing was saved"):
            project.undo(position=seen)
    assert len(project.session.events) == 1


def test_what_was_done_before_an_answer_was_revised_is_undone_after_that(project, points):
    for name in ("Ana", "Ben"):
        answer(project, name, lambda q: right(q, points[1]))
    with acting(Person("Ben")):
        project.revise(2, Answer.UNSURE, position=project.position)
    with acting(Person("Ana")), pytest.raises(InputError, match="was revised after this"):
        project.undo(position=project.position)
    with acting(Person("Ben")):
        project.undo(position=project.position)
    with acting(Person("Ana")):
        project.undo(position=project.position)
    assert [g.by for g in project.session.events] == ["Ben"]


def test_what_others_answer_refuses_no_change_but_what_they_change_does(project, points):
    for _ in range(6):
        answer(project, "Ana", lambda q: right(q, points[1]))
    seen, group = project.position, project.groups()[0].id
    answer(project, "Ben", lambda q: right(q, points[1]))
    with acting(Person("Ana")):
        project.name(group, "upper", position=seen)
    with acting(Person("Ben")), pytest.raises(StaleQueryError, match="nothing was saved"):
        project.name(group, "lower", position=seen)
    assert project.group(group).name == "upper"


def test_the_answer_that_is_revised_is_the_one_that_was_seen(project, points):
    for name in ("Ana", "Ben"):
        answer(project, name, lambda q: right(q, points[1]))
    first, seen = project.session.events[0], project.position
    answer(project, "Ben", lambda q: right(q, points[1]))
    with acting(Person("Ana")):
        with pytest.raises(StaleQueryError, match="nothing was saved"):
            project.revise(1, Answer.UNSURE, position=seen)
        with pytest.raises(StaleQueryError, match="answer 1 is another one now"):
            project.revise(1, Answer.UNSURE, position=seen, seen=(first.left, "Ben"))
        project.revise(1, Answer.UNSURE, position=seen, seen=(first.left, "Ana"))
    assert project.session.events[0].answer is Answer.UNSURE


def test_a_question_that_others_have_settled_is_taken_away(project, points):
    with acting(Person("Ana")):
        held = project.ask()
    head = held.groups[0][0]
    with acting(Person("Ben")):
        project.settle(held.row, head, Answer.SAME, position=project.position)
    with acting(Person("Ana")):
        assert project.ask() != held


def test_an_answer_to_a_settled_question_that_is_on_the_screen_is_refused_with_the_reason(
    project, points
):
    with acting(Person("Ana")):
        held = project.ask()
    with acting(Person("Ben")):
        project.settle(held.row, held.groups[0][0], Answer.SAME, position=project.position)
    with acting(Person("Ana")):
        project.ask()
        with pytest.raises(StaleQueryError, match="others have settled it"):
            project.choose(0, number=held.number, position=project.position)


def test_kappa_is_that_of_the_textbook():
    # 50 applications, two readers: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no (Fleiss).
    kinds = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [20, 5, 10, 15], axis=0)
    kappa, around = cohens_kappa(kinds)
    assert kappa == pytest.approx(0.4)
    assert around is not None
    assert around[0] < 0.4 < around[1]
    assert cohens_kappa(np.zeros((5, 2), dtype=int)) == (None, None)


@pytest.mark.parametrize("n", [5, 10, 40])
def test_the_interval_of_kappa_has_the_true_one_also_where_few_agree_on_all(n):
    rng, n_times, n_held = np.random.default_rng(0), 200, 0
    true = 0.95**2  # each guesses one time in twenty
    for _ in range(n_times):
        said = rng.integers(4, size=n)
        kinds = np.where(rng.random((n, 2)) < 0.95, said[:, None], rng.integers(4, size=(n, 2)))
        _, around = cohens_kappa(kinds)
        assert around is not None
        n_held += around[0] <= true <= around[1]
    assert n_held >= 0.93 * n_times


def test_ten_people_give_a_thousand_answers_and_none_is_lost_or_doubled(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(12, size=1200)
    rows = rng.normal(size=(12, 6))[y] * 4 + rng.normal(size=(1200, 6))
    path = tmp_path / "many.npy"
    np.save(path, rows)
    project = open_project(path, seed=0).project
    people = [f"person {k}" for k in range(10)]
    project.gather(people, every=10)
    n = 120  # as many as take a second; a thousand, by threads, in the slow test
    given = [answer(project, people[k % 10], lambda q: right(q, y)) for k in range(n)]
    assert len({q.number for q in given}) == n
    assert len(project.session.events) == n
    assert [row.by for row in project.store.read(0)] == [people[k % 10] for k in range(n)]
    project.close()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["Ana", "Ana"], "'Ana' occurs twice"),
        (["model:gpt"], "does not begin with model: or rule:"),
        ([""], "1 to 60 characters"),
        (["x" * 61], "1 to 60 characters"),
        (["a\nb"], "control characters"),
    ],
)
def test_names_that_tell_nobody_apart_are_refused(names, message):
    with pytest.raises(InputError, match=message):
        checked_people(names)
