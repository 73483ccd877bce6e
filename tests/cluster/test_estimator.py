"""What all estimators that ask have in common."""

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from likewise import COBRA, Answer, LabelOracle, Likewise, Session, run
from likewise.core.links import LinkGraph
from likewise.errors import (
    ContradictionError,
    InputError,
    InterruptedFitError,
    MissingExtraError,
    UnusedLabelsWarning,
)

X, Y = load_iris(return_X_y=True)
ESTIMATORS = [COBRA(10, random_state=0), Likewise(max_queries=8, random_state=0)]


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda m: type(m).__name__)
def test_labels_without_an_oracle_are_not_used_and_this_is_said(model):
    with pytest.warns(UnusedLabelsWarning, match=r"oracle=LabelOracle\(y\)"):
        model.fit(X, Y)
    assert model.n_queries_ == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X)
        model.fit(X, Y, oracle=LabelOracle(Y))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_grid_search_with_labels_by_row_is_refused_with_the_remedy():
    search = GridSearchCV(Likewise(), {"max_queries": [5]}, scoring="adjusted_rand_score", cv=3)
    with pytest.raises(ValueError, match="sample_ids"):
        search.fit(X, Y, oracle=LabelOracle(Y))


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["a", "b", "c", "d"], "'other' of X is"),
        ([1.0, None, 2.0, 3.0], r"row 1, column 'other' of X is NaN \(1 missing"),
        (np.array(["2020-01-01"] * 4, dtype="datetime64[ns]"), "'other' of X is datetime64"),
    ],
    ids=["text", "missing", "dates"],
)
def test_frames_that_are_no_numbers_are_refused_with_the_remedy(model, column, words):
    pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    frame = pandas.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "other": column})
    with pytest.raises(InputError, match=words) as caught:
        model.fit(frame)
    assert "likewise.open_items(X)" in str(caught.value)


def test_frames_of_numbers_are_taken():
    pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    frame = pandas.DataFrame({"a": [0.0, 1.0, 9.0], "b": [True, False, True], "c": [1, 2, 3]})
    assert len(COBRA(2, random_state=0).fit(frame).labels_) == 3
    polars = pytest.importorskip("polars", reason="pip install polars")
    assert len(COBRA(2, random_state=0).fit(polars.DataFrame({"a": [0.0, 9.0]})).labels_) == 2
    with pytest.raises(InputError, match="open_items"):
        COBRA(2).fit(polars.DataFrame({"a": ["x", "y"]}))


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda m: type(m).__name__)
def test_links_given_beforehand_are_certain_and_cost_no_question(model):
    model.fit(X, oracle=LabelOracle(Y), must_link=[(0, 140)], cannot_link=[(0, 1)])
    assert model.labels_[0] == model.labels_[140]
    assert model.labels_[0] != model.labels_[1]
    assert len(model.session_.events) == model.n_queries_ + 2
    with pytest.raises(InputError, match=r"must_link\[0\] = \(0, 900\)"):
        model.fit(X, must_link=[(0, 900)])


def test_a_session_goes_on_after_fit_and_can_be_adopted_again():
    model = COBRA(10, max_queries=3, random_state=0).fit(X, oracle=LabelOracle(Y))
    assert model.n_queries_ == 3
    assert model.session_.ask() is None
    model.session_.extend(1)
    question = model.session_.ask()
    model.session_.tell(bool(Y[question.left] == Y[question.right]))
    assert model.adopt(model.session_).n_queries_ == 4
    assert model.queries_[-1][2] in (Answer.SAME, Answer.DIFFERENT)


class Stopped:
    """Labels, until Ctrl-C is pressed."""

    can_choose = True

    def __init__(self, n):
        self.n = n

    def answer(self, question):
        if question.number > self.n:
            raise KeyboardInterrupt
        return LabelOracle(Y).answer(question)


@pytest.mark.parametrize("labels", ["Likewise", "cells", "learned"])
@pytest.mark.parametrize("n", [0, 5])
def test_ctrl_c_leaves_a_model_that_can_be_used_and_continued(labels, n):
    model = Likewise(20, random_state=0)
    if labels != "Likewise":
        model = COBRA(20, labels=labels, random_state=0)
    whole = clone(model).fit(X, oracle=LabelOracle(Y))
    with pytest.raises(
        KeyboardInterrupt, match=rf"stopped after {n} answers.*run\(model\.ses"
    ) as e:
        model.fit(X, oracle=Stopped(n))
    assert model.n_queries_ == n
    expected = model.session_.labels
    if labels != "learned":
        assert np.array_equal(model.labels_, expected)
    assert model.predict(X[:3]).shape == (3,)
    run(model.session_, LabelOracle(Y))
    assert ("adopt(model.session_, X=X)" in str(e.value)) == (labels == "learned")
    model.adopt(model.session_, X=X if labels == "learned" else None)
    assert np.array_equal(model.labels_, whole.labels_)
    assert model.queries_ == whole.queries_


