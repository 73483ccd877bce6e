"""Tables and figures by the number of questions, from scores that were made up."""

import csv
import json
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2", reason='pip install "likewise[plot]"')
pytest.importorskip("matplotlib", reason='pip install "likewise[plot]"')
pytest.importorskip("pandas", reason='pip install "likewise[plot]"')

from likewise.errors import InputError
from likewise.lab.datasets import task_names
from likewise.lab.experiments.budget_tables import (
    budgets_table,
    end_table,
    half_table,
    measures_table,
    noise_table,
    sizes_table,
)
from likewise.lab.experiments.comparison_tables import (
    own_table,
    paired_table,
    ranks_table,
    task_table,
    wins_table,
)
from likewise.lab.experiments.figures import not_told_apart, quality_figure, shown_lines
from likewise.lab.experiments.plan import DEVELOPED_ON, profile
from likewise.lab.experiments.protocol import (
    BUDGETS,
    COUNTS,
    NOISE,
    NOISE_BUDGETS,
    SIZES,
    budgets_of,
)
from likewise.lab.experiments.report import write_report
from likewise.lab.experiments.results import (
    MARK,
    STALE_MARK,
    Results,
    complete,
    half,
    own_count,
)
from likewise.lab.experiments.run_tables import times_table
from likewise.lab.experiments.store import Row

TASKS = ("iris", "wine", "sonar")
LEVEL = {"iris": 0.8, "wine": 0.6, "sonar": 0.1}
LIFT = {
    "COBRA": 0.0,
    "COBRA-learned": 0.02,
    "Likewise": 0.1,
    "Likewise-pairs": 0.01,
    "COBRAS": -0.06,
    "DSL": -0.2,
}
PLAN = profile("flagship").only(methods=tuple(LIFT))
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
    for cell in PLAN.only(tasks=tasks).cells():
        if (cell.method, cell.task) in without:
            continue
        own = own_of(cell.task, cell.fold)
        budgets = budgets_of(own) if cell.experiment == "budgets" else NOISE_BUDGETS
        curve = [[b, b, score(cell, b)] for b in budgets]
        given: dict[str, Any]
        given = {"ms_median": 1.0, "ms_p95": 2.0 + cell.fold, "cpu_seconds": 3.0, "n_rows": 60}
        rows.append(Row(**vars(cell), curve=json.dumps(curve), **given))
        if cell.experiment == "budgets" and cell.method == "COBRA":
            size = cell.n_super_instances
            rows.append(Row("main", "COBRA", cell.task, size, cell.fold, queries=own[size]))
    return rows


def results_of(rows):
    return Results(rows, PLAN)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """Draw less often: the tables are tested here, the statistics in their own tests."""
    monkeypatch.setattr("likewise.lab.experiments.statistics.N_RESAMPLES", 1000)
    monkeypatch.setattr("likewise.lab.experiments.statistics.N_POSTERIOR", 1000)


@pytest.fixture(scope="module")
def results():
    return results_of(made_up_rows())


def bare(value):
    return value.rstrip(MARK + STALE_MARK) if isinstance(value, str) else value


def by(table, *keys):
    """Lines of a table as dicts, found by some columns, without marks."""
    lines = [{bare(k): v for k, v in line.items()} for line in table.frame.to_dict("records")]
    return {tuple(bare(line[key]) for key in keys): line for line in lines}


def test_the_lists_are_the_fixed_split():
    assert len(DEVELOPED_ON) == 10
    assert set(DEVELOPED_ON) < set(task_names())
    results = results_of(made_up_rows())
    assert results.lists == {
        "developed on": ["iris", "wine"],
        "second list": ["sonar"],
        "all": ["iris", "wine", "sonar"],
    }


def test_one_list_alone_is_not_shown_twice():
    results = results_of(made_up_rows(("iris", "wine")))
    assert results.lists == {"developed on": ["iris", "wine"]}
    assert "list" not in own_table(results).frame


def test_a_score_is_the_mean_over_the_folds_at_each_folds_own_budget(results):
    for when, budgets in (
        (75, [75] * 5),
        (own_count(50), [60, 61, 62, 63, 64]),
        (half, [60, 61, 62, 63, 64]),
        (own_count(100), [120, 122, 124, 126, 128]),
    ):
        expected = 0.7 + np.mean(budgets) / 10_000 + 0.02
        assert results.at(when).loc["wine", "Likewise"] == pytest.approx(expected)
        if callable(when):
            assert results.questions(when, ["wine"]) == np.mean(budgets)


