"""The strategy that shows one row after another beside the groups it may belong to."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import Answer, LabelOracle, Likewise, NoisyOracle, Session, run
from likewise.core.answers import Choice, Query
from likewise.core.partition import SuperInstances
from likewise.core.strategy import STRATEGIES
from likewise.errors import ContradictionError
from likewise.strategies import RowByRow

S, D, U = Answer

ASSETS = Path(__file__).parent / "assets"


def blobs(n_groups, n_rows=300, std=1.0, seed=0):
    return make_blobs(n_rows, centers=8.0 * np.eye(n_groups), cluster_std=std, random_state=seed)


def begun(X, **options):
    each = np.arange(len(X))
    return Session(RowByRow(SuperInstances(each, each, points=X), **options))


def test_regions_that_nobody_asked_about_are_groups_while_most_rows_open_one():
    X, y = blobs(8)
    session = begun(X, max_groups=1, budget=20)
    run(session, LabelOracle(y), max_queries=10)
    n_known = len(set(session.strategy.examples()[1]))
    assert session.labels.max() + 1 > n_known
    assert adjusted_rand_score(y, session.labels) > 0.8
    run(session, LabelOracle(y), max_queries=60)
    assert session.labels.max() + 1 == 8


@pytest.mark.parametrize(("max_groups", "tolerance"), [(6, 0.25), (1, 0.6)])
def test_about_how_many_questions_are_to_go_counts_all_regions_to_come(max_groups, tolerance):
    X, y = blobs(6)
    session = Session(RowByRow.from_rows(X, max_groups=max_groups))
    told = []
    while session.ask() is not None:
        told.append(session.progress.estimate)
        run(session, LabelOracle(y), max_queries=1)
    left = len(told) - np.arange(len(told))
    assert len(told) >= 48
    assert np.mean(np.abs(np.array(told) - left) / left) < tolerance
    assert told[10] > 0.5 * left[10]


def test_with_a_budget_what_is_left_of_it_is_to_go():
    X, y = blobs(4)
    session = begun(X, budget=40)
    run(session, LabelOracle(y), max_queries=10)
    assert session.progress.estimate == 30


# -- choices -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_row_takes_one_choice_where_all_groups_are_shown():
    X, y = blobs(5)
    session = begun(X, error_rate=0.0, budget=60)
    run(session, LabelOracle(y), max_queries=60)
    n_met = len({row for event in session.events for row in event.rows})
    assert n_met == 61
    assert adjusted_rand_score(y, session.labels) == 1.0


@pytest.mark.slow
def test_groups_are_shown_likeliest_first_and_excluded_ones_not_at_all():
    X, y = blobs(9)
    session = begun(X, error_rate=0.0, budget=80)
    n_first = n_asked = 0
    while (question := session.ask()) is not None and len(session.events) < 80:
        if isinstance(question, Choice):
            assert 2 <= len(question.groups) <= 6
            out = session.links.differing(question.row)
            assert all(session.links.find(group[0]) not in out for group in question.groups)
            for group in question.groups:
                assert 1 <= len(group) <= 4
                assert len({session.links.find(row) for row in group}) == 1
        run(session, LabelOracle(y), max_queries=1)
        chosen = session.events[-1]
        if chosen.groups and chosen.answer is S and len(session.events) > 40:
            n_asked += 1
            n_first += chosen.right == chosen.groups[0][0]
    assert n_first > 0.9 * n_asked > 0
    assert adjusted_rand_score(y, session.labels) == 1.0


def test_with_one_group_the_question_is_a_pair():
    X, _ = blobs(3)
    session = begun(X, error_rate=0.0)
    assert isinstance(session.ask(), Query)
    session.tell(S)
    assert isinstance(session.ask(), Query)
    session.tell(D)
    assert isinstance(session.ask(), Choice)


@pytest.mark.slow
def test_an_oracle_that_answers_pairs_is_asked_pairs():
    X, y = blobs(4)
    model = Likewise(40, questions="choices", random_state=0)
    model.fit(X, oracle=lambda i, j: bool(y[i] == y[j]))
    assert sum(len(event.links) for event in model.session_.events) == 40
    assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.slow
def test_fifty_choices_are_as_good_as_a_hundred_pairs():
    X, y = blobs(8, std=2.5)
    pairs = Likewise(100, random_state=0).fit(X, oracle=LabelOracle(y))
    choices = Likewise(50, questions="choices", random_state=0).fit(X, oracle=LabelOracle(y))
    assert (pairs.n_queries_, choices.n_queries_) == (100, 50)
    better, other = (adjusted_rand_score(y, model.labels_) for model in (choices, pairs))
    assert better >= other - 0.01


# -- wrong answers -------------------------------------------------------------------------------


def test_only_a_row_whose_group_is_known_is_said_to_be_checked():
    X, y = blobs(3)
    session = begun(X, max_groups=1, budget=60, error_rate=0.1)
    placed: set[int] = set()
    reasons: list[tuple[bool, bool]] = []
    while len(reasons) < 60:
        query = session.ask()
        reasons.append(
            (session.strategy.why() == "to check an earlier answer", query.left in placed)
        )
        is_wrong = len(reasons) in (12, 25)
        session.tell(S if (y[query.left] == y[query.right]) != is_wrong else D)
        known, _ = session.strategy.examples()
        placed = set(known.tolist())
    assert all(is_check == is_known for is_check, is_known in reasons[1:])
    assert {is_check for is_check, _ in reasons} == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_with_one_choice_in_ten_wrong_little_is_lost(seed):
    X, y = blobs(4, seed=seed)
    oracle = NoisyOracle(LabelOracle(y), 0.1, seed=seed)
    session = run(begun(X, budget=100, seed=seed), oracle, max_queries=100)
    assert adjusted_rand_score(y, session.labels) > 0.9
    wrong = {
        event.number
        for event in session.events
        if (y[event.left] == y[event.right]) != (event.answer is S)
    }
    named = {suspect.number for suspect in session.suspects}
    assert len(named & wrong) >= 0.5 * len(wrong)


@pytest.mark.slow
def test_where_nothing_is_wrong_few_questions_are_checks():
    X, y = load_iris(return_X_y=True)
    session = run(begun(X, budget=100), LabelOracle(y), max_queries=100)
    assert session.strategy.checks().n_checked <= 12
    assert session.strategy.overruled() == []


def test_taking_back_a_contradiction_leaves_no_trace():
    X, _ = blobs(2, n_rows=10)
    strategy = begun(X, max_groups=1, error_rate=0.1).strategy
    for said in ((1, 0, S), (2, 0, D), (3, 0, S)):
        strategy.record(*said)
    before = list(strategy.links), strategy.next_pair(), strategy.labels().tolist()
    strategy.record(1, 2, S)
    assert strategy.overruled() == [0]
    assert strategy.links.implied(1, 2) is S
    strategy.record(1, 3, S)
    assert strategy.overruled() == [3]
    strategy.rewind()
    assert strategy.overruled() == [0]
    strategy.rewind()
    assert (list(strategy.links), strategy.next_pair(), strategy.labels().tolist()) == before


def test_what_is_certain_is_no_suspect_and_cannot_be_contradicted_by_what_is_certain():
    X, _ = blobs(3)
    strategy = begun(X, max_groups=1, error_rate=0.1).strategy
    strategy.record(1, 0, S, is_certain=True)
    strategy.record(1, 0, D)
    assert strategy.overruled() == [1]
    assert [suspect.number for suspect in strategy.suspects()] == [2]
    with pytest.raises(ContradictionError):
        strategy.record(0, 1, D, is_certain=True)
    assert strategy.overruled() == [1]
    strategy.rewind()
    strategy.rewind()
    strategy.record(0, 1, D, is_certain=True)
    assert strategy.links.implied(0, 1) is D


def test_suspicious_answers_are_named_while_the_session_runs():
    X, y = blobs(3)
    session = begun(X, budget=60)
    for k in range(30):
        question = session.ask()
        if k == 20 and isinstance(question, Choice):
            right = LabelOracle(y).choose(question)
            session.choose((right + 1) % len(question.groups) if right is not None else 0)
        else:
            run(session, LabelOracle(y), max_queries=1)
    assert 21 in {suspect.number for suspect in session.suspects}


def test_sessions_saved_by_the_earlier_strategy_go_on():
    X, y = blobs(3)
    session = begun(X, max_groups=1, error_rate=0.1, budget=30)
    run(session, LabelOracle(y), max_queries=12)
    saved = session.to_dict()
    strategy = saved["strategy"]
    saved["strategy"] = {
        "name": "careful",
        **{k: strategy[k] for k in ("partition", "error_rate", "askable", "budget", "seed")},
    }
    loaded = Session.from_dict(saved)
    assert loaded.ask() is not None
    assert [event.pair for event in loaded.events] == [event.pair for event in session.events]


@pytest.mark.parametrize("name", ["coarse-to-fine", "refine"])
def test_sessions_that_asked_pair_by_pair_keep_their_links_and_go_on(name):
    saved = json.loads((ASSETS / "coarse-to-fine.json").read_text())
    saved["strategy"]["name"] = name
    links = [tuple(link) for entry in saved["log"] for link in entry["links"]]
    session = Session.from_dict(saved)
    assert [(event.left, event.right, event.answer.value) for event in session.events] == links
    assert session.strategy.to_dict()["max_groups"] == 1
    assert not session.strategy.weighs_answers
    truth = np.array(saved["strategy"]["partition"]["points"])[:, 0] > 0
    run(session, LabelOracle(truth))
    assert adjusted_rand_score(truth, session.labels) == 1.0
    assert Session.from_dict(session.to_dict()).strategy.name == "row-by-row"


# -- beginnings ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["closest-first", "row-by-row"])
def test_strategies_begin_from_rows(name):
    X, y = make_blobs(200, centers=3, cluster_std=0.5, random_state=0)
    train = np.arange(0, 200, 2)
    make = STRATEGIES.find(name).from_rows
    for budget in (None, 30):
        strategy = make(X, train_indices=train, budget=budget, seed=1)
        session = run(Session(strategy), LabelOracle(y), max_queries=30)
        assert {row for event in session.events for row in event.rows} <= set(train)
        assert adjusted_rand_score(y, session.labels_guess) > 0.9
    again = Session(make(X, train_indices=train, budget=30, seed=1))
    assert run(again, LabelOracle(y), max_queries=30).events == session.events


def test_a_budget_is_planned_for_as_by_the_estimator():
    X, y = make_blobs(200, centers=5, random_state=0)
    session = Likewise(25, random_state=0).start(X)
    strategy = RowByRow.from_rows(X, budget=25, seed=session.strategy.seed, max_groups=1)
    straight = run(Session(strategy), LabelOracle(y), max_queries=25)
    assert run(session, LabelOracle(y), max_queries=25).events == straight.events


def test_more_rows_than_cells_are_cut(monkeypatch):
    monkeypatch.setattr("likewise.strategies.row_by_row.cells.MAX_CELLS", 50)
    monkeypatch.setattr("likewise.strategies.row_by_row.cells.N_CELLS", 20)
    X = np.random.default_rng(0).normal(size=(100, 2))
    strategy = RowByRow.from_rows(X, train_indices=np.arange(40))
    assert strategy.partition.n_super_instances <= 20
    assert set(strategy.askable()) <= set(range(40))


# -- pairs ---------------------------------------------------------------------------------------


def corners(n_groups, n_rows=600, seed=0):
    """Return groups at the corners of a high-dimensional body: none is nearer than another."""
    return make_blobs(n_rows, centers=20.0 * np.eye(n_groups), cluster_std=1.0, random_state=seed)


@pytest.mark.slow
def test_groups_that_are_plainly_different_are_not_all_compared():
    X, y = corners(16, n_rows=400)
    model = Likewise(150, error_rate=0.0, random_state=0).fit(X, oracle=LabelOracle(y))
    assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_parts_of_a_group_that_lie_apart_are_found(seed):
    X, parts = corners(6, n_rows=300, seed=seed)
    y = parts % 3
    model = Likewise(100, error_rate=0.0, random_state=seed).fit(X, oracle=LabelOracle(y))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_asked_to_the_end_every_two_groups_are_compared():
    X, y = corners(8, n_rows=40)
    session = Likewise(error_rate=0.0, random_state=0).start(X)
    run(session, LabelOracle(y))
    roots = {session.links.find(i) for i in range(len(X))}
    assert len(roots) == 8
    assert all(len(session.links.differing(root)) == 7 for root in roots)


def test_where_most_rows_begin_a_group_the_learner_is_not_fitted_for_each_of_them(fits):
    X, y = corners(40, n_rows=120)
    session = begun(X, budget=60)
    n_most = 0
    for _ in range(25):
        n_before = len(fits)
        run(session, LabelOracle(y), max_queries=1)
        session.ask()
        n_most = max(n_most, len(fits) - n_before)
    assert len({session.links.find(row) for e in session.events for row in e.rows}) > 20
    assert n_most <= 3
