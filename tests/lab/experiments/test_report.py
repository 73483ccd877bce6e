import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2", reason='pip install "likewise[plot]"')
pytest.importorskip("matplotlib", reason='pip install "likewise[plot]"')
pytest.importorskip("pandas", reason='pip install "likewise[plot]"')

from likewise.errors import InputError
from likewise.lab.experiments.comparison_tables import (
    own_table,
    ranks_table,
    task_table,
    wins_table,
)
from likewise.lab.experiments.drawing import save
from likewise.lab.experiments.figures import curves_figure
from likewise.lab.experiments.paper_tables import (
    anytime_table,
    curves_table,
    estimate_table,
    groups_table,
    strategies_table,
    wrong_k_table,
)
from likewise.lab.experiments.plan import profile
from likewise.lab.experiments.report import write_report
from likewise.lab.experiments.results import MARK, STALE_MARK, Results
from likewise.lab.experiments.run_tables import stale_table, times_table, trouble_table
from likewise.lab.experiments.statistics import Interval
from likewise.lab.experiments.store import Row
from likewise.lab.experiments.tables import PAPER, Table

TASKS = ("iris", "wine", "ecoli", "hepatitis")
METHODS = ("COBRA", "MPCKM-MinMax", "COSC-MinMax")


def results_of(rows):
    return Results(rows, profile("paper"))


def column(table, name, **values):
    """Values of a column, without marks of stale rows, where others have given values."""
    frame = table.frame
    for key, value in values.items():
        frame = frame[frame[key] == value]
    return [v.replace(STALE_MARK, "") if isinstance(v, str) else v for v in frame[name]]


def made_up_rows():
    rng = np.random.default_rng(0)
    rows = []
    for place, method in enumerate(METHODS):
        for task in TASKS:
            for fold in range(5):
                for size in (25, 50):
                    score = float(rng.uniform(0.5, 0.6) - 0.1 * place)
                    rows.append(
                        Row(
                            *("main", method, task, size, fold),
                            n_rows=100,
                            n_classes=3,
                            queries=size + place,
                            groups=3 - fold // 4,
                            ari_test=score,
                            ari_all=score,
                            cpu_seconds=0.1 + place,
                        )
                    )
                if method != "COBRA":
                    given: dict[str, Any]
                    given = {"k_shift": 1, "n_classes": 3, "ari_test": 0.2, "queries": 50}
                    rows.append(Row("wrong-k", method, task, 50, fold, **given))
                size, budget = (25, 0) if method == "COBRA" else (0, 25)
                rows += [
                    Row(
                        *("curves", method, task, size * n, fold, 0, budget * n),
                        queries=25 * n,
                        ari_test=0.3 * n,
                    )
                    for n in (1, 2)
                ]
                curve = json.dumps([[0, 0.0], [10, 0.3], [25, 0.6]])
                given = {"queries": 25, "allowed": 25, "ari_test": 0.6, "curve": curve}
                rows.append(Row("anytime", method, task, 50, fold, **given))
    rows += [
        Row("strategies", name, "iris", 0, 0, n_rows=147, queries=155)
        for name in ("closest pairs first", "random pairs of groups", "random pairs of rows")
    ]
    rows.append(Row("strategies", "COBRA", "iris", 25, 0, n_rows=147, queries=26))
    return rows


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.outside = []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href", "xlink:href") and value and not value.startswith("#"):
                self.outside.append(value)


