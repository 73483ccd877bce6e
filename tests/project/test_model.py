"""A model answers in the background, and a person checks it."""

import asyncio
import json
import threading
from typing import Any

import numpy as np
import pytest

from likewise import Answer, LabelOracle
from likewise.errors import ModelError
from likewise.learning.certificate import certificate, is_falling
from likewise.oracles.chat.server import Meter
from likewise.page.calls import reply_to
from likewise.project import open_project
from likewise.project.model import (
    CHECKED,
    FIRST_CHECKS,
    ModelAtWork,
    certified,
    said_by,
    shown_to_models,
    to_review,
)
from likewise.project.people import Person, acting
from likewise.project.record import session_in

N = 60
TRUTH = np.arange(N) % 3
BY = "model:fake"


class Model:
    """Answers like a model that is wrong, and not sure, about some rows; it has its own budget."""

    can_choose = True
    by = BY

    def __init__(self, wrong=(), unsure=(), most=1000, error=None):
        self.wrong, self.unsure, self.most, self.error = set(wrong), set(unsure), most, error
        self.n, self.is_closed = 0, False

    async def answer(self, question):
        await asyncio.sleep(0)
        self.n += 1
        if self.n > self.most:
            raise self.error
        if question.row in self.unsure:
            return Answer.UNSURE
        right = question.place(LabelOracle(TRUTH).answer(question))
        if question.row not in self.wrong:
            return right if len(question.groups) > 1 or right is Answer.NONE else True
        if len(question.groups) == 1:
            return right is Answer.NONE
        return 0 if right is Answer.NONE else Answer.NONE

    def close(self):
        self.is_closed = True


class Misled(Model):
    """Takes wrong rows for members of another group."""

    async def answer(self, question):
        said = await super().answer(question)
        is_wrong = question.row in self.wrong and len(question.groups) > 1
        right = question.place(LabelOracle(TRUTH).answer(question))
        return (0 if right != 0 else 1) if is_wrong else said


def opened_project(tmp_path, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2)) * 0.8 + 6 * np.c_[TRUTH, TRUTH % 2]
    table = tmp_path / "t.csv"
    lines = [f"{a:.4f},{b:.4f}\n" for a, b in X]
    table.write_text("a,b\n" + "".join(lines))
    opened = open_project([table], options={"cache": False}, instruction="the same?", **options)
    opened.project._by = "Ann"
    return opened.project


@pytest.fixture
def project(tmp_path):
    project = opened_project(tmp_path)
    yield project
    project.close()


def at_work(project, model, **options):
    """Return a model that has answered all it may."""
    work = ModelAtWork(project, model, **{"most": 40, **options})
    project.model = work
    work.work()
    return work


def person_answers(project, n, name=None):
    """Let a person who is always right answer; return the questions."""
    asked = []
    with acting(name and Person(name)):
        for _ in range(n):
            question = project.ask()
            if question is None:
                break
            right = question.place(LabelOracle(TRUTH).answer(question))
            project.choose(right, number=question.number, position=-1)
            asked.append(question)
    return asked


def test_every_answer_of_the_model_is_on_disk_and_signed(project):
    work = at_work(project, Model())
    assert work.problem == ""
    n = project.session.answerers[BY]
    assert 10 <= n <= 40
    stored = [entry.op for entry in project.store.read()]
    assert len(stored) == n
    assert session_in(project.store)[0].answerers == {BY: n}
    assert not any(gesture.is_certain for gesture in project.session.events)
    assert work.oracle.is_closed


def test_the_person_checks_a_sample_blind_and_gets_what_the_model_was_not_sure_about(project):
    unsure = range(0, N, 7)
    at_work(project, Model(unsure=unsure))
    said = {one.gesture.left: one for one in said_by(project.session, BY)}
    asked = person_answers(project, 15)
    rows = [question.row for question in asked]
    assert set(rows) <= set(said)
    assert len(set(rows)) == len(rows)
    about_unsure = [row for row in rows if not said[row].is_sure]
    assert about_unsure
    sources = {g.left: g.source for g in project.session.log if getattr(g, "by", "") == "Ann"}
    assert {sources[row] for row in about_unsure} == {"extra"}
    sampled = [one for one in said_by(project.session, BY) if one.is_sampled]
    assert len(sampled) + len(about_unsure) == 15
    # It is put as the model had it: the same groups, and nothing of what it said.
    for question in asked:
        gesture = said[question.row].gesture
        assert question.groups == (gesture.groups or ((gesture.right,),))
    # Both strata are covered.
    strata = [one.stratum for one in sampled]
    assert min(strata.count(0), strata.count(1)) >= len(strata) // 3


