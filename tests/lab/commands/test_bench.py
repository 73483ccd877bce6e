import sys
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import make_blobs

from likewise.cli import main
from likewise.errors import DatasetError
from likewise.lab.commands import bench
from likewise.lab.experiments.cells import run_cell
from likewise.lab.experiments.methods import find_method
from likewise.lab.experiments.plan import needed_first, profile
from likewise.lab.experiments.provenance import CHANGED, hash_of, why_stale
from likewise.lab.experiments.store import Cell, ResultStore, Row, read_results, write_results
from likewise.lab.experiments.tasks import dataset


def run(*args):
    return CliRunner().invoke(main, ["bench", *map(str, args)])


def few(tmp_path, *more):
    return run(
        *("run", "--profile", "quick", "--tasks", "iris", "--methods", "COBRA,MPCKM-MinMax"),
        *("--super-instances", "10", "--folds", "2", "--store", tmp_path / "r.csv", *more),
    )


def test_run_goes_on_where_it_stopped(tmp_path, data_home):
    first = few(tmp_path, "--data-home", data_home)
    assert first.exit_code == 0, first.output
    assert "4 cells, 4 to run" in first.output
    assert "done: 4 ok" in first.output
    again = few(tmp_path, "--data-home", data_home)
    assert "4 cells, 0 to run" in again.output
    assert "nothing to do" in again.output
    assert {row.method for row in read_results(tmp_path / "r.csv")} == {"COBRA", "MPCKM-MinMax"}


def test_only_the_sizes_asked_for_are_run():
    plan = profile("paper").only(tasks=["iris", "wine"])
    cells = plan.only(sizes=[25]).cells()
    assert {cell.experiment for cell in cells} == {"main", "strategies", "curves"}
    assert {cell.n_super_instances or cell.budget for cell in cells} == {0, 25}
    assert set(cells) < set(plan.cells())
    assert {before.n_super_instances for cell in cells for before in needed_first(cell)} == {25}
    assert {cell.task for cell in cells} == {"iris", "wine"}


def test_only_the_methods_asked_for_are_run():
    plan = profile("paper").only(tasks=["iris"])
    cells = plan.only(methods=["COBRA", "MPCKM-NPU"]).cells()
    assert {cell.method for cell in cells} == {"COBRA", "MPCKM-NPU"}
    assert {cell.experiment for cell in cells} == {"main", "strategies", "curves", "anytime"}
    assert set(cells) < set(plan.cells())
    more = plan.and_methods(["COBRAS"]).cells()
    assert {cell.method for cell in more} == {cell.method for cell in plan.cells()} | {"COBRAS"}


def own_tasks(tmp_path, *names):
    """Make tasks of three clouds; return the options that lead to them."""
    X, y = make_blobs(60, centers=3, random_state=0)
    (tmp_path / "tasks").mkdir()
    for name in names:
        np.savez(tmp_path / "tasks" / f"{name}.npz", X=X, y=y)
    return "--tasks-from", tmp_path / "tasks"


def test_cells_that_others_wait_for_are_counted_and_progress_is_told(tmp_path):
    where = (*own_tasks(tmp_path, "blobs"), "--store", tmp_path / "r.csv", "--folds", "1")
    result = run("run", "--profile", "quick", "--methods", "MPCKM-MinMax", *where)
    assert "4 cells, 4 to run" in result.output, result.output
    assert "2 of them are COBRA's" in result.output
    told = [line for line in result.stderr.splitlines() if line.startswith("cells:")]
    assert told == [f"cells: {k} of 4" for k in (1, 2, 3, 4)]


def test_a_comparison_names_methods_and_gives_no_verdict_on_one_task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some_file.py").write_text(MY_METHOD)
    result = run("compare", "some_file.py", *own_tasks(tmp_path, "blobs"), "--folds", "1")
    assert result.exit_code == 0, result.output
    assert "mean ARI, mine - Likewise" in result.output
    assert "No verdict, which takes 6 tasks: -" in result.output
    assert "on 1 task, 0 won and 1 lost" in result.output
    assert "runs: 2 of 2" in result.stderr