def test_a_task_without_all_folds_is_in_no_mean():
    rows = [r for r in made_up_rows() if (r.method, r.task, r.fold) != ("DSL", "wine", 3)]
    results = results_of(rows)
    scores = results.at(75)
    assert np.isnan(scores.loc["wine", "DSL"])
    assert list(complete(scores).index) == ["iris", "sonar"]


def test_a_method_that_was_not_run_on_a_list_does_not_empty_it():
    rows = made_up_rows(without=[("Likewise", "sonar")])
    found = by(budgets_table(results_of(rows)), "list", "method")
    assert ("second list", "Likewise") not in found
    assert found["second list", "COBRAS"]["tasks"] == 1
    assert found["all", "Likewise"]["tasks"] == 2


def test_mean_ari_by_budget(results):
    table = budgets_table(results)
    found = by(table, "list", "method")
    line = found["all", "Likewise"]
    for budget in BUDGETS:
        expected = np.mean([0.9, 0.7, 0.05]) + budget / 10_000 + 0.02
        assert line[str(budget)].mean == pytest.approx(expected)
        assert line[str(budget)].low < expected < line[str(budget)].high
    assert "developed on: at every number of questions" in table.verdict
    assert "second list: at none" in table.verdict


def test_gains_at_cobras_own_numbers_and_the_worst_task(results):
    table = own_table(results)
    found = by(table, "list", "method")
    assert str(found["developed on", "Likewise"]["gain at 25"]) == "+0.100 [+0.100, +0.100]"
    assert str(found["second list", "Likewise"]["gain at 25"]) == "-0.050 [-0.050, -0.050]"
    assert str(found["all", "Likewise"]["gain at 100"]) == "+0.050 [-0.050, +0.100]"
    assert found["all", "Likewise"]["worst task"].startswith("-0.050 sonar at")
    assert found["all", "COBRA-learned"]["gain at 50"].mean == pytest.approx(0.02)
    assert found["all", "COBRA"]["gain at 50"] != found["all", "COBRA"]["gain at 50"]  # nan
    assert found["all", "COBRA"]["ARI at 25"].mean == pytest.approx(0.5 + 32 / 10_000 + 0.02)
    assert "32.0, 62.0 and 124.0" in table.notes[0]


def test_differences_task_by_task(results):
    tables = [task_table(results, size) for size in SIZES]
    assert [table.name for table in tables] == ["tasks-25", "tasks-50", "tasks-100"]
    found = by(tables[0], "task")
    assert found["wine",]["Likewise"] == "+0.100 (best)"
    assert found["sonar",]["DSL"] == "-0.200"
    assert found["wine",]["questions"] == 32
    assert "better on 2 of 3 tasks; the worst is sonar (-0.050)" in tables[0].verdict
    assert "sonar (-0.050)." in tables[0].verdict


def test_half_the_questions(results):
    found = by(half_table(results), "list", "method")
    line = found["developed on", "Likewise"]
    assert (line["questions of COBRA"], line["half"]) == (124, 62)
    assert line["difference"].mean == pytest.approx(0.1 - 62 / 10_000)
    assert line["reached on"] == "2 of 2"
    assert found["all", "Likewise"]["reached on"] == "2 of 3"
    assert ("all", "COBRA 100") not in found


def test_a_task_without_the_largest_cobra_is_not_in_the_comparison_with_half_its_questions():
    rows = [
        Row(**{**vars(row), "status": "failed"})
        if (row.experiment, row.method, row.task) == ("budgets", "COBRA", "wine")
        and row.n_super_instances == 100
        else row
        for row in made_up_rows()
    ]
    found = by(half_table(results_of(rows)), "list", "method")
    assert found["developed on", "Likewise"]["reached on"] == "1 of 1"
    assert found["all", "Likewise"]["reached on"] == "1 of 2"


def test_what_wrong_answers_cost(results):
    table = noise_table(results)
    found = by(table, "list", "people", "method")
    line = found["all", "noise-10", "Likewise"]
    assert found["all", "noise-5", "Likewise"]["change"].mean == pytest.approx(-0.04 / 3)
    assert line["change"].mean == pytest.approx(-0.16 / 3)
    assert line["worst"] == "-0.080 sonar"
    assert line["truthful"].mean - line["ARI"].mean == pytest.approx(0.16 / 3)
    assert ("all", "noise-10", "COBRA-learned 25") not in found
    assert "noise-5 -0.013 [-0.020, -0.010]" in table.verdict


