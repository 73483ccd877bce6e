import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from likewise.project.splitting import finer, one_apart, set_apart, split_further

from likewise import COBRA
from likewise.errors import InputError
from likewise.items import Features
from likewise.rows.build import build_super_instances


def rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


@pytest.mark.slow
@given(st.integers(8, 60), st.integers(1, 6), st.integers(1, 20), st.integers(0, 99))
@settings(max_examples=8)
def test_splitting_keeps_representatives_and_only_divides(n, before, more, seed):
    X = rows(n, seed)
    old = build_super_instances(X, before, seed=seed)
    new = split_further(old, X, np.arange(n), old.n_super_instances + more, seed)
    assert set(old.representatives) <= set(new.representatives)
    assert new.n_super_instances == min(n, old.n_super_instances + more)
    for number in range(new.n_super_instances):
        assert len(set(old.assignment[new.assignment == number])) == 1


@pytest.mark.slow
def test_splitting_gives_the_same_every_time():
    X = rows(80)
    old = build_super_instances(X, 5)
    a, b = (split_further(old, X, np.arange(80), 20, seed=3) for _ in range(2))
    assert np.array_equal(a.assignment, b.assignment)


def test_splitting_distances_works_as_splitting_rows():
    X = rows(40)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    old = build_super_instances(D, 4, metric="precomputed")
    new = split_further(old, D, np.arange(40), 9)
    assert new.n_super_instances == 9
    assert set(old.representatives) <= set(new.representatives)
    assert new.distances is not None
    assert np.array_equal(new.distances, D[np.ix_(new.representatives, new.representatives)])


def test_rows_that_cannot_be_shown_never_stand_for_others():
    X = rows(60)
    able = np.arange(0, 60, 3)
    old = build_super_instances(X, 4, train_indices=able)
    new = split_further(old, X, able, 15)
    assert set(new.representatives.tolist()) <= set(able.tolist())


def test_equal_rows_are_not_split_for_ever():
    X = np.zeros((10, 2))
    old = build_super_instances(X, 1)
    assert split_further(old, X, np.arange(10), 5).n_super_instances == 1


def test_fewer_than_there_are_is_refused():
    X = rows(10)
    strategy = COBRA(4).start(X).strategy
    with pytest.raises(InputError, match="4 small groups already"):
        finer(strategy, Features(X, "x"), 4, seed=0)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_a_row_is_set_apart_and_the_rest_keeps_somebody_to_stand_for_it(metric):
    X = rows(30)
    if metric == "precomputed":
        X = np.linalg.norm(X[:, None] - X[None], axis=2)
    old = build_super_instances(X, 3, metric=metric)
    for row in (int(old.representatives[0]), int(np.flatnonzero(old.assignment == 1)[0])):
        new, stands = set_apart(old, X, np.arange(30), row)
        assert (new.assignment == new.assignment[row]).sum() == 1
        assert stands != row
        assert old.assignment[stands] == old.assignment[row]
        assert new.n_super_instances == 4


def test_a_row_that_stands_alone_cannot_be_set_apart():
    X = rows(3)
    with pytest.raises(InputError, match="stands alone already"):
        one_apart(COBRA(3).start(X), Features(X, "x"), 1)
