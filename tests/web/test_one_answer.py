"""What one answer passes through until the next question is there."""

import sys

import pytest

from likewise.learning.learner import Learner
from likewise.page.replies import reply_to
from likewise.project import open_project

MOST_MODULES = 26


@pytest.fixture
def answered(tmp_path, truth):
    """A project with a few answers, as `likewise label` begins it."""
    project = open_project(tmp_path / "points.csv", options={"id": "name"}, seed=0).project
    for _ in range(6):
        answer_one(project, truth)
    yield project
    project.close()


def answer_one(project, truth):
    question = project.ask()
    said = "same" if truth[question.left] == truth[question.right] else "different"
    body = {"position": project.position, "question": question.number, "answer": said}
    status, found = reply_to(project, "answer", body)
    assert status == 200
    return found


def test_one_answer_passes_few_modules(answered, truth):
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
    assert len(seen) <= MOST_MODULES, sorted(seen)


def test_the_learner_is_fitted_once_for_an_answer_and_only_after_the_question_is_there(
    answered, truth, monkeypatch
):
    fits = []
    fit = Learner._fit

    def counted(learner, known, groups):
        fits.append(len(known))
        return fit(learner, known, groups)

    monkeypatch.setattr(Learner, "_fit", counted)
    for _ in range(6):
        n_before = len(fits)
        answer_one(answered, truth)
        assert len(fits) == n_before
        reply_to(answered, "progress")
        reply_to(answered, "groups?limit=12")
        assert len(fits) <= n_before + 1
    assert fits
