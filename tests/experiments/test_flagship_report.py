import csv
import json

import numpy as np
import pytest

from likewise.datasets import task_names
from likewise.errors import InputError
from likewise.experiments.flagship_results import (
    DEVELOPED_ON,
    HALF,
    FlagshipResults,
    Line,
    fixed,
    own_count,
)
from likewise.experiments.flagship_statistics import budget_wins_table, ranks_table, wins_table
from likewise.experiments.flagship_tables import (
    budgets_table,
    half_table,
    noise_table,
    own_table,
    task_tables,
    times_table,
)
from likewise.experiments.plan import profile
from likewise.experiments.protocol import BUDGETS, NOISE, NOISE_BUDGETS, SIZES, budgets_of
from likewise.experiments.report import write_report
from likewise.experiments.store import Row

TASKS = ("iris", "wine", "sonar")
LEVEL = {"iris": 0.8, "wine": 0.6, "sonar": 0.1}
LIFT = {
    "COBRA": 0.0,
    "COBRA-learned": 0.02,
    "Likewise": 0.1,
    "Likewise-careful": 0.01,
    "COBRAS": -0.06,
    "DSL": -0.2,
}
LOSS = {"budgets": 0.0, "noise-5": 0.01, "noise-10": 0.04}


def score(cell, budget):
    """A score that grows with the budget; sonar is where Likewise fails."""
    found = LEVEL[cell.task] + LIFT[cell.method] + budget / 10_000 + cell.fold / 100
    found -= LOSS[cell.experiment] * (2 if cell.task == "sonar" else 1)
    return found - 0.15 * (cell.method == "Likewise" and cell.task == "sonar")


def own_of(task, fold):
    return {25: 30 + fold, 50: 60 + fold, 100: 120 + 2 * fold}


def made_up_rows(tasks=TASKS, without=()):
    rows = []
    for cell in profile("flagship").only(tasks=tasks).cells():
        if (cell.method, cell.task) in without:
            continue
        own = own_of(cell.task, cell.fold)
        budgets = budgets_of(own) if cell.experiment == "budgets" else NOISE_BUDGETS
        curve = [[b, b, score(cell, b)] for b in budgets]
        given = {"ms_median": 1.0, "ms_p95": 2.0 + cell.fold, "cpu_seconds": 3.0, "n_rows": 60}
        rows.append(Row(**vars(cell), curve=json.dumps(curve), **given))
        if cell.experiment == "budgets" and cell.method == "COBRA":
            size = cell.n_super_instances
            rows.append(Row("main", "COBRA", cell.task, size, cell.fold, queries=own[size]))
    return rows


@pytest.fixture(scope="module")
def results():
    return FlagshipResults(made_up_rows())


def by(table, *keys):
    """Rows of a table as dicts, found by their first columns."""
    return {
        tuple(row[: len(keys)]): dict(zip(table.columns, row, strict=True)) for row in table.rows
    }


def test_the_lists_are_the_fixed_split():
    assert len(DEVELOPED_ON) == 10
    assert set(DEVELOPED_ON) < set(task_names())
    results = FlagshipResults(made_up_rows())
    assert results.lists == {
        "developed on": ["iris", "wine"],
        "second list": ["sonar"],
        "all": ["iris", "wine", "sonar"],
    }


def test_one_list_alone_is_not_shown_twice():
    results = FlagshipResults(made_up_rows(("iris", "wine")))
    assert results.lists == {"developed on": ["iris", "wine"]}
    assert {row[0] for row in own_table(results).rows} == {"developed on"}


def test_a_score_is_the_mean_over_the_folds_at_each_folds_own_budget(results):
    line, task = Line("Likewise"), "wine"
    for when, budgets in (
        (fixed(75), [75] * 5),
        (own_count(50), [60, 61, 62, 63, 64]),
        (HALF, [60, 61, 62, 63, 64]),
        (own_count(100), [120, 122, 124, 126, 128]),
    ):
        expected = 0.7 + np.mean(budgets) / 10_000 + 0.02
        assert results.score(line, task, when) == pytest.approx(expected)
        assert results.questions(task, when) == np.mean(budgets)


def test_a_task_without_all_folds_is_in_no_mean():
    rows = [r for r in made_up_rows() if (r.method, r.task, r.fold) != ("DSL", "wine", 3)]
    results = FlagshipResults(rows)
    assert results.score(Line("DSL"), "wine", fixed(75)) is None
    scored = results.table(results.lines(), results.tasks, fixed(75))
    assert scored.tasks == ["iris", "sonar"]


def test_a_method_that_was_not_run_on_a_list_does_not_empty_it():
    rows = made_up_rows(without=[("Likewise", "sonar")])
    found = by(budgets_table(FlagshipResults(rows)), "list", "method")
    assert ("second list", "Likewise") not in found
    assert found["second list", "COBRAS"]["tasks"] == 1
    assert found["all", "Likewise"]["tasks"] == 2


