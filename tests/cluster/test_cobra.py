import pickle
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import COBRA, Answer, LabelOracle, Session, run
from likewise.cluster.cobra import learned_labels
from likewise.core.links import LinkGraph
from likewise.core.partition import singletons
from likewise.errors import ContradictionError, InputError, InterruptedFitError
from likewise.learning.learner import Learner
from likewise.strategies import ClosestFirst

X, Y = load_iris(return_X_y=True)


def literal_cobra(distances, answer):
    """Return the queries of the paper's Algorithm 1 and the clusters it ends with.

    Slow and to the letter. Ties between cluster pairs are broken by the smaller, then the larger
    representative.
    """
    clusters = [[i] for i in range(len(distances))]
    cannot_link = set()
    queries = []
    is_merged = True
    while is_merged:
        candidates = []
        for one, other in combinations(range(len(clusters)), 2):
            cross = [(min(a, b), max(a, b)) for a in clusters[one] for b in clusters[other]]
            if not any(pair in cannot_link for pair in cross):
                closest = min(cross, key=lambda pair: (distances[pair], *pair))
                candidates.append((distances[closest], closest, one, other))
        is_merged = False
        for _, pair, one, other in sorted(candidates):
            queries.append(pair)
            if answer(*pair):
                clusters[one] += clusters.pop(other)
                is_merged = True
                break
            cannot_link.add(pair)
    return queries, sorted(sorted(c) for c in clusters)


@pytest.mark.parametrize("has_ties", [False, True])
@pytest.mark.parametrize("is_truthful", [False, True])
def test_one_pass_asks_what_the_literal_algorithm_asks(has_ties, is_truthful):
    for seed in range(100):
        rng = np.random.default_rng([seed, has_ties, is_truthful])
        n = int(rng.integers(2, 10))
        points = rng.integers(0, 4, (n, 2)).astype(float) if has_ties else rng.normal(size=(n, 2))
        truth = rng.integers(0, 3, n)
        answers = {pair: bool(rng.integers(2)) for pair in combinations(range(n), 2)}

        def answer(i, j, truth=truth, answers=answers):
            return bool(truth[i] == truth[j]) if is_truthful else answers[i, j]

        queries, clusters = literal_cobra(pairwise_distances(points), answer)
        session = run(Session(ClosestFirst(singletons(points))), answer)
        assert [event.pair for event in session.events] == queries
        labels = session.labels
        assert sorted(np.flatnonzero(labels == k).tolist() for k in set(labels)) == clusters


@pytest.mark.parametrize(
    ("truth", "asked"),
    [([0, 1, 0, 1], [(0, 1), (0, 2), (1, 3)]), ([0, 0, 1, 1], [(0, 1), (0, 2), (1, 3), (2, 3)])],
)
def test_on_a_square_the_order_of_ties_decides_between_three_questions_and_four(truth, asked):
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    session = run(Session(ClosestFirst(singletons(square))), LabelOracle(truth))
    assert [event.pair for event in session.events] == asked


@pytest.mark.parametrize("n_super_instances", [10, 25, 60])
def test_links_and_groups_fit_together(n_super_instances):
    model = COBRA(n_super_instances, random_state=0).fit(X, oracle=LabelOracle(Y))
    n_same = sum(answer is Answer.SAME for _, _, answer in model.queries_)
    groups = model.n_clusters_
    assert n_same == len(model.representatives_) - groups
    assert model.n_queries_ - n_same >= groups * (groups - 1) // 2


