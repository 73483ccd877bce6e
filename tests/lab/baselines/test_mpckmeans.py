"""MPCKMeans against its definition, computed the slow way."""

import itertools
from unittest.mock import Mock

import numpy as np
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.cluster.constraints import checked_links
from likewise.errors import ContradictionError, InputError
from likewise.lab.baselines.mpck.farthest import box_difference, farthest_difference, farthest_pair
from likewise.lab.baselines.mpck.init import starting_centers, weighted_farthest_first
from likewise.lab.baselines.mpck.links import LinkCosts, LinkedRows, Violations, sweep, violations
from likewise.lab.baselines.mpck.means import (
    moments,
    objective_of,
    relative_costs,
    total_scatter,
    updated_metrics,
)
from likewise.lab.baselines.mpck.metric import Metric, updated_metric
from likewise.lab.baselines.mpckmeans import MPCKMeans


@parametrize_with_checks(
    [
        MPCKMeans(n_clusters=2, random_state=0),
        MPCKMeans(n_clusters=2, metric="full", shared_metric=False, random_state=0),
        MPCKMeans.weka(n_clusters=2),
    ]
)
def test_mpckmeans_has_the_manners_of_scikit_learn(estimator, check):
    check(estimator)


# --- the definition, computed the slow way ---------------------------------------------------


def matrix(weights):
    return np.diag(weights) if weights.ndim == 1 else weights


def squared(z, A):
    return float(z @ A @ z)


def naive_separation(X, A):
    return max(squared(X[i] - X[j], A) for i, j in itertools.combinations(range(len(X)), 2))


def naive_objective(X, labels, centers, weights, must, cannot, w_must, w_cannot, gaps=None):
    """Formula by formula; `gaps` are given where the farthest pair is held fixed."""
    A = [matrix(w) for w in weights] * (len(centers) if len(weights) == 1 else 1)
    if gaps is None:
        D = [naive_separation(X, a) for a in A]
    else:
        D = [squared(gaps[h if len(gaps) > 1 else 0], a) for h, a in enumerate(A)]
    total = sum(
        squared(x - centers[h], A[h]) - np.linalg.slogdet(A[h])[1]
        for x, h in zip(X, labels, strict=True)
    )
    for i, j in must:
        if labels[i] != labels[j]:
            z = X[i] - X[j]
            total += w_must * 0.5 * (squared(z, A[labels[i]]) + squared(z, A[labels[j]]))
    for i, j in cannot:
        if labels[i] == labels[j]:
            h = labels[i]
            total += w_cannot * (D[h] - squared(X[i] - X[j], A[h]))
    return total


def random_case(seed, *, diagonal, shared, n=40, n_features=3, k=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * [1, 3, 0.5][:n_features]
    truth = rng.integers(0, k, n)
    pairs = rng.integers(0, n // 2, (25, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    links = checked_links(n, pairs[same], pairs[~same])
    labels = rng.integers(0, k, n)
    weights = []
    for _ in range(1 if shared else k):
        if diagonal:
            weights.append(rng.uniform(0.2, 3, n_features))
        else:
            root = rng.normal(size=(n_features, n_features))
            weights.append(root @ root.T + 0.1 * np.eye(n_features))
    return X, links, labels, [Metric(w) for w in weights], rng


def gaps_of(X, metrics):
    return [farthest_difference(X)(metric) for metric in metrics]


CASES = [(seed, d, s) for seed in range(4) for d in (True, False) for s in (True, False)]


@pytest.mark.parametrize(("seed", "diagonal", "shared"), CASES)
def test_the_objective_from_sums_equals_the_objective_pair_by_pair(seed, diagonal, shared):
    X, links, labels, metrics, _ = random_case(seed, diagonal=diagonal, shared=shared)
    linked = LinkedRows.of(links)
    counts, centers, scatter = moments(X, labels, np.zeros((3, 3)), diagonal=diagonal)
    violated = violations(X[linked.rows], linked, labels[linked.rows], 3, diagonal=diagonal)
    total = total_scatter(scatter, violated, metrics, farthest_difference(X), 0.7, 1.3)
    weights = [m.weights for m in metrics]
    must, cannot = links.closure()
    expected = naive_objective(X, labels, centers, weights, must, cannot, 0.7, 1.3)
    assert objective_of(total, counts, metrics) == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "diagonal", "shared"), CASES)