def test_mean_ari_by_budget(results):
    table = budgets_table(results)
    found = by(table, "list", "method")
    line = found["all", "Likewise"]
    for budget in BUDGETS:
        expected = np.mean([0.9, 0.7, 0.05]) + budget / 10_000 + 0.02
        assert line[str(budget)] == pytest.approx(expected)
    assert "developed on: at every number of questions" in table.verdict
    assert "second list: at none" in table.verdict


def test_gains_at_cobras_own_numbers_and_the_worst_task(results):
    table = own_table(results)
    found = by(table, "list", "method")
    assert found["developed on", "Likewise"]["gain at 25"] == "+0.100"
    assert found["second list", "Likewise"]["gain at 25"] == "-0.050"
    assert found["all", "Likewise"]["gain at 100"] == "+0.050"
    assert found["all", "Likewise"]["worst task"].startswith("-0.050 sonar at")
    assert found["all", "COBRA-learned"]["gain at 50"] == "+0.020"
    assert found["all", "COBRA"]["gain at 50"] is None
    assert found["all", "COBRA"]["ARI at 25"] == pytest.approx(0.5 + 32 / 10_000 + 0.02)
    assert "32.0, 62.0 and 124.0" in table.notes[0]


def test_differences_task_by_task(results):
    tables = task_tables(results)
    assert [table.name[-3:].strip("-") for table in tables] == [str(size) for size in SIZES]
    found = by(tables[0], "task")
    assert found["wine",]["Likewise"] == "+0.100"
    assert found["sonar",]["DSL"] == "-0.200"
    assert found["wine",]["questions"] == 32
    assert "better on 2 of 3 tasks; the worst is sonar (-0.050)" in tables[0].verdict
    assert "sonar (-0.050)." in tables[0].verdict


def test_half_the_questions(results):
    found = by(half_table(results), "list", "method")
    line = found["developed on", "Likewise"]
    assert (line["questions of COBRA"], line["half"]) == (124, 62)
    assert line["ARI at half"] - line["ARI of COBRA 100"] == pytest.approx(0.1 - 62 / 10_000)
    assert line["reached on"] == "2 of 2"
    assert found["all", "Likewise"]["reached on"] == "2 of 3"
    assert ("all", "COBRA 100") not in found


def test_what_wrong_answers_cost(results):
    table = noise_table(results)
    found = by(table, "list", "method")
    line = found["all", "Likewise"]
    assert line["change at 5%"] == f"{-0.04 / 3:+.3f}"
    assert line["change at 10%"] == f"{-0.16 / 3:+.3f}"
    assert line["worst at 10%"] == "-0.080 sonar"
    assert line["none wrong"] - line["10% wrong"] == pytest.approx(0.16 / 3)
    assert ("all", "DSL") not in found
    assert "developed on -0.010 and -0.040" in table.verdict


def test_wins_losses_and_ranks_of_likewise(results):
    found = by(wins_table(results), "list", "size", "against")
    line = found["all", 25, "COBRA"]
    assert (line["won"], line["lost"], line["ties"]) == (2, 1, 0)
    assert line["mean loss"] == pytest.approx(0.05)
    assert line["difference"] == pytest.approx(0.05)
    assert ("all", 25, "Likewise") not in found
    ranks = by(ranks_table(results, n_permutations=200), "list", "size", "tasks", "method")
    assert ranks["all", 25, 3, "Likewise"]["rank"] == pytest.approx((1 + 1 + 4) / 3)
    assert ranks["all", 25, 3, "Likewise"]["z"] is None
    assert ranks["all", 25, 3, "DSL"]["z"] > 0
    at = by(budget_wins_table(results), "against")
    assert at["DSL",]["100"].startswith("3 : 0")


def test_times_name_the_slowest_task(results):
    found = by(times_table(results), "method")
    assert found["Likewise",]["p95"] == 4.0
    assert found["Likewise",]["largest p95"].startswith("6.0 ")


@pytest.mark.slow
def test_the_report_is_a_page_with_tables_figures_and_all_points(tmp_path):
    pytest.importorskip("matplotlib", reason='pip install "likewise[plot]"')
    page = write_report(made_up_rows(), tmp_path, profile="flagship")
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 3
    assert "Second list (1): sonar" in text
    for name in ("anytime", "differences", "noise"):
        assert (tmp_path / f"flagship-{name}.png").stat().st_size > 10_000
    with (tmp_path / "flagship-points.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    rows = [row for row in made_up_rows() if row.curve]
    assert len(lines) == sum(len(json.loads(row.curve)) for row in rows)
    assert {line["experiment"] for line in lines} == {"budgets", *NOISE}


def test_without_results_of_the_profile_there_is_no_report(tmp_path):
    with pytest.raises(InputError, match="--profile flagship"):
        write_report([Row("main", "COBRA", "iris", 25, 0)], tmp_path, profile="flagship")
