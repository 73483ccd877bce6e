import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import COBRA, Answer, Likewise, Question
from likewise.errors import InputError
from likewise.lab.datasets import Dataset
from likewise.lab.experiments import cells
from likewise.lab.experiments.cells import run_cell, split
from likewise.lab.experiments.methods import find_method
from likewise.lab.experiments.oracle import ForbiddenQueryError, GuardedOracle, Slips
from likewise.lab.experiments.plan import FLAGSHIP_METHODS, NOISE_METHODS, PAPER_METHODS, profile
from likewise.lab.experiments.protocol import BUDGETS, NOISE, SIZES, Trial, at_budgets, budgets_of
from likewise.lab.experiments.runner import run_cells
from likewise.lab.experiments.store import NOT_REPRODUCIBLE, Cell, ResultStore

OWN = "methods_of_ones_own"
SOME = (3, 8, 15, 22, 27, 40)

FITS = {
    "COBRA": lambda b, cell, seed: COBRA(cell.n_super_instances, max_queries=b, random_state=seed),
    "COBRA-learned": lambda b, cell, seed: COBRA(
        cell.n_super_instances, max_queries=b, labels="learned", random_state=seed
    ),
    "Likewise-pairs": lambda b, cell, seed: Likewise(
        max_queries=b, questions="pairs", random_state=seed
    ),
    "Likewise": lambda b, cell, seed: Likewise(
        max_queries=b, questions="choices", random_state=seed
    ),
}


