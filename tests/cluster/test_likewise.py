import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import COBRA, Answer, LabelOracle, Likewise, Session, run
from likewise.core.partition import singletons
from likewise.errors import InputError, InterruptedFitError
from likewise.strategies import ClosestFirst, MostDoubt

X, Y = load_iris(return_X_y=True)


def asked(max_queries=None, **options):
    return Likewise(max_queries, random_state=0).fit(X, oracle=LabelOracle(Y), **options)


# scikit-learn passes labels to every estimator.
@pytest.mark.filterwarnings("ignore::likewise.errors.UnusedLabelsWarning")
@parametrize_with_checks(
    [
        Likewise(),
        Likewise(max_queries=5, random_state=1),
        Likewise(questions="pairs", verbose=1),
    ],
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def test_the_names_of_the_contract():
    model = asked(40)
    assert model.n_clusters_ == len(set(model.labels_)) == 3
    assert model.n_queries_ == model.session_.n_asked == 40
    assert len(model.queries_) >= 40
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
    proba = model.predict_proba(X)
    assert proba.shape == (150, model.n_clusters_)
    assert np.allclose(proba.sum(axis=1), 1)
    assert np.mean(model.predict(X) == model.labels_) > 0.95


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


def test_it_pickles():
    model = pickle.loads(pickle.dumps(asked(20)))
    assert np.array_equal(model.predict(X[:9]), asked(20).predict(X[:9]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_queries": -1}, "max_queries"),
        ({"max_queries": 2.5}, "max_queries"),
        ({"questions": "both"}, "questions must be one of 'auto', 'choices', 'pairs', got 'both'"),
        ({"n_jobs": 0}, "n_jobs"),
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


class AlsoLearning(ClosestFirst):
    """COBRA's questions, and what `Likewise` learns from the answers."""

    name = "also-learning"

    def assess(self, answers):
        """As COBRA, and what was learned."""
        learned = MostDoubt.from_rows(X).assess(answers).learned
        return replace(super().assess(answers), learned=learned)


def test_it_becomes_the_estimator_of_any_strategy_that_learns():
    session = Session(AlsoLearning(singletons(X)), max_queries=40)
    model = Likewise().adopt(run(session, LabelOracle(Y)))
    assert adjusted_rand_score(Y, model.predict(X)) > adjusted_rand_score(Y, session.labels)


def test_asked_to_the_end_every_row_is_right():
    points, truth = make_blobs(60, centers=4, cluster_std=2.0, random_state=0)
    session = Likewise(random_state=0).start(points)
    session.extend()
    model = Likewise().adopt(run(session, LabelOracle(truth)))
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert not session.progress.has_more


@pytest.mark.parametrize("questions", ["choices", "pairs"])
def test_a_saved_session_goes_on_where_it_was(questions):
    session = Likewise(60, questions=questions, random_state=0).start(X)
    run(session, LabelOracle(Y), max_queries=31)
    loaded = Session.from_dict(session.to_dict())
    for _ in range(12):
        assert loaded.ask() == session.ask()
        for one in (session, loaded):
            run(one, LabelOracle(Y), max_queries=1)
    one, other = (Likewise().adopt(s, X=X) for s in (session, loaded))
    assert np.array_equal(one.labels_, other.labels_)


@pytest.mark.parametrize(("questions", "least"), [("choices", 0.8), ("pairs", 0.65)])
def test_a_row_that_nobody_is_sure_about_is_not_asked_about_again(questions, least):
    session = Likewise(60, questions=questions, random_state=0).start(X)
    unsure: set[int] = set()
    for k in range(60):
        question = session.ask()
        assert question.row not in unsure
        n_groups = session.n_groups
        if k % 4 == 0:
            session.skip()
            unsure.add(question.row)
            assert session.n_groups == n_groups, "not sure made a group"
        else:
            run(session, LabelOracle(Y), max_queries=1)
    assert session.progress.unsure == 15
    assert adjusted_rand_score(Y, session.labels) > least


def test_an_interrupted_fit_goes_on_with_what_is_left_of_the_budget():
    def fails(i, j):
        if len(seen) == 5:
            raise OSError("gone")
        seen.append((i, j))
        return bool(Y[i] == Y[j])

    seen: list[tuple[int, int]] = []
    with pytest.raises(InterruptedFitError, match="question 6") as caught:
        Likewise(12, random_state=0).fit(X, oracle=fails)
    session = run(caught.value.session, LabelOracle(Y))
    assert Likewise().adopt(session).n_queries_ == 12


def test_a_session_that_ends_at_its_budget_goes_on_when_it_is_extended():
    session = asked(20).session_
    assert session.ask() is None
    session.extend(10)
    assert run(session, LabelOracle(Y)).n_asked == 30


def test_without_an_oracle_the_groups_are_guessed_from_the_rows():
    blobs, truth = make_blobs(600, centers=4, cluster_std=0.4, random_state=3)
    model = Likewise(random_state=0).fit(blobs)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.n_clusters_ == 4
    assert model.n_queries_ == 0
    assert np.array_equal(model.predict(blobs), model.labels_)
    assert model.predict_proba(blobs).shape == (600, 4)
    # Nobody confirmed anything.
    assert model.completeness_ is None
    assert (model.doubts_ == 1.0).all()
    assert set(model.session_.labels) == {0}


def test_rows_that_are_all_equal_are_one_group_by_a_guess():
    model = Likewise().fit(np.ones((20, 2)))
    assert model.n_clusters_ == 1
    assert set(model.predict(np.ones((3, 2)))) == {0}


def test_the_guess_ends_with_the_first_link():
    blobs, _ = make_blobs(60, centers=4, cluster_std=0.4, random_state=3)
    model = Likewise(random_state=0).fit(blobs, must_link=[(0, 1)])
    assert np.array_equal(model.labels_, model.session_.labels)


def test_the_model_follows_its_session():
    model = asked(5)
    model.session_.extend(25)
    run(model.session_, LabelOracle(Y))
    longer = asked(30)
    assert model.n_queries_ == 30
    assert np.array_equal(model.labels_, longer.labels_)
    assert model.queries_ == longer.queries_
    assert np.array_equal(model.doubts_, longer.doubts_)
    assert np.array_equal(model.predict(X), longer.predict(X))
    model.session_.undo()
    assert model.n_queries_ == 29


def test_a_guess_becomes_what_answers_say():
    model = Likewise(random_state=0).fit(X)
    run(model.session_, LabelOracle(Y), max_queries=20)
    assert np.array_equal(model.labels_, model.session_.labels)
    assert model.n_clusters_ == model.session_.n_groups == 3


def test_warm_start_with_a_larger_budget_goes_on():
    model = Likewise(10, warm_start=True, random_state=0).fit(X, oracle=LabelOracle(Y))
    model.set_params(max_queries=25).fit(X, oracle=LabelOracle(Y))
    assert model.n_queries_ == 25
    assert model.queries_ == asked(25).queries_


def test_warm_start_without_a_budget_goes_on_until_it_is_enough():
    model = Likewise(10, warm_start=True, random_state=0).fit(X, oracle=LabelOracle(Y))
    model.set_params(max_queries=None).fit(X, oracle=LabelOracle(Y))
    assert model.n_queries_ == asked().n_queries_ > 10
    # A smaller budget is spent already.
    n_asked = model.n_queries_
    assert model.set_params(max_queries=5).fit(X, oracle=LabelOracle(Y)).n_queries_ == n_asked


def directions(seed=0):
    """Return rows of which only the direction tells the group, and the groups."""
    rng = np.random.default_rng(seed)
    y = np.arange(90) % 3
    rows = np.eye(3)[y] + rng.normal(0, 0.1, (90, 3))
    return rows * rng.uniform(0.01, 100, (90, 1)), y


def test_cosine_compares_directions():
    rows, y = directions()
    model = Likewise(12, metric="cosine", random_state=0).fit(rows, oracle=LabelOracle(y))
    assert adjusted_rand_score(y, model.labels_) == 1.0
    new, truth = directions(1)
    assert adjusted_rand_score(truth, model.predict(new)) == 1.0
    assert np.array_equal(model.predict(new * 7), model.predict(new))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    by_hand = Likewise(12, random_state=0).fit(unit, oracle=LabelOracle(y))
    assert by_hand.queries_ == model.queries_


def test_a_model_that_adopts_a_session_compares_as_the_session_does():
    rows, y = directions()
    model = Likewise(12, metric="cosine", random_state=0).fit(rows, oracle=LabelOracle(y))
    saved = Session.from_dict(model.session_.to_dict(), X=rows)
    assert np.array_equal(Likewise().adopt(saved).predict(rows * 5), model.predict(rows))


def test_rows_of_zeros_have_no_direction():
    rows, y = directions()
    rows[[4, 9]] = 0.0
    with pytest.raises(InputError, match=r"row 4 of X is all zeros \(2 such rows in all\)"):
        Likewise(5, metric="cosine").fit(rows, oracle=LabelOracle(y))
    model = Likewise(5, metric="cosine").fit(rows + 1.0, oracle=LabelOracle(y))
    with pytest.raises(InputError, match="row 4 of X is all zeros"):
        model.predict(rows)


def test_an_unknown_metric_is_refused():
    with pytest.raises(InputError, match="'euclidean', 'cosine', got 'l1'"):
        Likewise().set_params(metric="l1").fit(X)


@pytest.mark.parametrize("estimator", [Likewise(5), COBRA(5)])
def test_sparse_rows_are_refused_with_the_way_for_tf_idf(estimator):
    with pytest.raises(InputError, match=r"TruncatedSVD\(100\), (Likewise|COBRA)\(metric=.cosine"):
        estimator.fit(csr_matrix(X), oracle=LabelOracle(Y))


def test_the_way_for_tf_idf_works():
    texts = ["boat river fish", "car wheel brake", "river fish", "wheel brake", "boat", "car"] * 5
    model = Likewise(6, metric="cosine", random_state=0)
    steps = TfidfVectorizer(), TruncatedSVD(4, random_state=0), model
    pipeline = make_pipeline(*steps).fit(texts, likewise__oracle=LabelOracle([0, 1] * 15))
    assert adjusted_rand_score([0, 1] * 15, pipeline.predict(texts)) == 1.0


@pytest.mark.parametrize("estimator", [Likewise, COBRA])
def test_verbose_prints_a_line_per_ten_answers(estimator, capsys):
    estimator(max_queries=25, verbose=1, random_state=0).fit(X, oracle=LabelOracle(Y))
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert captured.out == ""
    assert [line.split(" ·")[0] for line in lines] == ["10 answers", "20 answers"]
    estimator(max_queries=25, random_state=0).fit(X, oracle=LabelOracle(Y))
    assert capsys.readouterr().err == ""


def test_verbose_must_be_a_number():
    with pytest.raises(InputError, match="verbose must be a whole number from 0, got 'yes'"):
        Likewise().set_params(verbose="yes").fit(X)


def test_what_was_learned_is_one_short_line():
    model = asked(20)
    assert repr(model.learned_) == "<Learned: 3 groups from 21 known rows>"
    assert len(repr(model.session_)) < 100


def test_a_warm_start_on_other_rows_begins_anew():
    model = Likewise(10, warm_start=True, random_state=0).fit(X, oracle=LabelOracle(Y))
    first = model.session_
    model.fit(X[::-1], oracle=LabelOracle(Y[::-1]))
    assert model.session_ is not first
    assert model.session_.n_asked == 10
    other = Likewise(10, random_state=0).fit(X[::-1], oracle=LabelOracle(Y[::-1]))
    assert np.array_equal(model.labels_, other.labels_)


def test_rows_are_predicted_by_the_metric_of_the_session():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 120)
    # Two directions; how far a row is from the origin says nothing.
    rows = np.array([[1.0, 0.2], [0.2, 1.0]])[labels] * rng.uniform(0.1, 30.0, (120, 1))
    rows += rng.normal(scale=0.01, size=rows.shape) * np.linalg.norm(rows, axis=1, keepdims=True)
    made = Likewise(15, metric="cosine", random_state=0).fit(
        rows[:60], oracle=LabelOracle(labels[:60])
    )
    adopted = Likewise().adopt(made.session_)
    assert np.array_equal(adopted.predict_proba(rows[60:]), made.predict_proba(rows[60:]))
    assert adjusted_rand_score(labels[60:], adopted.predict(rows[60:])) > 0.9