def test_a_row_takes_the_label_that_lowers_the_objective_most(seed, diagonal, shared):
    X, links, labels, metrics, rng = random_case(seed, diagonal=diagonal, shared=shared)
    linked = LinkedRows.of(links)
    centers = rng.normal(size=(3, 3))
    weights = [m.weights for m in metrics]
    D = np.array([naive_separation(X, matrix(w)) for w in weights] * (3 if shared else 1))
    gaps = gaps_of(X, metrics)
    must, cannot = links.closure()
    costs = LinkCosts(X[linked.rows], linked, labels[linked.rows].copy(), metrics, D, 0.7, 1.3)
    base = relative_costs(X[linked.rows], centers, metrics).T
    by_hand = labels.copy()
    order = rng.permutation(len(linked.rows))
    for i in order:
        values = []
        for h in range(3):
            by_hand[linked.rows[i]] = h
            values.append(
                naive_objective(X, by_hand, centers, weights, must, cannot, 0.7, 1.3, gaps)
            )
        by_hand[linked.rows[i]] = int(np.argmin(values))
        ours = base[i] + costs.of(np.array([i]))[0]
        assert ours - ours.min() == pytest.approx(np.array(values) - min(values), abs=1e-7)
        costs.move(np.array([i]), by_hand[linked.rows[[i]]])
    again = LinkCosts(X[linked.rows], linked, labels[linked.rows].copy(), metrics, D, 0.7, 1.3)
    sweep(again, base, linked.rounds(order))
    assert again.labels.tolist() == by_hand[linked.rows].tolist()


def test_neighbors_of_groups_come_with_the_group_they_belong_to():
    links = checked_links(6, [(0, 1)], [(0, 2), (3, 4), (1, 4), (5, 0)])
    linked = LinkedRows.of(links)
    group = dict(zip(linked.rows.tolist(), linked.group.tolist(), strict=True))
    others, place = linked.neighbors_of(np.array([group[3], group[2], group[0]]))
    assert place.tolist() == [0, 1, 2, 2, 2]
    assert others[:2].tolist() == [group[4], group[0]]
    assert sorted(others[2:].tolist()) == sorted([group[2], group[4], group[5]])


@pytest.mark.parametrize("diagonal", [True, False])
def test_moments_are_those_of_the_rows_and_an_empty_cluster_keeps_its_center(diagonal):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    labels = rng.integers(0, 3, len(X))
    counts, means, scatter = moments(X, labels, np.full((4, 3), 9.0), diagonal=diagonal)
    assert counts.tolist() == [*np.bincount(labels).tolist(), 0]
    assert means[3].tolist() == [9, 9, 9]
    assert not scatter[3].any()
    for h in range(3):
        rows = X[labels == h]
        covariance = np.cov(rows.T, bias=True) * len(rows)
        assert means[h] == pytest.approx(rows.mean(axis=0))
        assert scatter[h] == pytest.approx(np.diag(covariance) if diagonal else covariance)


def test_rows_that_choose_at_once_have_nothing_to_do_with_each_other():
    links = checked_links(12, [(0, 1), (4, 5), (8, 9)], [(1, 2), (5, 6), (6, 7)])
    linked = LinkedRows.of(links)
    order = np.random.default_rng(0).permutation(len(linked.rows))
    rounds = linked.rounds(order)
    assert sorted(np.concatenate(rounds).tolist()) == sorted(order.tolist())
    place = {int(i): p for p, i in enumerate(order)}
    blocks = [[0, 1, 2], [4, 5, 6, 7], [8, 9]]
    for block in blocks:
        inside = [int(i) for r in rounds for i in r if linked.rows[i] in block]
        assert inside == sorted(inside, key=place.__getitem__)
        for r in rounds:
            assert sum(int(linked.rows[i]) in block for i in r) <= 1


