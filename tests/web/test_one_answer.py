"""What one answer passes through until the next question is there."""

import sys

import pytest

from likewise.core.answers import Choice
from likewise.learning.learner import Learner
from likewise.page.calls import reply_to
from likewise.project import open_project

MOST_MODULES = {"pairs": 29, "choices": 31}


@pytest.fixture(params=["pairs", "choices"])
def answered(tmp_path, truth, request):
    """A project with a few answers, as `likewise label` begins it."""
    project = open_project(
        tmp_path / "points.csv", options={"id": "name"}, questions=request.param, seed=0
    ).project
    for _ in range(6):
        answer_one(project, truth)
    yield project
    project.close()


def answer_one(project, truth):
    question = project.ask()
    body = {"position": project.position, "question": question.number}
    if isinstance(question, Choice):
        groups = enumerate(question.groups)
        body["chosen"] = next((k for k, g in groups if truth[g[0]] == truth[question.row]), None)
    else:
        is_same = truth[question.left] == truth[question.right]
        body["answer"] = "same" if is_same else "different"
    status, found = reply_to(project, "answer", body)
    assert status == 200
    return found


def test_one_answer_passes_few_modules(answered, truth, request):
    seen = set()

    def look(frame, event, arg):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("likewise."):
            seen.add(name)

    answered.ask()
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        found = answer_one(answered, truth)
    finally:
        sys.setprofile(before)
    assert found["question"] is not None
    assert len(seen) <= MOST_MODULES[request.node.callspec.params["answered"]], sorted(seen)


def test_what_comes_next_is_known_beforehand_and_not_learned_twice(answered, monkeypatch):
    ahead = reply_to(answered, "ahead")[1]["next"]
    assert set(ahead) in ({"0", "none"}, {"same", "different", "unsure"})
    monkeypatch.setattr(Learner, "_fit", None)  # what was learned for them is kept
    for word, expected in ahead.items():
        said = {"chosen": {"0": 0, "none": None}[word]} if len(ahead) == 2 else {"answer": word}
        body = {"position": answered.position, "question": answered.ask().number, **said}
        status, found = reply_to(answered, "answer", body)
        assert status == 200
        assert what_is_shown(found["question"]) == what_is_shown(expected)
        reply_to(answered, "undo", {"position": answered.position})


def what_is_shown(question):
    """Return a question without the names and sizes of groups, which an answer may change."""
    groups = [group["shown"] for group in question.get("groups", [])]
    return {side: question.get(side) for side in ("kind", "left", "right", "item")}, groups


def test_the_learner_is_fitted_at_most_twice_for_an_answer(answered, truth, monkeypatch):
    fits = []
    fit = Learner._fit

    def counted(learner, known, groups):
        fits.append(len(known))
        return fit(learner, known, groups)

    monkeypatch.setattr(Learner, "_fit", counted)
    for _ in range(6):
        n_before = len(fits)
        answer_one(answered, truth)
        n_for_question = len(fits) - n_before
        reply_to(answered, "progress")
        reply_to(answered, "groups?limit=12")
        # Once without the row that was placed, for whether it needs a check; once for the next.
        assert n_for_question <= 2
        assert len(fits) <= n_before + 3
    assert fits
