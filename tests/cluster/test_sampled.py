"""Row numbers are those of the data, whatever was sampled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from likewise import COBRA, Answer, LabelOracle, Likewise, ReplayOracle, run
from likewise.cluster import start
from likewise.errors import (
    ContradictionError,
    InputError,
    InterruptedFitError,
    SessionFileError,
)

pytest.importorskip("pandas", reason='pip install "likewise[tables]"')  # for to_frame

MODELS = [
    Likewise(25, random_state=0),
    Likewise(25, questions="pairs", aspects={"one": [0], "other": [1, 2]}, random_state=0),
    COBRA(12, random_state=0),
    COBRA(12, labels="learned", random_state=0),
]
IDS = ["choices", "pairs", "COBRA", "learned"]
ATTRIBUTES = ("labels_", "doubts_", "suspects_", "queries_", "representatives_", "super_instances_")


def blobs(n_rows, seed=0):
    """Return rows in four groups, and labels of which some are wrong."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n_rows)
    X = rng.uniform(-9, 9, size=(4, 3))[y] + rng.normal(size=(n_rows, 3))
    return X, np.where(rng.random(n_rows) < 0.1, rng.integers(4, size=n_rows), y)


def fitted(model, X, y, numbers=None, **options):
    """Return a copy of a model, fitted on rows; a session about the rows of some numbers if any."""
    with pytest.MonkeyPatch.context() as patch:
        if numbers is not None:
            patch.setattr(start, "draw_rows", lambda *_, **__: numbers)
        return clone(model).fit(X, oracle=LabelOracle(y), **options)


@pytest.mark.parametrize("model", MODELS, ids=IDS)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(20, 90))
@settings(max_examples=8, deadline=None)
def test_a_sample_of_all_rows_gives_what_all_rows_give(model, seed, n_rows):
    X, y = blobs(n_rows, seed)
    expected, found = fitted(model, X, y), fitted(model, X, y, np.arange(n_rows))
    assert found.session_.row_numbers is not None
    for name in ATTRIBUTES:
        assert hasattr(found, name) == hasattr(expected, name), name
        assert np.array_equal(getattr(found, name, 0), getattr(expected, name, 0)), name
    assert (
        found.session_.to_frame()
        .drop(columns=["row_id", "other_id"])
        .equals(expected.session_.to_frame())
    )


@pytest.mark.parametrize("model", MODELS, ids=IDS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=8, deadline=None)
def test_rows_of_a_sample_have_their_numbers_in_the_data(model, seed):
    X, y = blobs(200, seed)
    numbers = np.sort(np.random.default_rng(seed).choice(200, 60, replace=False))
    found, alone = fitted(model, X, y, numbers), fitted(model, X[numbers], y[numbers])
    pairs = [(numbers[i], numbers[j], answer) for i, j, answer in alone.queries_]
    assert found.queries_ == pairs
    frame = found.session_.to_frame()
    assert (
        list(zip(frame["row"], frame["other"], map(Answer, frame["answer"]), strict=True)) == pairs
    )
    assert np.array_equal(found.labels_[numbers], alone.labels_)
    others = np.setdiff1d(np.arange(200), numbers)
    assert np.array_equal(found.labels_[others], found.predict(X)[others])
    if isinstance(model, COBRA):
        assert np.array_equal(found.representatives_, numbers[alone.representatives_])
        assert np.array_equal(found.super_instances_[numbers], alone.super_instances_)
        return
    assert np.array_equal(found.doubts_[numbers], alone.doubts_)
    proba = found.predict_proba(X).max(axis=1)
    assert np.array_equal(found.doubts_[others], (1 - proba)[others])
    assert found.suspects_ == [
        suspect._replace(left=numbers[suspect.left], right=numbers[suspect.right])
        for suspect in alone.suspects_
    ]


