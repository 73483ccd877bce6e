"""The strategy that shows one row after another beside the groups it may belong to."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import Answer, LabelOracle, Likewise, NoisyOracle, Session, run
from likewise.core.answers import Choice, Query
from likewise.core.partition import SuperInstances
from likewise.strategies import RowByRow
from likewise.strategies.coarse_to_fine.checks import (
    Checks,
    odds_of_wrong,
    worth_of_founders,
)
from likewise.strategies.coarse_to_fine.choices import likeliest, rows_to_show
from likewise.strategies.coarse_to_fine.turns import turns_of

S, D, U = Answer


def blobs(n_groups, n_rows=300, std=1.0, seed=0):
    return make_blobs(n_rows, centers=8.0 * np.eye(n_groups), cluster_std=std, random_state=seed)


def begun(X, **options):
    each = np.arange(len(X))
    return Session(RowByRow(SuperInstances(each, each, points=X), **options))


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
    X, y = make_blobs(400, centers=8, cluster_std=1.5, random_state=2)
    pairs = Likewise(100, random_state=0).fit(X, oracle=LabelOracle(y))
    choices = Likewise(50, questions="choices", random_state=0).fit(X, oracle=LabelOracle(y))
    assert (pairs.n_queries_, choices.n_queries_) == (100, 50)
    better, other = (adjusted_rand_score(y, model.labels_) for model in (choices, pairs))
    assert better >= other - 0.01


def test_equally_likely_groups_are_shown_by_distance():
    found = likeliest([3, 4], np.array([0.5, 0.5]), [2.0, 1.0], n_groups=2, n_placed=9)
    assert found.groups == [4, 3]
    assert found.chances.sum() + found.new == pytest.approx(1.0)


def test_where_answers_may_be_wrong_only_credible_rows_are_shown():
    members, belief = [1, 2, 3, 4], {1: 0.9, 2: 0.3, 3: 0.95, 4: 0.85}
    shown = rows_to_show(members, [1, 2, 3, 4], n_same={1: 5}, belief=belief, distances=None)
    assert shown == [1, 3, 4]


# -- wrong answers -------------------------------------------------------------------------------


def test_turns_end_when_a_row_is_placed_and_begin_again_with_a_check():
    log = [(0, 1, D), (2, 0, D), (2, 1, S), (3, 0, U), (2, 0, D), (2, 1, S)]
    turns = turns_of(log, 1, 4)
    assert [(t.row, t.is_check) for t in turns] == [
        (0, False),
        (2, False),
        (3, False),
        (2, True),
        (2, True),
    ]
    assert [t.n_questions(1) for t in turns] == [1, 2, 1, 1, 1]
    assert turns_of(log, 6, 4)[1].n_questions(6) == 2


def test_checks_stop_when_they_find_nothing():
    quiet = turns_of([(k, 0, S) for k in range(1, 41)], 6, 60)
    checked = turns_of([(k, 0, S) for k in (*range(1, 41), *range(1, 5))], 6, 60)
    assert Checks(quiet, (), "estimate").may_go_on()
    assert not Checks(checked, (), "estimate").may_go_on()
    assert Checks(checked, {0, 1}, "estimate").may_go_on()
    rates = [Checks(turns, out, "estimate").rate for turns, out in ((checked, ()), (checked, {0}))]
    assert rates[0] < 0.05 < rates[1] + 0.01


def test_the_first_row_of_a_large_group_is_worth_a_check_more_than_that_of_a_small_one():
    worth = worth_of_founders({1: 30, 2: 20, 3: 2}, rate=0.05, max_groups=6)
    assert worth[2] > worth[3]


def test_a_row_that_the_others_speak_against_is_probably_wrong():
    left_out = np.array([[0.95, 0.05], [0.9, 0.1], [0.1, 0.9], [0.97, 0.03]])
    odds = odds_of_wrong(left_out, np.array([0, 0, 1, 1]), rate=0.05, max_groups=6)
    assert np.argmax(odds) == 3


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
    assert session.strategy.n_checks <= 12
    assert session.strategy.overruled() == []


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
