"""Two people in two browsers at once, while a model answers."""

import asyncio
import re
import threading
from collections import Counter

import pytest

from likewise import Answer, LabelOracle
from likewise.project.model import ModelAtWork
from likewise.project.people import Person, acting
from likewise.project.record import session_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Model:
    """Always right, and not sure about every fifth row."""

    can_choose = True
    by = "model:fake"

    def __init__(self, truth):
        self.truth = LabelOracle(truth)

    async def answer(self, question):
        await asyncio.sleep(0)
        if question.row % 5 == 0:
            return Answer.UNSURE
        return question.place(self.truth.answer(question))

    def close(self):
        pass


class Held(Model):
    """Waits after some answers until it may go on."""

    def __init__(self, truth, n):
        super().__init__(truth)
        self.n, self.may_go_on = n, threading.Event()

    async def answer(self, question):
        self.n -= 1
        if self.n < 0:
            await asyncio.to_thread(self.may_go_on.wait)
        return await super().answer(question)


def test_the_page_says_what_the_model_does_while_nobody_touches_it(digits, serve, person, tmp_path):
    path, truth = digits
    options = {"questions": "choices", "session": tmp_path / "s", "encoder": "layout"}
    server = serve(path, **options)
    model = Held(truth, 4)
    work = server.project.model = ModelAtWork(server.project, model, most=12, n_at_once=1)
    work.start()
    try:
        someone = person(server, truth)
        counts = someone.page.locator("#counts")
        someone.expect(counts).to_contain_text("fake answered 4")
        someone.go("Groups")
        someone.expect(someone.page.locator("#view-result .about-model")).to_contain_text(
            "fake answered 4"
        )
        someone.expect(someone.page.locator("#view-result")).to_contain_text(
            "In all there are 3 answers, and 1 not sure."
        )
        legend = someone.page.locator("#view-result .how-legend")
        someone.expect(legend).to_contain_text("an answer says so")
        model.may_go_on.set()
        someone.expect(someone.page.locator("#view-result .about-model")).to_contain_text(
            "fake answered 12"
        )
        someone.go("Questions")
        someone.expect(counts).to_contain_text("fake answered 12")
    finally:
        model.may_go_on.set()
        work.stop()


def test_two_people_undo_their_own_answers(digits, serve, person, tmp_path):
    path, truth = digits
    options = {"questions": "choices", "session": tmp_path / "s", "encoder": "layout"}
    server = serve(path, people=["Ana", "Ben"], **options)
    ana, ben = (person(server, truth, name=name) for name in ("Ana", "Ben"))
    for someone in (ana, ben, ana, ben, ben):
        someone.answer(1)
    before = ana.fetch("api/query")["question"]
    ana.press("z")  # her page has seen none of what Ben said since
    said = Counter(gesture.by for gesture in server.project.session.log)
    assert (said["Ana"], said["Ben"]) == (1, 3)
    undone = ana.fetch("api/query")["question"]
    assert undone["number"] != before["number"]
    ana.press("Shift+Z")
    said = Counter(gesture.by for gesture in server.project.session.log)
    assert (said["Ana"], said["Ben"]) == (2, 3)
    ana.expect(ana.page.locator("#notice")).to_be_hidden()
    ana.expect(ana.page.locator("#redo")).to_be_disabled()


def test_history_says_how_often_two_people_agree_and_readers_change_nothing(
    digits, serve, person, tmp_path
):
    path, truth = digits
    options = {"questions": "choices", "session": tmp_path / "s", "encoder": "layout"}
    server = serve(path, people=["Ana", "Ben"], readers=["Cleo"], **options)
    for k in range(24):
        with acting(Person(("Ana", "Ben")[k % 2])):
            server.answer(truth, 1)
    ana, cleo = (person(server, truth, name=name) for name in ("Ana", "Cleo"))
    for someone in (cleo, ana):
        someone.go("History")
        someone.expect(someone.page.locator("#history-title")).to_have_text("What was answered")
        agreement = someone.page.locator(".agreement")
        said = re.compile(r"Ana and Ben said the same \d+ of \d+ times")
        someone.expect(agreement).to_contain_text(said)
        someone.expect(agreement).to_contain_text(re.compile(r"kappa -?\d\.\d\d, -?\d\.\d\d to"))
    cleo.expect(cleo.page.get_by_role("button", name="Set aside").first).to_be_hidden()
    ana.expect(ana.page.get_by_role("button", name="Set aside").first).to_be_visible()
    for someone, is_seen in ((cleo, False), (ana, True)):
        someone.go("Questions")
        someone.expect(someone.page.locator("#not-sure")).to_be_visible(visible=is_seen)


def test_two_people_in_two_browsers_check_a_model_and_nothing_is_lost(
    digits, serve, person, tmp_path
):
    path, truth = digits
    options = {"questions": "choices", "session": tmp_path / "s", "encoder": "layout"}
    server = serve(path, people=["Ana", "Ben"], **options)
    project = server.project
    work = project.model = ModelAtWork(project, Model(truth), most=24)
    ana, ben = (person(server, truth, name=name) for name in ("Ana", "Ben"))
    work.start()
    for _ in range(5):  # each answers a page that the other and the model have left behind
        for someone in (ana, ben):
            someone.answer(1)
    work.stop()
    said = Counter(gesture.by for gesture in project.session.log)
    assert (said["Ana"], said["Ben"]) == (5, 5)
    assert said["model:fake"] == 24
    assert Counter(g.by for g in session_in(project.store)[0].log) == said
    asked = [(g.by, g.left, g.groups) for g in project.session.log]
    assert len(set(asked)) == len(asked)

    ana.page.reload()
    ana.wait()
    counts = ana.page.locator("#counts")
    ana.expect(counts).to_contain_text(re.compile(r"fake answered 2[0-4] \(\d not sure\)"))
    work.problem = "max_calls=9 is spent"
    ana.page.reload()
    ana.expect(ana.page.locator("#progress")).to_contain_text("fake stopped: max_calls=9 is spent")
    ana.go("History")
    mine = ana.page.locator(".event .meta").filter(has_text="Ana").first
    ana.expect(mine).to_contain_text(re.compile(r"\d s"))