def test_several_people_check_a_model_and_each_gets_other_questions(project):
    project.gather(["Ann", "Ben"], every=0)
    unsure = range(0, N, 7)
    work = at_work(project, Model(unsure=unsure))
    held = []
    for name in ("Ann", "Ben"):
        with acting(Person(name)):
            held.append(project.ask())
            assert project.ask() == held[-1]
    assert held[0].row != held[1].row
    rows = [q.row for k in range(20) for q in person_answers(project, 1, ("Ann", "Ben")[k % 2])]
    assert len(set(rows)) == len(rows)
    said = {one.gesture.left: one for one in said_by(project.session, BY)}
    assert set(rows) <= set(said)
    assert {row for row in rows if not said[row].is_sure} == {g for g in said if g in unsure}
    checked = {g.left: g.by for g in project.session.log if g.by != BY}
    sampled = {one.gesture.left for one in said.values() if one.is_sampled}
    assert {checked[row] for row in sampled} == {"Ann", "Ben"}
    assert certified(project.session, BY).n == len(sampled)
    assert f"by {len(sampled)} checks" in work.report()["line"]


def test_what_people_check_of_a_model_is_put_to_two_of_them_as_well(project):
    project.gather(["Ann", "Ben"], every=3)
    at_work(project, Model())
    for k in range(12):
        person_answers(project, 1, ("Ann", "Ben")[k % 2])
    assert [double.agree for double in project.doubles()] == [True] * 3
    # The model is judged by the first of the two.
    n = sum(one.is_sampled for one in said_by(project.session, BY))
    assert certified(project.session, BY).n == n == 12 - 3


def test_nobody_waits_for_a_model_and_nobody_is_asked_twice(project):
    """In the beginning there is one question; model and people have it at the same time."""
    project.gather(["Ann", "Ben"], every=0)
    work = project.model = ModelAtWork(project, Model(), most=30)
    first, *_ = work.next_questions(8, [])
    held = []
    for name in ("Ann", "Ben"):
        with acting(Person(name)):
            held.append(project.ask())
    assert {question.row for question in held} == {first.row}
    for name in ("Ann", "Ben"):
        person_answers(project, 1, name)
    right = first.place(LabelOracle(TRUTH).answer(first))
    project.answer_for(first, right, by=BY)
    assert [one.is_right for one in said_by(project.session, BY)] == [True]
    rows = [q.row for k in range(8) for q in person_answers(project, 1, ("Ann", "Ben")[k % 2])]
    assert first.row not in rows


def test_what_is_doubtful_is_not_taken_out_of_the_sample(project):
    """Else the rest, from which the sample is drawn, would look better than all answers."""
    at_work(project, Model(wrong=range(0, N, 4)))
    person_answers(project, 40)
    said = [one for one in said_by(project.session, BY) if one.is_sure]
    share = max(CHECKED, FIRST_CHECKS / len(said))
    for one in said:
        if one.is_right is not None and not one.is_sampled:
            assert one.draw >= share
    assert any(one.is_right is False and not one.is_sampled for one in said)


def test_what_the_person_is_not_sure_about_either_is_not_asked_again(project):
    at_work(project, Model(wrong=range(0, N, 4), unsure=range(1, N, 9)))
    rows = []
    for _ in range(16):
        question = project.ask()
        rows.append(question.row)
        project.choose(Answer.UNSURE, number=question.number, position=-1)
    assert len(set(rows)) == len(rows)
    assert certified(project.session, BY).n == 0


def test_what_was_checked_early_counts_for_no_more_than_what_comes_later(project):
    """Else a model that is right in the beginning would look better than it is for long."""
    at_work(project, Model(), most=12)
    person_answers(project, 8)
    before = certified(project.session, BY)
    assert before.n == before.n_right >= 4
    at_work(project, Model(wrong=range(N)), most=40)
    said = [one for one in said_by(project.session, BY) if one.can_be_checked]
    assert len(said) >= 30
    right = sum(question_is_right(one.gesture) for one in said) / len(said)
    for _ in range(20):
        found = certified(project.session, BY)
        assert found.at_least <= right <= found.at_most
        counted = [one for one in said_by(project.session, BY) if one.is_sampled]
        share = max(CHECKED, FIRST_CHECKS / len(said))
        assert found.n <= sum(one.draw < share for one in counted)
        person_answers(project, 1)
    assert found.n > 8


