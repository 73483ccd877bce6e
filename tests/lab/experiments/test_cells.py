import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from likewise.core.strategy import STRATEGIES
from likewise.errors import DatasetError, InputError
from likewise.lab.experiments.cells import run_cell
from likewise.lab.experiments.methods import BUILT_IN, find_method
from likewise.lab.experiments.plan import (
    CURVE_TASKS,
    ORDERS,
    PAPER_EXPERIMENTS,
    PAPER_METHODS,
    Plan,
    needed_first,
    profile,
)
from likewise.lab.experiments.protocol import Method
from likewise.lab.experiments.runner import run_cells, stages
from likewise.lab.experiments.store import NOT_REPRODUCIBLE, Cell, ResultStore, Row
from likewise.lab.experiments.tasks import dataset

OWN = "methods_of_ones_own"


@pytest.fixture(autouse=True)
def own_methods(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    yield
    sys.modules.pop(OWN, None)


def reproducible(row):
    return {name: value for name, value in asdict(row).items() if name not in NOT_REPRODUCIBLE}


def test_cobra_finds_three_clouds(blobs):
    row = run_cell(Cell("main", "COBRA", "iris", 10, 0))
    assert (row.status, row.error) == ("ok", "")
    assert row.ari_test == row.ari_all == 1.0
    assert row.groups == 3
    assert row.must_links == 10 - 3
    assert row.cannot_links is not None
    assert row.queries == row.must_links + row.cannot_links
    assert row.peak_mb > 1
    assert '"numpy"' in row.versions


@pytest.mark.slow
@pytest.mark.parametrize("method", [m for m in BUILT_IN if m not in ("COBRA", *ORDERS)])
def test_every_method_stays_within_its_questions_and_off_the_test_rows(blobs, method, made):
    row = made(run_cell(Cell("main", method, "iris", 10, 1), allowed=9))
    assert (row.status, row.error) == ("ok", "")
    assert row.queries is not None
    assert row.queries <= 9


@pytest.mark.parametrize("method", ORDERS)
def test_strategies_ask_about_all_rows_and_get_everything_right(blobs, method):
    row = run_cell(Cell("strategies", method, "iris", 0, 0))
    assert (row.status, row.ari_all, row.must_links) == ("ok", 1.0, 57)


@pytest.mark.slow
@pytest.mark.parametrize("method", PAPER_METHODS)
def test_the_same_cell_gives_the_same_row(blobs, method):
    first, second = (run_cell(Cell("main", method, "iris", 10, 2), allowed=12) for _ in range(2))
    assert reproducible(first) == reproducible(second)


@pytest.mark.parametrize("method", ["COBRA", "COBRA-guess", "MPCKM-MinMax"])
def test_anytime_curves_start_without_answers_and_end_with_all(blobs, method):
    row = run_cell(Cell("anytime", method, "iris", 10, 0), allowed=12)
    assert row.status == "ok", row.error
    at, values = np.array(json.loads(row.curve)).T
    assert at[0] == 0
    assert (np.diff(at) > 0).all()
    assert at[-1] == row.queries
    assert values[-1] == pytest.approx(row.ari_test, abs=1e-6)


def test_a_cobra_that_is_stopped_and_guesses_does_no_worse_on_clouds(blobs):
    rows = [
        run_cell(Cell("anytime", name, "iris", 10, 0), allowed=4)
        for name in ("COBRA", "COBRA-guess")
    ]
    assert rows[1].seed == rows[0].seed
    plain, guessed = (row.ari_test for row in rows)
    assert plain is not None
    assert guessed is not None
    assert guessed >= plain


def test_a_method_of_ones_own_is_found_by_its_address(blobs):
    row = run_cell(Cell("main", f"{OWN}:OneGroup", "iris", 10, 0), allowed=3)
    assert (row.status, row.queries, row.groups, row.ari_test) == ("ok", 1, 1, 0.0)
    assert row.settings == "none"


def test_a_question_about_a_test_row_fails_the_run_even_if_the_method_hides_it(blobs):
    row = run_cell(Cell("main", f"{OWN}:AsksTestRows", "iris", 10, 0), allowed=100)
    assert row.status == "failed"
    assert "ForbiddenQueryError" in row.error
    assert row.ari_test is None


def test_an_error_is_a_row(blobs):
    row = run_cell(Cell("main", f"{OWN}:Greedy", "iris", 10, 0), allowed=3)
    assert (row.status, row.queries) == ("failed", 3)
    assert "BudgetExhausted" in row.error
    row = run_cell(Cell("main", f"{OWN}:TooFewLabels", "iris", 10, 0), allowed=3)
    assert row.status == "failed"
    assert "one label per row" in row.error


def test_questions_end_with_the_time_limit_and_the_row_is_capped(blobs):
    row = run_cell(Cell("main", f"{OWN}:Thinks", "iris", 10, 0), time_limit=0.02)
    assert row.status == "capped"
    assert row.ari_test == 0.0
    assert "asked" in row.error


def test_a_method_that_never_ends_is_cut_off(blobs):
    row = run_cell(Cell("main", f"{OWN}:Spins", "iris", 10, 0), allowed=3, time_limit=0.02)
    assert row.status == "capped"
    assert row.ari_test is None


@pytest.mark.slow
def test_a_missing_dataset_is_a_row(tmp_path):
    dataset.cache_clear()
    row = run_cell(Cell("main", "COBRA", "iris", 10, 0), data_home=str(tmp_path))
    assert row.status == "failed"
    assert row.error.startswith(DatasetError.__name__)


def test_methods_of_the_comparison_are_methods_and_say_what_they_call():
    for name in BUILT_IN:
        method = find_method(name)
        assert isinstance(method, Method)
        assert method.name.lower() == name.lower()
        assert method.sources


@pytest.mark.parametrize("name", ["closest-first", "cobras", "dsl", "acdm", "a3s"])
def test_every_strategy_is_a_method_by_its_address_without_more(blobs, name):
    strategy = STRATEGIES.find(name)
    address = f"{strategy.__module__}:{strategy.__name__}"
    both = run_cell(Cell("budgets", address, "iris", 0, 0), budgets=(5, 12))
    assert (both.status, both.error) == ("ok", "")
    assert [budget for budget, *_ in json.loads(both.curve)] == [5, 12]
    alone = run_cell(Cell("budgets", address, "iris", 0, 0), budgets=(12,))
    assert json.loads(alone.curve)[-1] == json.loads(both.curve)[-1]


def test_a_strategy_of_ones_own_is_a_method_too(blobs):
    row = run_cell(Cell("main", f"{OWN}:ByDoubt", "iris", 10, 0), allowed=9)
    assert (row.status, row.error) == ("ok", "")
    assert row.queries is not None
    assert row.queries <= 9


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("KMeans", "there is no method 'KMeans'"),
        ("no.such:Thing", "cannot find"),
        (f"{OWN}:NoSuch", "cannot find"),
        (f"{OWN}:NOT_A_METHOD", "is not a method"),
    ],
)
def test_an_unknown_method_is_named(name, message):
    with pytest.raises(InputError, match=message):
        find_method(name)


