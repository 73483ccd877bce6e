"""From a few known rows to all: how voters are weighed."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons

from likewise.learning.learner import CREDIT, VOTERS, Learner, best_share, milestone, nearness
from likewise.learning.voters import fit_discriminant, fit_kernels, tune_kernels

X, Y = load_iris(return_X_y=True)


def test_the_better_voter_has_more_weight(embeddings, first_of_each):
    rows, y = embeddings
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
            return np.full((len(rows.scaled), 3), 1 / 3)

    known = np.arange(0, 150, 5)
    before = Learner(X).learn(known, Y[known])
    monkeypatch.setattr(VOTERS, "_known", {**VOTERS._known, "ignorant": Ignorant})
    after = Learner(X).learn(known, Y[known])
    assert sum(after.voters.values()) == pytest.approx(1.0)
    assert after.voters["ignorant"] < 0.2
    assert (after.proba.argmax(axis=1) == before.proba.argmax(axis=1)).all()


def test_rows_that_are_alone_do_not_decide_who_votes():
    groups = np.array([0, 0, 1, 1, 2])
    one, other = np.full((5, 3), 1 / 3), np.full((5, 3), 1 / 3)
    one[4, 2] = 0.9
    assert best_share(one, other, groups) == pytest.approx(0.5)


def test_probabilities_add_up_and_do_not_depend_on_the_other_rows():
    model = Learner(X).learn(np.arange(0, 150, 7), Y[::7])
    assert np.allclose(model.proba.sum(axis=1), 1, atol=1e-6)
    assert np.allclose(model.predict_proba(X[40:50]), model.proba[40:50], atol=1e-5)
    assert np.allclose(model.left_out.sum(axis=1), 1, atol=1e-6)


def test_the_order_of_rows_and_groups_does_not_matter():
    known = np.arange(0, 150, 7)
    one = Learner(X).learn(known, Y[known])
    turned = np.random.default_rng(0).permutation(150)
    place = np.argsort(turned)
    other = Learner(X[turned]).learn(place[known], 2 - Y[known])
    assert np.allclose(one.proba, other.proba[place][:, ::-1], atol=1e-4)


def test_what_is_left_out_is_foretold_as_without_it():
    points, truth = make_moons(40, noise=0.1, random_state=0)
    learner = Learner(points)
    everyone = learner.learn(np.arange(40), truth)
    for k in (0, 20, 33):
        rest = np.delete(np.arange(40), k)
        without = learner.learn(rest, truth[rest])
        assert np.abs(everyone.left_out[k] - without.proba[k]).max() < 0.2


def test_kernels_are_chosen_anew_with_every_eighth_more_rows():
    assert [milestone(n) for n in (1, 7, 8, 9, 15, 16, 17, 18)] == [1, 7, 8, 9, 15, 16, 16, 18]


def test_kernels_are_chosen_anew_only_now_and_then(monkeypatch):
    calls = []

    def counted(known, groups, first):
        calls.append(len(groups))
        return tune_kernels(known, groups, first)

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


def test_kernels_are_credited_for_rows_that_lie_nearer_than_known_ones(first_of_each):
    known = first_of_each(Y, 8)
    learner = Learner(X)
    near = nearness(learner.rows.scaled, known)
    assert 0.2 < near < 0.9
    rows, groups = learner.rows.take(known), Y[known]
    kernels = fit_kernels(rows, groups, tune_kernels(rows, groups, np.ones(1))).left_out
    credit = CREDIT * (1.0 - near)
    other = fit_discriminant(learner.rows, np.ones(len(X)), known, groups).left_out
    share = best_share(credit + (1.0 - credit) * kernels, other, groups)
    assert share < best_share(kernels, other, groups)
    assert milestone(len(known)) == len(known)
    assert learner.learn(known, groups).voters["discriminant"] == pytest.approx(share)