# scikit-learn passes labels to every estimator.
@pytest.mark.filterwarnings("ignore::likewise.errors.UnusedLabelsWarning")
@parametrize_with_checks(
    [
        COBRA(),
        COBRA(metric="cosine"),
        COBRA(labels="learned", random_state=1),
    ]
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def test_the_names_of_the_contract():
    model = COBRA(n_super_instances=25, random_state=0).fit(X, oracle=LabelOracle(Y))
    assert model.n_clusters_ == len(set(model.labels_))
    assert model.n_queries_ == len(model.queries_)
    left, right, answer = model.queries_[0]
    assert isinstance(answer, Answer)
    assert {left, right} <= set(model.representatives_.tolist())
    assert model.super_instances_.shape == (150,)
    assert np.array_equal(model.super_instances_[model.representatives_], np.arange(25))
    assert adjusted_rand_score(Y, model.labels_) > 0.8


def test_predicting_the_rows_of_the_fit_gives_their_labels():
    model = COBRA(25, random_state=0).fit(X, oracle=LabelOracle(Y))
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(
        COBRA(25, random_state=0).fit_predict(X, oracle=LabelOracle(Y)), model.labels_
    )


def test_start_and_tell_by_hand_is_fit():
    session = COBRA(25, random_state=0).start(X)
    while (question := session.ask()) is not None:
        same = Y[question.left] == Y[question.right]
        session.tell(Answer.SAME if same else Answer.DIFFERENT)
    fitted = COBRA(25, random_state=0).fit(X, oracle=LabelOracle(Y))
    adopted = COBRA().adopt(session)
    assert np.array_equal(adopted.labels_, fitted.labels_)
    assert adopted.queries_ == fitted.queries_
    assert np.array_equal(adopted.predict(X[:5]), fitted.predict(X[:5]))


@pytest.mark.parametrize("max_queries", [0, 1, 7, 20, 1000])
def test_max_queries_stops_cleanly_at_any_number(max_queries):
    model = COBRA(25, max_queries=max_queries, random_state=0).fit(X, oracle=LabelOracle(Y))
    assert model.n_queries_ == min(max_queries, 26)
    assert sorted(set(model.labels_)) == list(range(model.n_clusters_))
    assert COBRA().adopt(model.session_).n_queries_ == model.n_queries_


def test_what_is_undecided_can_be_guessed():
    apart = COBRA(25, max_queries=12, random_state=0).fit(X, oracle=LabelOracle(Y))
    guessed = clone(apart).set_params(incomplete="guess").fit(X, oracle=LabelOracle(Y))
    assert guessed.n_clusters_ < apart.n_clusters_
    assert adjusted_rand_score(Y, guessed.labels_) > adjusted_rand_score(Y, apart.labels_)


def test_without_an_oracle_it_guesses_with_no_question():
    blobs, truth = make_blobs(300, centers=4, cluster_std=0.5, random_state=3)
    model = COBRA(random_state=0).fit(blobs)
    assert model.n_queries_ == 0
    assert adjusted_rand_score(truth, model.labels_) > 0.9


@pytest.mark.parametrize(
    "kind",
    ["list", "float32", "fortran", "pandas", "polars", "memory-mapped", "integers"],
)
def test_any_kind_of_table_gives_the_same_clusters(kind, tmp_path):
    data = np.round(X * 10)
    expected = COBRA(20, random_state=0).fit(data, oracle=LabelOracle(Y))
    if kind == "memory-mapped":
        np.save(tmp_path / "x.npy", data)
    other = {
        "list": data.tolist,
        "float32": lambda: data.astype(np.float32),
        "fortran": lambda: np.asfortranarray(data),
        "pandas": lambda: pd.DataFrame(data, columns=list("abcd")),
        "polars": lambda: pl.DataFrame(data, schema=list("abcd")),
        "memory-mapped": lambda: np.load(tmp_path / "x.npy", mmap_mode="r"),
        "integers": lambda: data.astype(int),
    }[kind]()
    model = COBRA(20, random_state=0).fit(other, oracle=LabelOracle(Y))
    assert np.array_equal(model.labels_, expected.labels_)
    assert model.queries_ == expected.queries_
    if kind in ("pandas", "polars"):
        assert model.feature_names_in_.tolist() == list("abcd")


@pytest.mark.slow
def test_the_number_of_jobs_changes_nothing():
    blobs, truth = make_blobs(3000, centers=6, random_state=1)
    models = [
        COBRA(30, n_jobs=n_jobs, random_state=0).fit(blobs, oracle=LabelOracle(truth))
        for n_jobs in (None, 1, 2)
    ]
    for model in models[1:]:
        assert np.array_equal(model.super_instances_, models[0].super_instances_)
        assert model.queries_ == models[0].queries_
        assert np.array_equal(model.labels_, models[0].labels_)


def test_it_clones_and_pickles():
    model = COBRA(15, random_state=0).fit(X, oracle=LabelOracle(Y), sample_ids=range(150))
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(X), model.predict(X))
    assert copy.session_ == model.session_
    assert clone(model).get_params() == model.get_params()


