"""Rivals that ask choices, and people who err."""

import json

import numpy as np
import pytest

from likewise.core.answers import N_LARGE, Answer, Question
from likewise.errors import InputError, MissingExtraError
from likewise.lab.experiments.cells import person_of, run_cell
from likewise.lab.experiments.choice_methods import CHOICE_METHODS, ChoiceMethod, Choices, svm
from likewise.lab.experiments.oracle import (
    GuardedOracle,
    Slips,
    wrong_near_borders,
    wrong_rows,
)
from likewise.lab.experiments.plan import profile
from likewise.lab.experiments.protocol import PEOPLE, Trial
from likewise.lab.experiments.runner import run_cells
from likewise.lab.experiments.store import Cell, ResultStore

TRAIN = np.arange(0, 60, 2)


def trial(data, budget=None, **person):
    oracle = GuardedOracle(data.y, TRAIN, budget, **person)
    return Trial(data.X, oracle, TRAIN, budget, 3, 0, 7)


@pytest.mark.parametrize("name", [method.name for method in CHOICE_METHODS])
def test_every_rival_finds_three_clouds_by_choices_about_training_rows(blobs, name, made):
    row = made(run_cell(Cell("rivals", name, "iris", 0, 0), budgets=(12, 20)))
    assert (row.status, row.error) == ("ok", "")
    assert (row.groups, row.ari_test) == (3, 1.0)
    # The first row of all needs no question; what is read are the row and all known groups.
    assert row.queries == 20
    assert row.rows_read in range(20 * 2, 20 * 4 + 1)
    assert [point[1] for point in json.loads(row.curve)] == [12, 20]


@pytest.mark.parametrize(
    "name",
    [
        "MaxHerding",
        "Falcun",
        "DropQuery",
        "TypiClust",
        "ProbCover",
        "CoreSet",
        "BADGE",
        "committee",
    ],
)
def test_a_rule_of_scikit_activeml_asks_about_the_same_rows_again(name):
    (method,) = [method for method in CHOICE_METHODS if method.name == name]
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 5)), rng.integers(0, 3, 90)

    def asked():
        train = np.arange(60)
        trial = Trial(X, GuardedOracle(y, train, 24), train, 24, 3, 0, 7)
        *_, (_, labels) = method.anytime(trial)
        (choices,) = labels.args
        return choices.rows

    try:
        first = asked()
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert asked() == first


def test_classes_are_found_while_asking(blobs):
    choices = Choices(trial(blobs))
    for row in (0, 2, 20, 40, 22):
        choices.ask(row)
    assert choices.groups == [0, 0, 1, 2, 1]
    assert choices.trial.oracle.reads == [2, 2, 3, 4]


def test_a_row_that_nobody_is_sure_about_stays_unknown(blobs):
    method = ChoiceMethod("all", lambda choices: iter(TRAIN.tolist()), svm)
    states = list(method.anytime(trial(blobs, unsure=1.0)))
    assert [n_answers for n_answers, _ in states] == list(range(len(TRAIN)))
    (choices,) = states[-1][1].args
    assert (choices.rows, choices.unsure) == ([0], TRAIN[1:].tolist())
    assert len(choices.open_rows()) == 0


def test_rules_that_plan_have_a_run_for_every_budget():
    by_name = {method.name: method for method in CHOICE_METHODS}
    assert by_name["medoids-SVM"].plans
    assert not by_name["margin-SVM"].plans


# -- people --------------------------------------------------------------------------------------


