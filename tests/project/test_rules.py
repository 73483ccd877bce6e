"""Rules of a project: what columns say before anybody is asked."""

import pytest

from likewise.core.answers import Answer, Link
from likewise.errors import InputError
from likewise.project import open_project
from likewise.project.model import ModelAtWork
from likewise.project.people import Person, acting
from likewise.project.record import session_in
from likewise.project.rules import IN_A_ROW, Rules

NAMES = ("screw M4", "screw M5", "nut M4", "nut M5", "bolt M4", "bolt M5")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "parts.csv"
    mails = ["" if k % 5 else f"maker {k % 3} " for k in range(60)]
    lines = [f"{k},{NAMES[k % 6]},{mails[k]},{k % 6},{k / 600}" for k in range(60)]
    path.write_text("id,name,mail,size,price\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def project(table):
    options = {"id": "id", "columns": ["name", "size", "price"], "cache": False}
    opened = open_project(table, options=options)
    yield opened.project
    opened.project.close()


def right(project, question):
    """What a person says: the same name is the same thing."""
    fits = [k for k, rows in enumerate(question.groups) if rows[0] % 6 == question.row % 6]
    return fits[0] if fits else Answer.NONE


def answers(project, n):
    for _ in range(n):
        if (question := project.ask()) is not None:
            said = right(project, question)
            project.choose(said, number=question.number, position=project.position)


def test_equal_values_are_the_same_signed_free_and_on_disk(project):
    project.rules = Rules(project, ["same:mail"])
    session = project.session
    assert session.answerers == {"rule:same:mail": 3}
    assert session.n_asked == 0
    assert session.links.implied(0, 15) is Answer.SAME
    assert session.links.implied(0, 5) is None
    assert {gesture.source for gesture in session.events} == {"extra"}
    assert session_in(project.store)[0].log == session.log
    # Their groups have the first keys.
    assert {group.number for group in project.groups()} == {0, 1, 2}
    # Beginning again says nothing twice.
    Rules(project, ["same:mail"])
    assert session.answerers == {"rule:same:mail": 3}


def test_what_a_rule_rules_out_nobody_is_asked_about(project):
    project.rules = Rules(project, ["digits:name"])
    by = "rule:digits:name"
    for _ in range(12):
        question = project.ask()
        assert question is not None
        digits = {NAMES[rows[0] % 6][-1] for rows in question.groups}
        assert digits == {NAMES[question.row % 6][-1]}
        position = project.position
        assert project.ask() == question
        assert project.position == position
        said = right(project, question)
        project.choose(said, number=question.number, position=position)
    session = project.session
    assert session.answerers[by] >= 2
    assert session.n_asked == 12
    for gesture in session.events:
        if gesture.by == by:
            assert {link.answer for link in gesture.links} == {Answer.DIFFERENT}
            assert all(link.left % 2 != link.right % 2 for link in gesture.links)
    assert session_in(project.store)[0].log == session.log


def test_people_overrule_rules_and_rules_can_be_set_aside(project):
    project.rules = Rules(project, ["same:mail", "different:size"])
    with acting(Person("Ana")):
        apart = [Link(0, 15, Answer.DIFFERENT)]
        project.mend(lambda _: apart, position=project.position)
    assert project.session.links.implied(0, 15) is Answer.DIFFERENT
    assert project.session.links.implied(5, 20) is Answer.SAME
    project.set_aside("rule:same:mail", position=project.position)
    assert project.session.links.implied(5, 20) is None
    answers(project, 6)
    assert project.session.answerers["rule:same:mail"] == 3
    n = project.session.answerers["rule:different:size"]
    project.set_aside("rule:different:size", position=project.position)
    answers(project, 6)
    assert project.session.answerers["rule:different:size"] == n


def test_undo_never_takes_back_what_a_rule_said(project):
    project.rules = Rules(project, ["digits:name"])
    answers(project, 3)
    n = project.session.answerers["rule:digits:name"]
    while project.can_undo:
        project.undo(position=project.position)
    assert project.session.answerers == {"rule:digits:name": n}


def test_what_a_rule_knows_costs_no_call_of_a_model(project):
    project.rules = Rules(project, ["digits:name"])
    asked = []

    class Model:
        can_choose = True
        by = "model:fake"

        async def answer(self, question):
            asked.append(question)
            return right(project, question) if len(question.groups) > 1 else None

        def close(self):
            pass

    project.model = ModelAtWork(project, Model(), n_at_once=4, most=20)
    project.model.work()
    assert project.model.problem == ""
    assert len(asked) == 20
    for question in asked:
        assert {rows[0] % 2 for rows in question.groups} == {question.row % 2}


def test_of_several_people_each_gets_what_no_rule_knows(project):
    project.gather(["Ana", "Ben"], every=0)
    project.rules = Rules(project, ["digits:name"])
    for k in range(12):
        with acting(Person(("Ana", "Ben")[k % 2])):
            question = project.ask()
            assert {rows[0] % 2 for rows in question.groups} == {question.row % 2}
            project.choose(right(project, question), number=question.number, position=-1)
    assert project.session.answerers["Ana"] == project.session.answerers["Ben"] == 6


def test_somebody_is_asked_after_many_that_a_rule_knew(project):
    rules = Rules(project, ["different:price"])
    project.rules = rules
    question = project.ask()
    assert project.session.answerers["rule:different:price"] == IN_A_ROW
    assert project.ask() == question
    assert project.session.answerers["rule:different:price"] == IN_A_ROW


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("mail", "a rule is same:COLUMN, different:COLUMN or digits:COLUMN, got 'mail'"),
        ("equal:mail", "got 'equal:mail'"),
        ("same:", "got 'same:'"),
        ("same:phone", "has no column 'phone'; its columns are name, mail, size, price"),
    ],
)
def test_rules_that_are_none_are_refused(project, rule, message):
    with pytest.raises(InputError, match=message):
        Rules(project, [rule])
    assert not project.session.log
