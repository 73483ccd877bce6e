"""Page, terminal, estimator, exports and file have the same groups, whatever was done."""

import csv
import io
import json
import re
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import make_blobs

from likewise import Answer, LabelOracle, Session
from likewise.cli import main
from likewise.page.calls import reply_to
from likewise.project import export, open_project, open_session_file
from likewise.project.large import model_of

X, Y = make_blobs(60, centers=4, n_features=3, cluster_std=2.0, random_state=3)
WAYS: dict[str, dict[str, Any]] = {
    "choices": {},
    "pairs": {"questions": "pairs"},
    "COBRA": {"n_super_instances": 15},
    "COBRAS": {"strategy": "cobras"},
}


@pytest.fixture(params=[*list(WAYS)[:-1], pytest.param("COBRAS", marks=pytest.mark.slow)])
def project(request, tmp_path):
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c", comments="", fmt="%.4f")
    options = {"cache": False}
    opened = open_project(tmp_path / "x.csv", options=options, **WAYS[request.param])
    yield opened.project
    opened.project.close()


def look(project, address) -> Any:
    """Return what the page gets from an address."""
    status, found = reply_to(project, address)
    assert status == 200, found
    return found


def change(project, call, **body):
    """Return the status of a change that the page asks for."""
    return reply_to(project, call, {**body, "position": project.position})[0]


def answer(project, n):
    oracle = LabelOracle(Y)
    for _ in range(n):
        question = project.ask()
        if question is None:
            return
        given = oracle.answer(question)
        is_choice = len(question.groups) > 1
        chosen = None if given is Answer.NONE else given  # none of these is null in JSON
        said = {"chosen": chosen} if is_choice else {"answer": given.value}
        assert change(project, "answer", question=question.number, **said) == 200


def in_order(labels):
    """Return labels numbered by their first rows."""
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels].tolist()


def shown_on_page(project):
    """Return, for every row, the group that the page shows it in, and the groups."""
    groups = look(project, "groups?limit=100")["groups"]
    found: dict[int, int] = {}
    for group in groups:
        members = look(project, f"group/{group['id']}?limit=100")["members"]
        found |= {thing["row"]: group["id"] for thing in members}
    on_map = {point[0]: point[3] for point in look(project, "map")["points"]}
    assert on_map == found
    return [found[row] for row in range(len(X))], {g["id"]: g for g in groups}


def check_everywhere(project):
    labels = project.session.labels
    on_page, groups = shown_on_page(project)
    keys = [groups[group]["key"].upper() for group in on_page]
    assert in_order(on_page) == in_order(labels)
    rows = list(csv.DictReader(io.StringIO(export(project, "csv").decode())))
    lines = [json.loads(line) for line in export(project, "jsonl").decode().splitlines()]
    for table in (rows, lines):
        assert in_order([row["group"] for row in table]) == in_order(labels)
        # A group that no answer is about yet has no key.
        assert [row["group"] * bool(k) for row, k in zip(table, keys, strict=True)] == keys
        assert [row["name"] for row in table] == [groups[group]["name"] for group in on_page]
    exported = Session.from_dict(json.loads(export(project, "json")))
    assert np.array_equal(exported.labels, labels)
    estimator = type(model_of(project.session))
    assert np.array_equal(estimator().adopt(exported).labels_, labels)
    again = open_session_file(project.path).project
    assert np.array_equal(again.session.labels, labels)
    assert again.session.to_dict() == project.session.to_dict()
    assert again.ask() == project.ask()
    again.close()


def check_commands(project, tmp_path):
    """Check what the terminal shows and `likewise export` writes."""
    labels = project.session.labels
    out = tmp_path / "groups.csv"
    assert CliRunner().invoke(main, ["export", str(project.path), "-o", str(out)]).exit_code == 0
    with out.open() as file:
        assert in_order([row["group"] for row in csv.DictReader(file)]) == in_order(labels)
    command = ["label", str(tmp_path / "x.csv"), "--session", str(project.path), "--terminal"]
    shown = CliRunner().invoke(main, command, input="g\nq\n").output
    sizes = [int(size) for size in re.findall(r"^ +\w+  (\d+) items? .*\(\d+ \w+", shown, re.M)]
    most = 20  # the terminal shows this many
    expected = sorted(np.bincount(labels).tolist(), reverse=True)[:most]
    assert sorted(sizes[: len(expected)], reverse=True) == expected


def test_the_groups_are_the_same_everywhere_after_everything_that_can_be_done(project, tmp_path):
    answer(project, 14)
    check_everywhere(project)
    check_commands(project, tmp_path)
    for call in ("undo", "undo", "redo"):
        assert change(project, call) == 200
        check_everywhere(project)
    event = project.session.events[2]
    said = {"chosen": None} if event.groups else {"answer": "unsure"}
    assert change(project, "revise", number=3, apply=True, **said) == 200
    check_everywhere(project)
    first, second = (group.id for group in project.groups()[:2])
    assert change(project, "name", group=first, name="first") == 200
    check_everywhere(project)
    members = project.members(project.group(second)).tolist()
    for call, body in (("misfit", {"row": members[-1]}), ("rebuild", {})):
        assert change(project, call, **body) in (200, 400)  # it may be settled already
        check_everywhere(project)
    answer(project, 4)
    rows = project.members(project.groups()[0]).tolist()
    assert change(project, "move", rows=rows[:1], to="new") == 200
    check_everywhere(project)
    assert change(project, "merge", groups=[g.id for g in project.groups()[:2]]) == 200
    check_everywhere(project)
    merged = project.groups()[0]
    parts = look(project, f"group/{merged.id}/parts")["parts"]
    shown = [[thing["row"] for thing in part["shown"]] for part in parts]
    assert change(project, "split", parts=shown) == 200
    check_everywhere(project)
    for _ in range(3):
        assert change(project, "undo") == 200
    check_everywhere(project)
    check_commands(project, tmp_path)