def test_ctrl_c_while_an_answer_is_taken_in_loses_no_earlier_one(monkeypatch):
    model = Likewise(20, random_state=0)
    add = LinkGraph.add

    def stop(links, *link):
        add(links, *link)
        if model.session_.n_asked == 7:
            monkeypatch.undo()
            raise KeyboardInterrupt

    monkeypatch.setattr(LinkGraph, "add", stop)
    with pytest.raises(KeyboardInterrupt, match="stopped after 7 answers"):
        model.fit(X, oracle=LabelOracle(Y))
    run(model.session_, LabelOracle(Y))
    assert model.session_ == Likewise(20, random_state=0).fit(X, oracle=LabelOracle(Y)).session_


def test_a_failing_oracle_leaves_a_model_that_can_be_used():
    model = COBRA(10, random_state=0)

    def fails(i, j):
        if model.session_.n_asked == 3:
            raise RuntimeError
        return Y[i] == Y[j]

    with pytest.raises(InterruptedFitError):
        model.fit(X, oracle=fails)
    assert model.n_queries_ == 3
    assert np.array_equal(model.labels_, model.session_.labels)


class Uniting:
    """Says of all groups shown that they are one."""

    can_choose = True

    def answer(self, question):
        return list(range(len(question.groups))) if len(question.groups) > 1 else Answer.NONE


def test_an_answer_that_contradicts_a_certain_link_leaves_a_model_that_can_be_used():
    model = Likewise(10, random_state=0)
    apart = [(0, 60), (0, 120), (60, 120)]
    with pytest.raises(
        InterruptedFitError, match=r"on question 1: Contra.* 60 contra.*with no answer yet"
    ) as caught:
        model.fit(X, oracle=Uniting(), cannot_link=apart)
    assert isinstance(caught.value.__cause__, ContradictionError)
    assert np.array_equal(model.labels_, model.session_.labels)


def test_an_oracle_that_is_refused_leaves_a_model_without_answers():
    model = Likewise(10, random_state=0)
    with pytest.raises(InputError, match="the oracle has labels for 9 rows, but the data has 150"):
        model.fit(X, oracle=LabelOracle(Y[:9]))
    assert model.n_queries_ == 0
    assert np.array_equal(model.labels_, model.session_.labels)


@pytest.mark.parametrize("model", [COBRA(), Likewise()], ids=["COBRA", "Likewise"])
def test_messages_name_public_methods(model):
    name = type(model).__name__
    for call in ("fit", "start", "predict"):
        with pytest.raises(TypeError, match=rf"^{name}\.{call}\(\) missing 1 required .* 'X'"):
            getattr(model, call)()
    with pytest.raises(TypeError, match=rf"^{name}\.fit\(\) got an unexpected .* 'orcale'"):
        model.fit(X, orcale=LabelOracle(Y))
    missing: Any = Session.from_dict
    with pytest.raises(TypeError, match=r"^Session\.from_dict\(\) missing"):
        missing()
    with pytest.raises(TypeError, match=r"^Session\.undo\(\) got an unexpected"):
        model.start(X).undo(steps=2)
    assert type(model).fit.__doc__


@pytest.mark.parametrize("model", [COBRA(10), Likewise(5)], ids=["COBRA", "Likewise"])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("t.csv", r"'t\.csv' is neither.*model\.fit\(likewise\.open_items\('t\.csv'\), \.\.\.\)"),
        ("gone.parquet", r"there is no file or folder 'gone\.parquet'"),
        (
            ["one text", "another"],
            r"list of texts.*'one text'.*model\.fit\(likewise\.open_items\(X",
        ),
        (np.array(["one", "two"]), "list of texts.*'one'"),
    ],
)
def test_what_is_not_rows_is_refused_with_the_remedy(model, data, words):
    pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    with pytest.raises(InputError, match=words):
        model.fit(data, oracle=LabelOracle(Y))


def test_the_index_of_a_data_frame_names_its_rows():
    pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    names = [f"flower {k}" for k in range(150)]
    frame = pandas.DataFrame(X, index=names, columns=list("abcd"))
    model = Likewise(9, random_state=0).fit(
        frame, oracle=LabelOracle(dict(zip(names, Y, strict=True)))
    )
    assert model.queries_ == Likewise(9, random_state=0).fit(X, oracle=LabelOracle(Y)).queries_
    session: Any = model.session_
    assert set(session.to_frame()["row_id"]) <= set(names)
    assert session.sample_ids == tuple(names)
    session.grow(pandas.DataFrame(X[:1] + 1, index=["a new one"]))
    assert session.sample_ids[-1] == "a new one"
    with pytest.raises(InputError, match="sample_ids has 0 entries, but 2 rows join: pass one id"):
        session.grow(X[:2] + 2)
    session = Likewise(9, random_state=0).start(pandas.DataFrame(X))
    assert session.ask().row_id == session.ask().row
    session.grow(X[:2] + 2)
    assert session.sample_ids[-2:] == (150, 151)
    for index in ([0] * 150, pandas.date_range("2020", periods=150)):
        assert Likewise(9).start(pandas.DataFrame(X, index=index)).sample_ids is None


def test_a_frame_without_pandas_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r'to_frame\(\) needs .*"likewise\[tables\]"'):
        Likewise(5).start(X).to_frame()