def test_a_registered_strategy_is_a_method_by_its_short_name(blobs, monkeypatch):
    monkeypatch.setitem(STRATEGIES._known, "mine", "likewise.strategies.most_doubt:MostDoubt")
    row = run_cell(Cell("budgets", "mine", "iris", 0, 0), budgets=(5, 10))
    assert (row.status, row.queries) == ("ok", 10)


def test_cobra_runs_first_and_decides_how_much_the_others_ask(blobs, tmp_path):
    store = ResultStore(tmp_path / "r.csv")
    wanted = [Cell("main", "MPCKM-MinMax", "iris", 10, fold) for fold in range(2)]
    run_cells(wanted, store)
    assert len(list(store)) == 4
    for fold in range(2):
        cobra = store.get(Cell("main", "COBRA", "iris", 10, fold))
        assert store.get(wanted[fold]).allowed == cobra.queries


def test_what_is_in_the_store_is_not_run_again(blobs, tmp_path):
    store = ResultStore(tmp_path / "r.csv")
    cell = Cell("main", "COBRA", "iris", 10, 0)
    store.add(Row(**vars(cell), queries=5, status="failed"))
    seen: list[Row] = []
    run_cells([cell], store, on_row=seen.append)
    assert seen == []
    run_cells([cell], store, retry=["failed"], on_row=seen.append)
    assert [row.status for row in seen] == ["ok"]
    assert stages([cell], store, ["failed"]) == ([], [])


