import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import COBRA, Answer, LabelOracle, Likewise, Session, run
from likewise.errors import InputError, InterruptedFitError
from likewise.strategies import RowByRow

X, Y = load_iris(return_X_y=True)


def asked(max_queries=None, **options):
    return Likewise(max_queries, random_state=0).fit(X, oracle=LabelOracle(Y), **options)


# scikit-learn passes labels to every estimator.
@pytest.mark.filterwarnings("ignore::likewise.errors.UnusedLabelsWarning")
@parametrize_with_checks(
    [Likewise(), Likewise(max_queries=5, random_state=1), Likewise(error_rate=0.1)]
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def test_the_names_of_the_contract():
    model = asked(40)
    assert model.n_clusters_ == len(set(model.labels_)) == 3
    assert model.n_queries_ == len(model.queries_) == 40
    assert isinstance(model.queries_[0][2], Answer)
    assert model.doubts_.shape == model.labels_.shape
    assert adjusted_rand_score(Y, model.labels_) > 0.85


@pytest.mark.parametrize("max_queries", [0, 1, 2, 5, 11, 30, 60])
def test_labels_respect_every_answer_at_any_number_of_questions(max_queries):
    model = asked(max_queries)
    assert model.n_queries_ == max_queries
    assert sorted(set(model.labels_)) == list(range(model.n_clusters_))
    for labels in (model.labels_, model.session_.labels):
        for left, right, answer in model.queries_:
            assert (labels[left] == labels[right]) == (answer is Answer.SAME)


def test_asked_to_the_end_every_row_is_right():
    points, truth = make_blobs(60, centers=4, cluster_std=2.0, random_state=0)
    model = Likewise(random_state=0).fit(points, oracle=LabelOracle(truth))
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.session_.is_done


@pytest.mark.slow
def test_it_needs_no_number_of_super_instances_to_do_as_well_as_cobra():
    wine, truth = load_wine(return_X_y=True)
    wine = MinMaxScaler().fit_transform(wine)
    cobra = COBRA(50, random_state=0).fit(wine, oracle=LabelOracle(truth))
    model = Likewise(cobra.n_queries_, random_state=0).fit(wine, oracle=LabelOracle(truth))
    assert model.n_queries_ <= cobra.n_queries_
    mine, others = (adjusted_rand_score(truth, m.labels_) for m in (model, cobra))
    assert mine >= others


def test_only_rows_that_may_be_shown_are_asked_about():
    train = np.arange(0, 150, 2)
    model = asked(60, train_indices=train)
    assert {row for left, right, _ in model.queries_ for row in (left, right)} <= set(train)
    assert model.labels_.shape == (150,)


def test_new_rows_are_predicted_with_probabilities():
    model = asked(40)
    chances = model.predict_proba(X)
    assert chances.shape == (150, model.n_clusters_)
    assert np.allclose(chances.sum(axis=1), 1)
    assert np.mean(model.predict(X) == model.labels_) > 0.95


def test_a_saved_session_goes_on_where_it_was():
    session = Likewise(random_state=0).start(X)
    run(session, LabelOracle(Y), max_queries=31)
    loaded = Session.from_dict(session.to_dict())
    for _ in range(12):
        assert loaded.ask() == session.ask()
        question = session.ask()
        answer = Answer.SAME if Y[question.left] == Y[question.right] else Answer.DIFFERENT
        session.tell(answer)
        loaded.tell(answer)
    one, other = (Likewise().adopt(s, X=X) for s in (session, loaded))
    assert np.array_equal(one.labels_, other.labels_)


def test_undo_and_revise_leave_no_trace():
    session = run(Likewise(random_state=0).start(X), LabelOracle(Y), max_queries=45)
    question, labels = session.ask(), session.labels
    session.skip()
    session.skip()
    session.undo()
    session.undo()
    assert session.ask() == question
    assert np.array_equal(session.labels, labels)
    session.revise(7, Answer.UNSURE)
    session.undo()
    assert session.ask() == question
    assert np.array_equal(session.labels, labels)


@pytest.mark.slow
def test_the_same_seed_asks_the_same_questions():
    assert asked(50).queries_ == asked(50).queries_
    model = clone(Likewise(50, random_state=0, n_jobs=2)).fit(X, oracle=LabelOracle(Y))
    assert model.queries_ == asked(50).queries_


def test_known_links_are_respected_also_by_rows_nobody_asked_about():
    model = asked(20, must_link=[(0, 149)], cannot_link=[(3, 4), (4, 5), (3, 5)])
    for labels in (model.labels_, model.session_.labels):
        assert labels[0] == labels[149]
        assert len({*labels[3:6]}) == 3
    assert model.session_.progress.n_groups == model.session_.labels.max() + 1


def test_not_sure_is_not_asked_again_and_does_not_block():
    session = Likewise(random_state=0).start(X)
    pairs = set()
    for k in range(60):
        question = session.ask()
        assert question.pair not in pairs
        pairs.add(question.pair)
        same = Y[question.left] == Y[question.right]
        session.tell(Answer.UNSURE if k % 4 == 0 else Answer.SAME if same else Answer.DIFFERENT)
    assert adjusted_rand_score(Y, session.labels) > 0.65


def test_an_error_of_the_oracle_keeps_the_answers():
    def fails(i, j):
        if len(seen) == 5:
            raise OSError("gone")
        seen.append((i, j))
        return bool(Y[i] == Y[j])

    seen = []
    with pytest.raises(InterruptedFitError, match="question 6") as caught:
        Likewise(random_state=0).fit(X, oracle=fails)
    assert Likewise().adopt(caught.value.session).n_queries_ == 5


def test_wrong_answers_are_named_as_suspects():
    points, truth = make_blobs(200, centers=3, cluster_std=0.6, random_state=4)
    session = Likewise(error_rate=0.0, random_state=0).start(points)
    run(session, LabelOracle(truth), max_queries=60)
    assert Likewise().adopt(session).suspects_ == []
    asked_about = {row for event in session.events for row in event.pair}
    wrong = next(row for row in np.flatnonzero(truth == 0).tolist() if row not in asked_about)
    other = next(int(row) for row in session.strategy.examples()[0] if truth[row] == 1)
    session.give(wrong, other, Answer.SAME)
    suspect = Likewise().adopt(session).suspects_[0]
    assert suspect[:4] == (61, wrong, other, Answer.SAME)
    assert suspect.credibility < 0.5


def test_large_data_are_asked_about_by_cells(monkeypatch):
    points, truth = make_blobs(400, centers=3, cluster_std=0.6, random_state=4)
    monkeypatch.setattr("likewise.strategies.row_by_row.cells.MAX_CELLS", 100)
    model = Likewise(30, n_cells=60, random_state=0).fit(points, oracle=LabelOracle(truth))
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    assert isinstance(model.session_.strategy, RowByRow)


def test_it_pickles():
    model = pickle.loads(pickle.dumps(asked(20)))
    assert np.array_equal(model.predict(X[:9]), asked(20).predict(X[:9]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_queries": -1}, "max_queries"),
        ({"n_cells": 1}, "n_cells"),
        ({"error_rate": 0.4}, "error_rate"),
        ({"error_rate": "guess"}, "error_rate"),
        ({"n_cells": 2.5}, "n_cells"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(InputError, match=message):
        Likewise(**options).fit(X)


def test_sessions_of_others_are_refused():
    distances = np.abs(X[:, :1] - X[:, 0])
    with pytest.raises(InputError, match="closest-first"):
        Likewise().adopt(COBRA(5, metric="precomputed").start(distances))
    with pytest.raises(InputError, match="149 rows"):
        Likewise().adopt(asked(30).session_, X=X[1:])
