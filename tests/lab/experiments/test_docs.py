import re
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.lab.experiments.cells import run_cell
from likewise.lab.experiments.plan import (
    EXPERIMENTS,
    FLAGSHIP_METHODS,
    PAPER_METHODS,
    PROFILES,
    RIVALS,
    profile,
)
from likewise.lab.experiments.protocol import Method
from likewise.lab.experiments.store import COLUMNS, Cell

PAGE = Path(__file__).parents[3] / "docs" / "benchmark.md"


FIGURE = PAGE.with_name("replication.md")


def _code(page: Path = PAGE) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_the_example_of_a_method_runs(blobs):
    code, *_ = _code()
    names: dict[str, Any] = {}
    exec(code, names)
    method = names["KMeansThatAsks"]()
    assert isinstance(method, Method)
    row = run_cell(Cell("main", "mine", "iris", 10, 0), allowed=5, method=method)
    assert (row.status, row.queries, row.settings) == ("ok", 5, "10 starts")


def test_a_method_and_a_task_in_a_file_each_are_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    method, task = _code()
    Path("my_method.py").write_text(method)
    Path("my_task.py").write_text(task)
    options = ["my_method.py", "--tasks", "my_task.py:three_clouds", "--folds", "1"]
    done = CliRunner().invoke(main, ["bench", "compare", *options, "--against", "COBRA"])
    assert done.exit_code == 0, done.output
    *_, header, ten, _, _, _, _, hundred, mean, verdict = done.output.splitlines()
    assert header.split() == ["questions", "difference", "won:lost", "better", "same", "worse"]
    assert (ten.split()[0], hundred.split()[0], mean.split()[0]) == ("10", "100", "all")
    assert verdict.startswith("No verdict, which takes 6 tasks: -")
    assert verdict.endswith("on 1 task, 0 won and 1 lost")
    # One task has no interval and no probabilities.
    assert not any("[" in line or "%" in line for line in (ten, hundred, mean, verdict))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["COBRA", "--against", "COBRA"], "cannot be compared with itself"),
        (["two.py"], "two.py defines 2 methods: One, Other; name one as two.py:Name"),
        (["missing.py"], "there is no Python file missing.py"),
        (["two.py:One", "--tasks", "my_task.py:nothing"], "my_task.py:nothing"),
    ],
)
def test_what_cannot_be_compared_is_named(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("two.py").write_text(
        "from likewise.lab.experiments.protocol import Method\n"
        "class One(Method):\n    name = 'one'\n    def run(self, trial): ...\n"
        "class Other(One): ...\n"
    )
    Path("my_task.py").write_text("")
    done = CliRunner().invoke(main, ["bench", "compare", *words])
    assert done.exit_code == 1
    assert message in done.output


def test_the_five_points_take_as_many_questions_as_in_the_paper(capsys):
    exec(_code(FIGURE)[0], {})
    lines = capsys.readouterr().out.splitlines()
    table = FIGURE.read_text(encoding="utf-8")
    asked = [line.partition(" - ")[2] for line in lines]
    assert [len(questions.split(", ")) for questions in asked] == [6, 4, 2]
    assert all(questions in table for questions in asked)


def test_the_page_names_every_column_method_and_number_of_cells():
    text = PAGE.read_text(encoding="utf-8")
    for word in (*COLUMNS, *PAPER_METHODS, *FLAGSHIP_METHODS, *RIVALS):
        assert word in text, word
    plans = [profile(name) for name in PROFILES if name != "quick"]
    cells = [cell.experiment for plan in plans for cell in plan.cells()]
    for experiment in EXPERIMENTS:
        (line,) = re.findall(rf"^\| `{experiment}` \|.*$", text, re.MULTILINE)
        assert line.endswith(f"| {cells.count(experiment)} |"), line


@pytest.mark.slow
def test_the_figures_of_the_documents_are_those_of_the_committed_rows():
    pytest.importorskip("pandas", reason='pip install "likewise[plot]"')
    spec = spec_from_file_location("make_figures", PAGE.parent / "make_figures.py")
    assert spec is not None
    assert spec.loader is not None
    figures = module_from_spec(spec)
    spec.loader.exec_module(figures)
    documents = figures.documents()
    assert figures.unsourced("ARI .7, 5% and on 45 of 47") == [".7", "5%", "45", "47"]
    assert figures.unsourced("Python 3.11, `x = .5` and BSD-3-Clause") == []
    readme = figures.README.read_text("utf-8")
    assert figures.faults(readme) == []
    number = re.search(r"\.\d{3}", readme)
    assert number is not None
    assert len(figures.faults(readme.replace(number[0], ".999", 1))) == 1
    assert len(figures.faults(f"{readme} It is right in 99% of cases.")) == 1
    assert len(figures.faults(f"{readme} It wins on 45 tasks.")) == 1
    assert {path.name for path in documents} == {
        "README.md",
        "results.md",
        "field.md",
        "page.md",
        "replication.md",
        "flagship-report.md",
        "how-many-questions.md",
    }
    for path in documents:
        text = path.read_text(encoding="utf-8")
        assert text == figures.written(text), f"run python docs/make_figures.py for {path.name}"


def test_the_published_table_of_the_estimate_is_made_with_the_constants_of_the_code(monkeypatch):
    root = PAGE.parents[1]
    monkeypatch.syspath_prepend(str(root))
    statements = import_module("benchmarks.practice.statements")
    rows_of = import_module("benchmarks.practice.report")._rows
    folder = root / "benchmarks" / "results" / "practice"
    rows = rows_of(folder / "statements.csv")
    published = (folder / "README.md").read_text(encoding="utf-8")
    assert statements.table(rows) in published
    some = statements.Statements([row for row in rows if row["questions"] != "end"])
    assert some.said() == pytest.approx(some.said_by_the_code())
    monkeypatch.setattr(statements, "HIGH", 0.8)
    assert statements.table(rows) not in published


def test_what_is_claimed_of_the_line_about_the_result_was_measured_on_unseen_tasks(monkeypatch):
    root = PAGE.parents[1]
    monkeypatch.syspath_prepend(str(root))
    unseen = import_module("benchmarks.practice.unseen")
    folder = root / "benchmarks" / "results" / "practice"
    table = unseen.table(import_module("benchmarks.practice.report")._rows(folder / "unseen.csv"))
    assert table in (folder / "README.md").read_text(encoding="utf-8")
    cells = {
        (line[0], line[1]): line[2:]
        for line in ([cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines())
        if line
    }
    near, held = (
        {who: cells[who, "30 to 120"][k] for who in ("all", "truthful", "independent 10 %")}
        for k in (2, 4)
    )
    late = cells["independent 10 %", "100 to 120"][4]
    in_time = cells["all", "138"][1]
    page, how = (
        " ".join((root / "docs" / name).read_text("utf-8").split())
        for name in ("page.md", "how-it-works.md")
    )

    def percent(share):
        return f"{float(share):.0%}"

    assert (
        f"{percent(near['all'])} of the estimates that were said were within ten points, and "
        f"{percent(held['all'])} of the bounds held. Where one answer in ten was wrong, "
        f"{percent(near['independent 10 %'])} and {percent(held['independent 10 %'])}, but from "
        f"100 answers on only {percent(late)} of the bounds"
    ) in page
    assert in_time == "61%"
    assert "in four of ten sessions on those tasks, more than ten answers after" in page
    assert percent(held["truthful"]) == "100%"
    assert (
        f"held in {percent(held['all'])} of cases: in all where every answer was right, and in "
        f"{percent(held['independent 10 %'])} where one in ten was wrong"
    ) in how
    # Wherever an estimate is said, nine in ten are near: for few and many answers, all people.
    assert all(float(line[2]) >= 0.9 for (_, span), line in cells.items() if " to " in span)
