"""Which row is asked about, beside which groups."""

import tracemalloc
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import Answer, Gesture, LabelOracle, Likewise, Link, Session, run
from likewise.core.answered import Answers
from likewise.errors import ContradictionError
from likewise.strategies import MostDoubt
from likewise.strategies.field import (
    gain_of_rows,
    margin_doubt,
    nearest_to_most,
    root_distances,
)

SAME, DIFFERENT, UNSURE = Answer
X, Y = make_blobs(120, centers=4, cluster_std=0.5, random_state=3)


def strategy(rows=X, **options):
    return MostDoubt.from_rows(rows, **options)


def said(n_rows, *links):
    """Return answers about pairs."""
    return Answers(n_rows, [Gesture(0, (Link(*link),)) for link in links])


def answered(n, rows=X, labels=Y, **options):
    """Return a session after some true answers."""
    session = Session(strategy(rows, **options))
    session.extend()
    return run(session, LabelOracle(labels), max_queries=n)


@pytest.mark.parametrize("block", [1, 7, 64])
def test_gains_are_those_of_a_double_loop(block, monkeypatch):
    monkeypatch.setattr("likewise.strategies.field.BLOCK", block)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 2))
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(-1)).astype(np.float32)
    distance, weights = rng.random(30).astype(np.float32), rng.random(30).astype(np.float32)
    candidates = np.sort(rng.permutation(30)[:11])
    naive = [
        sum(weights[x] * max(0.0, distance[x] - distances[x, r]) for x in range(30))
        for r in candidates
    ]
    assert gain_of_rows(distances, candidates, distance, weights) == pytest.approx(naive, rel=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_rows_of_the_largest_gain_are_those_of_computing_every_gain_again(seed):
    rng = np.random.default_rng(seed)
    # Points on a grid, so that many gains are the same.
    points = rng.integers(0, 6, size=(300, 2))
    distances = root_distances(points, points)
    distance, weights = np.full(300, distances.max()), rng.integers(1, 4, 300).astype(np.float32)
    rows = list(nearest_to_most(distances, distance, weights))
    for row in rows:
        assert row == np.argmax(gain_of_rows(distances, np.arange(300), distance, weights))
        distance = np.minimum(distance, distances[row])
    assert len(rows) == len(np.unique(points, axis=0))


def test_doubt_is_one_minus_the_margin():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(5), size=20)
    for row, doubt in zip(proba, margin_doubt(proba), strict=True):
        first, second = sorted(row, reverse=True)[:2]
        assert doubt == pytest.approx(1 - (first - second))


def test_the_first_question_is_about_the_two_rows_that_bring_all_others_nearest():
    rows = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2], [9.3]])
    row, groups = strategy(rows).next_question(Answers(7))
    sides = {row > 2, groups[0][0] > 2}
    assert len(groups) == len(groups[0]) == 1
    assert sides == {True, False}


def test_rows_in_doubt_are_asked_about_rather_than_those_that_are_clear():
    rows = np.concatenate([np.zeros((30, 2)), np.full((30, 2), 8.0), [[4.0, 4.0]]])
    rows[:60] += np.random.default_rng(0).normal(scale=0.3, size=(60, 2))
    links = [(row + k, row, SAME) for row in (0, 30) for k in range(1, 6)]
    answers = said(61, *links, (0, 30, DIFFERENT))
    assert strategy(rows).next_question(answers)[0] == 60


def test_a_row_that_differs_from_some_groups_is_asked_about_until_one_fits():
    session = answered(12, questions="pairs")
    while True:
        question = session.ask()
        session.choose(Answer.NONE)
        if session.strategy.known(session.answers).pending:
            break
    following = session.ask()
    assert following.row == question.row
    assert following.groups != question.groups


def test_a_row_that_is_none_of_all_groups_is_a_new_group():
    session = answered(20)
    n, question = session.n_groups, session.ask()
    assert len(question.groups) == n
    session.choose(Answer.NONE)
    assert session.n_groups == n + 1
    assert (session.labels == session.labels[question.row]).sum() >= 1