def question_is_right(gesture):
    """Return whether an answer is the true one."""
    groups = gesture.groups or ((gesture.right,),)
    fits = [TRUTH[group[0]] == TRUTH[gesture.left] for group in groups]
    heads = [link.right for link in gesture.links if link.answer is Answer.SAME]
    if not heads:
        return not any(fits)
    return all(TRUTH[head] == TRUTH[gesture.left] for head in heads)


def test_a_check_counts_as_it_was_revised_and_not_while_its_person_is_set_aside(project):
    at_work(project, Model())
    question = project.ask()
    project.choose(Answer.NONE, number=question.number, position=-1)
    right = question.place(LabelOracle(TRUTH).answer(question))
    found = certified(project.session, BY)
    assert (found.n, found.n_right) == (1, int(right is Answer.NONE))
    (number,) = (gesture.number for gesture in project.session.events if gesture.by == "Ann")
    project.revise(number, right, position=project.position)
    found = certified(project.session, BY)
    assert (found.n, found.n_right) == (1, 1)
    person_answers(project, 3)
    project.set_aside("Ann", position=project.position)
    assert certified(project.session, BY).n == 0
    project.take_back("Ann", position=project.position)
    assert certified(project.session, BY).n == 4


def test_groups_that_are_known_by_name_only_keep_their_names(tmp_path):
    """A model, and whoever checks it, are shown the names of groups that are empty yet."""
    names, seen = ["circles", "squares", "stars"], []

    class Named(Model):
        async def answer(self, question):
            seen.append(question.names)
            by_name = [k for k in range(3) if question.name(k) == names[TRUTH[question.row]]]
            return by_name[0] if by_name else Answer.NONE

    project = opened_project(tmp_path, group_names=names)
    project.ask()  # the person has the first question before them
    at_work(project, Named())
    assert not any(None in shown for shown in seen)
    assert sorted(project.session.names.values()) == sorted(names)
    said = said_by(project.session, BY)
    assert any(() in one.gesture.groups for one in said)
    for _ in range(25):
        question = project.ask()
        assert None not in question.names
        assert () not in question.groups
        (k,) = (k for k in range(3) if question.name(k) == names[TRUTH[question.row]])
        project.choose(k, number=question.number, position=-1)
    found = certified(project.session, BY)
    assert found.n == found.n_right >= 15
    project.close()


def test_what_is_learned_against_the_model_comes_first_and_the_least_credible_of_it(project):
    wrong = set(range(2, N, 7))
    at_work(project, Misled(wrong=wrong), most=50)
    share = FIRST_CHECKS / len(said_by(project.session, BY))
    left = [one for one in said_by(project.session, BY) if one.draw >= share]
    doubtful = {one.gesture.left for one in left} & wrong
    found = project.session.assessment.suspects(1.0)
    assert doubtful <= {suspect.left for suspect in found}
    assert len(doubtful) > len(doubtful & {suspect.left for suspect in project.session.suspects})
    asked = [question.row for question in person_answers(project, 2 * len(doubtful) + 2)]
    assert len(doubtful - set(asked)) <= 1


def test_the_answers_of_the_person_win(project):
    at_work(project, Model(wrong=range(N)))
    person_answers(project, 8)
    session = project.session
    for gesture in session.log:
        if gesture.by == "Ann":
            for link in gesture.links:
                assert session.links.implied(*link.pair) is link.answer


def test_how_often_it_is_right_is_said(project):
    work = at_work(project, Model(wrong=range(0, N, 5)))
    assert work.report()["line"].endswith(", none checked so far")
    person_answers(project, 20)
    found = certified(project.session, BY)
    assert 0 < found.n <= 20
    assert found.at_least <= found.estimate <= found.at_most
    assert found.n_right < found.n
    progress: Any
    status, progress = reply_to(project, "progress")
    assert status == 200
    line = progress["model"]["line"]
    assert line.startswith(f"fake answered {project.session.answerers[BY]}")
    assert f"right in {found.estimate:.0%}, at least {found.at_least:.0%}" in line


