import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import adjusted_rand_score

from likewise import NPU, Answer, LabelOracle, MPCKMeans
from likewise.lab.selection.npu import (
    MostInformative,
    neighborhood_chances,
    shared_leaves,
    uncertainty_per_question,
)


@pytest.mark.slow
def test_chances_are_mean_shares_of_trees_with_a_common_leaf():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    forest = RandomForestClassifier(50, random_state=0).fit(X, X[:, 0] > 0)
    leaves = forest.apply(X)
    shared = (leaves[:, None] == leaves[None]).mean(axis=-1)
    neighborhoods = [[0, 5, 7], [1], [2, 3]]
    rows = np.arange(10, 40)
    expected = np.column_stack([shared[rows][:, n].mean(axis=1) for n in neighborhoods])
    expected /= expected.sum(axis=1, keepdims=True)
    assert neighborhood_chances(leaves, rows, neighborhoods) == pytest.approx(expected)


@pytest.mark.slow
def test_a_row_unlike_all_neighborhoods_may_belong_to_any():
    leaves = np.array([[0, 0], [1, 1], [2, 2]])
    chances = neighborhood_chances(leaves, np.array([2]), [[0], [1]])
    assert chances.tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("seed", range(3))
def test_the_expected_number_of_questions_is_counted_from_the_likeliest_on(seed):
    p = np.random.default_rng(seed).dirichlet([1, 1, 1, 1])
    entropy = -sum(x * np.log2(x) for x in p)
    expected = sum(i * x for i, x in enumerate(sorted(p, reverse=True), start=1))
    assert uncertainty_per_question(p[None])[0] == pytest.approx(entropy / expected)
    # Which neighborhood comes first in the list does not matter.
    assert uncertainty_per_question(p[None, ::-1])[0] == pytest.approx(entropy / expected)


def test_impossible_neighborhoods_add_nothing():
    two = uncertainty_per_question(np.array([[0.3, 0.7]]))
    more = uncertainty_per_question(np.array([[0.3, 0.0, 0.7, 0.0]]))
    assert two == pytest.approx(more)
    assert uncertainty_per_question(np.array([[1.0, 0.0]])).tolist() == [0.0]


class Counting(MPCKMeans):
    fits = 0

    def fit(self, X, y=None, *, must_link=(), cannot_link=()):
        type(self).fits += 1
        return super().fit(X, y, must_link=must_link, cannot_link=cannot_link)


def test_with_one_neighborhood_the_row_is_random_and_nothing_is_clustered():
    X, _ = load_iris(return_X_y=True)
    Counting.fits = 0
    session = NPU(3, clusterer=Counting(3), random_state=0).start(X)
    seeds = {NPU(3, random_state=s).start(X).ask().left for s in range(10)}
    assert len(seeds) > 5
    for _ in range(4):
        session.tell(Answer.SAME)
    assert Counting.fits == 0


@pytest.mark.slow
def test_it_clusters_once_per_row_and_not_per_question():
    X, y = load_iris(return_X_y=True)
    Counting.fits = 0
    selector = NPU(3, max_queries=20, clusterer=Counting(3), random_state=0)
    selector.select(X, oracle=LabelOracle(y))
    rows = {left for left, _, _ in selector.queries_}
    assert Counting.fits <= len(rows)
    before = Counting.fits
    for _ in range(10):
        selector.session_.undo()
    for _ in range(10):
        selector.session_.redo()
    assert Counting.fits == before


@pytest.mark.slow
def test_the_most_uncertain_row_per_question_is_chosen_and_the_likeliest_neighborhood_first():
    X, y = load_iris(return_X_y=True)
    train = np.arange(0, 150, 2)
    session = NPU(3, clusterer=MPCKMeans(3), random_state=3).start(X, train_indices=train)
    oracle = LabelOracle(y)
    current = None
    for _ in range(25):
        question = session.ask()
        assert question is not None
        strategy = session.strategy
        assert isinstance(strategy, MostInformative)
        strategy = strategy.run(session.answers)
        if question.left != current and len(strategy.neighborhoods) > 1:
            current = question.left
            assigned = {row for n in strategy.neighborhoods for row in n}
            assert current not in assigned
            free = np.array([row for row in train if row not in assigned])
            assert strategy._leaves is not None
            chances = neighborhood_chances(strategy._leaves, free, strategy.neighborhoods)
            score = uncertainty_per_question(chances)
            at = int(np.flatnonzero(free == current)[0])
            assert score[at] == score.max()
            likeliest = chances[at] == chances[at].max()
            owner = [question.right in n for n in strategy.neighborhoods].index(True)
            assert likeliest[owner]
        session.tell(oracle.answer(question))


@pytest.mark.slow
def test_there_may_be_more_neighborhoods_than_clusters():
    X = np.arange(8, dtype=float)[:, None]
    session = NPU(2, random_state=0).start(X)
    while session.ask() is not None:
        session.tell(Answer.DIFFERENT)
    assert isinstance(session.strategy, MostInformative)
    assert len(session.strategy.run(session.answers).neighborhoods) == 8


@pytest.mark.slow
def test_it_helps_mpckmeans_on_iris():
    X, y = load_iris(return_X_y=True)
    selector = NPU(3, max_queries=40, clusterer=MPCKMeans(3), random_state=0)
    must, cannot = selector.select(X, oracle=LabelOracle(y))
    model = MPCKMeans(3, random_state=0).fit(X, must_link=must, cannot_link=cannot)
    assert adjusted_rand_score(y, model.labels_) > 0.85


@pytest.mark.slow
def test_similarities_end_in_the_bits_of_a_loop():
    rng = np.random.default_rng(0)
    leaves = rng.integers(0, 9, (60, 7))
    owner = np.repeat(np.arange(3), 4)
    arguments = leaves, np.arange(40), rng.permutation(60)[:12], owner, 1 / np.array([3.0, 4, 7])
    _, rows, members, _, share = arguments
    similarity = np.zeros((40, 3))
    for tree in leaves.T:
        in_leaf = np.zeros((9, 3))
        for member, k in zip(members, owner, strict=True):
            in_leaf[tree[member], k] += share[k]
        similarity += in_leaf[tree[rows]]
    assert np.array_equal(shared_leaves(*arguments), similarity)