def test_it_works_in_a_pipeline_with_and_without_metadata_routing():
    plain = make_pipeline(MinMaxScaler(), COBRA(20, random_state=0))
    labels = plain.fit(X, cobra__oracle=LabelOracle(Y))[-1].labels_
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(
            MinMaxScaler(), COBRA(20, random_state=0).set_fit_request(oracle=True)
        )
        assert np.array_equal(routed.fit(X, oracle=LabelOracle(Y))[-1].labels_, labels)


def test_an_oracle_by_sample_id_outlives_the_slicing_of_cross_validation():
    ids = np.array([f"flower {i}" for i in range(150)])
    oracle = LabelOracle(dict(zip(ids.tolist(), Y, strict=True)))
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            COBRA(random_state=0).set_fit_request(oracle=True, sample_ids=True),
            {"n_super_instances": [5, 30]},
            scoring="adjusted_rand_score",
            cv=KFold(3, shuffle=True, random_state=0),
        )
        search.fit(X, Y, oracle=oracle, sample_ids=ids)
    assert search.best_params_ == {"n_super_instances": 30}
    assert search.best_score_ > 0.75


def test_only_training_rows_are_shown_and_every_row_gets_a_label():
    train = np.random.default_rng(0).choice(150, 40, replace=False)
    model = COBRA(40, random_state=0).fit(X, oracle=LabelOracle(Y), train_indices=train)
    asked = {row for left, right, _ in model.queries_ for row in (left, right)}
    assert asked <= set(train.tolist())
    assert set(model.representatives_.tolist()) <= set(train.tolist())
    assert len(model.representatives_) < 40
    assert model.labels_.shape == (150,)
    mask = np.isin(np.arange(150), train)
    same = COBRA(40, random_state=0).fit(X, oracle=LabelOracle(Y), train_indices=mask)
    assert np.array_equal(same.labels_, model.labels_)


def test_a_super_instance_without_a_training_row_joins_the_nearest():
    rows = np.array([[0.0], [0.1], [5.0], [9.0], [9.1]])
    model = COBRA(3, random_state=0).fit(
        rows, oracle=LabelOracle([0, 0, 1, 1, 1]), train_indices=[0, 3]
    )
    assert model.representatives_.tolist() == [0, 3]
    assert model.super_instances_.tolist() == [0, 0, 1, 1, 1]
    assert model.predict([[5.1]]).tolist() == [1]


@pytest.mark.parametrize(
    ("train", "words"),
    [
        ([], "empty"),
        ([0, 150], "has 150, but the data has rows 0 to 149"),
        ([-1], "has -1"),
        ([0.5], "row numbers"),
    ],
)
def test_bad_train_indices_are_refused(train, words):
    with pytest.raises(InputError, match=words):
        COBRA(5).fit(X, train_indices=train)


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "chebyshev", "correlation"])
def test_any_metric_by_name_equals_its_precomputed_distances(metric):
    by_name = COBRA(20, metric=metric).fit(X, oracle=LabelOracle(Y))
    distances = pairwise_distances(X, metric=metric)
    precomputed = COBRA(20, metric="precomputed").fit(distances, oracle=LabelOracle(Y))
    assert np.array_equal(by_name.super_instances_, precomputed.super_instances_)
    assert adjusted_rand_score(by_name.labels_, precomputed.labels_) == 1
    assert np.array_equal(by_name.predict(X), precomputed.predict(distances))


