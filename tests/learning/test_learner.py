"""From a few known rows to all: what both voters promise, and how they are weighed."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.covariance import OAS
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.linear_model import Ridge
from sklearn.metrics import adjusted_rand_score

from likewise.learning.discriminant import _Gaussians, fit_discriminant, shrunk
from likewise.learning.kernel_vote import (
    KERNELS,
    KernelChoice,
    _distances,
    fit_kernels,
    ridge,
    tune_kernels,
)
from likewise.learning.learner import CREDIT, VOTERS, Learner, best_share, milestone, nearness
from likewise.learning.views import main_axes, views_of

X, Y = load_iris(return_X_y=True)


def embeddings(n_rows=600, n_groups=8, n_features=200, seed=0):
    """Rows of unit length in many features, most of which is noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_groups, size=n_rows)
    rows = 0.35 * rng.normal(size=(n_groups, n_features))[y] + rng.normal(size=(n_rows, n_features))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), y


def first_of_each(y, n, seed=0):
    """Return `n` rows of every group."""
    order = np.random.default_rng(seed).permutation(len(y))
    return np.concatenate([order[y[order] == g][:n] for g in np.unique(y)])


# -- views -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(40, 130), (300, 130)])
def test_main_axes_are_those_of_a_singular_value_decomposition(shape):
    rows = np.random.default_rng(0).normal(size=shape) * np.linspace(3, 1, shape[1])
    rows -= rows.mean(axis=0)
    axes = main_axes(rows)
    assert axes.shape[1] == min(50, shape[0] - 1)
    best = np.linalg.svd(rows, full_matrices=False)[2][: axes.shape[1]].T
    assert np.allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=1e-9)
    one, other = rows @ axes, rows @ best
    assert np.allclose(one @ one.T, other @ other.T, atol=1e-9)


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e3])
def test_views_are_scaled_and_constant_features_vanish(unit):
    rows = np.hstack([unit * X, np.ones((len(X), 2))])
    views = views_of(rows)(rows)
    for view in views[:2]:
        assert np.isclose((view**2).sum(axis=1).mean(), 1.0)
        assert not view[:, 4:].any()
    assert views.axes.shape == (len(X), 4)


# -- kernels -----------------------------------------------------------------------------------


def test_left_out_predictions_are_those_of_fits_without_the_row():
    rows, targets = X[::15], np.eye(3)[Y[::15]]
    kernel = np.exp(-0.25 * cdist(rows, rows, "sqeuclidean"))
    _, left_out = ridge(kernel, targets, 0.3)
    for k in range(len(rows)):
        rest = np.arange(len(rows)) != k
        weights = np.linalg.solve(kernel[rest][:, rest] + 0.3 * np.eye(rest.sum()), targets[rest])
        assert np.allclose(left_out[k], kernel[k, rest] @ weights)


def test_the_ridge_is_that_of_scikit_learn():
    rows, targets = X[::7], np.eye(3)[Y[::7]]
    coefficients, _ = ridge(rows @ rows.T, targets, 2.0)
    model = Ridge(alpha=2.0, fit_intercept=False).fit(rows, targets)
    assert np.allclose(rows.T @ coefficients, model.coef_.T)


@pytest.mark.parametrize("kernel", range(len(KERNELS)))
def test_rows_are_about_as_far_apart_for_every_kernel(kernel):
    points = np.random.default_rng(0).normal(size=(200, 9))
    rows = views_of(points)(points)
    assert np.mean(_distances(rows, rows, kernel)) == pytest.approx(2.0, abs=0.2)


def test_the_exponential_kernel_is_of_the_distance_itself():
    rows = views_of(X)(X)
    squares, sums = (_distances(rows, rows, KERNELS.index(n)) for n in ("gaussian", "exponential"))
    assert np.allclose(squares, ((rows.own[:, None] - rows.own) ** 2).sum(axis=2))
    assert np.allclose(sums, np.sqrt(2.0 * squares))


def test_kernels_follow_a_curved_border():
    points, truth = make_moons(300, noise=0.1, random_state=0)
    rows = views_of(points)(points)
    known = rows.take(np.arange(30))
    model = fit_kernels(known, truth[:30], tune_kernels(known, truth[:30]))
    assert np.mean(model.predict_proba(rows).argmax(axis=1) == truth) > 0.93


@pytest.mark.parametrize("kernel", range(len(KERNELS)))
def test_every_kernel_keeps_what_is_known_and_foretells_the_rest(kernel):
    rows = views_of(X)(X)
    known = np.arange(0, 150, 3)
    model = fit_kernels(rows.take(known), Y[known], [KernelChoice(kernel, 1.0, 1e-3, 4.0, 1.0)])
    predicted = model.predict_proba(rows).argmax(axis=1)
    assert (predicted[known] == Y[known]).all()
    assert np.mean(predicted == Y) > 0.93
    assert np.mean(model.left_out.argmax(axis=1) == Y[known]) > 0.85


