"""COSC as scikit-learn and a caller with answers see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.errors import ContradictionError, InputError
from likewise.lab.baselines.cosc import COSC
from likewise.lab.baselines.onespectral import inner, recursive
from likewise.lab.baselines.onespectral.graph import knn_graph
from likewise.lab.baselines.onespectral.inner import advanced_in_numpy


def links(y: np.ndarray, n_pairs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.random.default_rng(seed).integers(0, len(y), (n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return pairs[same], pairs[~same]


@pytest.mark.slow
@parametrize_with_checks([COSC(2, n_init=2), COSC(3, mode="fast")])
def test_follows_the_rules_of_scikit_learn(estimator, check) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["full", "fast"])
@pytest.mark.parametrize("seed", range(3))
def test_two_clusters_keep_every_link(mode: str, seed: int) -> None:
    X, y = make_moons(120, noise=0.25, random_state=seed)
    must, cannot = links(y, 40, seed)
    model = COSC(2, mode=mode, n_init=2, random_state=0)
    labels = model.fit_predict(X, must_link=must, cannot_link=cannot)
    assert (labels[must[:, 0]] == labels[must[:, 1]]).all()
    assert (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()
    assert model.n_violated_ == 0


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["full", "fast"])
def test_more_clusters_keep_must_links_and_count_violated_cannot_links(mode: str) -> None:
    X, y = make_blobs(150, centers=4, cluster_std=2.5, random_state=0)
    must, cannot = links(y, 40, 0)
    model = COSC(4, mode=mode, n_init=1, random_state=0).fit(X, must_link=must, cannot_link=cannot)
    labels = model.labels_
    assert len(np.unique(labels)) == 4
    assert (labels[must[:, 0]] == labels[must[:, 1]]).all()
    assert model.n_violated_ == (labels[cannot[:, 0]] == labels[cannot[:, 1]]).sum()


def test_answers_find_the_moons_where_the_graph_alone_does_not() -> None:
    X, y = make_moons(300, noise=0.15, random_state=0)
    must, cannot = links(y, 60, 0)
    plain = COSC(2, mode="fast", random_state=0).fit(X)
    told = COSC(2, mode="fast", random_state=0).fit(X, must_link=must, cannot_link=cannot)
    assert adjusted_rand_score(y, told.labels_) > 0.9
    assert adjusted_rand_score(y, told.labels_) > adjusted_rand_score(y, plain.labels_)


@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.coo_array])
def test_a_precomputed_graph_gives_what_its_points_give(n_clusters: int, container) -> None:
    X, y = make_blobs(80, centers=3, random_state=1)
    must, cannot = links(y > 0 if n_clusters == 2 else y, 15, 2)
    pairs = {"must_link": must, "cannot_link": cannot}
    by_points = COSC(n_clusters, mode="fast", n_neighbors=7, random_state=0).fit(X, **pairs)
    graph = container(knn_graph(X, 7).toarray())
    by_graph = COSC(n_clusters, mode="fast", affinity="precomputed", random_state=0)
    by_graph.fit(graph, **pairs)
    np.testing.assert_array_equal(by_points.labels_, by_graph.labels_)
    assert by_points.multicut_ == pytest.approx(by_graph.multicut_)
    assert by_graph.__sklearn_tags__().input_tags.pairwise
    assert not by_points.__sklearn_tags__().input_tags.pairwise


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("mode", ["full", "fast"])
def test_the_same_seed_gives_the_same_clusters(n_clusters: int, mode: str) -> None:
    X, y = make_blobs(40, centers=3, cluster_std=3, random_state=3)
    must, cannot = links(y > 0 if n_clusters == 2 else y, 12, 3)
    fits = [
        COSC(n_clusters, mode=mode, n_init=3, random_state=7).fit(
            X, must_link=must, cannot_link=cannot
        )
        for _ in range(2)
    ]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    assert fits[0].multicut_ == fits[1].multicut_


def test_the_scale_of_the_graph_does_not_matter() -> None:
    X, y = make_blobs(60, centers=2, cluster_std=3, random_state=3)
    must, cannot = links(y, 12, 3)
    graph = knn_graph(X, 6)
    fits = [
        COSC(2, mode="fast", affinity="precomputed", random_state=0).fit(
            graph * scale, must_link=must, cannot_link=cannot
        )
        for scale in (1.0, 2.0**-20, 2.0**20)
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.labels_, fits[0].labels_)
        assert fit.multicut_ == pytest.approx(fits[0].multicut_)


def test_a_price_makes_cannot_links_soft() -> None:
    X, y = make_blobs(60, centers=[[0, 0], [5, 0]], random_state=0)
    wrong = np.flatnonzero(y == 0)[:3]
    cannot = [(wrong[0], wrong[1]), (wrong[1], wrong[2]), (wrong[0], wrong[2])]
    model = COSC(2, gamma=0.01, mode="fast", random_state=0).fit(X, cannot_link=cannot)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.n_violated_ == 3


@pytest.mark.parametrize("mode", ["full", "fast"])
@pytest.mark.parametrize("n_clusters", [2, 3, 4])
def test_a_disconnected_graph_is_cut_at_no_cost(mode: str, n_clusters: int) -> None:
    X, _ = make_blobs(120, centers=4, cluster_std=0.1, random_state=0)
    model = COSC(n_clusters, n_neighbors=5, mode=mode, n_init=1, random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == n_clusters
    assert model.multicut_ == pytest.approx(0, abs=1e-12)


def test_two_clusters_of_a_disconnected_graph_keep_cannot_links_inside_components() -> None:
    X, y = make_blobs(90, centers=3, cluster_std=0.1, random_state=0)
    first, second = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    cannot = [(first[0], first[1]), (first[2], second[0]), (second[1], second[2])]
    model = COSC(2, n_neighbors=5, n_init=2, random_state=0).fit(X, cannot_link=cannot)
    assert model.n_violated_ == 0


def test_links_that_leave_as_many_groups_as_clusters_decide_alone() -> None:
    X = np.arange(6.0)[:, None]
    must = [(0, 2), (2, 4), (1, 3), (3, 5)]
    model = COSC(2, n_neighbors=2).fit(X, must_link=must)
    assert model.labels_.tolist() == [0, 1, 0, 1, 0, 1]
    model = COSC(2, n_neighbors=2).fit(X, cannot_link=[(k, k + 1) for k in range(5)])
    assert model.labels_.tolist() == [0, 1, 0, 1, 0, 1]


def test_samples_without_edges_can_be_clusters_of_their_own() -> None:
    graph = np.zeros((5, 5))
    graph[0, 1] = graph[1, 0] = graph[1, 2] = graph[2, 1] = 1.0
    model = COSC(3, affinity="precomputed", random_state=0).fit(graph)
    assert model.labels_.tolist() == [0, 0, 0, 1, 2]
    empty = COSC(2, affinity="precomputed", random_state=0).fit(np.zeros((4, 4)))
    assert len(np.unique(empty.labels_)) == 2


def test_one_cluster_is_everything() -> None:
    model = COSC(1).fit(np.arange(5.0)[:, None], cannot_link=[(0, 1)])
    assert model.labels_.tolist() == [0] * 5
    assert model.n_violated_ == 1
    assert model.multicut_ == 0


def test_all_duplicates_can_be_clustered() -> None:
    model = COSC(2, n_neighbors=3, random_state=0).fit(np.ones((10, 2)))
    assert len(np.unique(model.labels_)) == 2


GRAPH = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])


def _changed(i: int, j: int, value: float) -> np.ndarray:
    graph = GRAPH.copy()
    graph[i, j] = value
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (GRAPH[:2], r"square, got shape \(2, 3\)"),
        (_changed(0, 1, -1.0), r"not be negative, got -1.0 at \(0, 1\)"),
        (_changed(1, 1, 3.0), r"empty diagonal, but sample 1"),
        (_changed(0, 2, 0.5), r"symmetric, but it is (0.5|0.0) at"),
    ],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_graph_that_is_none_is_refused(graph, message: str, container) -> None:
    with pytest.raises(InputError, match=message):
        COSC(2, affinity="precomputed").fit(container(graph))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"cannot_link": [(0, 9)]}, InputError, "names row 9"),
        ({"must_link": [(1, 1)]}, InputError, "with itself"),
        (
            {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]},
            ContradictionError,
            "0 same 1, 1 same 2",
        ),
        ({"cannot_link": [(0, 1), (1, 2), (0, 2)]}, InputError, "odd length"),
        ({"must_link": [(k, k + 1) for k in range(5)]}, InputError, "more than the 1 groups"),
    ],
)
def test_links_that_cannot_hold_are_refused(arguments, error, message: str) -> None:
    with pytest.raises(error, match=message):
        COSC(2, n_neighbors=2).fit(np.arange(6.0)[:, None], **arguments)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_clusters": 0},
        {"n_neighbors": 0},
        {"gamma": -1.0},
        {"gamma": "big"},
        {"mode": "slow"},
        {"affinity": "rbf"},
        {"n_init": 0},
    ],
)
def test_a_parameter_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        COSC(**({"n_clusters": 2} | wrong)).fit(np.arange(12.0)[:, None])


def test_more_clusters_than_samples_are_refused() -> None:
    with pytest.raises(InputError, match="n_clusters=4 is more than the 3 groups"):
        COSC(4).fit(np.arange(3.0)[:, None])


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["full", "fast"])
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_clusters_are_the_same_with_and_without_compiled_loops(
    mode: str, n_clusters: int, monkeypatch
) -> None:
    X, y = make_blobs(90, n_features=3, centers=n_clusters, cluster_std=4.0, random_state=1)
    must, cannot = links(y, 25, 0)
    model = COSC(n_clusters, mode=mode, random_state=0)
    first = model.fit(X, must_link=must, cannot_link=cannot).labels_
    monkeypatch.setattr(inner, "advanced", advanced_in_numpy)
    second = model.fit(X, must_link=must, cannot_link=cannot).labels_
    assert np.array_equal(first, second)


@pytest.mark.slow
def test_violations_count_before_the_cut_where_that_is_asked_for() -> None:
    X, y = make_blobs(100, n_features=2, centers=3, cluster_std=4.0, random_state=0)
    must, cannot = links(y, 60, 1)
    by_cut, by_violations = (
        COSC(3, best_by=rule, random_state=0).fit(X, must_link=must, cannot_link=cannot)
        for rule in ("cut", "violations")
    )
    assert by_violations.n_violated_ < by_cut.n_violated_
    assert by_violations.multicut_ > by_cut.multicut_


@pytest.mark.slow
@pytest.mark.parametrize(("load", "n_links", "seed"), [(load_wine, 120, 11), (load_iris, 20, 7)])
def test_splitting_pairs_of_clusters_again_mends_bad_recursions(
    load, n_links: int, seed: int, monkeypatch
) -> None:
    X, y = load(return_X_y=True)
    must, cannot = links(y, n_links, seed)
    model = COSC(3, random_state=0)
    mended = model.fit(minmax_scale(X), must_link=must, cannot_link=cannot)
    cut, ari = mended.multicut_, adjusted_rand_score(y, mended.labels_)
    monkeypatch.setattr(recursive, "split_pairs_again", lambda graph, labels, *_, **__: labels)
    alone = model.fit(minmax_scale(X), must_link=must, cannot_link=cannot)
    assert cut < 0.95 * alone.multicut_
    assert ari > adjusted_rand_score(y, alone.labels_) + 0.03