def test_cobra_has_its_best_size_for_every_number_of_questions():
    plan = profile("rivals").only(methods=("COBRA", "Likewise"), tasks=TASKS, sizes=(10, 50))
    rows = []
    for cell in plan.only(experiments=["rivals"]).cells():
        # Ten super-instances are asked about with 20 questions, and are better until then.
        end, level = {0: (999, 0.9), 10: (20, 0.5), 50: (100, 0.2)}[cell.n_super_instances]
        found = {n: level + (0.01 * n if cell.n_super_instances == 50 else 0.0) for n in COUNTS}
        curve = [[n, min(n, end), found[n]] for n in COUNTS]
        rows.append(Row(**vars(cell), curve=json.dumps(curve)))
    table = sizes_table(Results(rows, plan))
    assert table is not None
    lines = by(table, "list", "questions")
    few, many = lines["all", 20], lines["all", 150]
    assert (few["super-instances"], few["complete on"], few["tasks"]) == (10, 0, 3)
    assert (many["super-instances"], many["complete on"]) == (50, 3)
    assert few["Likewise minus it"].mean == pytest.approx(0.4)
    assert lines["all", 30]["ARI"].mean == pytest.approx(0.5)


@pytest.mark.slow
def test_rivals_people_and_the_own_end_need_no_run_of_cobra(tmp_path):
    plan = profile("rivals").only(methods=("COBRA", "Likewise", "DSL"), tasks=TASKS)
    cells = [
        *plan.cells(),
        *profile("people").only(methods=("Likewise", "DSL"), tasks=TASKS).cells(),
    ]
    rows = []
    for cell in cells:
        level = 0.5 + LIFT[cell.method] - 0.1 * (cell.experiment == "unsure-30") + cell.fold
        level -= 0.001 * abs((cell.n_super_instances or 20) - 20)  # of COBRA, 20 is the best
        given: dict[str, Any]
        given = {"ari_test": level, "rows_read": 90, "queries": 40 + cell.fold}
        curve = [[n, n, level + n / 1000, 0.5, 0.5, 0.5, 3 * n] for n in COUNTS]
        is_end = cell.experiment == "own-end"
        rows.append(Row(**vars(cell), curve="" if is_end else json.dumps(curve), **given))
    results = Results(rows, plan)
    assert results.at(30).loc["wine", "Likewise"] == pytest.approx(0.6 + 0.03 + 0.5)
    noise = by(noise_table(results), "list", "people", "method")
    assert noise["all", "unsure-30", "DSL"]["change"].mean == pytest.approx(-0.1)
    assert noise["all", "unsure-30", "DSL"]["truthful"].mean == pytest.approx(0.3 + 0.1)
    end = by(end_table(results), "list", "method")["all", "Likewise"]
    assert (end["fewest"], end["most"], end["rows read"]) == (40, 41, 90)
    assert end["against 150 questions"].mean == pytest.approx(-0.15)
    assert shown_lines(results) == ["Likewise", "DSL", "COBRA, best size"]
    figure = quality_figure(results)
    assert figure is not None
    tasks = next(iter(results.parts.values()))
    best = [results.at(n, tasks)["COBRA 20"].mean() for n in results.counts]
    assert figure.axes[0].lines[-1].get_ydata().tolist() == pytest.approx(best)
    write_report(rows, tmp_path, plan)
    names = {path.stem for path in tmp_path.glob("*.md")}
    assert {"budgets", "paired", "measures", "noise", "own-end"} <= names
    assert not names & {"own", "half", "wins"}
    assert (tmp_path / "costs.png").stat().st_size > 10_000


@pytest.mark.slow
def test_wins_losses_and_ranks_of_likewise(results):
    found = by(wins_table(results), "list", "size", "against")
    line = found["all", 25, "COBRA"]
    assert (line["won"], line["lost"], line["ties"]) == (2, 1, 0)
    assert line["mean loss"] == pytest.approx(0.05)
    assert str(line["difference"]) == "+0.050 [-0.050, +0.100]"
    assert ("all", 25, "Likewise") not in found
    ranks = by(ranks_table(results, n_permutations=200), "list", "size", "tasks", "method")
    assert ranks["all", 25, 3, "Likewise"]["rank"] == pytest.approx((1 + 1 + 4) / 3)
    assert np.isnan(ranks["all", 25, 3, "Likewise"]["z"])
    assert ranks["all", 25, 3, "DSL"]["z"] > 0