def test_without_the_rows_themselves_kernels_say_how_often_each_group_was_met():
    groups = np.array([0, 0, 0, 0, 1, 1])
    known = views_of(X)(X[:6])
    model = fit_kernels(known, groups, [KernelChoice(0, 1.0, 1e9, 3.0, 1.0)])  # smoothed to nothing
    met = np.exp(3.0 * np.array([4, 2]) / 6)
    for chances in (model.left_out, model.predict_proba(known)):
        assert np.allclose(chances, met / met.sum(), atol=1e-6)


def test_rows_that_are_hard_to_foretell_do_not_all_fall_into_one_group():
    rng = np.random.default_rng(0)
    points = rng.uniform(0, 6, size=(800, 2))
    truth = points.astype(int).sum(axis=1) % 2  # a chessboard
    learned = Learner(points).learn(np.arange(100), truth[:100])
    assert np.mean(learned.chances.argmax(axis=1) == truth) > 0.7


# -- discriminant ------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [0.0, 1.5])
def test_shrinkage_is_that_of_scikit_learn(shared):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 8)) @ np.diag(np.arange(1, 9))
    rows += shared * rng.normal(size=(30, 1)) * np.arange(1, 9)  # what all features have in common
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    model = OAS(assume_centered=True).fit(rows)
    assert (model.shrinkage_ < 0.5) == (shared > 0)
    assert np.allclose(shrunk(rows.T @ rows / 30, 30), model.covariance_)


def test_the_border_is_nearer_to_the_smaller_group():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [180, 20])
    points = rng.normal(size=(200, 1)) + 4.0 * truth[:, None]
    rows = views_of(points)
    model = fit_discriminant(rows(points), np.ones(200), np.arange(200), truth)
    between = rows(np.linspace(1.0, 3.0, 41)[:, None])
    border = np.linspace(1.0, 3.0, 41)[np.argmax(model.predict_proba(between)[:, 1] > 0.5)]
    assert 2.2 < border < 2.9


def test_a_known_row_is_scored_by_the_mean_of_its_group_without_its_cell():
    groups = np.array([0, 0, 0, 1, 1])
    cells, sizes = X[[0, 10, 20, 60, 70]] * [[2], [1], [3], [2], [2]], np.array([2.0, 1, 3, 2, 2])
    rows = X[[0, 10, 20, 60, 70]]
    targets = np.eye(2)[groups]
    model = _Gaussians.fit(targets.T @ cells, targets.T @ sizes, X.T @ X)
    scores = model.scores_without(cells, sizes, rows, groups)
    for k, group in enumerate(groups):
        rest = (groups == group) & (np.arange(5) != k)
        mean = cells[rest].sum(axis=0) / sizes[rest].sum()
        score = (rows[k] - 0.5 * mean) @ model.precision @ mean
        assert scores[k, group] == pytest.approx(score + np.log(sizes[rest].sum() / sizes.sum()))


def test_the_discriminant_learns_from_rows_that_nobody_was_asked_about():
    rows, y = embeddings()
    seen, known = views_of(rows)(rows), first_of_each(y, 3)
    few = fit_discriminant(seen.take(known), np.ones(len(known)), np.arange(len(known)), y[known])
    all_rows = fit_discriminant(seen, np.ones(len(y)), known, y[known])
    scores = [adjusted_rand_score(y, m.predict_proba(seen).argmax(axis=1)) for m in (few, all_rows)]
    assert scores[1] > scores[0] + 0.1


def test_a_row_counts_as_often_as_its_size_says():
    rows = np.repeat(np.arange(len(X)), 1 + Y)
    seen, known = views_of(X)(X), np.arange(0, 150, 10)
    weighed = fit_discriminant(seen, 1.0 + Y, known, Y[known])
    first = np.searchsorted(rows, known)
    repeated = fit_discriminant(seen.take(rows), np.ones(len(rows)), first, Y[known])
    assert np.allclose(weighed.left_out, repeated.left_out, atol=0.05)
    assert np.allclose(weighed.predict_proba(seen), repeated.predict_proba(seen), atol=0.05)


def test_a_group_with_one_known_row_is_never_foretold():
    seen = views_of(X)(X)
    known, groups = np.array([0, 10, 60, 70, 149]), np.array([0, 0, 1, 1, 2])
    model = fit_discriminant(seen, np.ones(150), known, groups)
    assert model.left_out[4].argmax() != 2


# -- both --------------------------------------------------------------------------------------


def test_the_better_voter_has_more_weight():
    rows, y = embeddings()
    known = first_of_each(y, 4)
    assert Learner(rows).learn(known, y[known]).voters["discriminant"] > 0.5
    rings = np.random.default_rng(0).normal(size=(400, 2))
    inside = (np.linalg.norm(rings, axis=1) < 1.1).astype(int)
    assert Learner(rings).learn(np.arange(60), inside[:60]).voters["kernels"] > 0.8