def test_every_group_is_shown_the_likeliest_first():
    rows, labels = make_blobs(90, centers=9, cluster_std=0.1, random_state=0)
    session = answered(60, rows, labels)
    assert session.n_groups == 9
    question = session.ask()
    assert sorted(labels[list(group)][0] for group in question.groups) == list(range(9))
    assert labels[question.groups[0][0]] == labels[question.row]


def test_with_many_groups_no_row_is_asked_about_twice_and_no_label_is_lost_again():
    rows, labels = make_blobs(1200, centers=60, n_features=20, cluster_std=2.5, random_state=0)
    session = answered(0, rows, labels)
    index = []
    for _ in range(14):
        run(session, LabelOracle(labels), max_queries=10)
        index.append(adjusted_rand_score(labels, session.labels))
    assert index[7:] == [1.0] * 7
    assert min(np.diff(index)) >= -0.02
    asked = [gesture.left for gesture in session.events]
    assert len(set(asked)) == len(asked)


def test_none_of_all_groups_is_a_group_for_good_whatever_is_given_later():
    session = answered(20)
    row = session.ask().row
    session.choose(Answer.NONE)
    asked = {other for gesture in session.events for other in gesture.rows}
    first, second = [k for k in range(len(X)) if k not in asked][:2]
    session.add_link(first, second, SAME)  # a group that the row was not compared with
    assert session.ask().row != row
    assert any(group[0] == row for group in session.ask().groups)


def test_after_an_answer_about_a_part_of_the_groups_the_row_is_asked_about_again():
    session = answered(20)
    question = session.ask()
    session.answer(question.pair(1), Answer.NONE)
    following = session.ask()
    assert following.row == question.row
    assert len(following.groups) == len(question.groups) - 1


def test_a_group_is_shown_by_its_first_row_and_the_nearest_ones():
    session = answered(40)
    question = session.ask()
    assert max(map(len, question.groups)) == 3
    firsts = {int(group[0]) for group in session.strategy.known(session.answers).groups}
    assert {group[0] for group in question.groups} <= firsts


def test_copies_are_no_trouble_and_each_is_asked_about_at_most_once():
    rows = np.repeat([[0.0, 0.0], [5.0, 5.0]], 6, axis=0)
    session = answered(60, rows, np.repeat([0, 1], 6))
    assert session.is_done
    assert len({*session.labels[:6]}) == len({*session.labels[6:]}) == 1
    assert session.n_groups == 2
    asked = [gesture.left for gesture in session.events]
    assert len(asked) == len(set(asked))


def test_not_sure_makes_no_group_and_the_row_is_not_asked_about_again():
    session = answered(10)
    n_groups, rows = session.n_groups, []
    for _ in range(10):
        rows.append(session.ask().row)
        session.skip()
        assert session.n_groups == n_groups
    assert len(set(rows)) == 10
    assert session.ask().row not in rows


@pytest.mark.parametrize("questions", ["choices", "pairs"])
@pytest.mark.parametrize("seed", range(20))
def test_a_pair_that_was_not_sure_is_not_asked_about_again_whatever_is_given_later(questions, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 5, (10, 2)).astype(float)
    session = Session(strategy(rows, questions=questions, seed=seed))
    session.extend()
    while (question := session.ask()) is not None:
        pairs = {link.pair for link in question.links(UNSURE)}
        assert not pairs <= {link.pair for gesture in session.events for link in gesture.links}
        is_unsure = rng.random() < 0.4
        fits: list[Any] = [0, Answer.NONE]
        session.choose(UNSURE if is_unsure else fits[int(rng.integers(2))])
        other = int(rng.integers(len(rows)))
        if is_unsure and other != question.row:
            with suppress(ContradictionError):
                session.add_link(question.row, other, "same")


def test_only_rows_that_may_be_shown_are_asked_about_but_all_are_labeled():
    train = np.arange(0, 120, 3)
    session = answered(30, train_indices=train)
    shown = {row for gesture in session.events for row in gesture.rows}
    assert shown <= set(train.tolist())
    assert (session.labels == session.labels[0]).sum() > 0
    assert len(session.labels) == 120


def test_another_order_of_the_rows_asks_about_the_same_rows():
    order = np.random.default_rng(1).permutation(120)
    here = answered(25)
    there = answered(25, X[order], Y[order])
    rows = [{*gesture.rows} for gesture in here.events]
    assert [{int(order[r]) for r in gesture.rows} for gesture in there.events] == rows