@pytest.mark.slow
def test_a_run_that_is_interrupted_keeps_what_has_ended(blobs, tmp_path):
    store = ResultStore(tmp_path / "r.csv")
    wanted = [Cell("main", "COBRA", "iris", 10, fold) for fold in range(5)]

    def stop_after_two(row):
        if len(list(store)) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells(wanted, store, on_row=stop_after_two)
    assert len(list(store)) == 2
    seen: list[Row] = []
    run_cells(wanted, store, on_row=seen.append)
    assert [row.fold for row in seen] == [2, 3, 4]


def test_without_a_cobra_the_others_fail_with_a_reason(blobs, tmp_path):
    store = ResultStore(tmp_path / "r.csv")
    store.add(Row("main", "COBRA", "iris", 10, 0, status="failed", error="broken"))
    run_cells([Cell("main", "MPCKM-MinMax", "iris", 10, 0)], store)
    row = store.get(Cell("main", "MPCKM-MinMax", "iris", 10, 0))
    assert row.status == "failed"
    assert "COBRA failed: broken" in row.error


def test_the_paper_profile_has_all_cells_of_the_protocol():
    plan = profile("paper")
    main = [cell for cell in plan.cells() if cell.experiment == "main"]
    assert len(main) == len(set(main)) == 21 * 5 * 3 * len(PAPER_METHODS)
    assert len(set(plan.cells())) == len(plan.cells())
    assert {cell.experiment for cell in plan.cells()} == set(PAPER_EXPERIMENTS)
    assert main[0].method == "COBRA"
    curves = [cell for cell in plan.cells() if cell.experiment == "curves"]
    assert {cell.method for cell in curves} == set(PAPER_METHODS)
    assert {cell.task for cell in curves} == set(CURVE_TASKS)


def test_the_quick_profile_has_four_tasks_and_two_methods():
    found = profile("quick").cells()
    assert len({cell.task for cell in found}) == 4
    assert len({cell.method for cell in found}) == 2


def test_only_what_follows_cobra_needs_it():
    assert needed_first(Cell("main", "COBRA", "iris", 25, 0)) == []
    assert needed_first(Cell("curves", "MPCKM-MinMax", "iris", 0, 0, budget=25)) == []
    assert needed_first(Cell("wrong-k", "MPCKM-MinMax", "iris", 50, 3, k_shift=1)) == [
        Cell("main", "COBRA", "iris", 50, 3)
    ]
    assert needed_first(Cell("budgets", "Likewise", "iris", 0, 3)) == [
        Cell("main", "COBRA", "iris", size, 3) for size in (25, 50, 100)
    ]
    assert needed_first(Cell("noise-5", "Likewise", "iris", 0, 3)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"tasks": ["nowhere"]},
        {"methods": ["nothing"]},
        {"experiments": ["none"]},
        {"sizes": [0]},
        {"n_folds": 6},
    ],
)
def test_a_plan_that_cannot_be_run_is_refused(changes):
    with pytest.raises(InputError):
        profile("quick").only(**changes)


def test_an_own_method_with_anytime_joins_the_anytime_experiment(blobs):
    plan = Plan(("iris",), ("COBRA", f"{OWN}:OneGroup"), experiments=("anytime",))
    assert {cell.method for cell in plan.cells()} == {"COBRA", "COBRA-guess"}


def test_a_dask_client_gives_the_same_rows(blobs, tmp_path):
    distributed = pytest.importorskip("distributed", reason='pip install "likewise[dask]"')
    wanted = [Cell("main", "MPCKM-MinMax", "iris", 10, fold) for fold in range(3)]
    here, there = (ResultStore(tmp_path / name) for name in ("here.csv", "there.csv"))
    run_cells(wanted, here)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        run_cells(wanted, there, client=client)
    assert [reproducible(row) for row in here] == [reproducible(row) for row in there]


@pytest.mark.parametrize("clusterer", ["MPCKM", "COSC"])
def test_npu_asks_for_links_and_clusters_again_only_after_more_answers(clusterer, blobs):
    row = run_cell(Cell("main", f"{clusterer}-NPU", "iris", 10, 0), allowed=6)
    assert (row.status, row.queries, row.error) == ("ok", 6, "")
    assert row.ari_all is not None
    assert row.ari_all > 0.9
