"""Two people in two browsers at once, while a model answers."""

import asyncio
import re
from collections import Counter

import pytest

from likewise import Answer, LabelOracle
from likewise.project.model import ModelAtWork
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
    agreement = ana.page.locator(".agreement")
    ana.expect(agreement).to_contain_text(re.compile(r"Ana and Ben said the same \d+ of \d+ times"))
    ana.expect(agreement).to_contain_text(re.compile(r"kappa 1\.00, -?0\.\d\d to 1\.00"))
    mine = ana.page.locator(".event .meta").filter(has_text="Ana").first
    ana.expect(mine).to_contain_text(re.compile(r"\d s"))