def test_a_voter_that_knows_nothing_has_little_weight(monkeypatch):
    class Ignorant:
        def __init__(self, rows, sizes, known, groups):
            self.left_out = np.full((len(known), 3), 1 / 3)

        def predict_proba(self, rows):
            return np.full((len(rows.own), 3), 1 / 3)

    known = np.arange(0, 150, 5)
    before = Learner(X).learn(known, Y[known])
    monkeypatch.setattr(VOTERS, "_known", {**VOTERS._known, "ignorant": Ignorant})
    after = Learner(X).learn(known, Y[known])
    assert sum(after.voters.values()) == pytest.approx(1.0)
    assert after.voters["ignorant"] < 0.2
    assert (after.chances.argmax(axis=1) == before.chances.argmax(axis=1)).all()


def test_rows_that_are_alone_do_not_decide_who_votes():
    groups = np.array([0, 0, 1, 1, 2])
    one, other = np.full((5, 3), 1 / 3), np.full((5, 3), 1 / 3)
    one[4, 2] = 0.9
    assert best_share(one, other, groups) == pytest.approx(0.5)


def test_probabilities_add_up_and_do_not_depend_on_the_other_rows():
    model = Learner(X).learn(np.arange(0, 150, 7), Y[::7])
    assert np.allclose(model.chances.sum(axis=1), 1, atol=1e-6)
    assert np.allclose(model.predict_proba(X[40:50]), model.chances[40:50], atol=1e-5)
    assert np.allclose(model.left_out.sum(axis=1), 1, atol=1e-6)


def test_the_order_of_rows_and_groups_does_not_matter():
    known = np.arange(0, 150, 7)
    one = Learner(X).learn(known, Y[known])
    turned = np.random.default_rng(0).permutation(150)
    place = np.argsort(turned)
    other = Learner(X[turned]).learn(place[known], 2 - Y[known])
    assert np.allclose(one.chances, other.chances[place][:, ::-1], atol=1e-4)


def test_what_is_left_out_is_foretold_as_without_it():
    points, truth = make_moons(40, noise=0.1, random_state=0)
    learner = Learner(points)
    everyone = learner.learn(np.arange(40), truth)
    for k in (0, 20, 33):
        rest = np.delete(np.arange(40), k)
        without = learner.learn(rest, truth[rest])
        assert np.abs(everyone.left_out[k] - without.chances[k]).max() < 0.2


def test_kernels_are_chosen_anew_with_every_eighth_more_rows():
    assert [milestone(n) for n in (1, 7, 8, 9, 15, 16, 17, 18)] == [1, 7, 8, 9, 15, 16, 16, 18]


def test_kernels_are_chosen_anew_only_now_and_then(monkeypatch):
    calls = []

    def counted(known, groups):
        calls.append(len(groups))
        return tune_kernels(known, groups)

    monkeypatch.setattr("likewise.learning.learner.tune_kernels", counted)
    points, truth = make_blobs(200, centers=3, random_state=0)
    learner = Learner(points)
    for n in range(20, 60):
        learner.learn(np.arange(n), truth[:n])
    assert calls == sorted({milestone(n) for n in range(20, 60)})


def test_what_was_learned_is_kept_for_undo():
    learner = Learner(X)
    one = learner.learn(np.arange(0, 150, 7), Y[::7])
    learner.learn(np.arange(0, 150, 6), Y[::6])
    assert learner.learn(np.arange(0, 150, 7), Y[::7]) is one


@pytest.mark.parametrize(
    "rows",
    [np.ones((9, 2)), np.ones((9, 120)), np.repeat(np.eye(3), 3, axis=0), np.eye(9, 130)],
    ids=["flat", "flat and wide", "equal rows", "more features than rows"],
)
def test_degenerate_rows_are_no_trouble(rows):
    model = Learner(rows).learn(np.array([0, 3, 8]), np.array([0, 1, 1]))
    assert np.isfinite(model.left_out).all()
    assert np.allclose(model.predict_proba(rows).sum(axis=1), 1, atol=1e-6)


def test_kernels_are_credited_for_rows_that_lie_nearer_than_known_ones():
    known = first_of_each(Y, 8)
    learner = Learner(X)
    near = nearness(learner.rows.own, known)
    assert 0.2 < near < 0.9
    rows, groups = learner.rows.take(known), Y[known]
    kernels = fit_kernels(rows, groups, tune_kernels(rows, groups)).left_out
    credit = CREDIT * (1.0 - near)
    other = fit_discriminant(learner.rows, np.ones(len(X)), known, groups).left_out
    share = best_share(credit + (1.0 - credit) * kernels, other, groups)
    assert share < best_share(kernels, other, groups)
    assert milestone(len(known)) == len(known)
    assert learner.learn(known, groups).voters["discriminant"] == pytest.approx(share)
