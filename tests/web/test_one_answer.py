"""What one answer passes through until the next question is there."""

import io
import json
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from likewise.learning.learner import Learner
from likewise.page.calls import reply_to
from likewise.project import open_project
from likewise.project.lives import Founding, lives_of
from likewise.store.database import Connection

MOST_CALLS = 1500

DOCS = Path(__file__).parents[2] / "docs"
API = DOCS / "api.md"


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


def body_of(project, truth):
    """Return the body of the right answer to the open question."""
    question = project.ask()
    body = {"position": project.position, "question": question.number}
    if not question.is_pair:
        groups = enumerate(question.groups)
        body["chosen"] = next((k for k, g in groups if truth[g[0]] == truth[question.row]), None)
    else:
        is_same = truth[question.left] == truth[question.right]
        body["answer"] = "same" if is_same else "different"
    return body


def answer_one(project, truth):
    status, found = reply_to(project, "answer", body_of(project, truth))
    assert status == 200
    return found


@pytest.fixture(params=["pairs", "choices"])
def about_rows(tmp_path, request):
    """A project about 150 rows with numbers and a category, with a few answers, and the truth."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 50)
    numbers = rng.normal(3.0 * truth[:, None], 1.0, (150, 4)).round(3)
    colors = np.array(["red", "green", "blue"])[truth]
    lines = [f"r{i},{','.join(map(str, row))},{colors[i]}" for i, row in enumerate(numbers)]
    (tmp_path / "rows.csv").write_text("name,a,b,c,d,color\n" + "\n".join(lines) + "\n")
    options = {"id": "name"}
    project = open_project(
        tmp_path / "rows.csv", options=options, questions=request.param, seed=0
    ).project
    for _ in range(12):
        answer_one(project, truth)
    yield project, truth
    project.close()


def calls_of(work):
    """Return how often each function of the package is called, by its module and name."""
    calls = Counter[tuple[str, str]]()

    def count(frame, event, _):
        _, package, module = frame.f_code.co_filename.rpartition("/src/likewise/")
        if event == "call" and package and not module.startswith("web/"):
            calls[module, frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def modules_in_the_documents():
    """Return the modules that an answer passes by the page about the architecture.

    The second value is how many of them an answer about a pair passes.
    """
    page = (DOCS / "architecture.md").read_text("utf-8")
    table = page.split("Up to step 8", 1)[1].split("`tests/web/", 1)[0]
    modules = set()
    for package, listed in re.findall(r"^\| (\S+) \| (.*) \|$", table, re.M):
        folder = f"{package[1:-1]}/" if package.startswith("`") else ""
        modules |= {folder + name for name in re.findall(r"`([\w/]+\.py)`", listed)}
    said = re.search(r"a pair passes through (\d+) modules and a choice through (\d+)", page)
    assert said is not None
    assert len(modules) == int(said[2])
    return modules, int(said[1])


def test_an_answer_passes_through_few_modules_and_makes_few_calls(about_rows):
    project, truth = about_rows
    body = body_of(project, truth)
    calls = calls_of(lambda: reply_to(project, "answer", body))
    modules, n_for_a_pair = modules_in_the_documents()
    passed = {module for module, _ in calls}
    assert passed <= modules
    assert len(passed) == (n_for_a_pair if "answer" in body else len(modules))
    assert calls.total() <= MOST_CALLS, calls.most_common(12)


def test_groups_are_numbered_from_the_last_state_on(about_rows, monkeypatch):
    project, truth = about_rows
    lives_of(project.session)
    taken, take = [], Founding.take

    def watched(book, gesture):
        taken.append(gesture)
        take(book, gesture)

    monkeypatch.setattr(Founding, "take", watched)
    answer_one(project, truth)
    lives = lives_of(project.session)
    assert len(taken) == 1
    # From the beginning of the log it is the same.
    again = type(project.session).from_dict(project.session.to_dict())
    assert lives_of(again) == lives
    assert len(taken) > 2


def test_the_version_of_the_file_is_read_once(about_rows, monkeypatch):
    project, truth = about_rows
    body, asked, execute = body_of(project, truth), [], Connection.execute

    def watched(db, *statement):
        asked.append(statement[0])
        return execute(db, *statement)

    monkeypatch.setattr(Connection, "execute", watched)
    assert reply_to(project, "answer", body)[0] == 200
    assert asked.count("PRAGMA user_version") == 1


def test_the_views_that_are_shown_are_built_and_no_others(about_rows, monkeypatch):
    project, truth = about_rows
    body, built = body_of(project, truth), set()
    view = type(project.items).view

    def watched(items, i):
        built.add(i)
        return view(items, i)

    monkeypatch.setattr(type(project.items), "view", watched)
    found = reply_to(project, "answer", body)[1]
    assert isinstance(found, dict)
    rows = re.findall(r'"row": (\d+)', json.dumps(found["question"]))
    assert built == {int(row) for row in rows}


def test_what_comes_next_is_known_beforehand_and_not_learned_twice(answered, monkeypatch):
    reply = reply_to(answered, "ahead")[1]
    assert isinstance(reply, dict)
    ahead = reply["next"]
    assert set(ahead) in ({"0", "none"}, {"same", "different", "unsure"})
    monkeypatch.setattr(Learner, "_fit", None)  # what was learned for them is kept
    for word, expected in ahead.items():
        said = {"chosen": {"0": 0, "none": None}[word]} if len(ahead) == 2 else {"answer": word}
        body = {"position": answered.position, "question": answered.ask().number, **said}
        status, found = reply_to(answered, "answer", body)
        assert status == 200
        assert isinstance(found, dict)
        assert what_is_shown(found["question"]) == what_is_shown(expected)
        reply_to(answered, "undo", {"position": answered.position})


def what_is_shown(question):
    """Return a question without the names and sizes of groups, which an answer may change."""
    groups = [group["shown"] for group in question.get("groups", [])]
    return {side: question.get(side) for side in ("kind", "left", "right", "item")}, groups


def test_the_learner_is_fitted_at_most_twice_for_an_answer(answered, truth, fits):
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


def test_an_answer_for_pairs_to_a_choice_is_told_what_to_send(answered):
    question = answered.ask()
    body = {"position": answered.position, "question": question.number, "answer": "same"}
    status, found = reply_to(answered, "answer", body)
    assert isinstance(found, dict)
    if len(question.groups) == 1:
        assert status == 200
    else:
        assert status == 400
        assert 'send "chosen"' in found["error"]


def test_the_program_in_the_documents_answers_to_the_end(answered, truth, monkeypatch):
    (program,) = re.findall(r"```python\n(import json.*?)```", API.read_text("utf-8"), re.S)

    def ask_somebody(question):
        if question["kind"] == "pair":
            rows = question["left"]["row"], question["right"]["row"]
            return "same" if truth[rows[0]] == truth[rows[1]] else "different"
        own = truth[question["item"]["row"]]
        shown = [[truth[one["row"]] for one in group["shown"]] for group in question["groups"]]
        return next((place for place, group in enumerate(shown) if own in group), None)

    def open_address(request):
        body = None if request.data is None else json.loads(request.data)
        status, found = reply_to(answered, request.full_url.rsplit("/", 1)[1], body)
        assert status == 200, found
        return io.BytesIO(json.dumps(found).encode())

    monkeypatch.setattr("urllib.request.urlopen", open_address)
    names = {"home": "http://127.0.0.1", "token": "t", "ask_somebody": ask_somebody}
    exec(program, names)
    assert answered.session.is_done
    assert len(set(zip(truth, answered.session.labels.tolist(), strict=True))) == 3
