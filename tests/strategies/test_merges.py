"""What is plainly different is not asked about; what may be one group is."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise, Session, run
from likewise.core.answers import Answer
from likewise.core.partition import SuperInstances
from likewise.strategies.coarse_to_fine.merges import chances_of_one, plainly_different
from likewise.strategies.coarse_to_fine.pair_by_pair import CoarseToFine


def blobs(n_groups, n_rows=600, seed=0):
    """Groups at the corners of a high-dimensional body: none is nearer than another."""
    return make_blobs(n_rows, centers=20.0 * np.eye(n_groups), cluster_std=1.0, random_state=seed)


def n_proofs(session):
    """Count the answers *different* between rows that both had a group of two by then."""
    return session.strategy._progress[-1].n_proofs


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [12, 16])
def test_groups_that_are_plainly_different_are_not_all_compared(n_groups):
    X, y = blobs(n_groups)
    model = Likewise(150, random_state=0).fit(X, oracle=LabelOracle(y))
    assert n_proofs(model.session_) < n_groups * (n_groups - 1) / 4
    assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_parts_of_a_group_that_lie_apart_are_found(seed):
    X, parts = blobs(6, seed=seed)
    y = parts % 3
    model = Likewise(100, random_state=seed).fit(X, oracle=LabelOracle(y))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_the_chance_of_one_group_falls_with_distance_and_with_answers():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(30, 2)) * 0.2 + np.array([[0, 0], [0.5, 0], [3, 0]])[groups]
    early = chances_of_one([X], groups, n_apart=1)
    late = chances_of_one([X], groups, n_apart=20)
    assert early[0, 1] > early[0, 2]
    assert np.array_equal(early, early.T)
    assert (late[~np.eye(3, dtype=bool)] < early[~np.eye(3, dtype=bool)]).all()


def test_with_many_questions_less_is_taken_for_granted():
    rng = np.random.default_rng(0)
    members = {100 + g: list(range(5 * g, 5 * g + 5)) for g in range(8)}
    X = rng.normal(size=(40, 8)) * 0.1 + np.repeat(np.eye(8), 5, axis=0)
    few, many = (plainly_different([X], members, n_apart=12, n_questions=n) for n in (50, 5000))
    assert many < few
    assert {(b, a) for a, b in few} == few


def test_nothing_is_said_about_single_rows_and_two_groups():
    X = np.arange(10.0)[:, None]
    assert plainly_different([X], {0: [0, 1], 1: [8, 9]}, n_apart=99, n_questions=9) == set()
    alone = {0: [0], 1: [4], 2: [9]}
    assert plainly_different([X], alone, n_apart=99, n_questions=9) == set()


def test_with_many_groups_the_first_regions_are_soon_cut_finer():
    X, y = load_digits(return_X_y=True)
    each = np.arange(0, len(X), 3)
    partition = SuperInstances(np.arange(len(each)), np.arange(len(each)), points=X[each])
    strategy = CoarseToFine(partition, n_regions=(12, 24, 48), to_the_end=False)
    session = Session(strategy)
    answers = []
    while (query := session.ask()) is not None:
        is_same = y[each[query.left]] == y[each[query.right]]
        answers.append(bool(is_same))
        session.tell(Answer.SAME if is_same else Answer.DIFFERENT)
    assert sum(answers[:40]) > 12
    # What was left out does not count as open.
    assert strategy.remaining() == (0, 0)
    assert session.open_pairs == []
    assert adjusted_rand_score(y[each], session.labels) > 0.8


def test_asked_to_the_end_every_two_groups_are_compared():
    X, y = blobs(8, n_rows=40)
    session = Likewise(random_state=0).start(X)
    run(session, LabelOracle(y))
    roots = {session.links.find(i) for i in range(len(X))}
    assert len(roots) == 8
    assert all(len(session.links.differing(root)) == 7 for root in roots)