@pytest.mark.parametrize(
    ("distances", "words"),
    [
        (np.zeros((3, 2)), "square"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "negative"),
    ],
)
def test_bad_precomputed_distances_are_refused(distances, words):
    with pytest.raises(InputError, match=words):
        COBRA(2, metric="precomputed").fit(distances)


def test_an_unknown_metric_is_named():
    with pytest.raises(InputError, match="'crow flies'"):
        COBRA(5, metric="crow flies").fit(X)


def test_pairs_known_beforehand_are_not_asked_and_contradictions_are_refused():
    model = COBRA(25, random_state=0)
    free = model.fit(X, oracle=LabelOracle(Y))
    known = [(i, j) for i, j, answer in free.queries_ if answer is Answer.SAME]
    n_queries = free.n_queries_
    again = clone(model).fit(X, oracle=LabelOracle(Y), must_link=known)
    assert again.n_queries_ <= n_queries - len(known)
    assert np.array_equal(again.labels_, free.labels_)
    with pytest.raises(ContradictionError, match="contradicts earlier answers"):
        clone(model).fit(X, must_link=[(0, 1)], cannot_link=[(1, 0)])


def test_an_error_in_the_oracle_loses_no_answer():
    def tired(i, j):
        if len(asked) == 10:
            raise RuntimeError("coffee break")
        asked.append((i, j))
        return bool(Y[i] == Y[j])

    asked: list[tuple[int, int]] = []
    model = COBRA(25, random_state=0)
    with pytest.raises(
        InterruptedFitError, match=r"question 11: RuntimeError: coffee break"
    ) as raised:
        model.fit(X, oracle=tired)
    session = raised.value.session
    assert [(e.left, e.right) for e in session.events] == asked
    finished = COBRA().adopt(run(session, LabelOracle(Y)))
    whole = COBRA(25, random_state=0).fit(X, oracle=LabelOracle(Y))
    assert finished.queries_ == whole.queries_


def test_a_wrong_return_loses_no_answer_either():
    answers = iter([True, False, "maybe"])
    model = COBRA(25, random_state=0)
    with pytest.raises(InterruptedFitError, match="'maybe'"):
        model.fit(X, oracle=lambda i, j: next(answers))
    assert len(model.session_.events) == 2


def test_a_keyboard_interrupt_passes_through_and_leaves_the_session():
    def leave(i, j):
        raise KeyboardInterrupt

    model = COBRA(25, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, oracle=leave)
    assert model.session_.ask() is not None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([[0.0], [np.nan]], "NaN"),
        ([[0.0], [np.inf]], "infinite value"),
        (np.empty((0, 2)), "0 sample"),
        ([["a"], ["b"]], "'a', not a number"),
        ([1.0, 2.0], "1D array"),
    ],
)
def test_data_that_cannot_be_used_are_refused(data, words):
    with pytest.raises(ValueError, match=words):
        COBRA(2).fit(data, oracle=LabelOracle([0, 1]))


def test_sparse_data_are_refused_by_name():
    from scipy.sparse import csr_array

    rows: Any = csr_array(np.eye(4))
    with pytest.raises(InputError, match="TruncatedSVD"):
        COBRA(2).fit(rows)


@pytest.mark.parametrize("n", [0, -3, 2.5, "many", None, True])
def test_an_impossible_number_of_super_instances_is_refused(n):
    with pytest.raises(InputError, match="n_super_instances must be"):
        COBRA(n).fit(X)


@pytest.mark.parametrize("name", ["incomplete", "labels"])
def test_an_unknown_choice_is_refused(name):
    wrong: dict[str, Any] = {name: "other"}
    with pytest.raises(InputError, match=f"{name} must be one of"):
        COBRA(**wrong).fit(X)


