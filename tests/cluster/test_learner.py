from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from likewise import COBRA, Answer, LabelOracle, Session
from likewise.errors import InputError, SessionFileError

X, Y = load_iris(return_X_y=True)


def both(labels, **options):
    return COBRA(25, labels=labels, random_state=0, **options)


def test_the_learner_takes_no_other_questions():
    cells = both("cells").fit(X, oracle=LabelOracle(Y))
    learned = both("learned").fit(X, oracle=LabelOracle(Y))
    assert learned.queries_ == cells.queries_
    assert np.array_equal(learned.representatives_, cells.representatives_)


def test_learned_labels_respect_every_answer():
    model = both("learned").fit(X, oracle=LabelOracle(Y))
    for left, right, answer in model.queries_:
        assert (model.labels_[left] == model.labels_[right]) == (answer is Answer.SAME)


def test_learned_labels_respect_what_is_known_of_other_rows():
    learned = both("learned").fit(X, oracle=LabelOracle(Y), must_link=[(0, 149)])
    assert learned.labels_[0] == learned.labels_[149]
    learned = both("learned").fit(X, oracle=LabelOracle(Y), cannot_link=[(0, 1), (1, 2), (0, 2)])
    assert len({*learned.labels_[:3]}) == 3


def test_representatives_keep_their_groups():
    cells = both("cells").fit(X, oracle=LabelOracle(Y))
    learned = both("learned").fit(X, oracle=LabelOracle(Y))
    reps = cells.representatives_
    assert np.array_equal(learned.labels_[reps], cells.labels_[reps])


def test_new_rows_are_predicted_by_the_learner():
    model = both("learned").fit(X, oracle=LabelOracle(Y))
    predicted = model.predict(X)
    assert np.mean(predicted == model.labels_) > 0.97
    assert adjusted_rand_score(Y, predicted) > 0.85


def test_learning_is_better_than_cells_where_cells_cut_across_groups():
    points = np.random.default_rng(0).uniform(-1, 1, (500, 5))
    truth = points[:, 0] + points[:, 1] > 0
    scores = {}
    for labels in ("cells", "learned"):
        model = COBRA(30, labels=labels, random_state=0).fit(points, oracle=LabelOracle(truth))
        scores[labels] = adjusted_rand_score(truth, model.labels_)
    assert scores["learned"] > scores["cells"] + 0.1


def test_what_was_learned_depends_on_nothing_but_data_and_seed():
    one = both("learned").fit(X, oracle=LabelOracle(Y))
    other = both("learned", n_jobs=2).fit(X, oracle=LabelOracle(Y))
    assert np.array_equal(one.labels_, other.labels_)


def test_an_adopted_session_needs_the_rows():
    session = both("learned").start(X)
    with pytest.raises(InputError, match="pass X"):
        both("learned").adopt(session)
    with pytest.raises((InputError, SessionFileError), match="149"):
        both("learned").adopt(session, X=X[1:])
    loaded = Session.from_dict(session.to_dict())
    assert both("learned").adopt(loaded, X=X).labels_.shape == (150,)


def test_distances_cannot_be_learned_from():
    with pytest.raises(InputError, match="features"):
        COBRA(5, labels="learned", metric="precomputed").fit(np.zeros((9, 9)))
    unknown: Any = "taught"
    with pytest.raises(InputError, match="labels must be one of"):
        COBRA(5, labels=unknown).fit(X)


def test_where_representatives_are_one_group_links_still_set_other_rows_apart():
    X = np.array([[0.0], [1.0], [2.0]])
    model = COBRA(1, labels="learned", random_state=0).fit(X, cannot_link=[(0, 2)])
    assert model.learned_ is None
    assert model.labels_[0] != model.labels_[2]
    assert model.n_clusters_ == 2
