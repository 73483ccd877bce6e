"""What both voters promise, and how they look at rows."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.covariance import OAS
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import Ridge
from sklearn.metrics import adjusted_rand_score

from likewise.learning.learner import Learner
from likewise.learning.views import main_axes, views_of
from likewise.learning.voters import (
    KERNELS,
    SHARPNESSES,
    SMOOTHINGS,
    WIDTHS,
    KernelChoice,
    _distances,
    _Gaussians,
    fit_discriminant,
    fit_kernels,
    ridge,
    shrunk,
    tune_kernels,
)

X, Y = load_iris(return_X_y=True)


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
    assert np.allclose(squares, ((rows.scaled[:, None] - rows.scaled) ** 2).sum(axis=2))
    assert np.allclose(sums, np.sqrt(2.0 * squares))


def test_kernels_follow_a_curved_border():
    points, truth = make_moons(300, noise=0.1, random_state=0)
    rows = views_of(points)(points)
    known = rows.take(np.arange(30))
    model = fit_kernels(known, truth[:30], tune_kernels(known, truth[:30], np.ones(1)))
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
    for proba in (model.left_out, model.predict_proba(known)):
        assert np.allclose(proba, met / met.sum(), atol=1e-6)


def test_rows_that_are_hard_to_foretell_do_not_all_fall_into_one_group():
    rng = np.random.default_rng(0)
    points = rng.uniform(0, 6, size=(800, 2))
    truth = points.astype(int).sum(axis=1) % 2  # a chessboard
    learned = Learner(points).learn(np.arange(100), truth[:100])
    assert np.mean(learned.proba.argmax(axis=1) == truth) > 0.7


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


def test_the_discriminant_learns_from_rows_that_nobody_was_asked_about(embeddings, first_of_each):
    rows, y = embeddings
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


def test_rows_that_are_alone_in_their_group_do_not_make_the_discriminant_doubt():
    rng = np.random.default_rng(0)
    groups_of_two = [rng.normal(center, 1, (60, 4)) for center in (-3, 3)]
    rows = np.concatenate([*groups_of_two, rng.normal(0, 3, (20, 4))])
    known = np.array([*range(8), *range(60, 68), *range(120, 128)])
    groups = np.array([0] * 8 + [1] * 8 + [*range(2, 10)])
    model = fit_discriminant(views_of(rows)(rows), np.ones(len(rows)), known, groups)
    assert model.left_out[np.arange(16), groups[:16]].min() > 0.8


def test_kernels_are_chosen_by_rows_that_others_can_predict():
    # Every third row is the only one of its group.
    rng = np.random.default_rng(1)
    known = views_of(X)(X[rng.permutation(len(X))[:18]] + rng.normal(scale=0.3, size=(18, 4)))
    groups = np.array([k % 3 if k % 3 < 2 else 2 + k // 3 for k in range(18)])
    is_paired = groups < 2
    best = tune_kernels(known, groups, np.ones(1))[0]._replace(weight=1.0)

    def loss(choice):
        left_out = fit_kernels(known, groups, [choice]).left_out
        return -np.log(left_out[np.arange(18), groups])[is_paired].mean()

    for kernel in range(len(KERNELS)):
        for width in WIDTHS:
            for smoothing in SMOOTHINGS.tolist():
                for sharpness in SHARPNESSES.tolist():
                    other = KernelChoice(kernel, width, smoothing, sharpness, 1.0)
                    assert loss(best) <= loss(other) + 1e-9
