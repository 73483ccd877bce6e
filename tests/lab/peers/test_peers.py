"""ACDM, A3S and nCOBRAS: what they are made for."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Session, run
from likewise.lab.peers.a3s import AdaptiveSampling
from likewise.lab.peers.acdm import DiffusionSkeleton
from likewise.lab.peers.ncobras import CheckedSplitAndMerge


@pytest.mark.parametrize("strategy", [AdaptiveSampling, DiffusionSkeleton])
def test_far_groups_are_found_by_few_questions(strategy):
    X, y = make_blobs(200, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    session = run(Session(strategy.from_rows(X)), LabelOracle(y), max_queries=40)
    assert adjusted_rand_score(y, session.labels) > 0.95


def test_acdm_asked_to_the_end_is_right():
    X, y = make_blobs(40, centers=3, cluster_std=4.0, random_state=0)
    session = run(Session(DiffusionSkeleton.from_rows(X)), LabelOracle(y))
    assert session.is_done
    assert adjusted_rand_score(y, session.labels) == 1.0


def test_a3s_splits_a_cluster_whose_middle_differs_from_its_core():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    strategy = AdaptiveSampling.from_rows(X)
    session = run(Session(strategy), LabelOracle(y))
    assert session.is_done
    assert adjusted_rand_score(y, session.labels) > 0.5


@pytest.mark.parametrize("wrong", [1, 3, 6])
def test_ncobras_finds_the_wrong_answer_and_does_without_it(wrong):
    X, y = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    session = Session(CheckedSplitAndMerge.from_rows(X))
    asked = 0

    def answer(left, right):
        nonlocal asked
        asked += 1
        return (y[left] == y[right]) != (asked == wrong)

    run(session, answer, max_queries=60)
    assert session.overruled_pairs() == {session.events[wrong - 1].links[0].pair}
    assert adjusted_rand_score(y, session.labels) == 1.0
