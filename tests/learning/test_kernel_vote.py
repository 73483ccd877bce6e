import numpy as np
from sklearn.datasets import load_iris, make_moons

from likewise.learning.kernel_vote import learn
from likewise.learning.views import views_of

X, Y = load_iris(return_X_y=True)


def test_constant_features_many_features_and_one_group_are_no_trouble():
    rng = np.random.default_rng(0)
    wide = np.hstack([rng.normal(size=(60, 150)), np.ones((60, 3))])
    wide[:30, :20] += 2
    views = views_of(wide)
    known = np.arange(0, 60, 6)
    model = learn(views(wide[known]), (known >= 30).astype(np.intp))
    found = model.predict_proba(views(wide)).argmax(axis=1)
    assert np.mean(found == (np.arange(60) >= 30)) > 0.9
    alone = learn(views(wide[known]), np.zeros(len(known), dtype=np.intp))
    assert alone.predict_proba(views(wide)).tolist() == [[1.0]] * 60
    flat = views_of(np.ones((4, 2)))
    assert np.isfinite(learn(flat(np.ones((2, 2))), np.array([0, 1])).seen).all()


def test_probabilities_add_up_and_do_not_depend_on_the_other_rows():
    views = views_of(X)
    model = learn(views(X[::7]), Y[::7].astype(np.intp))
    chances = model.predict_proba(views(X))
    assert np.allclose(chances.sum(axis=1), 1)
    assert np.allclose(model.predict_proba(views(X[40:50])), chances[40:50])


def test_what_the_others_say_about_a_known_row_is_what_a_fit_without_it_says():
    points, truth = make_moons(40, noise=0.1, random_state=0)
    views = views_of(points)
    everyone = learn(views(points), truth.astype(np.intp))
    rest = np.arange(1, 40)
    without = learn(views(points[rest]), truth[rest].astype(np.intp))
    found = without.predict_proba(views(points[:1]))
    assert np.abs(everyone.seen[0] - found[0]).max() < 0.1
