"""`likewise update` and `likewise export --only-new`."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner

from likewise import Answer
from likewise.cli import main
from likewise.project import open_project


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def invoke(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


ROWS = np.random.default_rng(0).normal([[0, 0], [9, 9]] * 15, 0.5).round(3).tolist()


def write(path, rows):
    lines = [f"{name},{x},{y}" for name, (x, y) in rows.items()]
    path.write_text("\n".join(["who,x,y", *lines]) + "\n")


@pytest.fixture
def table(tmp_path):
    """A table in two groups with a session of eight answers."""
    path = tmp_path / "rows.csv"
    write(path, {f"r{k}": row for k, row in enumerate(ROWS)})
    project = open_project(path, options={"id": "who"}).project
    for _ in range(8):
        question = project.ask()
        own, *others = [r % 2 for r in (question.row, *(g[0] for g in question.groups))]
        chosen = others.index(own) if own in others else Answer.NONE
        project.choose(chosen, number=question.number, position=project.position)
    project.close()
    return path


def test_what_is_new_is_labeled_and_the_exit_code_says_whether_a_person_is_needed(table, tmp_path):
    first = {f"r{k}": row for k, row in enumerate(ROWS)}
    result = invoke("update", table)
    assert (result.exit_code, result.stdout) == (0, "0 new, 0 in doubt\n")
    write(table, first | {"a": (0.1, 0.2), "b": (9.1, 8.8)})
    result = invoke("update", table)
    assert (result.exit_code, result.stdout) == (0, "2 new, 0 in doubt\n")
    assert "2 new since last time" in result.stderr
    write(table, first | {"a": (0.1, 0.2), "b": (9.1, 8.8), "c": (4.6, 4.5)})
    for n_new in (1, 0):  # until somebody answers
        result = invoke("update", table)
        assert result.exit_code == 3
        assert result.stdout == (
            f"{n_new} new, 1 in doubt: likewise label {table} asks about them\n"
        )
    output = tmp_path / "new.csv"
    result = invoke("export", f"{table}.likewise", "-o", output, "--only-new")
    assert result.exit_code == 0, result.output
    with output.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["id"], row["how"]) == ("c", "learned")
    assert "1 item in" in result.stdout
    invoke("export", f"{table}.likewise", "-o", tmp_path / "all.csv")
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 34


def test_a_changed_item_is_new_and_what_left_is_not(table, tmp_path):
    rows = {f"r{k}": row for k, row in enumerate(ROWS)}
    rows["r4"] = (9.0, 9.2)
    del rows["r7"]
    write(table, rows)
    assert "1 new, 0 in doubt" in invoke("update", table).stdout
    invoke("export", f"{table}.likewise", "-o", tmp_path / "new.jsonl", "--only-new")
    (line,) = (tmp_path / "new.jsonl").read_text().splitlines()
    assert '"id": "r4"' in line


def test_errors_end_with_1_and_say_what_to_do(table, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("x\n1\n2\n")
    result = invoke("update", other)
    assert result.exit_code == 1
    assert "begin one with likewise label" in result.output
    for output, message in (("s.json", "--only-new is for .csv"), ("s.csv", "nothing joined")):
        result = invoke("export", f"{table}.likewise", "-o", tmp_path / output, "--only-new")
        assert result.exit_code == 1
        assert message in result.output
        assert not (tmp_path / output).exists()
    table.write_text(table.read_text().replace("who,x,y", "who,x,z"))
    result = invoke("update", table)
    assert result.exit_code == 1
    assert "z came, and y went" in result.output


def test_a_session_that_cannot_grow_is_an_error(tmp_path):
    path = tmp_path / "rows.csv"
    write(path, {f"r{k}": row for k, row in enumerate(ROWS)})
    open_project(path, strategy="cobras", options={"id": "who"}).project.close()
    write(path, {f"r{k}": row for k, row in enumerate([*ROWS, (1, 1)])})
    result = invoke("update", path)
    assert result.exit_code == 1
    assert "'cobras' cannot take further rows" in result.output


def test_files_that_are_read_in_batches_are_predicted_on_export(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    parquet = pytest.importorskip("pyarrow.parquet", reason='pip install "likewise[tables]"')
    folder = tmp_path / "parts"
    folder.mkdir()
    parquet.write_table(pyarrow.table({"x": [1.0, 2.0]}), folder / "a.parquet")
    open_project(folder).project.close()
    result = invoke("update", folder)
    assert result.exit_code == 1
    assert "likewise export predicts the groups of all rows" in result.output
