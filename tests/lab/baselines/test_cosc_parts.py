"""The functions under COSC, against definitions written out, independent solvers and search."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from likewise.errors import InputError
from likewise.lab.baselines.onespectral import inner as inner_problem
from likewise.lab.baselines.onespectral.descent import (
    Effort,
    Search,
    best_moves,
    moved_values,
    ratio_dca,
)
from likewise.lab.baselines.onespectral.graph import (
    CutGraph,
    cut_graph,
    knn_graph,
    merged,
    numbered,
    two_colored,
)
from likewise.lab.baselines.onespectral.inner import (
    advanced,
    advanced_in_numpy,
    cold_dual,
    first_point,
    project_simplex,
    solve_inner,
)
from likewise.lab.baselines.onespectral.objective import (
    balance_subgradient,
    balanced_cut,
    best_threshold,
    cannot_subgradient,
    cut,
    multicut,
    n_violated,
    numerator,
    set_value,
)
from likewise.lab.baselines.onespectral.recursive import many_clusters
from likewise.lab.baselines.onespectral.split import best_split, spectral_vector, two_clusters

SEEDS = range(5)
FULL = Effort(n_starts=6, n_repeats=1, n_perturbations=5)
FAST = Effort(1, 1, tol=1e-3, is_patient=False, growth=4.0, resolution=0.3)


def vector_value(graph: CutGraph, gamma: float, f: np.ndarray) -> float:
    """F of a vector that is not constant."""
    return numerator(graph, gamma, f) / float(balance_subgradient(graph, f) @ f)


def random_graph(n: int, seed: int, *, n_cannot: int = 0, density: float = 0.4) -> CutGraph:
    """A connected random graph; its cannot-links share no vertex."""
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    ring = np.arange(n - 1)
    dense[ring, ring + 1] += 0.05 + 0.1 * rng.random(n - 1)
    ends = rng.permutation(n)[: 2 * n_cannot].reshape(-1, 2)
    return cut_graph(sparse.csr_array(dense + dense.T), np.sort(ends, axis=1).astype(np.intp))


def all_sides(n: int) -> np.ndarray:
    """Every partition into two, once."""
    bits = np.arange(1, 2 ** (n - 1))
    return np.asarray((bits[:, None] >> np.arange(n)) & 1 == 1)


def naive_set_value(graph: CutGraph, gamma: float, side: np.ndarray) -> float:
    dense = graph.weights.toarray()
    n = graph.n_vertices
    between = sum(dense[i, j] for i in range(n) for j in range(n) if side[i] and not side[j])
    violated = sum(bool(side[i]) == bool(side[j]) for i, j in graph.cannot)
    inside, outside = graph.volumes[side].sum(), graph.volumes[~side].sum()
    return float((between + gamma * violated) * graph.volume / (inside * outside))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gamma", [0.0, 0.3, 5.0])
def test_value_of_an_indicator_vector_is_the_value_of_its_set(seed: int, gamma: float) -> None:
    graph = random_graph(9, seed, n_cannot=3)
    for side in all_sides(9)[::7]:
        expected = naive_set_value(graph, gamma, side)
        assert set_value(graph, gamma, side) == pytest.approx(expected)
        f = 3.0 * side - 1.0
        assert vector_value(graph, gamma, f) == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_balance_is_the_weighted_sum_of_all_differences(seed: int) -> None:
    graph = random_graph(11, seed)
    f = np.random.default_rng(seed).integers(0, 4, 11).astype(float)
    b = graph.volumes
    naive = (b[:, None] * b[None, :] * np.abs(f[:, None] - f[None, :])).sum() / (2 * b.sum())
    assert balance_subgradient(graph, f) @ f == pytest.approx(naive)


@pytest.mark.parametrize("seed", SEEDS)
def test_subgradients_support_their_functions_everywhere(seed: int) -> None:
    graph = random_graph(10, seed, n_cannot=4)
    rng = np.random.default_rng(seed)
    f = rng.standard_normal(10)
    s, r2 = balance_subgradient(graph, f), cannot_subgradient(graph, 0.7, f)
    left, right = graph.cannot.T
    for _ in range(50):
        h = rng.standard_normal(10)
        assert s @ h <= balance_subgradient(graph, h) @ h + 1e-12
        assert r2 @ h <= 0.7 * np.abs(h[left] - h[right]).sum() + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_thresholding_never_increases_the_value(seed: int, gamma: float) -> None:
    graph = random_graph(20, seed, n_cannot=4)
    rng = np.random.default_rng(seed)
    for f in [rng.standard_normal(20), rng.integers(0, 3, 20).astype(float)]:
        side = best_threshold(graph, gamma, f)
        assert set_value(graph, gamma, side) <= vector_value(graph, gamma, f) * (1 + 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_threshold_is_the_best_of_all_of_them_also_for_a_part_of_a_graph(seed: int) -> None:
    graph = random_graph(14, seed, n_cannot=4).induced(np.arange(2, 14))
    f = np.random.default_rng(seed).integers(0, 6, 12).astype(float)
    values = [set_value(graph, 0.4, f > t) for t in np.unique(f)[:-1]]
    side = best_threshold(graph, 0.4, f)
    assert set_value(graph, 0.4, side) == pytest.approx(min(values))


@pytest.mark.parametrize("seed", SEEDS)
def test_projection_onto_the_simplex_is_the_nearest_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, total = rng.standard_normal(7) * 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-2, 2)
    for level in [-np.inf, float(z.min()), float(z.max()), float(z.max()) + 1]:
        point, found = project_simplex(z, total, level)
        assert point.min() >= 0
        assert point.sum() == pytest.approx(total)
        # Optimality: z - point is largest, and constant, where the point is positive.
        rest = z - point
        np.testing.assert_allclose(rest[point > 0], found)
        assert (rest <= found + 1e-9 * abs(found) + 1e-12).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spread", [0.0, 0.8])
def test_inner_solver_closes_its_gap_and_agrees_with_slsqp(seed: int, spread: float) -> None:
    graph = random_graph(7, seed)
    g = 5.0 * np.random.default_rng(seed).standard_normal(7)
    g -= g.mean()
    start = cold_dual(graph, np.arange(7.0), spread)
    inner = solve_inner(graph, g, start, max_iter=20000, tol=1e-7, negligible=1e-12)
    assert inner.value - inner.bound <= 1e-6 * abs(inner.bound)
    assert inner.value == pytest.approx(_slsqp(graph, g, spread), rel=1e-4)


def _slsqp(graph: CutGraph, g: np.ndarray, spread: float) -> float:
    """The inner problem as a smooth one: x = (f, one bound per edge, highest, lowest)."""
    i, j, w = graph.edges
    n, m = graph.n_vertices, len(w)
    objective = np.concatenate([-g, w, [spread, -spread]])
    rows = []
    for e in range(m):
        for sign in (1.0, -1.0):
            row = np.zeros(n + m + 2)
            row[i[e]], row[j[e]], row[n + e] = -sign, sign, 1.0
            rows.append(row)
    for k in range(n):
        high, low = np.zeros(n + m + 2), np.zeros(n + m + 2)
        high[n + m], high[k] = 1.0, -1.0
        low[k], low[n + m + 1] = 1.0, -1.0
        rows += [high, low]
    A = np.array(rows)
    constraints: list[Any] = [
        {"type": "ineq", "fun": lambda x: A @ x, "jac": lambda x: A},
        {
            "type": "ineq",
            "fun": lambda x: 1.0 - x[:n] @ x[:n],
            "jac": lambda x: np.concatenate([-2 * x[:n], np.zeros(m + 2)]),
        },
    ]
    f0 = 0.1 * g / np.linalg.norm(g)
    x0 = np.concatenate([f0, np.abs(f0[i] - f0[j]), [f0.max(), f0.min()]])

    def value(x: np.ndarray) -> float:
        return float(objective @ x)

    def slope(x: np.ndarray) -> np.ndarray:
        return objective

    found = minimize(
        value,
        x0,
        jac=slope,
        method="SLSQP",
        constraints=constraints,
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    # Back into the ball, where SLSQP ends up to its tolerance outside.
    f = found.x[:n] / max(1.0, float(np.linalg.norm(found.x[:n])))
    return float(w @ np.abs(f[i] - f[j]) + spread * np.ptp(f) - g @ f)


def test_inner_solver_says_so_when_no_descent_is_left() -> None:
    graph = random_graph(8, 0)
    inner = solve_inner(graph, np.zeros(8), cold_dual(graph, np.arange(8.0), 0.0), max_iter=500)
    assert inner.bound >= -1e-6
    assert not np.isfinite(inner.value)


@pytest.mark.parametrize("spread", [0.0, 3.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_gradients_end_in_the_same_bits_as_those_in_numpy(
    seed: int, spread: float
) -> None:
    graph = random_graph(40, seed)
    g = np.random.default_rng(seed).standard_normal(40)
    start = cold_dual(graph, g, spread)
    points = []
    for advance in (advanced, advanced_in_numpy):
        point = first_point(graph.dual_edges, g, spread, start.flow, start.lowest)
        advance(graph.dual_edges, g, spread, point, 123)
        points.append(point)
    for one, other in zip(*points, strict=True):
        assert np.array_equal(one, other)


def test_without_numba_the_gradients_are_those_in_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inner_problem, "find_spec", lambda _: None)
    assert inner_problem._fastest.__wrapped__() is advanced_in_numpy


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_outer_loop_is_monotone_and_ends_at_an_indicator(seed: int, gamma: float) -> None:
    graph = random_graph(40, seed, n_cannot=6, density=0.1)
    f = np.random.default_rng(seed).standard_normal(40)
    end = ratio_dca(graph, gamma, f, max_inner=10000)
    assert (np.diff(end.history) < 0).all()
    assert end.value == pytest.approx(vector_value(graph, gamma, end.f))
    side = best_threshold(graph, gamma, end.f)
    assert set_value(graph, gamma, side) <= end.value * (1 + 1e-9)
    assert set_value(graph, gamma, side) == pytest.approx(end.value, rel=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_merging_leaves_cuts_and_volumes_unchanged(seed: int) -> None:
    graph = random_graph(15, seed, n_cannot=3)
    rng = np.random.default_rng(seed)
    group = numbered(rng.integers(0, 6, 15))
    small = merged(graph, group)
    for _ in range(10):
        side = rng.random(small.n_vertices) < 0.5
        if side.all() or not side.any():
            continue
        assert cut(small, side) == pytest.approx(cut(graph, side[group]))
        assert small.volumes[side].sum() == pytest.approx(graph.volumes[side[group]].sum())
        assert balanced_cut(small, side) == pytest.approx(balanced_cut(graph, side[group]))
    assert small.weights.diagonal().max() == 0
    assert (small.cannot[:, 0] < small.cannot[:, 1]).all()


def test_a_part_of_a_graph_measures_cuts_against_the_whole() -> None:
    graph = random_graph(12, 3)
    vertices = np.array([1, 4, 5, 7, 10])
    part = graph.induced(vertices)
    inside = np.array([True, False, True, True, False])
    a, b = np.zeros(12, dtype=bool), np.zeros(12, dtype=bool)
    a[vertices[inside]] = True
    b[vertices[~inside]] = True
    expected = cut(graph, a) / graph.volumes[a].sum() + cut(graph, b) / graph.volumes[b].sum()
    assert balanced_cut(part, inside) == pytest.approx(expected)


def test_multicut_is_the_sum_of_cuts_relative_to_volumes() -> None:
    graph = random_graph(12, 5)
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2])
    expected = sum(cut(graph, labels == k) / graph.volumes[labels == k].sum() for k in range(3))
    assert multicut(graph, labels) == pytest.approx(expected)
    assert multicut(graph, (labels > 0).astype(np.intp)) == pytest.approx(
        balanced_cut(graph, labels > 0)
    )


def test_two_coloring_merges_what_differs_from_the_same() -> None:
    groups = two_colored(6, np.array([[0, 1], [1, 2], [3, 5]]))
    assert groups.tolist() == [0, 1, 0, 2, 3, 4]
    with pytest.raises(InputError, match="odd length"):
        two_colored(4, np.array([[0, 1], [1, 2], [0, 2]]))


def test_spectral_vector_is_the_second_eigenvector() -> None:
    graph = random_graph(30, 1, density=0.1)
    root = np.sqrt(graph.volumes)
    dense = graph.weights.toarray()
    laplacian = (np.diag(dense.sum(axis=1)) - dense) / root[:, None] / root[None, :]
    expected = np.linalg.eigh(laplacian)[1][:, 1] / root
    found = spectral_vector(graph, np.random.RandomState(0))
    alignment = abs(found @ (graph.volumes * expected))
    alignment /= np.sqrt((found**2 @ graph.volumes) * (expected**2 @ graph.volumes))
    assert alignment == pytest.approx(1.0, abs=1e-3)


def test_spectral_vector_with_pairs_puts_their_ends_opposite() -> None:
    graph = random_graph(30, 2, n_cannot=5, density=0.1)
    found = spectral_vector(graph, np.random.RandomState(0), graph.cannot)
    np.testing.assert_allclose(found[graph.cannot].sum(axis=1), 0, atol=1e-9)
    assert found @ graph.volumes == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_cannot", [0, 1, 3])
def test_two_clusters_of_structureless_graphs_are_near_those_of_exhaustive_search(
    seed: int, n_cannot: int
) -> None:
    graph = random_graph(11, seed, n_cannot=n_cannot)
    side = two_clusters(graph, Search(FULL, np.random.RandomState(seed)))
    assert n_violated(graph, side) == 0
    possible = [s for s in all_sides(11) if n_violated(graph, s) == 0]
    best = min(balanced_cut(graph, s) for s in possible)
    assert best * (1 - 1e-9) <= balanced_cut(graph, side) <= 1.15 * best


@pytest.mark.parametrize("seed", SEEDS)
def test_soft_cannot_links_minimize_the_priced_value_of_tiny_graphs(seed: int) -> None:
    graph = random_graph(10, seed, n_cannot=4)
    side = two_clusters(graph, Search(FULL, np.random.RandomState(seed), 0.3))
    best = min(set_value(graph, 0.3, s) for s in all_sides(10))
    assert set_value(graph, 0.3, side) == pytest.approx(best)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("effort", [FULL, FAST])
def test_two_clusters_of_a_few_points_are_those_of_exhaustive_search(
    seed: int, effort: Effort
) -> None:
    X = np.random.default_rng(seed).standard_normal((14, 2))
    X[:7, 0] += 2.0
    graph = cut_graph(knn_graph(X, 4), np.array([[0, 13], [1, 12]]))
    side = two_clusters(graph, Search(effort, np.random.RandomState(seed)))
    assert n_violated(graph, side) == 0
    best = min(balanced_cut(graph, s) for s in all_sides(14) if n_violated(graph, s) == 0)
    slack = 1e-9 if effort is FULL else 0.1
    assert balanced_cut(graph, side) <= best * (1 + slack) + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_moves_are_valued_as_the_sets_they_lead_to_and_never_make_a_set_worse(seed: int) -> None:
    graph = random_graph(12, seed, n_cannot=3).induced(np.arange(10))
    side = np.random.default_rng(seed).random(10) < 0.4
    side[:2] = True, False
    values = moved_values(graph, 0.4, side)
    for k in range(10):
        after = side.copy()
        after[k] = not after[k]
        is_split = after.any() and not after.all()
        expected = set_value(graph, 0.4, after) if is_split else np.inf
        assert values[k] == pytest.approx(expected)
    moved = best_moves(graph, 0.4, side)
    assert set_value(graph, 0.4, moved) <= set_value(graph, 0.4, side)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_three_clusters_of_tiny_graphs_are_near_those_of_exhaustive_search(seed: int) -> None:
    graph = random_graph(9, seed, density=0.25)
    effort = Effort(n_starts=2, n_repeats=5)
    labels = many_clusters(graph, 3, Search(effort, np.random.RandomState(seed)))
    partitions = (
        np.array(p) for p in itertools.product(range(3), repeat=9) if p[0] == 0 and len(set(p)) == 3
    )
    best = min(multicut(graph, p) for p in partitions)
    assert best * (1 - 1e-9) <= multicut(graph, labels) <= 1.15 * best


def test_a_disconnected_part_is_split_along_its_components_at_no_cost() -> None:
    blocks = sparse.block_diag([random_graph(6, s).weights for s in range(3)], format="csr")
    graph = cut_graph(sparse.csr_array(blocks), np.zeros((0, 2), dtype=np.intp))
    split = best_split(graph, 0, Search(FAST, np.random.RandomState(0)))
    assert split is not None
    assert split.cut == 0


def test_a_disconnected_part_is_split_inside_a_component_where_cannot_links_ask_for_it() -> None:
    blocks = sparse.block_diag([random_graph(6, s).weights for s in range(2)], format="csr")
    graph = cut_graph(sparse.csr_array(blocks), np.array([[0, 5]]))
    split = best_split(graph, 0, Search(FULL, np.random.RandomState(0)))
    assert split is not None
    assert split.violated == 0
    is_second = np.arange(12) >= 6
    assert len(np.unique(split.side[is_second])) == 1


def test_numerator_and_balance_do_not_change_with_a_constant() -> None:
    graph = random_graph(10, 0, n_cannot=2)
    f = np.random.default_rng(0).standard_normal(10)
    assert numerator(graph, 0.5, f + 3) == pytest.approx(numerator(graph, 0.5, f))
    assert vector_value(graph, 0.5, f + 3) == pytest.approx(vector_value(graph, 0.5, f))


def test_knn_graph_follows_its_formula_and_survives_duplicates() -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    X[:8] = X[0]
    graph = knn_graph(X, 5).toarray()
    distances = np.linalg.norm(X[:, None] - X[None, :], axis=2)
    assert np.isfinite(graph).all()
    assert (graph == graph.T).all()
    assert (np.diag(graph) == 0).all()
    others = np.where(np.eye(30, dtype=bool), np.inf, distances)
    scale = np.sort(others, axis=1)[:, 4]
    scale[scale == 0] = scale[scale > 0].min()
    i = 20
    near = np.argsort(others[i])[:5]
    forth = np.exp(-4 * distances[i, near] ** 2 / scale[i] ** 2)
    back = np.exp(-4 * distances[i, near] ** 2 / scale[near] ** 2)
    is_mutual = (others[near, i] <= scale[near]).astype(float)
    np.testing.assert_allclose(graph[i, near], np.maximum(forth, back * is_mutual))
