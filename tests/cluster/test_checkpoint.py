"""Answers on disk as they come, and a fit that goes on from them."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from likewise import COBRA, LabelOracle, Likewise
from likewise.errors import InputError, InterruptedFitError, SessionFileError

X, Y = load_iris(return_X_y=True)


class Crashing:
    """Answers by labels, and fails after some answers."""

    def __init__(self, n):
        self.n_left = n
        self.oracle = LabelOracle(Y)

    def answer(self, question):
        if not self.n_left:
            raise RuntimeError("the power is gone")
        self.n_left -= 1
        return self.oracle.answer(question)


def lines(path):
    return path.read_text().splitlines()


@pytest.mark.parametrize(
    "estimator",
    [Likewise(20, random_state=0), Likewise(20), COBRA(15), COBRA(15, labels="learned")],
)
def test_a_fit_goes_on_where_it_was_interrupted(estimator, tmp_path):
    path = tmp_path / "iris.jsonl"
    with pytest.raises(InterruptedFitError):
        estimator.fit(X, oracle=Crashing(7), checkpoint=path)
    earlier = estimator.session_.events
    assert len(earlier) == 7
    assert len(lines(path)) == 8
    counted = Crashing(1000)
    estimator.fit(X, oracle=counted, checkpoint=path)
    assert estimator.session_.events[:7] == earlier
    assert estimator.n_queries_ == 7 + 1000 - counted.n_left
    assert len(lines(path)) == 1 + estimator.n_queries_


def test_the_groups_are_those_of_one_fit(tmp_path):
    model = Likewise(30, random_state=0)
    with pytest.raises(InterruptedFitError):
        model.fit(X, oracle=Crashing(11), checkpoint=tmp_path / "a")
    model.fit(X, oracle=Crashing(100), checkpoint=tmp_path / "a")
    whole = Likewise(30, random_state=0).fit(X, oracle=Crashing(100))
    assert np.array_equal(model.labels_, whole.labels_)
    assert model.queries_ == whole.queries_


def test_a_finished_fit_asks_nothing_and_a_larger_budget_goes_on(tmp_path):
    path = tmp_path / "a"
    Likewise(10, random_state=0).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    assert Likewise(10).fit(X, oracle=Crashing(0), checkpoint=path).n_queries_ == 10
    assert Likewise(15).fit(X, oracle=LabelOracle(Y), checkpoint=path).n_queries_ == 15
    assert len(lines(path)) == 16


def test_links_given_beforehand_are_kept(tmp_path):
    path = tmp_path / "a"
    Likewise(3).fit(X, oracle=LabelOracle(Y), checkpoint=path, cannot_link=[(0, 100)])
    model = Likewise(6).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    assert model.session_.events[0].source == "given"
    assert model.n_queries_ == 6


@pytest.mark.parametrize("other", [X[::-1], X[:100], X[:, :3], X + 1.0])
def test_other_rows_are_refused(tmp_path, other):
    Likewise(3).fit(X, oracle=LabelOracle(Y), checkpoint=tmp_path / "a")
    with pytest.raises(SessionFileError, match=r"a cannot be continued: .* other data"):
        Likewise(5).fit(other, oracle=LabelOracle(Y[: len(other)]), checkpoint=tmp_path / "a")


def test_another_estimator_is_refused(tmp_path):
    COBRA(5).fit(X, oracle=LabelOracle(Y), checkpoint=tmp_path / "a")
    with pytest.raises(InputError, match="checkpoint of a COBRA, not of a Likewise"):
        Likewise(5).fit(X, oracle=LabelOracle(Y), checkpoint=tmp_path / "a")


def test_a_line_that_was_cut_is_asked_again(tmp_path):
    path = tmp_path / "a"
    Likewise(8, random_state=0).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    data = path.read_bytes()
    path.write_bytes(data[:-5])
    model = Likewise(8).fit(X, oracle=Crashing(1), checkpoint=path)
    assert model.n_queries_ == 8
    assert [json.loads(line) for line in lines(path)[1:]]


def test_damage_is_named(tmp_path):
    path = tmp_path / "a"
    Likewise(8, random_state=0).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    whole = lines(path)
    path.write_text("\n".join([*whole[:4], "x" + whole[4], *whole[5:]]) + "\n")
    with pytest.raises(SessionFileError, match=r"line 5 of .* is damaged.* 3 answers before it"):
        Likewise(8).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    path.write_text("no checkpoint")
    with pytest.raises(SessionFileError, match="is not a checkpoint"):
        Likewise(8).fit(X, oracle=LabelOracle(Y), checkpoint=path)


def test_ids_that_json_cannot_hold_are_refused_before_a_question(tmp_path):
    ids = [frozenset([i]) for i in range(150)]
    with pytest.raises(InputError, match="sample_ids that are texts or numbers"):
        Likewise(5).fit(X, oracle=Crashing(0), sample_ids=ids, checkpoint=tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_sample_of_large_data_goes_on_with_the_same_sample(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(25_000) % 3
    rows = rng.normal(4.0 * y[:, None], 1.0, (25_000, 2))
    path = tmp_path / "a"
    first = Likewise(5).fit(rows, oracle=LabelOracle(y), checkpoint=path)
    model = Likewise(10).fit(rows, oracle=LabelOracle(y), checkpoint=path)
    assert model.queries_[: len(first.queries_)] == first.queries_
    assert len(model.labels_) == 25_000
    with pytest.raises(SessionFileError, match="cannot be continued"):
        Likewise(10).fit(rows[:100], oracle=LabelOracle(y[:100]), checkpoint=path)