def test_six_tasks_are_enough_for_a_verdict(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some_file.py").write_text(MY_METHOD)
    result = run("compare", "some_file.py", *own_tasks(tmp_path, *"abcdef"), "--folds", "1")
    assert "mine is worse than Likewise: -" in result.output


def test_a_method_of_ones_own_runs_beside_the_others(tmp_path, data_home, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_method_for_bench.py").write_text(
        "from likewise.lab.experiments.protocol import Method\n"
        "class Mine(Method):\n"
        "    name = 'mine'\n"
        "    def run(self, trial):\n"
        "        return [0] * len(trial.X)\n"
    )
    result = few(tmp_path, "--data-home", data_home, "--method", "my_method_for_bench:Mine")
    assert "done: 6 ok" in result.output


@pytest.mark.slow
def test_failures_are_rows_with_reasons_and_can_be_run_again(tmp_path, data_home, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_moody_method.py").write_text(
        "from pathlib import Path\n"
        "from likewise.lab.experiments.protocol import Method\n"
        "class Moody(Method):\n"
        "    name = 'moody'\n"
        "    def run(self, trial):\n"
        "        if not Path('mood').exists():\n"
        "            raise RuntimeError('not in the mood')\n"
        "        return [0] * len(trial.X)\n"
    )
    own = ("--data-home", data_home, "--method", "my_moody_method:Moody")
    result = few(tmp_path, *own)
    assert result.exit_code == 0
    assert "done: 2 failed, 4 ok" in result.output
    assert "2 failed by: RuntimeError: not in the mood" in result.output
    (tmp_path / "mood").touch()
    assert "done: 2 ok" in few(tmp_path, *own, "--retry", "failed").output


def test_data_that_cannot_be_had_is_said_before_anything_is_run(tmp_path, monkeypatch):
    def fetch_file(file, folder):
        raise DatasetError(f"{file} could not be fetched")

    monkeypatch.setattr("likewise.lab.datasets.download.fetch_file", fetch_file)
    result = few(tmp_path, "--data-home", tmp_path)
    assert result.exit_code == 1
    assert "Error: iris.csv could not be fetched" in result.output
    assert read_results(tmp_path / "r.csv") == []


def test_the_store_can_be_exported(tmp_path):
    store = ResultStore(tmp_path / "r.csv")
    store.add(Row("main", "COBRA", "iris", 25, 0, queries=3))
    result = run("export", "--store", tmp_path / "r.csv", tmp_path / "r.csv.gz")
    assert "wrote 1 row to" in result.output
    assert read_results(tmp_path / "r.csv.gz")[0].queries == 3
    result = run("export", "--store", tmp_path / "r.csv.gz", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "r.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--tasks", "nowhere"), "no task 'nowhere'"),
        (("run", "--tasks", "irs"), "no task 'irs'. Did you mean iris?"),
        (("run", "--methods", "cobra"), "no method 'cobra'. Did you mean COBRA?"),
        (("run", "--experiments", "curve"), "no experiment 'curve'. Did you mean curves?"),
        (("compare", "Likewize"), "no method 'Likewize'. Did you mean Likewise?"),
        (("run", "--methods", "nothing"), "no method 'nothing'"),
        (("run", "--method", "no.such:Thing"), "cannot find"),
        (("run", "--super-instances", "ten"), "list of whole numbers"),
        (("report", "--store", "none.csv"), "likewise bench run"),
    ],
)
def test_a_wrong_word_is_named(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code != 0
    assert message in result.output
    assert "Traceback" not in result.output


def test_help_has_the_commands():
    result = run("--help")
    for command in ("run", "report", "export", "verify"):
        assert command in result.output


@pytest.mark.parametrize("package", ["jinja2", "matplotlib", "pandas"])
def test_a_report_says_what_it_needs(tmp_path, monkeypatch, package):
    for name in [name for name in sys.modules if name.startswith("likewise.lab.experiments.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    result = run("report", "--store", tmp_path / "r.csv")
    assert result.exit_code == 1
    assert "a report needs" in result.output
    assert 'pip install "likewise[plot]"' in result.output


def test_a_report_on_the_first_folds_leaves_out_the_others(tmp_path, data_home):
    pytest.importorskip("matplotlib", reason='pip install "likewise[plot]"')
    store = ("--store", tmp_path / "r.csv")
    shared = ("--profile", "flagship", "--tasks", "iris", "--experiments", "budgets", *store)
    # COBRA's cells of `main` say how many questions it takes, so they are run first.
    for method, n_folds, cells in (("DSL", 1, "4 cells, 4"), ("COBRA", 2, "12 cells, 9")):
        folds = ("--folds", n_folds, "--data-home", data_home)
        assert f"{cells} to run" in run("run", "--methods", method, *folds, *shared).output
    tables = {}
    for n_folds in (1, 2):
        folder = tmp_path / str(n_folds)
        shown = ("--profile", "flagship", "--folds", n_folds, "-o", folder)
        result = run("report", *shown, *store)
        assert result.exit_code == 0, result.output
        tables[n_folds] = (folder / "budgets.csv").read_text(encoding="utf-8")
    assert "DSL" in tables[1]
    assert "DSL" not in tables[2]


def test_tasks_of_ones_own_are_run_exported_and_verified(tmp_path, monkeypatch):
    X, y = make_blobs(60, centers=3, random_state=0)
    (tmp_path / "tasks").mkdir()
    np.savez(tmp_path / "tasks" / "blobs.npz", X=X, y=y)
    where = ("--store", tmp_path / "r.csv", "--tasks-from", tmp_path / "tasks")
    result = run("run", "--profile", "quick", "--methods", "COBRA", "--folds", "1", *where)
    assert "done: 2 ok" in result.output, result.output
    result = run("verify", "--sample", "5", *where)
    assert "2 of 2 rows came out the same" in result.output
    text = (tmp_path / "r.csv").read_text()
    changed = text.replace("blobs.npz,25,0,0,0,", "blobs.npz,25,0,0,0,9", 1)
    (tmp_path / "r.csv").write_text(changed)
    result = run("verify", "--store", tmp_path / "r.csv", "--tasks-from", tmp_path / "tasks")
    assert result.exit_code == 1
    assert "seed: 9" in result.output
    assert "1 of 2 rows came out the same" in result.output
    monkeypatch.setattr(bench, "why_stale", lambda _: CHANGED)
    result = run("verify", "--store", tmp_path / "r.csv", "--tasks-from", tmp_path / "tasks")
    assert result.exit_code == 0
    assert f"(stale: {CHANGED})" in result.output
    assert "1 of 2 rows came out the same; 1 stale did not" in result.output


@pytest.fixture
def changed(tmp_path):
    """Rows of two codes before today's, of which those of the second come out differently."""
    X, y = make_blobs(60, centers=3, random_state=0)
    (tmp_path / "tasks").mkdir()
    np.savez(tmp_path / "tasks" / "blobs.npz", X=X, y=y)
    cells = [Cell("main", "COBRA", "blobs.npz", size, 0) for size in (5, 6, 7)]
    made = [run_cell(cell, tasks_from=str(tmp_path / "tasks")) for cell in cells]
    made = [replace(row, code=tree * 40) for row, tree in zip(made, "aab", strict=True)]
    write_results([*made[:2], replace(made[2], queries=99)], tmp_path / "r.csv")
    return ("--store", tmp_path / "r.csv", "--tasks-from", tmp_path / "tasks")


def test_rows_of_changed_code_are_stamped_if_a_sample_comes_out_the_same(tmp_path, changed):
    assert {why_stale(row) for row in read_results(tmp_path / "r.csv")} == {CHANGED}
    result = run("verify", "--restamp", "--sample", "1", *changed)
    assert "COBRA: 1 of 1 came out the same; 2 rows stamped" in result.output, result.output
    assert "COBRA: 0 of 1 came out the same; 1 row stay stale" in result.output
    assert result.exit_code == 1
    *good, bad = read_results(tmp_path / "r.csv")
    assert [why_stale(row) for row in (*good, bad)] == ["", "", CHANGED]
    assert {row.code for row in good} == {f"{hash_of(find_method('COBRA'))} {'a' * 40} 1/2"}
    assert bad.code == "b" * 40


def test_a_row_that_cannot_be_made_again_says_why(tmp_path, changed):
    np.savez(tmp_path / "tasks" / "blobs.npz", rows=np.zeros((3, 2)))
    dataset.cache_clear()
    result = run("verify", "--sample", "1", *changed)
    assert "not made again: main: COBRA on blobs.npz, fold 0" in result.output
    assert "has no array 'X'" in result.output
    assert "ari_test" not in result.output


def test_nothing_is_stamped_where_no_row_is_made_again(tmp_path, changed):
    before = (tmp_path / "r.csv").read_bytes()
    result = run("verify", "--restamp", "--tasks", "iris", *changed)
    assert "COBRA: 0 of 0 came out the same; 2 rows stay stale" in result.output
    assert result.exit_code == 1
    assert (tmp_path / "r.csv").read_bytes() == before


MY_METHOD = """
import numpy as np
from likewise.lab.experiments.protocol import Method


class Mine(Method):
    name = "mine"

    def run(self, trial):
        trial.oracle.same(*trial.train_indices[:2])
        return np.zeros(len(trial.X), dtype=int)
"""


@pytest.mark.slow
def test_one_file_puts_a_method_into_the_report_with_tasks_of_ones_own(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason='pip install "likewise[plot]"')
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_method_in_one_file.py").write_text(MY_METHOD)
    (tmp_path / "tasks").mkdir()
    X, y = make_blobs(140, centers=3, random_state=0)
    np.savez(tmp_path / "tasks" / "blobs.npz", X=X, y=y)
    mine = "a_method_in_one_file:Mine"
    result = run(
        *("run", "--profile", "flagship", "--tasks-from", tmp_path / "tasks", "--folds", "1"),
        *("--methods", "COBRA,DSL", "--method", mine, "--store", tmp_path / "r.csv"),
    )
    assert "failed" not in result.output, result.output
    store = ("--store", tmp_path / "r.csv")
    result = run("report", "--profile", "flagship", "-o", tmp_path / "report", *store)
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "report" / "budgets.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 5  # COBRA at three sizes, DSL, mine
    assert lines[-1].startswith(mine)