@pytest.fixture(autouse=True)
def own_methods(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    yield
    sys.modules.pop(OWN, None)


@pytest.fixture
def clouds(monkeypatch):
    """Clouds that run into each other, four groups of three each: not to be had for nothing."""
    X, y = make_blobs(150, 3, centers=12, cluster_std=1.6, random_state=0)
    data = Dataset("clouds", X, y % 4, tuple("abcd"), np.arange(150), "made up", "nobody")
    monkeypatch.setattr(cells, "dataset", lambda task, *folders: data)
    return data


def points(row):
    return {budget: (asked, score) for budget, asked, score, *_ in json.loads(row.curve)}


@pytest.mark.slow
@pytest.mark.parametrize("method", [*FITS, "COBRAS", "DSL"])
def test_a_score_on_the_way_is_that_of_a_fit_with_so_many_questions(clouds, method):
    size = 20 if method in ("COBRA", "COBRA-learned") else 0
    cell = Cell("budgets", method, "iris", size, 1)
    row = run_cell(cell, budgets=SOME)
    assert (row.status, row.error) == ("ok", "")
    train, test = split(cell, clouds)
    seen = set()
    for budget in SOME:
        oracle = GuardedOracle(clouds.y, train)
        if method in FITS:
            model = FITS[method](budget, cell, row.seed)
            labels = model.fit(clouds.X, oracle=oracle, train_indices=train).labels_
        else:
            trial = Trial(clouds.X, oracle, train, budget, 4, 0, row.seed)
            labels = np.asarray(find_method(method).run(trial))
        asked, score = points(row)[budget]
        expected = adjusted_rand_score(clouds.y[test], labels[test])
        assert score == pytest.approx(expected, abs=1e-9), budget
        assert asked <= oracle.n_queries <= budget
        seen.add(score)
    assert len(seen) > 2


def test_one_run_serves_all_budgets_unless_the_method_plans():
    plans = {name for name in (*FLAGSHIP_METHODS, *PAPER_METHODS) if find_method(name).plans}
    assert plans == set(PAPER_METHODS) - {"COBRA"}


def test_a_method_that_only_runs_is_run_for_every_budget(clouds):
    row = run_cell(Cell("budgets", f"{OWN}:OneGroup", "iris", 0, 0), budgets=(2, 5))
    assert (row.status, row.queries) == ("ok", 1)
    assert points(row) == {2: (1, 0.0), 5: (1, 0.0)}


def test_a_question_about_a_test_row_fails_all_budgets(clouds):
    row = run_cell(Cell("budgets", f"{OWN}:AsksTestRows", "iris", 0, 0), budgets=(20, 500))
    assert row.status == "failed"
    assert "ForbiddenQueryError" in row.error
    assert row.ari_test is None


def test_the_clustering_at_a_budget_is_the_last_that_needed_no_more():
    oracle = GuardedOracle([0, 1], [0, 1])
    states = [(0, [0, 0]), (3, [0, 1]), (3, [1, 1]), (7, [1, 0])]
    found = {p.budget: p.labels.tolist() for p in at_budgets(states, [2, 3, 6, 7, 9], oracle)}
    assert found == {2: [0, 0], 3: [1, 1], 6: [1, 1], 7: [1, 0], 9: [1, 0]}


def test_what_makes_labels_is_called_in_time_or_refused():
    oracle = GuardedOracle([0, 1], [0, 1])
    state = [0, 0]

    def steps(jump):
        for n in range(0, 9, jump):
            state[0] = n
            yield n, lambda: list(state)

    found = {p.budget: p.labels.tolist() for p in at_budgets(steps(1), [4, 20], oracle)}
    assert found == {4: [4, 0], 20: [8, 0]}
    with pytest.raises(InputError, match="after every answer"):
        list(at_budgets(steps(2), [3], oracle))


def test_budgets_are_fixed_ones_cobras_own_and_half_of_its_largest():
    own = {25: 33, 50: 61, 100: 117}
    assert budgets_of(own) == sorted({*BUDGETS, 33, 61, 117, 58})


@pytest.mark.slow
def test_cobras_numbers_are_found_fold_by_fold_before_the_others_run(clouds, tmp_path):
    store = ResultStore(tmp_path / "r.csv")
    run_cells([Cell("budgets", "DSL", "iris", 0, fold) for fold in range(2)], store)
    assert len(list(store)) == 2 + 2 * len(SIZES)
    for fold in range(2):
        own: dict[int, Any]
        own = {s: store.get(Cell("main", "COBRA", "iris", s, fold)).queries for s in SIZES}
        row = store.get(Cell("budgets", "DSL", "iris", 0, fold))
        assert sorted(points(row)) == budgets_of(own)
        assert row.allowed == max(budgets_of(own))


def test_cobra_at_its_own_number_is_the_cobra_of_the_paper(clouds):
    main = run_cell(Cell("main", "COBRA", "iris", 25, 0))
    assert main.queries is not None
    row = run_cell(Cell("budgets", "COBRA", "iris", 25, 0), budgets=(main.queries, 200))
    assert points(row)[main.queries] == points(row)[200] == (main.queries, main.ari_test)


def test_points_have_all_measures_and_the_rows_read(clouds):
    row = run_cell(Cell("budgets", "Likewise", "iris", 0, 0), budgets=(8, 30))
    pairs = run_cell(Cell("budgets", "Likewise-pairs", "iris", 0, 0), budgets=(8, 30))
    *scores, n_read = json.loads(row.curve)[-1][2:]
    assert (row.ari_test, row.ami_test, row.v_test, row.f1_test) == tuple(scores)
    # Most choices show several rows of a group, not one of each.
    assert row.rows_read == n_read > 4 * 30
    assert [point[-1] for point in json.loads(pairs.curve)] == [16, 60]


def test_the_time_between_questions_is_kept(clouds):
    row = run_cell(Cell("budgets", "Likewise", "iris", 0, 0), budgets=(5, 12))
    assert row.ms_median is not None
    assert row.ms_p95 is not None
    assert 0 <= row.ms_median <= row.ms_p95
    assert row.wrong_answers is None


def test_what_is_done_aside_is_no_waiting_time(monkeypatch):
    clock = {"now": 10.0}
    monkeypatch.setattr(time, "thread_time", lambda: clock["now"])
    asked = GuardedOracle([0, 0, 1], [0, 1, 2])
    asked.same(0, 1)
    clock["now"] += 0.5
    with asked.aside():
        clock["now"] += 100.0
    clock["now"] += 0.25
    asked.same(0, 2)
    assert asked.waits == [0.75]


# -- wrong answers -------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.05, 0.10, 1.0])
def test_of_every_hundred_pairs_exactly_the_stated_share_is_wrong(share):
    slips = Slips(share, seed=3)
    wrong = [slips.is_wrong(row, row + 1) for row in range(300)]
    for start in (0, 100, 200):
        assert sum(wrong[start : start + 100]) == round(100 * share)
    assert slips.n_wrong == round(300 * share)


def test_which_answers_are_wrong_depends_on_the_seed_alone():
    def places(seed):
        slips = Slips(0.1, seed)
        return [k for k in range(100) if slips.is_wrong(k, 999)]

    assert places(1) == places(1)
    assert places(1) != places(2)
    slips = Slips(0.1, 1)
    # Another hundred, other places; other pairs, the same places.
    assert [k for k in range(100) if slips.is_wrong(500 + k, k)] == places(1)
    assert [k for k in range(100) if slips.is_wrong(700 + k, k)] != places(1)


def test_a_pair_that_is_asked_again_gets_the_same_answer():
    slips = Slips(0.5, seed=0)
    first = [slips.is_wrong(0, k) for k in range(1, 50)]
    assert [slips.is_wrong(k, 0) for k in range(1, 50)] == first


def test_a_choice_is_one_question_and_a_wrong_one_is_another_group_or_none():
    choices = [Question(1, row, ((0, 2), (1,), (3,))) for row in range(4, 104)]
    y = np.arange(104) % 5
    for share in (0.0, 0.1):
        oracle = GuardedOracle(y, np.arange(104), slips=Slips(share, seed=1))
        chosen = [oracle.answer(choice) for choice in choices]
        right = [{0: 0, 2: 0, 1: 1, 3: 2, 4: Answer.NONE}[int(y[choice.row])] for choice in choices]
        assert sum(a != b for a, b in zip(chosen, right, strict=True)) == round(100 * share)
        assert oracle.n_queries == 100
        assert [oracle.answer(choice) for choice in choices] == chosen
    with pytest.raises(ForbiddenQueryError, match="row 3 of the test part"):
        GuardedOracle(y, [0, 1, 2, 4]).answer(choices[0])


@pytest.mark.parametrize("share", [-0.1, 1.1, 0.055])
def test_a_share_that_cannot_be_kept_is_refused(share):
    with pytest.raises(InputError, match="whole percent"):
        Slips(share, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("experiment", NOISE)
@pytest.mark.parametrize("method", NOISE_METHODS)
def test_wrong_answers_are_as_many_as_stated_and_the_same_every_time(clouds, method, experiment):
    cell = Cell(experiment, method, "iris", 100 if method == "COBRA" else 0, 0)
    rows = [run_cell(cell, budgets=(100,)) for _ in range(2)]
    assert [row.status for row in rows] == ["ok", "ok"], rows[0].error
    n_wrong = round(100 * NOISE[experiment])
    if method == "A3S":  # it has nothing left to ask about so few rows
        assert rows[0].queries in range(100)
        assert rows[0].wrong_answers in range(1, n_wrong + 1)
    else:
        assert (rows[0].queries, rows[0].wrong_answers) == (100, n_wrong)
    first, second = (
        {k: v for k, v in asdict(row).items() if k not in NOT_REPRODUCIBLE} for row in rows
    )
    assert first == second


def test_all_methods_get_wrong_answers_at_the_same_places(clouds):
    cells_of = [Cell("noise-10", method, "iris", 0, 2) for method in ("Likewise", "COBRAS")]
    first, second = (cells.person_of(cell, clouds)["slips"] for cell in cells_of)
    assert [first.is_wrong(0, k) for k in range(1, 101)] == [
        second.is_wrong(5, 5 + k) for k in range(1, 101)
    ]
    assert cells.person_of(Cell("budgets", "Likewise", "iris", 0, 2), clouds) == {}


def test_the_flagship_profile_has_every_method_once_per_fold():
    found = profile("flagship").cells()
    assert len(set(found)) == len(found)
    per = {name: [c for c in found if c.experiment == name] for name in ("budgets", *NOISE)}
    assert len(per["budgets"]) == 21 * 5 * (3 + 3 + 2 + 5)
    assert all(len(per[name]) == 21 * 5 * (3 + 2 + 5) for name in NOISE)