def test_many_rows_are_compared_by_a_sample_without_a_matrix_of_all(monkeypatch):
    monkeypatch.setattr("likewise.strategies.field.MAX_CANDIDATES", 100)
    rows, labels = make_blobs(4000, centers=3, cluster_std=0.5, random_state=0)
    tracemalloc.start()
    session = answered(12, rows, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * 4000 * 4 / 2
    assert session.n_groups == 3


def test_when_all_of_the_sample_was_asked_about_others_are(monkeypatch):
    monkeypatch.setattr("likewise.strategies.field.MAX_CANDIDATES", 10)
    session = answered(40)
    assert session.n_asked == 40
    assert len({gesture.left for gesture in session.events}) == 40


def test_a_strategy_is_a_function_of_the_answers():
    session = answered(20)
    answers = Answers(len(X), session.log)
    again = strategy()
    assert again.next_question(answers) == session.strategy.next_question(session.answers)
    assert np.array_equal(again.labels(answers), session.labels)


def test_the_doubt_in_distances_is_of_their_square_roots():
    distances = root_distances(np.array([[0.0], [4.0]]), np.array([[0.0], [20.0]]))
    assert distances == pytest.approx(np.sqrt([[0, 20], [4, 16]]))


def test_given_groups_that_cannot_be_met_do_not_hold_up_questions():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1], [9.2]] * 4)
    X += np.linspace(0, 0.05, 36)[:, None]
    y = np.tile(np.repeat([0, 1, 2], 3), 4)
    alone = np.where(np.arange(36) < 12, np.arange(36), -1)  # a given group for each of these rows
    may_be_asked = np.arange(6, 36)
    session = Likewise(random_state=0).start(X, groups=alone, train_indices=may_be_asked)
    run(session, LabelOracle(y), max_queries=30)
    asked = [gesture.left for gesture in session.events]
    assert len(set(asked)) == len(asked)
    assert set(asked) <= set(may_be_asked.tolist())
    assert adjusted_rand_score(y[12:], session.labels[12:]) == 1.0


def test_an_answer_that_was_not_sure_is_never_suspected():
    rows = np.random.default_rng(0).normal(np.repeat([0.0, 9.0], 12)[:, None], 1.0, (24, 3))
    links = [(row + k, row, SAME) for row in (0, 12) for k in range(1, 12) if row + k != 5]
    # By its features row 5 is one of the others.
    answers = said(24, (5, 0, UNSURE), (0, 12, DIFFERENT), *links, (12, 5, SAME))
    suspects = strategy(rows).assess(answers).suspects(1.0)
    assert all(suspect.answer is not UNSURE for suspect in suspects)


def test_a_removed_row_that_differs_from_some_groups_is_not_asked_about_again():
    session = answered(12, questions="pairs")
    while not session.strategy.known(session.answers).pending:
        question = session.ask()
        session.choose(Answer.NONE)
    assert session.ask().row == question.row
    session.grow(removed=[question.row])
    assert session.ask().row != question.row


def test_of_rows_that_differ_from_some_groups_the_latest_is_asked_about_first():
    session = answered(12, questions="pairs")
    group = session.strategy.known(session.answers).groups[0]
    asked = {row for gesture in session.events for row in gesture.rows}
    first, second = [row for row in range(len(X)) if row not in asked][:2]
    session.add_link(first, group[0], DIFFERENT)
    session.add_link(second, group[0], DIFFERENT)
    assert session.strategy.known(session.answers).pending == [first, second]
    assert session.ask().row == second


@pytest.mark.parametrize("seed", range(3))
def test_a_row_is_always_beside_the_given_group_that_it_is_in(seed):
    rng = np.random.default_rng(seed)
    given = rng.integers(0, 4, 40).astype(str)
    session = Likewise(20, random_state=0).start(rng.normal(size=(40, 3)), groups=given)
    n_asked = 0
    while (question := session.ask()) is not None:
        own = [
            k for k, group in enumerate(question.groups) if given[group[0]] == given[question.row]
        ]
        assert len(own) == 1
        session.choose(own[0])
        n_asked += 1
    assert n_asked == 20
