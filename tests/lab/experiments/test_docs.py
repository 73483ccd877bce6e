import re
from pathlib import Path
from typing import Any

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


def _code() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_example_of_a_method_runs(blobs):
    code, _ = _code()
    names: dict[str, Any] = {}
    exec(code, names)
    method = names["KMeansThatAsks"]()
    assert isinstance(method, Method)
    row = run_cell(Cell("main", "mine", "iris", 10, 0), allowed=5, method=method)
    assert (row.status, row.queries, row.settings) == ("ok", 5, "10 starts")


def test_the_five_points_take_as_many_questions_as_in_the_paper(capsys):
    exec(_code()[1], {})
    lines = capsys.readouterr().out.splitlines()
    table = PAGE.read_text(encoding="utf-8")
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