def test_links_to_rows_without_a_label_cost_nothing():
    X = np.array([[0.0], [1.0], [5.0]])
    links = checked_links(3, [(0, 1)], [(0, 2)])
    linked = LinkedRows.of(links)
    labels = np.array([-1, -1, -1])
    costs = LinkCosts(X, linked, labels, [Metric(np.ones(1))], np.full(2, 25.0), 1.0, 1.0)
    rows = np.arange(3)
    assert costs.of(rows[:1]).tolist() == [[0, 0]]
    costs.move(rows[1:2], np.array([0]))
    costs.move(rows[2:], np.array([1]))
    assert costs.of(rows[:1])[0] == pytest.approx([0, 1 + (25 - 25)])


@pytest.mark.parametrize(("seed", "diagonal", "shared"), CASES)
def test_the_learned_metric_is_a_stationary_point_of_the_objective(seed, diagonal, shared):
    X, links, labels, metrics, rng = random_case(seed, diagonal=diagonal, shared=shared)
    linked = LinkedRows.of(links)
    counts, centers, scatter = moments(X, labels, np.zeros((3, 3)), diagonal=diagonal)
    violated = violations(X[linked.rows], linked, labels[linked.rows], 3, diagonal=diagonal)
    gaps = gaps_of(X, metrics)
    # Light weights, so that the cannot-links leave every matrix positive definite.
    total = total_scatter(scatter, violated, metrics, farthest_difference(X), 0.7, 0.01)
    learned = updated_metrics(total, counts, metrics, np.zeros(3))
    must, cannot = links.closure()

    def value(weights):
        return naive_objective(X, labels, centers, weights, must, cannot, 0.7, 0.01, gaps)

    at = [m.weights for m in learned]
    assert objective_of(total, counts, learned) == pytest.approx(value(at))
    for place in range(len(at)):
        for _ in range(4):
            direction = rng.normal(size=at[place].shape)
            if not diagonal:
                direction = direction + direction.T
            step = 1e-5 * np.abs(at[place]).min() * direction / np.linalg.norm(direction)
            up = [w + step if p == place else w for p, w in enumerate(at)]
            down = [w - step if p == place else w for p, w in enumerate(at)]
            slope = (value(up) - value(down)) / (2 * np.linalg.norm(step))
            assert abs(slope) < 1e-4 * max(1.0, abs(value(at)) / np.linalg.norm(at[place]))


def test_a_feature_without_scatter_keeps_its_weight():
    before = Metric(np.array([2.0, 3.0, 4.0]))
    after = updated_metric(np.array([5.0, 0.0, -1.0]), 10, before, np.zeros(3))
    assert after.weights.tolist() == [2.0, 3.0, 4.0]


def test_a_singular_scatter_gets_a_ridge_and_an_indefinite_one_is_clipped():
    before = Metric(np.eye(2))
    ridged = updated_metric(np.diag([1.0, 0.0]), 10, before, np.zeros(2))
    assert ridged.weights == pytest.approx(np.diag([10 / 1.01, 10 / 0.01]))
    clipped = updated_metric(np.diag([2.0, -1.0]), 10, before, np.zeros(2))
    assert clipped.weights == pytest.approx(np.diag([5.0, 0.0]))
    assert clipped.log_det == pytest.approx(np.log(5.0))
    nothing = updated_metric(np.zeros((2, 2)), 10, before, np.zeros(2))
    assert nothing.weights.tolist() == np.eye(2).tolist()