@pytest.mark.parametrize("experiment", PEOPLE)
def test_people_err_as_often_as_they_are_said_to(blobs, experiment):
    big = 50
    cell = Cell(experiment, "Likewise", "iris", 0, 0)
    y = np.tile(blobs.y, big)
    data = type(blobs)("big", np.tile(blobs.X, (big, 1)), y, ("a", "b", "c"), y, "", "")
    data = type(data)(**{**vars(data), "X": np.random.default_rng(0).normal(size=(len(y), 2))})
    oracle = GuardedOracle(y, np.arange(len(y)), **person_of(cell, data))
    found = [oracle.answer(Question(1, row, ((0,), (20,), (40,)))) for row in range(1, 1001)]
    right = [int(y[row]) for row in range(1, 1001)]
    wrong = sum(a != b for a, b in zip(found, right, strict=True))
    share = PEOPLE[experiment][1]
    if experiment.startswith("unsure"):
        assert found.count(Answer.UNSURE) == wrong == oracle.answers.count(Answer.UNSURE)
    else:
        slips = 0 if oracle.slips is None else oracle.slips.n_wrong
        assert wrong == slips + oracle.n_misseen
    if experiment.startswith("overlooked"):
        share = 0.0  # no group of three is drawn small
    assert wrong / 1000 == pytest.approx(share, abs=0.04)


def test_rows_near_borders_are_wrong_more_often():
    X = np.linspace(0, 1, 400)[:, None]
    y = (X[:, 0] > 0.5).astype(int)
    near = abs(np.arange(400) - 200) <= 5
    seen = [wrong_near_borders(X, y, 0.02, seed) != y for seed in range(50)]
    assert np.mean(seen) == pytest.approx(0.02, abs=0.01)
    assert np.mean(seen, axis=0)[near].mean() > 5 * np.mean(seen, axis=0)[~near].mean()
    assert np.mean(wrong_rows(y, 0.1, seed=0) != y) == pytest.approx(0.1, abs=0.04)


def test_people_judge_a_group_by_its_first_row(blobs):
    mixed = Question(1, 44, ((0, 42), (40, 2)))
    by_first = person_of(Cell("unsure-10", "Likewise", "iris", 0, 0), blobs) | {"unsure": 0.0}
    every = np.arange(60)
    assert GuardedOracle(blobs.y, every, **by_first).answer(mixed) == 1
    assert GuardedOracle(blobs.y, every).answer(mixed) == 0


def test_one_of_three_people_gives_all_wrong_answers():
    slips = Slips(0.1, seed=1, is_one_of_three=True)
    wrong = np.array([slips.is_wrong(0, k) for k in range(1, 301)]).reshape(10, 3, 10).sum(axis=2)
    careless = wrong.sum(axis=0).argmax()
    assert wrong[:, careless].tolist() == [3] * 10
    assert wrong.sum() == 30
    with pytest.raises(InputError, match="whole"):
        Slips(0.05, seed=1, is_one_of_three=True)


def test_an_own_end_is_reached_without_a_budget(blobs, tmp_path):
    plan = profile("rivals").only(tasks=["iris"], experiments=["own-end"], n_folds=1)
    store = ResultStore(tmp_path / "r.csv")
    run_cells(plan.cells(), store)
    rows = list(store)
    assert [row.method for row in rows] == ["Likewise", "Likewise-pairs"]
    for row in rows:
        assert (row.status, row.allowed, row.ari_test) == ("ok", None, 1.0), row.error
        assert row.queries in range(30, 200)


def test_rows_drawn_small_are_counted_apart_and_one_in_ten_is_overlooked_there():
    y = np.arange(2000) % 8
    groups = tuple((8 * k + k, 8 * k + k + 8) for k in range(8))
    person = GuardedOracle(y, np.arange(2000), overlooked=0.1, seed=3, is_by_first=True)
    answers = [
        person.answer(Question(n + 1, row, groups)) for n, row in enumerate(range(100, 2000))
    ]
    assert set(person.reads) == {1 + 2 * N_LARGE + 2}
    assert set(person.glances) == {2}
    missed = [
        y[row]
        for row, answer in zip(range(100, 2000), answers, strict=True)
        if answer is Answer.NONE
    ]
    assert {*missed} == {6, 7}
    assert 0.05 < len(missed) / sum(y[100:] >= N_LARGE) < 0.15
    assert person.n_misseen == len(missed)