def test_a_model_that_is_too_poor_is_asked_no_more(project):
    work = at_work(project, Model(wrong=range(N)), most=20)
    person_answers(project, 14)
    assert certified(project.session, BY).at_most < 0.6
    n = project.session.answerers[BY]
    again = at_work(project, Model(), most=60)
    assert project.session.answerers[BY] == n
    assert "is asked no more" in again.report()["warning"]
    assert work.report()["is_working"] is False
    project.set_aside(BY, position=project.position)
    assert again.report()["warning"]


def test_when_the_model_fails_the_person_goes_on(project):
    error = ModelError("http://localhost:1 cannot be reached")
    work = at_work(project, Model(most=9, error=error))
    assert work.report()["warning"] == "fake stopped: http://localhost:1 cannot be reached"
    n = project.session.answerers[BY]
    assert n == 9
    person_answers(project, 30)
    assert project.session.answerers["Ann"] == 30
    at_work(project, Model(), most=30)
    assert project.session.answerers[BY] >= n


def test_a_budget_that_is_spent_is_said(project):
    class Metered(Model):
        meter = Meter(max_calls=8)

        async def answer(self, question):
            self.meter.begin(100, 10)
            return await super().answer(question)

    work = at_work(project, Metered())
    assert project.session.answerers[BY] == 8
    warning = work.report()["warning"]
    assert warning == "fake stopped: max_calls=8 is spent after 8 calls and 880 tokens"


def test_the_page_goes_on_while_the_model_works(project):
    """The question of the person stays the same, and its answer is taken, whatever was said."""
    work = project.model = ModelAtWork(project, Model(), most=30)
    question = project.ask()
    assert project.ask() == question
    seen = project.position
    work.work()
    assert project.position > seen
    assert project.ask() == question
    reply: Any
    status, reply = reply_to(
        project, "answer", {"chosen": None, "question": question.number, "position": seen}
    )
    assert status == 200
    assert reply["question"]["number"] != question.number
    status, _ = reply_to(
        project, "answer", {"chosen": None, "question": question.number, "position": seen}
    )
    assert status == 409


def test_undo_takes_back_what_the_person_said_and_never_what_the_model_said(project):
    work = project.model = ModelAtWork(project, Model(), most=30)
    question = person_answers(project, 1)[0]
    seen = project.position
    work.work()
    n = project.session.answerers[BY]
    reply: Any
    status, reply = reply_to(project, "undo", {"position": seen})
    assert status == 200
    assert project.session.answerers == {BY: n}
    asked = project.ask()
    assert (asked.row, asked.groups) == (question.row, question.groups)
    assert (reply["can_undo"], reply["can_redo"]) == (False, True)
    status, reply = reply_to(project, "undo", {"position": reply["position"]})
    assert (status, project.session.answerers) == (200, {BY: n})
    status, reply = reply_to(project, "redo", {"position": reply["position"]})
    assert (status, project.session.answerers) == (200, {BY: n, "Ann": 1})
    assert project.ask().row != question.row
    stored = session_in(project.store)[0]
    assert (stored.log, stored.undone) == (project.session.log, project.session.undone)


def test_the_person_mends_names_and_revises_while_the_model_answers(project):
    work = project.model = ModelAtWork(project, Model(), most=30)
    person_answers(project, 4)
    (first, *_), groups = project.session.events, project.groups()
    seen = project.position
    work.work()
    assert project.position > seen + 10
    reply: Any
    for path, body in (
        ("name", {"group": groups[0].id, "name": "circles"}),
        ("move", {"rows": [project.members(groups[0]).tolist()[-1]], "to": "new"}),
        (
            "revise",
            {"number": 1, "row": first.left, "by": "Ann", "answer": "unsure", "apply": True},
        ),
        ("set-aside", {"by": BY}),
    ):
        status, reply = reply_to(project, path, {"position": seen, **body})
        assert (path, status) == (path, 200), reply
        seen = reply["position"]
        # The page may have seen none of what the model says meanwhile.
        project.answer_for(project.session.put(9, ((0,),)), Answer.UNSURE, by=BY)


def test_what_a_model_waits_for_is_said_while_it_works(project):
    class Waiting(Model):
        trouble = "http://localhost:1/v1 took longer than 9 s: try 2 of 4"

        async def answer(self, question):
            seen.append(work.report()["warning"])
            return await super().answer(question)

    seen: list[str] = []
    work = ModelAtWork(project, Waiting(), most=2)
    work.start()
    assert work._has_ended.wait(60)
    assert set(seen) == {f"fake waits: {Waiting.trouble}"}
    assert work.report()["warning"] == ""


