"""The Python of the guides runs, and says what it claims."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from likewise import LabelOracle
from likewise.cli import main
from likewise.items import KINDS

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS.parent / "benchmarks/results/practice"
PAGES = (
    "sees.md",
    "start.md",
    "how-many-questions.md",
    "guide/rows.md",
    "guide/arrays.md",
    "guide/notebook.md",
    "guide/known.md",
    "choosing.md",
)
SURROUNDED = (
    "how-it-works.md",
    "methods/cosc.md",
    "methods/minmax.md",
    "methods/mpckmeans.md",
    "methods/npu.md",
    "methods/random.md",
)
"""Pages whose Python takes the reader's own data for granted."""
MEND = "guide/mend.md"


def run(name, n_blocks=None, **names: Any):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / name).read_text("utf-8"), re.S)
    for block in blocks[:n_blocks]:
        exec(block, names)
    return names


@pytest.mark.slow
def test_cross_validation(capsys):
    names = run("cross-validation.md")
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0].split()[-1]) > 0.8
    assert float(lines[1].split()[-1]) > 0.8
    assert names["search"].best_params_ == {"max_queries": 30}


@pytest.mark.parametrize(
    ("name", "until_right"),
    [pytest.param("entities", 213, marks=pytest.mark.slow), ("names", 42)],
)
def test_after_so_many_answers_the_groups_of_the_guide_are_right(name, until_right):
    if name == "names":
        pytest.importorskip("sparse_dot_topn", reason='pip install "likewise[names]"')
    names = run(f"guide/{name}.md")
    assert names["curve"][-1] == 1.0
    assert names["until_right"] == pytest.approx(until_right, abs=3)  # as in the picture
    if name == "names":
        assert names["table"].startswith('"old","new","count","how"')


@pytest.mark.slow
def test_mending_saves_answers_and_the_table_is_that_of_the_benchmark():
    names = run(MEND)
    assert adjusted_rand_score(names["y"], names["after"]) > 0.9
    assert names["n_mended"] < names["n_nothing"]
    assert f"begins at {names['mended'][0]:.2f}, from nothing at 0" in (DOCS / MEND).read_text()
    text = (RESULTS / "README.md").read_text("utf-8")
    measured = re.findall(
        r"^\| ([^|]+) \| [^|]+ \| ([\d.]+) / ([\d.]+) / ([\d.]+) \| \d+:", text, re.M
    )
    told = re.findall(
        r"^\| [^|]+ \| [\d. ]*\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$",
        (DOCS / MEND).read_text("utf-8"),
        re.M,
    )
    assert len(measured) == len(told) == 11
    for (_, *scores), shown in zip(measured, told, strict=True):
        assert [float(x) for x in shown] == pytest.approx([float(x) for x in scores], abs=0.0051)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_python_of_the_guides_runs(name):
    if name == "guide/notebook.md":
        pytest.importorskip("anywidget", reason='pip install "likewise[notebook]"')
    assert run(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SURROUNDED)
def test_the_python_of_a_page_runs_on_data_of_the_reader(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    names = {"X": X, "y": y, "X_new": X[:5], "answers": LabelOracle(y)}
    assert run(name, **names, must=[(0, 1)], cannot=[(0, 150)])


@pytest.mark.slow
def test_the_python_about_items_runs_on_a_table_of_the_reader(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(KINDS, "_known", {**KINDS._known})
    rows = [f"{k},{k % 40},{'Bonn' if k % 2 else 'Ulm'}" for k in range(60)]
    Path("customers.csv").write_text("\n".join(["number,age,city", *rows]))
    names = run("items.md", answers=LabelOracle([k % 2 for k in range(60)]))
    assert {aspect.name for aspect in names["features"].aspects} == {"numbers", "categories"}


@pytest.mark.slow
def test_the_python_about_large_data_runs_but_for_the_cluster(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    monkeypatch.chdir(tmp_path)
    X, y = load_wine(return_X_y=True)
    Path("events").mkdir()
    pandas.DataFrame(minmax_scale(X)[:, :3], columns=[*"abc"]).to_parquet("events/0.parquet")
    many = np.random.default_rng(0).normal(size=(20_100, 2))
    names = run("scale.md", n_blocks=2, X=many, answers=LabelOracle(y))
    assert len(names["labels"]) == len(X)
    assert names["question"].row_id == names["session"].row_numbers[names["question"].row]


@pytest.mark.slow
def test_a_folder_that_grows(monkeypatch):
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    text = (DOCS / "guide/growing.md").read_text("utf-8")
    names = run("guide/growing.md")
    monkeypatch.chdir(names["photos"].parent)
    (commands,) = re.findall(r"```sh\n(.*?)```", text, re.S)
    update, export = (
        CliRunner().invoke(main, shlex.split(line)[1:]) for line in commands.splitlines()
    )
    assert "60 new, 1 removed since last time" in update.output
    assert (update.exit_code, export.exit_code) == (3, 0)
    assert len(Path("new.csv").read_text().splitlines()) == 61
    for line, counts in (("that join", names["grown"]), ("from the beginning", names["anew"])):
        assert re.search(rf"{line}.*\| {', '.join(map(str, counts))} \|", text), counts