@pytest.mark.parametrize("budget", [-1, 2.5, "a few"])
def test_an_impossible_budget_is_refused(budget):
    with pytest.raises(InputError, match="max_queries"):
        COBRA(max_queries=budget).fit(X)


@pytest.mark.parametrize("n", [1, 2, 149, 150, 151, 10_000])
def test_any_number_of_super_instances_up_to_and_beyond_the_rows_works(n):
    model = COBRA(n, random_state=0).fit(X, oracle=LabelOracle(Y))
    # Iris has 150 rows, 149 of them distinct.
    assert len(model.representatives_) == min(n, 149)
    if n >= 149:
        assert adjusted_rand_score(Y, model.labels_) == 1


def test_one_row_is_one_group_and_no_question():
    model = COBRA(5).fit([[1.0, 2.0]], oracle=LabelOracle([0]))
    assert (model.labels_.tolist(), model.n_queries_) == ([0], 0)


def test_all_rows_equal_are_one_group_and_no_question():
    model = COBRA(5).fit(np.ones((20, 3)), oracle=LabelOracle(range(20)))
    assert (set(model.labels_), model.n_queries_) == ({0}, 0)


def test_constant_columns_change_nothing():
    padded = np.column_stack([X, np.full(150, 7.0)])
    one = COBRA(20, random_state=0).fit(X, oracle=LabelOracle(Y))
    other = COBRA(20, random_state=0).fit(padded, oracle=LabelOracle(Y))
    assert np.array_equal(one.labels_, other.labels_)


def test_rows_permuted_labels_permuted():
    rng = np.random.default_rng(5)
    points = rng.normal(size=(40, 3))
    truth = rng.integers(0, 4, 40)
    order = rng.permutation(40)
    straight = run(Session(ClosestFirst(singletons(points))), LabelOracle(truth))
    permuted = run(Session(ClosestFirst(singletons(points[order]))), LabelOracle(truth[order]))
    assert len(straight.events) == len(permuted.events)
    assert adjusted_rand_score(straight.labels[order], permuted.labels) == 1
    pairs = [{order[e.left], order[e.right]} for e in permuted.events]
    assert pairs == [{e.left, e.right} for e in straight.events]


def test_what_is_learned_never_moves_a_representative():
    # Of these two groups, one lies inside the other: by its neighbors, the last row is in group 0.
    rows = np.array([[0.0], [1.0], [2.0], [3.0], [9.0], [1.5]])
    groups = np.array([0, 0, 0, 0, 1, 1])
    learned = Learner(rows).learn(np.arange(6), groups)
    assert learned.predict_proba(rows)[5].argmax() == 0
    assert learned_labels(learned, rows, LinkGraph(6)).tolist() == groups.tolist()
    # Nor do other rows that differ from one, also if they are more.
    links, rows = LinkGraph(8), np.concatenate([rows, [[-0.5], [-0.4]]])
    links.add(6, 7, Answer.SAME)
    links.add(6, 0, Answer.DIFFERENT)
    labels = learned_labels(learned, rows, links).tolist()
    assert labels[:6] == groups.tolist()
    assert labels[6] == labels[7] == 1


def test_is_guess_overrides_the_parameter_in_both_directions():
    session = COBRA(20, max_queries=3, random_state=0).fit(X, oracle=LabelOracle(Y)).session_
    assert not np.array_equal(session.labels, session.labels_guess)
    for incomplete in ("separate", "guess"):
        model = COBRA(20, incomplete=incomplete)
        default = session.labels_guess if incomplete == "guess" else session.labels
        assert np.array_equal(model.adopt(session).labels_, default)
        assert np.array_equal(model.adopt(session, is_guess=False).labels_, session.labels)
        assert np.array_equal(model.adopt(session, is_guess=True).labels_, session.labels_guess)
