"""What holds for every selection: as a list of links, and as a session."""

import itertools
import json
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from likewise import (
    NPU,
    Answer,
    BudgetedOracle,
    LabelOracle,
    MinMax,
    MPCKMeans,
    Random,
    Session,
    run,
)
from likewise.cluster.constraints import checked_links
from likewise.errors import (
    ContradictionError,
    InputError,
    InterruptedFitError,
)

K = 3


class Thirds:
    """A clusterer that costs nothing: thirds of the first feature."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def get_params(self, deep=True):
        return {"random_state": self.random_state}

    def set_params(self, **params):
        self.random_state = params.get("random_state", self.random_state)
        return self

    def fit(self, X, must_link, cannot_link):
        checked_links(len(X), must_link, cannot_link)
        self.labels_ = (np.argsort(np.argsort(X[:, 0])) * 3) // len(X)
        return self


SELECTORS = {
    "minmax": MinMax(K, random_state=0),
    "minmax-asking-all": MinMax(K, infer_last=False, random_state=0),
    "npu": NPU(K, clusterer=Thirds(), random_state=0),
    "npu-inferring": NPU(K, clusterer=Thirds(), infer_last=True, random_state=0),
    "random": Random(random_state=0),
}


@pytest.fixture(params=list(SELECTORS))
def selector(request):
    return clone(SELECTORS[request.param])


def data(seed, n=14):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    return rng.normal(size=(n, 2)) + 2 * y[:, None], y


def answers_from(seed, n, unsure=0.25):
    rng = np.random.default_rng(seed)
    kinds = [Answer.SAME, Answer.DIFFERENT, Answer.UNSURE]
    return [kinds[i] for i in rng.choice(3, n, p=[0.4, 0.6 - unsure, unsure])]


def visible(session):
    return (
        session.ask(),
        session.progress,
        session.events,
        session.labels.tolist(),
        session.labels_guess.tolist(),
        session.open_pairs,
        session.links.closure(),
    )


@pytest.mark.parametrize("seed", range(3))
def test_all_questions_answered_settle_all_pairs_of_rows(selector, seed):
    X, y = data(seed)
    must, cannot = selector.select(X, oracle=LabelOracle(y))
    assert all(y[i] == y[j] for i, j in must)
    assert all(y[i] != y[j] for i, j in cannot)
    if len(set(y)) == K:
        assert len(must) + len(cannot) == len(y) * (len(y) - 1) // 2


@pytest.mark.parametrize("budget", [0, 1, 2, 3, 5, 8, 13])
def test_a_budget_is_never_exceeded_and_no_answer_is_lost(selector, budget):
    X, y = data(1)
    selector.set_params(max_queries=budget)
    must, cannot = selector.select(X, oracle=LabelOracle(y))
    assert selector.n_queries_ == len(selector.queries_) == budget
    known = checked_links(len(X), must, cannot)
    for left, right, answer in selector.queries_:
        assert known.implied(left, right) is answer


@pytest.mark.slow
def test_a_budget_of_the_oracle_ends_it_as_well(selector):
    X, y = data(1)
    selector.select(X, oracle=BudgetedOracle(LabelOracle(y), 4))
    assert selector.n_queries_ == 4


def test_a_smaller_budget_asks_the_first_questions_of_a_larger_one(selector):
    X, y = data(2)
    selector.set_params(max_queries=10).select(X, oracle=LabelOracle(y))
    longer = selector.queries_
    selector.set_params(max_queries=6).select(X, oracle=LabelOracle(y))
    assert longer[:6] == selector.queries_


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minmax", "npu", "random"])
def test_a_saved_session_goes_on_where_it_was(name):
    X, _ = data(0)
    selector = clone(SELECTORS[name]).set_params(max_queries=40)
    if name == "npu":
        selector.set_params(clusterer=MPCKMeans(K))
    session = selector.start(X, train_indices=range(10))
    for answer in answers_from(5, 9):
        session.tell(answer)
    session.undo()
    plain = json.loads(json.dumps(session.to_dict()))
    again = Session.from_dict(plain, X=X, digest=session.digest)
    assert again == session
    assert visible(again) == visible(session)
    for answer in answers_from(6, 20):
        if session.ask() is None:
            break
        session.tell(answer)
        again.tell(answer)
        assert again.ask() == session.ask()
    assert visible(Session.from_dict(plain)) == visible(Session.from_dict(plain, X=X))


def test_a_session_whose_budget_is_spent_can_be_extended(selector):
    X, y = data(1, n=30)
    oracle = LabelOracle(y)
    session = run(selector.set_params(max_queries=4).start(X), oracle)
    assert (session.n_asked, session.ask()) == (4, None)
    strategy: Any = session.strategy
    before = session.labels.tolist(), strategy.run(session.answers).known().closure()
    assert session.progress.has_more
    assert (session.labels.tolist(), strategy.run(session.answers).known().closure()) == before
    session.extend(3)
    assert run(session, oracle).n_asked == 7


def test_a_session_with_a_clusterer_from_elsewhere_cannot_be_saved():
    with pytest.raises(InputError, match="with the clusterer Thirds cannot be saved"):
        SELECTORS["npu"].start(data(0)[0]).to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_answers_given_in_between_are_used_and_never_break_anything(selector, seed):
    X, y = data(seed)
    rng = np.random.default_rng(seed)
    session = selector.start(X)
    oracle = LabelOracle(y)
    while (query := session.ask()) is not None:
        left, right = rng.choice(len(X), 2, replace=False).tolist()
        same = Answer.SAME if y[left] == y[right] else Answer.DIFFERENT
        session.add_link(left, right, same)
        if (query := session.ask()) is None:
            break
        assert session.links.implied(query.left, query.right) is None
        session.tell(oracle.answer(query))
    for given in session.links:
        assert (session.labels[given.left] == session.labels[given.right]) == (
            given.answer is Answer.SAME
        )


def test_links_known_beforehand_are_not_asked_and_not_counted(selector):
    X, y = data(1)
    must = [(i, j) for i, j in itertools.combinations(range(14), 2) if y[i] == y[j]]
    cannot = [(i, j) for i, j in itertools.combinations(range(14), 2) if y[i] != y[j]]
    found = selector.select(X, oracle=LabelOracle(y), must_link=must, cannot_link=cannot[:-1])
    assert selector.n_queries_ <= 1
    assert found == (must, cannot)
    with pytest.raises(ContradictionError):
        selector.start(X, must_link=[(0, 1)], cannot_link=[(1, 0)])


def test_if_the_oracle_is_never_sure_it_ends_with_no_links(selector):
    X, _ = data(0, n=8)
    assert selector.select(X, oracle=lambda i, j: "unsure") == ([], [])
    assert len({tuple(sorted(q[:2])) for q in selector.queries_}) == selector.n_queries_ > 0
    assert selector.session_.is_done
    assert selector.session_.open_pairs


def test_an_oracle_that_fails_leaves_the_answers_so_far(selector):
    X, y = data(0)

    def failing(i, j):
        if len(seen) == 3:
            raise OSError("gone home")
        seen.append((i, j))
        return bool(y[i] == y[j])

    seen = []
    with pytest.raises(InterruptedFitError, match="question 4: OSError: gone home") as caught:
        selector.select(X, oracle=failing)
    assert len(caught.value.session.events) == 3


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_rows_are_no_trouble(selector, n):
    X = np.arange(n, dtype=float)[:, None]
    must, cannot = selector.select(X, oracle=lambda i, j: True)
    assert (must, cannot) == ([(0, 1)] if n == 2 else [], [])


def test_identical_rows_are_no_trouble(selector):
    must, _ = selector.select(np.ones((6, 2)), oracle=lambda i, j: True)
    assert len(must) == 15


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_queries": -1}, "max_queries must be None or a whole number from 0, got -1"),
        ({"max_queries": 2.5}, "max_queries must be"),
        ({"n_clusters": 0}, "n_clusters must be an integer of at least 1; got 0"),
    ],
)
def test_bad_parameters_are_named(params, message):
    selector = MinMax(**{"n_clusters": 3, **params})
    with pytest.raises(InputError, match=message):
        selector.select(data(0)[0], oracle=lambda i, j: True)


@pytest.mark.parametrize("train", [[], [0, 99], [0.5]])
def test_bad_train_indices_are_refused(selector, train):
    with pytest.raises(InputError, match="train_indices"):
        selector.start(data(0)[0], train_indices=train)