def test_it_stops_when_told(project):
    work = project.model = ModelAtWork(project, Model(), most=40)
    work.start()
    work.stop()
    assert not work.report()["is_working"]
    json.dumps(work.report())


def test_what_was_replied_is_kept_when_the_server_does_not_end(project):
    class Hanging(Model):
        async def answer(self, question):
            is_asked.set()
            await loop_waits(release)
            raise ModelError("late")

    is_asked, release = threading.Event(), threading.Event()
    model = Hanging()
    work = project.model = ModelAtWork(project, model)
    work.start()
    assert is_asked.wait(60)
    work.stop(seconds=0.0)
    assert model.is_closed
    assert work.report()["is_working"]
    release.set()
    assert work._has_ended.wait(60)


async def loop_waits(event):
    await asyncio.get_running_loop().run_in_executor(None, event.wait)


def test_after_opening_again_nothing_is_forgotten(project):
    at_work(project, Model(unsure=range(0, N, 7)))
    person_answers(project, 9)
    before = certified(project.session, BY)
    review = to_review(project.session, BY)
    again = type(project.session).from_dict(project.session.to_dict())
    assert certified(again, BY) == before
    assert to_review(again, BY) == review


def test_what_a_model_is_sent_of_a_row(project):
    shown = shown_to_models(project)(0)
    assert set(shown) >= {"a", "b"}


def test_what_to_expect_is_reckoned_with_questions_as_large_as_later_ones(project, tmp_path):
    """The first ones are about one group, with one item, and say little about the others."""
    work = ModelAtWork(project, Model())
    questions = work.typical(5)
    assert len({q.row for q in questions}) == 5
    assert [[len(group) for group in q.groups] for q in questions] == [[3] * 10] * 5
    (tmp_path / "pairs").mkdir()
    pairs = opened_project(tmp_path / "pairs", n_super_instances=10)
    try:
        assert all(q.is_pair for q in ModelAtWork(pairs, Model()).typical())
    finally:
        pairs.close()
    at_work(project, Model(), most=N)
    project.session.extend(0)
    assert project.session.ask() is None
    assert work.typical() == []


# -- the certificate -----------------------------------------------------------------------------


@pytest.mark.parametrize("p", [(0.95, 0.8), (0.7, 0.5), (0.99, 0.99)])
def test_the_interval_holds_at_any_time(p):
    rng = np.random.default_rng(1)
    sizes, n_times, n_missed = (140, 60), 60, 0
    truth = (p[0] * 140 + p[1] * 60) / 200
    for _ in range(n_times):
        checks = [(t % 2, bool(rng.random() < p[t % 2])) for t in range(40)]
        found = [certificate(checks[:t], sizes) for t in range(4, 41, 6)]
        n_missed += not all(one.at_least <= truth <= one.at_most for one in found)
    assert n_missed <= 0.06 * n_times


def test_the_interval_narrows_and_nothing_is_known_without_checks():
    nothing = certificate([], (10, 10))
    assert (nothing.n, nothing.at_least, nothing.at_most) == (0, 0.0, 1.0)
    ends = [certificate([(k % 2, True) for k in range(n)], (50, 50)) for n in (5, 20, 80)]
    assert ends[0].at_least < ends[1].at_least < ends[2].at_least
    assert ends[2].at_least > 0.9
    right = [(k % 2, True) for k in range(4)]
    assert {certificate(right, sizes).at_most for sizes in ((3, 18), (4, 3), (8, 6))} == {1.0}
    one = certificate([(1, True)] * 9, (0, 9))
    assert one.at_least > 0.5


def test_falling_agreement_is_flagged_and_steady_agreement_is_not():
    good, poor = [(0, True)] * 40, [(0, k % 3 == 0) for k in range(20)]
    assert is_falling([*good, *poor])
    assert certificate([*good, *poor], (100,)).is_falling
    assert not is_falling(good)
    assert not is_falling(poor)
    rng = np.random.default_rng(0)
    steady = [[(0, bool(rng.random() < 0.85)) for _ in range(80)] for _ in range(60)]
    assert sum(map(is_falling, steady)) <= 3