def test_paired_differences_at_fixed_numbers_of_questions(results):
    table = paired_table(results)
    found = by(table, "list", "questions", "against")
    line = found["all", 100, "DSL"]
    assert (line["tasks"], line["won"], line["lost"]) == (3, 3, 0)
    assert line["difference"].mean == pytest.approx(0.3 - 0.15 / 3)
    assert line["better"] > 0.9 > line["worse"] + line["same"]
    assert found["second list", 30, "COBRA 25"]["difference"].high < 0
    assert "COBRA 25 at 30 (second list)" in table.verdict


def test_measures_and_what_they_cost_stand_beside_each_other():
    rows = [
        Row(**{**vars(row), "curve": json.dumps([[*p, 0.5, 0.6, 0.7, 7 * p[0]] for p in points])})
        for row in made_up_rows()
        if row.experiment != "main" and (points := json.loads(row.curve))
    ] + [row for row in made_up_rows() if row.experiment == "main"]
    found = by(measures_table(results_of(rows)), "list", "questions", "method")
    line = found["all", 30, "Likewise"]
    means = [line[name].mean for name in ("AMI", "V-measure", "F1 of pairs")]
    assert means == pytest.approx([0.5, 0.6, 0.7])
    assert line["rows read"] == 210
    assert line["minutes"] == pytest.approx(210 * 8.3 / 2 / 60)
    old = by(measures_table(results_of(made_up_rows())), "list", "questions", "method")
    assert old["all", 30, "Likewise"]["AMI"] is None


def test_the_faces_can_be_left_out():
    faces = [Row(**{**vars(row), "task": "faces-pose"}) for row in made_up_rows(("iris",))]
    results = results_of([*made_up_rows(), *faces])
    assert results.lists["without the faces"] == ["iris", "wine", "sonar"]
    assert "Without the face tasks: Likewise wins" in wins_table(results).verdict


def test_bars_connect_what_cannot_be_told_apart():
    assert not_told_apart([5.0, 4.5, 3.0, 2.9, 1.0], 2.0) == [(0, 1), (1, 3), (3, 4)]
    assert not_told_apart([3.0, 2.0, 1.0], 0.5) == []


def test_times_name_the_slowest_task(results):
    found = by(times_table(results), "method")
    assert found["Likewise",]["ms, p95"] == 4.0
    assert found["Likewise",]["largest p95"].startswith("6.0 ")


def test_the_third_list_and_tasks_of_ones_own_are_lists_of_their_own():
    own = [
        Row(**{**vars(row), "task": task})
        for row in made_up_rows(("iris",))
        for task in ("mine.npz", "crabs")
    ]
    results = results_of([*made_up_rows(), *own])
    assert list(results.lists) == ["developed on", "second list", "third list", "added", "all"]
    assert results.lists["added"] == ["mine.npz"]
    assert results.lists["third list"] == ["crabs"]


@pytest.mark.slow
def test_a_row_whose_code_is_not_known_is_marked_in_every_line(results):
    assert all(results.rows["stale"] == "does not name its code")
    for table in (wins_table(results), own_table(results), times_table(results)):
        column = "against" if "against" in table.frame else "method"
        assert table.frame[column].str.endswith(STALE_MARK).all()


@pytest.mark.slow
def test_the_report_is_a_page_with_tables_figures_and_all_points(tmp_path):
    rows = made_up_rows()
    page = write_report(rows, tmp_path, profile("flagship"))
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 5
    assert "Second list (1): sonar" in text
    assert f"{len(rows)} of {len(rows)} rows are stale" in text
    for name in ("quality", "differences", "noise", "times", "ranks"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    with (tmp_path / "points.csv").open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["experiment"] != "main"]
    curves = [json.loads(row.curve) for row in rows if row.curve]
    assert len(lines) == sum(map(len, curves))
    assert {line["experiment"] for line in lines} == {"budgets", *NOISE}
    with (tmp_path / "stale-cells.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(rows)


def test_without_results_of_the_profile_there_is_no_report(tmp_path):
    with pytest.raises(InputError, match="experiment budgets"):
        write_report([Row("main", "COBRA", "iris", 25, 0)], tmp_path, profile("flagship"))
