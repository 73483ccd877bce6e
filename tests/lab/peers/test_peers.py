"""ACDM, A3S and nCOBRAS: what they are made for."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Session, run
from likewise.core.answers import Answer
from likewise.lab.datasets import load
from likewise.lab.experiments.noisy_methods import NoisyCobras
from likewise.lab.experiments.protocol import Trial
from likewise.lab.peers import a3s
from likewise.lab.peers.a3s import AdaptiveSampling, greedy_clusters
from likewise.lab.peers.acc import CorrelationClustering, correlation_clusters, mean_field
from likewise.lab.peers.acdm import BATCH, DiffusionSkeleton, entropies, ranked
from likewise.lab.peers.lak import LocalKernel, choose_prototypes, local_kernel
from likewise.lab.peers.ncobras import readings


@pytest.mark.parametrize("strategy", [AdaptiveSampling, DiffusionSkeleton, LocalKernel])
def test_far_groups_are_found_by_few_questions(strategy):
    X, y = make_blobs(200, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    session = run(Session(strategy.from_rows(X)), LabelOracle(y), max_queries=40)
    assert adjusted_rand_score(y, session.labels) > 0.95


@pytest.mark.parametrize("strategy", [DiffusionSkeleton, LocalKernel])
def test_asked_to_the_end_it_is_right(strategy):
    X, y = make_blobs(40, centers=3, cluster_std=4.0, random_state=0)
    session = run(Session(strategy.from_rows(X)), LabelOracle(y))
    assert session.is_done
    assert adjusted_rand_score(y, session.labels) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_acdm_asks_next_about_rows_whose_neighbors_disagree(seed):
    X = np.random.default_rng(seed).uniform(size=(300, 2))
    y = X[:, 0] > 0.5
    asked = []

    def answer(left, right):
        asked.append(left)
        return bool(y[left] == y[right])

    session = run(Session(DiffusionSkeleton.from_rows(X)), answer, max_queries=80)
    later = list(dict.fromkeys(asked))[BATCH:]
    # Any rows would be a quarter away from the border.
    assert np.median(np.abs(X[later, 0] - 0.5)) < 0.15
    assert adjusted_rand_score(y, session.labels) > 0.9


def test_acdm_goes_down_the_tree_by_its_longest_edges():
    parent, length = np.array([1, 1, 1, 1, 3]), np.array([1.0, 0.0, 2.0, 8.0, 9.0])
    assert ranked(parent, length).tolist() == [1, 3, 4, 2, 0]


def test_the_entropy_of_two_labels_is_that_of_a_coin():
    assert entropies(np.array([[0, 0], [0, 1]])).tolist() == [0.0, pytest.approx(np.log(2))]


def test_lak_has_the_scores_of_the_authors_program(data_home):
    # Theirs on the whole of iris and sonar, at 25, 50 and 100 questions.
    for task, theirs in (("iris", [0.901, 0.864, 0.939]), ("sonar", [0.200, 0.412, 0.560])):
        data = load(task, data_home=str(data_home))
        strategy = LocalKernel.from_rows(data.X)
        session = Session(strategy)
        scores = []
        for n in (25, 50, 100):
            run(session, LabelOracle(data.y), max_queries=n - session.n_asked)
            scores.append(
                adjusted_rand_score(data.y, strategy.labels_as_published(session.answers))
            )
        assert scores == pytest.approx(theirs, abs=0.01)


def test_correlation_clustering_needs_hundreds_of_answers_and_then_is_right():
    # As the authors' program on wine, 178 rows in three classes: near 0 at 200, 1 at 600.
    X, y = make_blobs(40, centers=3, cluster_std=9.0, random_state=0)
    session = run(Session(CorrelationClustering.from_rows(X)), LabelOracle(y), max_queries=20)
    assert adjusted_rand_score(y, session.labels) < 0.5
    run(session, LabelOracle(y), max_queries=150)
    assert adjusted_rand_score(y, session.labels) == 1.0


def test_clusters_have_the_largest_sum_of_similarities():
    similarity = csr_array(np.array([[0, 1, -1, 0], [1, 0, -1, 0], [-1, -1, 0, 1], [0, 0, 1, 0]]))
    clusters = correlation_clusters(similarity, 2, np.random.default_rng(0))
    assert (clusters[0] == clusters[1], clusters[2] == clusters[3]) == (True, True)
    assert clusters[0] != clusters[2]
    chances = mean_field(similarity, clusters)
    assert (chances.argmax(axis=1) == clusters).all()


def test_lak_narrows_its_kernel_where_rows_are_dense():
    X = np.concatenate([np.linspace(0, 1, 30), np.linspace(10, 40, 30)])[:, None]
    kernel = local_kernel(X)
    assert kernel[5, 6] == pytest.approx(kernel[45, 46], abs=0.05)
    first, second = choose_prototypes(kernel, 2)
    assert (first < 30) != (second < 30)


def test_a3s_joins_points_that_are_likely_together():
    near = np.array([[0, 0.9, 0.1], [0.9, 0, 0.1], [0.1, 0.1, 0]])
    assert greedy_clusters(csr_array(near)).tolist() == [1, 1, 2]


def test_a3s_tests_the_purity_of_a_cluster_it_is_not_sure_of(monkeypatch):
    offsets = np.linspace(-1, 1, 30)
    X = np.concatenate([offsets, 20 + offsets])[:, None]
    # The second cluster has a core of one class and a rim of another.
    y = np.concatenate([np.zeros(30), np.where(np.abs(offsets) < 1 / 3, 1, 2)])
    chances = np.kron([[0.9, 0], [0, 0.6]], np.ones((30, 30)))
    np.fill_diagonal(chances, 0)
    monkeypatch.setattr(a3s, "neighbor_chances", lambda points: csr_array(chances))
    asked = []

    def answer(left, right):
        asked.append((left >= 30, right >= 30))
        return bool(y[left] == y[right])

    session = run(Session(AdaptiveSampling.from_rows(X)), answer)
    assert asked[:2] == [(True, True)] * 2
    assert (False, False) not in asked
    assert adjusted_rand_score(y, session.labels) > 0.95


def test_a3s_splits_a_cluster_whose_middle_differs_from_its_core():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    strategy = AdaptiveSampling.from_rows(X)
    session = run(Session(strategy), LabelOracle(y))
    assert session.is_done
    assert adjusted_rand_score(y, session.labels) > 0.5


class Wrong:
    """Answers by labels, and wrongly once."""

    def __init__(self, labels, wrong):
        self.labels, self.wrong, self.n_queries = labels, wrong, 0

    def answer(self, question):
        self.n_queries += 1
        is_same = self.labels[question.left] == self.labels[question.right]
        return is_same != (self.n_queries == self.wrong)


@pytest.mark.parametrize("wrong", [1, 3, 6])
def test_ncobras_finds_the_wrong_answer_and_does_without_it(wrong):
    X, y = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    oracle: Any = Wrong(y, wrong)
    trial = Trial(X, oracle, np.arange(60), 60, n_clusters=3, n_super_instances=10, seed=0)
    assert adjusted_rand_score(y, NoisyCobras().run(trial)) == 1.0
    assert 0 < oracle.n_queries <= 60


def test_of_three_answers_that_clash_each_may_be_wrong():
    log = [(0, 1, Answer.SAME), (1, 2, Answer.SAME), (0, 2, Answer.DIFFERENT)]
    assert sorted(map(sorted, readings(3, log, [frozenset()]))) == [[0], [1], [2]]
