"""Who said it, in a project: history, exports, setting aside."""

import csv
import io

import pytest

from likewise import open_items
from likewise.errors import InputError, StaleQueryError
from likewise.page.calls import reply_to
from likewise.project import open_project
from likewise.project.formats import export


@pytest.fixture
def project(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "".join(f"{k % 7},{k}\n" for k in range(20)))
    opened = open_project([table], options={"cache": False})
    project = opened.project
    for k in range(6):
        project._by = ["Ann", "model:llama3"][k % 2]
        question = project.ask()
        project.choose(0, number=question.number, position=project.position, seconds=1.5)
    project._by = "Ann"
    yield project
    project.close()


def test_history_says_who_and_how_long(project):
    status, history = reply_to(project, "history")
    assert status == 200
    assert isinstance(history, dict)
    assert {event["by"] for event in history["events"]} == {"Ann", "model:llama3"}
    assert {event["seconds"] for event in history["events"]} == {1.5}
    assert history["answerers"] == [
        {"by": "Ann", "n": 3, "is_aside": False},
        {"by": "model:llama3", "n": 3, "is_aside": False},
    ]


def test_exports_say_who(project):
    rows = list(csv.DictReader(io.StringIO(export(project, "csv").decode())))
    by = [row["by"] for row in rows]
    assert set(by) == {"", "Ann", "model:llama3"}
    assert {row["by"] for row in rows if row["how"] == "said"} <= {"Ann", "model:llama3"}


def test_an_answerer_is_set_aside_on_disk_and_taken_back(project):
    body = {"by": "model:llama3", "position": project.position}
    status, _ = reply_to(project, "set-aside", body)
    assert status == 200
    assert project.session.aside == {"model:llama3"}
    assert project.store.read()[-1].op["do"] == "set-aside"
    with pytest.raises(StaleQueryError):
        project.take_back("model:llama3", position=0)
    back = {**body, "position": project.position, "is_aside": False}
    status, _ = reply_to(project, "set-aside", back)
    assert status == 200
    assert not project.session.aside
    assert len(project.session.events) == 6
    project.undo(position=project.position)
    assert project.session.aside == {"model:llama3"}


@pytest.mark.parametrize("by", [None, 3, "Bob"])
def test_whom_nobody_knows_is_refused(project, by):
    status, reply = reply_to(project, "set-aside", {"by": by, "position": project.position})
    assert status == 400
    assert isinstance(reply, dict)
    assert reply["error"]


def test_items_can_have_a_column_of_that_name(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("by,b\n" + "".join(f"{k % 3},{k}\n" for k in range(9)))
    assert open_items(table, cache=False).columns()["by"]
    with pytest.raises(InputError):
        open_items(tmp_path / "none.csv")
