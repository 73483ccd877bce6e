"""COBRAS and DSL, against what was measured of clean-room versions of them."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from sklearn.utils import check_random_state

from likewise import Answer, LabelOracle, Session, run
from likewise.lab.datasets import load
from likewise.lab.peers.cobras import SplitAndMerge
from likewise.lab.peers.dsl import SkeletonTree, skeleton

X, Y = load_iris(return_X_y=True)


@pytest.fixture(params=[SplitAndMerge, SkeletonTree])
def procedure(request):
    return request.param


def ended(procedure, points, oracle, max_queries=None, train=None):
    """Return a session that was asked to its end, and the published labels."""
    strategy = procedure.from_rows(points, train_indices=train)
    session = run(Session(strategy, max_queries=max_queries), oracle)
    return session, strategy.labels_as_published(session.answers)


@pytest.mark.slow
@pytest.mark.parametrize("max_queries", [0, 1, 20, 60])
def test_the_budget_is_kept_and_nothing_implied_is_asked(procedure, max_queries):
    session, labels = ended(procedure, X, LabelOracle(Y), max_queries)
    asked = {(link.left, link.right) for gesture in session.events for link in gesture.links}
    assert session.n_asked == len(asked) == max_queries
    assert sorted(set(labels)) == list(range(labels.max() + 1))


@pytest.mark.slow
def test_only_rows_that_may_be_shown_are_asked_about(procedure):
    train = np.arange(0, 150, 3)
    session, labels = ended(procedure, X, LabelOracle(Y), 40, train)
    links = [link for gesture in session.events for link in gesture.links]
    assert {row for link in links for row in (link.left, link.right)} <= set(train)
    assert labels.shape == (150,)


@pytest.mark.slow
def test_asked_to_the_end_every_row_is_right(procedure):
    points, truth = make_blobs(50, centers=4, cluster_std=3.0, random_state=0)
    _, labels = ended(procedure, points, LabelOracle(truth))
    assert adjusted_rand_score(truth, labels) == 1.0


def test_not_sure_ends_nothing(procedure):
    session, labels = ended(
        procedure, X, lambda i, j: None if (i + j) % 3 == 0 else bool(Y[i] == Y[j]), 30
    )
    assert any(link.answer is Answer.UNSURE for g in session.events for link in g.links)
    assert labels.shape == (150,)


def test_the_skeleton_is_one_tree_also_among_equal_points():
    points = np.random.default_rng(0).integers(0, 3, (80, 2)).astype(float)
    parent, length = skeleton(points)
    roots = np.flatnonzero(parent == np.arange(80))
    assert len(roots) == 1
    assert length == pytest.approx(np.linalg.norm(points - points[parent], axis=1))
    node = np.arange(80)
    for _ in range(80):
        node = parent[node]
    assert set(node) == set(roots)


def scaled(name):
    """Return scikit-learn's data as the authors' code was measured on: each feature from 0 to 1."""
    loaders = {"iris": load_iris, "wine": load_wine, "breast": load_breast_cancer}
    points, truth = (load_digits if name == "digits389" else loaders[name])(return_X_y=True)
    if name == "digits389":
        is_one = np.isin(truth, [3, 8, 9])
        points, truth = points[is_one], truth[is_one]
    return minmax_scale(points), truth


def scores(procedure, points, truth, budgets, seed=0):
    """Return the score after each number of questions, from one run."""
    drawn = int(check_random_state(seed).randint(2**31 - 1))
    session = Session(procedure.from_rows(points, seed=drawn))
    oracle = LabelOracle(truth)
    found = []
    for budget in budgets:
        run(session, oracle, max_queries=budget - len(session.events))
        found.append(adjusted_rand_score(truth, session.labels))
    return found


@pytest.mark.parametrize(
    ("name", "measured"),
    [
        ("iris", {25: 0.922, 50: 0.941, 100: 1.000}),
        ("wine", {25: 0.801, 50: 0.933, 100: 1.000}),
        ("digits389", {25: 0.471, 50: 0.582, 100: 0.978}),
        # Not at 50: there a part is cut off and not yet joined, which their log leaves out.
        ("breast", {25: 0.000, 100: 0.864}),
    ],
)
def test_dsl_scores_what_the_authors_code_does(name, measured):
    points, truth = scaled(name)
    found = scores(SkeletonTree, points, truth, measured)
    assert found == pytest.approx(list(measured.values()), abs=0.07)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "measured"),
    [
        ("iris", {25: 0.716, 50: 0.851, 100: 0.922}),
        ("digits389", {25: 0.610, 50: 0.750, 100: 0.833}),
    ],
)
def test_cobras_scores_what_the_authors_code_does(name, measured):
    """Their later code, with K-means from ten starts, without its treatment of noise."""
    points, truth = scaled(name)
    found = [scores(SplitAndMerge, points, truth, measured, seed) for seed in range(2)]
    assert np.mean(found, axis=0) == pytest.approx(list(measured.values()), abs=0.05)


@pytest.mark.parametrize(
    ("name", "budgets", "measured"),
    [
        ("iris", (27, 54, 109), (0.92, 0.94, 1.00)),
        ("glass", (57, 98, 181), (0.25, 0.34, 0.36)),
        ("ionosphere", (30, 60, 119), (0.03, 0.05, 0.16)),
    ],
)
def test_dsl_scores_what_was_measured(name, budgets, measured, data_home):
    data = load(name, data_home=data_home)
    assert scores(SkeletonTree, data.X, data.y, budgets) == pytest.approx(measured, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "budgets", "measured"),
    [
        ("wine", (26, 55, 107), (0.86, 0.90, 0.94)),
        ("ionosphere", (30, 60, 119), (0.57, 0.52, 0.64)),
    ],
)
def test_cobras_scores_what_was_measured(name, budgets, measured, data_home):
    data = load(name, data_home=data_home)
    found = [scores(SplitAndMerge, data.X, data.y, budgets, seed) for seed in range(3)]
    assert np.mean(found, axis=0) == pytest.approx(measured, abs=0.1)