# --- the farthest pair ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["normal", "uniform", "sphere", "blobs", "grid", "line"])
@pytest.mark.parametrize("seed", range(3))
def test_the_farthest_pair_is_found_exactly(kind, seed):
    rng = np.random.default_rng(seed)
    Z = {
        "normal": lambda: rng.normal(size=(700, 6)),
        "uniform": lambda: rng.random((700, 5)) + 1000,
        "sphere": lambda: (g := rng.normal(size=(700, 4))) / np.linalg.norm(g, axis=1)[:, None],
        "blobs": lambda: make_blobs(700, 3, centers=4, random_state=seed)[0],
        "grid": lambda: rng.integers(0, 3, (700, 3)).astype(float),
        "line": lambda: rng.normal(size=(700, 1)),
    }[kind]()
    every = ((Z[:, None] - Z[None]) ** 2).sum(axis=-1)
    assert every[farthest_pair(Z)] == pytest.approx(every.max())


@pytest.mark.parametrize("diagonal", [True, False])
def test_the_farthest_pair_is_searched_for_once_under_every_metric_that_needs_it(
    diagonal, monkeypatch
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    weights = rng.uniform(1, 2, (3, 4))
    metrics = [Metric(w if diagonal else np.diag(w) + 0.1) for w in weights]
    search = Mock(side_effect=farthest_pair)
    monkeypatch.setattr("likewise.lab.baselines.mpck.farthest.farthest_pair", search)
    separation = farthest_difference(X)
    nothing = np.zeros((3, 4) if diagonal else (3, 4, 4))
    violated = Violations(nothing, nothing, np.array([1.0, 0.0, 2.0]))
    for _ in range(2):
        total = total_scatter(nothing, violated, metrics, separation, 1.0, 1.0)
    assert search.call_count == 2
    assert not total[1].any()
    for metric, times, scatter in zip(metrics, violated.n_cannot, total, strict=True):
        Z = metric.embed(X)
        every = ((Z[:, None] - Z[None]) ** 2).sum(axis=-1)
        assert metric.inner(scatter) == pytest.approx(times * every.max())


def test_identical_rows_are_at_distance_zero():
    assert farthest_difference(np.ones((5, 2)))(Metric(np.ones(2))).tolist() == [0, 0]


def test_the_box_bounds_every_distance():
    rng = np.random.default_rng(0)
    X = rng.random((60, 4))
    span = X.max(axis=0) - X.min(axis=0)
    root = rng.normal(size=(4, 4))
    for metric in (Metric(rng.uniform(0.1, 2, 4)), Metric(root @ root.T)):
        diagonal = box_difference(span, metric)
        assert np.abs(diagonal).tolist() == span.tolist()
        longest = metric.squared_norms(diagonal[None])[0]
        corners = np.array(list(itertools.product([-1, 1], repeat=4))) * span
        assert longest == pytest.approx(metric.squared_norms(corners).max())


# --- the start ---------------------------------------------------------------------------------


def test_the_largest_neighborhood_comes_first_then_the_heaviest_and_farthest():
    means = np.array([[0.0], [1.0], [10.0], [6.0]])
    sizes = np.array([2, 5, 2, 9])
    chosen = weighted_farthest_first(means, sizes, 3, np.random.RandomState(0))
    # From 3: sqrt(18)*6=25.5, sqrt(45)*5=33.5, sqrt(18)*4=17; then from 1: 0 has 3.2, 2 has 28.
    assert chosen == [3, 1, 2]


def test_neighborhoods_then_a_stranger_to_all_then_far_rows_give_the_centers():
    X = np.array([[0.0], [0.2], [5.0], [5.2], [20.0], [90.0]])
    links = checked_links(6, [(0, 1), (2, 3)], [(0, 4), (2, 4), (0, 2)])
    centers, labels = starting_centers(X, links, 4, np.random.RandomState(0), "k-means++")
    assert centers.ravel() == pytest.approx([0.1, 5.1, 20, 90])
    assert labels.tolist() == [0, 0, 1, 1, -1, -1]


def test_perturbed_centers_are_near_the_mean():
    X = np.random.default_rng(0).random((50, 3)) + 1
    centers, _ = starting_centers(X, checked_links(50), 4, np.random.RandomState(0), "perturbed")
    assert np.all(np.abs(centers / X.mean(axis=0) - 1) <= 0.35)


# --- the estimator -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_without_links_and_with_a_fixed_metric_it_is_k_means(seed):
    X, _ = make_blobs(300, 4, centers=5, cluster_std=3, random_state=seed)
    start = X[:5]
    ours = MPCKMeans(5, metric="identity", init=start, tol=0, random_state=0).fit(X)
    theirs = KMeans(5, init=start, n_init=1, tol=0, algorithm="lloyd").fit(X)
    assert ours.labels_.tolist() == theirs.labels_.tolist()
    assert ours.cluster_centers_ == pytest.approx(theirs.cluster_centers_)
    assert ours.objective_ == pytest.approx(theirs.inertia_)


@pytest.mark.parametrize("metric", ["diagonal", "full", "identity"])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("separation", ["exact", "box"])
def test_every_variant_recovers_iris_with_links(metric, shared, separation):
    X, y = load_iris(return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    rows = np.random.default_rng(0).permutation(150)[:24]
    pairs = np.array(list(itertools.combinations(rows, 2)))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    model = MPCKMeans(
        3, metric=metric, shared_metric=shared, max_separation=separation, random_state=0
    )
    model.fit(X, must_link=pairs[same], cannot_link=pairs[~same])
    # Plain K-means gets 0.72.
    assert adjusted_rand_score(y, model.labels_) > 0.85
    assert model.metrics_.shape[0] == (1 if shared else 3)
    assert model.predict(X).shape == (150,)


def test_the_objective_reported_is_the_one_of_the_labels_reported():
    X, y = load_iris(return_X_y=True)
    pairs = np.random.default_rng(0).integers(0, 150, (40, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    must, cannot = pairs[same], pairs[~same]
    for shared in (True, False):
        model = MPCKMeans(3, shared_metric=shared, random_state=0)
        model.fit(X, must_link=must, cannot_link=cannot)
        closed = checked_links(150, must, cannot).closure()
        means = np.array([X[model.labels_ == h].mean(axis=0) for h in range(3)])
        assert model.cluster_centers_ == pytest.approx(means)
        expected = naive_objective(X, model.labels_, means, model.metrics_, *closed, 1, 1)
        assert model.objective_ == pytest.approx(expected)


def test_the_weka_profile_has_wekas_defaults():
    params = MPCKMeans.weka(4).get_params()
    assert params["n_clusters"] == 4
    assert params["metric"] == "diagonal"
    assert params["shared_metric"] is True
    assert params["max_separation"] == "box"
    assert params["visit_order"] == "index"
    assert params["random_state"] == 42


def test_implied_links_count_as_given_ones_do():
    X, _ = load_iris(return_X_y=True)
    must, cannot = [(0, 1), (1, 2), (60, 61)], [(2, 60), (61, 140)]
    closed = checked_links(150, must, cannot).closure()
    one = MPCKMeans(3, random_state=0).fit(X, must_link=must, cannot_link=cannot)
    other = MPCKMeans(3, random_state=0).fit(X, must_link=closed[0], cannot_link=closed[1])
    assert one.labels_.tolist() == other.labels_.tolist()


def test_the_order_and_direction_of_links_do_not_matter():
    X, _ = make_blobs(80, 3, centers=3, random_state=0)
    must, cannot = [(0, 1), (1, 2), (5, 6)], [(0, 5), (7, 8)]
    one = MPCKMeans(3, random_state=0).fit(X, must_link=must, cannot_link=cannot)
    other = MPCKMeans(3, random_state=0).fit(
        X, must_link=[(b, a) for a, b in must[::-1]], cannot_link=[(b, a) for a, b in cannot[::-1]]
    )
    assert one.labels_.tolist() == other.labels_.tolist()


@pytest.mark.parametrize("metric", ["diagonal", "full"])
@pytest.mark.parametrize("shared", [True, False])
def test_identical_rows_and_constant_features_are_no_trouble(metric, shared):
    X = np.ones((12, 3)) * 0.1
    model = MPCKMeans(3, metric=metric, shared_metric=shared, random_state=0)
    assert np.isfinite(model.fit(X, cannot_link=[(0, 1)]).objective_)
    X[6:, 0] = 1
    X[:, 2] = 1e9 / 3
    X[:, 1] = np.arange(12)
    model.fit(X, must_link=[(0, 1)], cannot_link=[(0, 7)])
    assert np.isfinite(model.metrics_).all()


def test_more_cannot_linked_rows_than_clusters_are_no_trouble():
    X = np.random.default_rng(0).random((20, 2))
    clique = list(itertools.combinations(range(6), 2))
    model = MPCKMeans(3, random_state=0).fit(X, cannot_link=clique)
    assert set(model.labels_) <= {0, 1, 2}


def test_an_empty_cluster_starts_anew_at_a_far_row():
    X, y = make_blobs(90, 2, centers=[[0, 0], [10, 0], [0, 10]], random_state=0)
    start = np.array([[0.0, 0.0], [10.0, 0.0], [500.0, 500.0]])
    model = MPCKMeans(3, init=start, metric="identity").fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1


@pytest.mark.parametrize("weight", [0.0, 1000.0])
def test_heavy_links_hold_and_weightless_ones_change_nothing(weight):
    X, y = make_blobs(100, 2, centers=[[0, 0], [8, 0]], random_state=0)
    left, right = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    model = MPCKMeans(2, metric="identity", init=[[0, 0], [8, 0]], w_must=weight, w_cannot=weight)
    model.fit(X, must_link=[(left[0], right[0])], cannot_link=[(left[1], left[2])])
    assert (model.labels_[left[0]] == model.labels_[right[0]]) == (weight > 0)
    assert (model.labels_[left[1]] != model.labels_[left[2]]) == (weight > 0)


def test_the_same_seed_gives_the_same_clustering():
    X, _ = make_blobs(200, 3, centers=4, cluster_std=4, random_state=0)
    cannot = [(i, i + 1) for i in range(0, 40, 2)]
    runs = [MPCKMeans(4, random_state=7).fit(X, cannot_link=cannot).labels_ for _ in range(2)]
    assert runs[0].tolist() == runs[1].tolist()


def test_links_reach_it_by_metadata_routing():
    X, _ = make_blobs(60, 2, centers=2, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MPCKMeans(2, random_state=0).set_fit_request(must_link=True, cannot_link=True)
        pipeline = make_pipeline(MinMaxScaler(), model)
        pipeline.fit(X, must_link=[(0, 1)], cannot_link=[(0, 2)])
        with pytest.raises(InputError, match="names row 60"):
            pipeline.fit(X, must_link=[(0, 60)], cannot_link=[])
    assert pipeline[-1].labels_.shape == (60,)


def test_contradicting_links_are_refused_with_their_chain():
    X = np.random.default_rng(0).random((10, 2))
    with pytest.raises(ContradictionError, match="0 same 1, 1 same 2"):
        MPCKMeans(2).fit(X, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter of MPCKMeans must be an int in the range"),
        ({"n_clusters": 2.5}, "'n_clusters' parameter"),
        ({"n_clusters": 11}, "n_samples=10 is fewer than n_clusters=11"),
        ({"metric": "cosine"}, "'metric' parameter of MPCKMeans must be a str among"),
        ({"max_separation": "hull"}, "'max_separation' parameter"),
        ({"visit_order": "sorted"}, "'visit_order' parameter"),
        ({"init": "random"}, "'init' parameter"),
        ({"init": np.zeros((3, 3))}, r"init must have shape .* = \(8, 2\); got \(3, 3\)"),
        ({"init": np.full((8, 2), np.nan)}, "init must be finite"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"w_must": -1}, "'w_must' parameter"),
        ({"w_cannot": "high"}, "'w_cannot' parameter"),
        ({"tol": -1}, "'tol' parameter"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        MPCKMeans(**params).fit(np.random.default_rng(0).random((10, 2)))