@pytest.mark.slow
def test_the_report_is_one_page_with_everything_in_it(tmp_path):
    page = write_report(made_up_rows(), tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    links = Links()
    links.feed(text)
    assert links.outside == []
    assert text.count("<svg") == 8
    for name in ("ranks", "quality", "estimate", "curves", "times", "groups", "wrong-k", "anytime"):
        ET.parse(page.parent / f"{name}.svg")
        assert (page.parent / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    for name in ("strategies", "wins", "ranks", "own", "tasks-25", "trouble", "stale"):
        for suffix in ("csv", "md", "tex"):
            assert (page.parent / f"{name}.{suffix}").stat().st_size > 0
    assert not any((page.parent / f"{name}.md").exists() for name in ("half", "measures", "paired"))
    overview = (page.parent / "paper.md").read_text(encoding="utf-8")
    assert (overview.count("| Table "), overview.count("| Figure")) == (3, 4)
    assert "| Figure, run times | times | same | COBRA and" in overview
    here = [line.split(" | ")[2] for line in overview.splitlines() if line.startswith("| T")]
    assert set(here) <= {"same", "same in part", "differs", "cannot be made here"}
    figure = curves_figure(results_of(made_up_rows()))
    assert figure is not None
    assert save(figure, tmp_path, "curves") in text


def test_a_report_without_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match="bench run"):
        write_report([], tmp_path)


def test_wins_are_counted_over_tasks_not_folds():
    table = wins_table(results_of(made_up_rows()))
    assert column(table, "against", size=25) == ["MPCKM-MinMax", "COSC-MinMax"]
    assert column(table, "tasks", size=25) == [4, 4]
    assert column(table, "won", size=25) == [4, 4]
    assert column(table, "paper, won : lost", size=25)[0] == "13 (0.14) : 8 (0.12)"


def test_a_capped_cell_is_marked_wherever_it_is_used():
    rows = made_up_rows()
    at = next(i for i, row in enumerate(rows) if row.method == "COSC-MinMax")
    rows[at] = Row(**{**vars(rows[at]), "status": "capped", "ari_test": None})
    results = results_of(rows)
    wins, ranks = wins_table(results), ranks_table(results, n_permutations=10)
    assert column(wins, "against", size=25) == ["MPCKM-MinMax", f"COSC-MinMax{MARK}"]
    assert f"COSC-MinMax{MARK}" in column(ranks, "method", size=25)
    assert f"COSC-MinMax{MARK}" not in column(ranks, "method", size=50)
    assert column(trouble_table(results), "status") == ["capped"]


def test_ranks_of_a_size_sum_to_what_they_must():
    table = ranks_table(results_of(made_up_rows()), n_permutations=10)
    assert sum(column(table, "rank", size=25)) == pytest.approx(6)


def test_a_task_without_a_score_is_left_out_and_the_number_of_tasks_says_so():
    rows = [
        Row(**{**vars(row), "status": "failed", "ari_test": None})
        if (row.method, row.task) == ("COSC-MinMax", "wine")
        else row
        for row in made_up_rows()
    ]
    results = results_of(rows)
    assert column(wins_table(results), "tasks", size=25) == [4, 3]
    scores = task_table(results, 25).frame.set_index("task")
    assert scores.filter(like="COSC").loc["wine"].isna().all()


def test_what_the_paper_shows_beside_its_comparison():
    results = results_of(made_up_rows())
    assert column(strategies_table(results), "closest pairs first") == ["155 / 155 (+0)"]
    assert column(estimate_table(results), "estimate", size=25) == [25] * 4
    estimates = column(estimate_table(results), "task", size=25)
    assert estimates == ["iris", "wine", "hepatitis", "ecoli"]
    assert column(groups_table(results), "too few") == ["20%", "20%"]
    assert column(wrong_k_table(results), "told") == ["K+1", "K+1"]
    assert column(wrong_k_table(results), "worse") == [4, 4]
    cobra = f"COBRA{STALE_MARK}"
    curve = column(curves_table(results), "questions", task="iris", method=cobra)
    assert curve == [25.0, 50.0]
    assert column(anytime_table(results), "area")[0].mean == pytest.approx(0.18)
    assert column(times_table(results), "seconds") == pytest.approx([0.1, 1.1, 2.1])
    assert column(own_table(results), "gain at 25")[1].mean == pytest.approx(-0.1, abs=0.05)


def test_curves_say_whether_cobra_stays_ahead_of_the_competitors_by_how_pairs_are_chosen():
    scores = {
        "COBRA": (0.5, 0.5, 0.6),
        "COSC-MinMax": (0.1, 0.2, 0.9),
        "MPCKM-MinMax": (0.1, 0.1, 0.1),
        "COSC-NPU": (0.1, 0.2, 0.3),
    }
    rows = [
        Row(
            *("curves", method, "iris", step if method == "COBRA" else 0, 0, 0),
            budget=0 if method == "COBRA" else step,
            queries=step,
            ari_test=score,
        )
        for method, found in scores.items()
        for step, score in zip((25, 100, 150), found, strict=True)
    ]
    rows.append(Row("main", "COBRA", "iris", 25, 0))
    verdict = curves_table(results_of(rows)).verdict
    assert verdict.startswith("Differs")
    assert "the MinMax competitors on 1 tasks, and at every larger size on 0 of these" in verdict
    assert "the NPU competitors on 1 tasks, and at every larger size on 1 of these" in verdict
    without = [row for row in rows if not row.method.endswith("-MinMax")]
    assert curves_table(results_of(without)).verdict.startswith("Same")


def test_stale_rows_are_counted_with_their_reason():
    table = stale_table(results_of(made_up_rows()))
    assert set(table.frame["why"]) == {"does not name its code"}
    assert table.frame["rows"].sum() == len(made_up_rows())


def test_tables_escape_what_their_language_needs(tmp_path):
    Table.of([{"a & b": "50 % of A_B", "c": None, "d": 1.23456}], "paper", file="t").write(tmp_path)
    assert (tmp_path / "t.csv").read_text() == "a & b,c,d\n50 % of A_B,,1.23456\n"
    latex = (tmp_path / "t.tex").read_text()
    assert r"a \& b" in latex
    assert r"50 \% of A\_B" in latex
    assert latex.splitlines()[1] == r"\begin{tabular}{lrr}"
    assert "| 50 % of A_B | - | 1.235 |" in (tmp_path / "t.md").read_text()


def test_an_interval_is_one_cell_for_people_and_three_for_programs(tmp_path):
    cell = Interval(0.12345, 0.1, 0.15, is_difference=True)
    Table.of([{"gain": cell}, {"gain": None}], "paper", file="t").write(tmp_path)
    assert "| +0.123 [+0.100, +0.150] |" in (tmp_path / "t.md").read_text()
    assert "\n+0.123 [+0.100, +0.150] \\\\\n- \\\\\n" in (tmp_path / "t.tex").read_text()
    csv = (tmp_path / "t.csv").read_text()
    assert csv == 'gain,"gain, low","gain, high"\n0.12345,0.1,0.15\n,,\n'


def test_a3s_is_called_a_lower_bound_wherever_it_is_shown(tmp_path):
    Table.of([{"method": "A3S‡", "ARI": 0.4}], "paper", file="t").write(tmp_path)
    Table.of([{"method": "DSL", "ARI": 0.4}], "paper", file="u").write(tmp_path)
    for suffix in ("md", "tex"):
        assert "A3S: take its rows for a lower bound" in (tmp_path / f"t.{suffix}").read_text()
        assert "lower bound" not in (tmp_path / f"u.{suffix}").read_text()


def test_table_1_of_the_paper_is_known_for_six_datasets():
    assert len(PAPER["table_1"]) == 6