def test_some_answers_of_these_tests_are_suspects():
    assert any(fitted(MODELS[0], *blobs(90, seed)).suspects_ for seed in range(5))


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_after_more_answers_adopting_the_data_brings_labels_of_all_rows_up_to_date(model):
    X, y = blobs(200)
    early = fitted(clone(model).set_params(max_queries=6), X, y, np.arange(0, 200, 2))
    late = fitted(model, X, y, np.arange(0, 200, 2))
    early.session_.extend(None if model.max_queries is None else model.max_queries - 6)
    run(early.session_, LabelOracle(y))
    early.adopt(early.session_, X=X)
    for name in ATTRIBUTES:
        assert np.array_equal(getattr(early, name, 0), getattr(late, name, 0)), name
    with pytest.raises(SessionFileError, match="other rows"):
        early.adopt(early.session_, X=X + 1)
    with pytest.raises(InputError, match="X has 100 rows, but the session is about a sample"):
        early.adopt(early.session_, X=X[:100])


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_a_session_about_a_sample_can_be_replayed(model):
    X, y = blobs(200)
    first = fitted(model, X, y, np.arange(0, 200, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(start, "draw_rows", lambda *_, **__: np.arange(0, 200, 2))
        again = clone(model).fit(X, oracle=ReplayOracle(first.session_))
    assert again.queries_ == first.queries_


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2]], ids=["choices", "COBRA"])
def test_what_a_sample_alone_cannot_say_names_the_way_to_it(model):
    X, y = blobs(200)
    numbers = np.arange(0, 200, 2)
    adopted = clone(model).adopt(fitted(model, X, y, numbers).session_)
    assert adopted.n_clusters_ > 1
    for name, instead in {
        "labels_": r"model\.predict\(X\)",
        "doubts_": r"1 - model\.predict_proba\(X\)\.max\(axis=1\)",
        "super_instances_": r"partition\.assignment",
    }.items():
        if hasattr(type(model), name):
            with pytest.raises(AttributeError, match=rf"{name} would be about all rows.*{instead}"):
                getattr(adopted, name)
            assert hasattr(adopted.adopt(adopted.session_, X=X), name)
            adopted.adopt(adopted.session_)
    with pytest.raises(AttributeError, match=r"has no labels_ yet: call fit first"):
        _ = clone(model).labels_


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2]], ids=["choices", "COBRA"])
def test_links_that_contradict_each_other_are_named_by_rows_of_the_data(model):
    X, y = blobs(200)
    links = {"must_link": [(150, 160), (160, 198)], "cannot_link": [(150, 198)]}
    with pytest.raises(ContradictionError, match="150 different 198 contradicts") as caught:
        fitted(model, X, y, np.arange(0, 200, 2), **links)
    assert {link.pair for link in caught.value.chain} == {(150, 160), (160, 198)}


class Failing:
    """Labels, until what is no answer, or Ctrl-C; it knows what it was asked last."""

    can_choose = True

    def __init__(self, y, n, last):
        self.labels, self.n, self.last = LabelOracle(y), n, last

    def answer(self, question):
        self.asked = question
        if question.number <= self.n:
            return self.labels.answer(question)
        if self.last is KeyboardInterrupt:
            raise KeyboardInterrupt
        return self.last


def test_what_is_no_answer_is_named_by_rows_of_the_data(monkeypatch):
    X, y = blobs(200)
    oracle = Failing(y, 0, "no")
    monkeypatch.setattr(start, "draw_rows", lambda *_, **__: np.arange(1, 200, 2))
    with pytest.raises(InterruptedFitError, match=r"about rows \d+ and \d+") as caught:
        Likewise(9, random_state=0).fit(X, oracle=oracle)
    assert oracle.asked.about in str(caught.value)


def test_an_answer_that_contradicts_a_certain_link_is_named_by_rows_of_the_data(monkeypatch):
    X, y = blobs(200)
    apart = [(1, 101), (1, 151), (101, 151)]
    monkeypatch.setattr(start, "draw_rows", lambda *_, **__: np.arange(1, 200, 2))
    with pytest.raises(InterruptedFitError, match="contradicts earlier answers") as caught:
        Likewise(9, random_state=0).fit(X, oracle=Failing(y, 0, [0, 1]), cannot_link=apart)
    cause = caught.value.__cause__
    assert isinstance(cause, ContradictionError)
    assert {row for link in (cause.answer, *cause.chain) for row in link.pair} >= {101, 151}
    assert f"{cause.answer.left} same {cause.answer.right} contradicts" in str(caught.value)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2]], ids=["choices", "COBRA"])
def test_ctrl_c_says_what_a_model_of_a_sample_has_and_how_it_gets_labels(model, monkeypatch):
    X, y = blobs(200)
    stopped = clone(model)
    monkeypatch.setattr(start, "draw_rows", lambda *_, **__: np.arange(0, 200, 2))
    with pytest.raises(KeyboardInterrupt, match="has: predict and session_ follow") as caught:
        stopped.fit(X, oracle=Failing(y, 5, KeyboardInterrupt))
    assert stopped.predict(X).shape == (200,)
    assert "model.adopt(model.session_, X=X), which labels all rows" in str(caught.value)
    assert not hasattr(stopped, "labels_")
    assert stopped.adopt(stopped.session_, X=X).labels_.shape == (200,)
