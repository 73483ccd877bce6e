"""A pickle has the answers and what they are about; all else follows."""

import copy
import io
import json
import pickle
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from likewise import COBRA, LabelOracle, Likewise, run
from likewise.errors import InputError

MODELS = [
    Likewise(30, random_state=0),
    COBRA(12, random_state=0),
    COBRA(12, labels="learned", random_state=0),
]
IDS = ["Likewise", "COBRA", "learned"]


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


WAYS = [lambda model: pickle.loads(pickle.dumps(model)), by_joblib, copy.deepcopy]


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=10_000)
    return rng.uniform(-9, 9, size=(5, 8))[y] + rng.normal(size=(10_000, 8)), y


@pytest.mark.parametrize("n_rows", [1000, 10_000], ids=["all rows", "a sample"])
@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_a_pickle_is_at_most_twice_the_saved_session(model, n_rows, blobs, monkeypatch):
    monkeypatch.setattr("likewise.rows.sample.SAMPLE_ROWS", 1000)
    X, y = (part[:n_rows] for part in blobs)
    model = clone(model).fit(X, oracle=LabelOracle(y))
    saved = len(json.dumps(model.session_.to_dict()))
    assert len(pickle.dumps(model)) <= 2 * saved


@pytest.mark.parametrize("is_sampled", [False, True])
@pytest.mark.parametrize("way", WAYS, ids=["pickle", "joblib", "deepcopy"])
@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_a_copy_is_the_same_and_goes_on_the_same_way(model, way, is_sampled, blobs, monkeypatch):
    monkeypatch.setattr("likewise.rows.sample.SAMPLE_ROWS", 100 if is_sampled else 1000)
    X, y = (part[:400] for part in blobs)
    model = clone(model).set_params(max_queries=9).fit(X, oracle=LabelOracle(y))
    other = way(model)
    assert other.session_ == model.session_
    assert other.session_ is not model.session_
    models = [model, other]
    for _ in range(2):
        for name in ("labels_", "queries_", "n_clusters_", "n_features_in_", "super_instances_"):
            values: Any = [getattr(each, name, 0) for each in models]
            assert np.array_equal(*values), name
        assert other.labels_.dtype == model.labels_.dtype == np.intp
        assert np.array_equal(*(each.predict(X) for each in models))
        for each in models:
            each.session_.extend(5)
            run(each.session_, LabelOracle(y))
            each.adopt(each.session_, X=X)
    assert len(model.queries_) >= 14
    assert np.array_equal(getattr(model, "doubts_", 0), getattr(other, "doubts_", 0))


def test_what_a_pickle_does_not_have_names_the_way_to_it(blobs, monkeypatch):
    monkeypatch.setattr("likewise.rows.sample.SAMPLE_ROWS", 100)
    X, y = (part[:400] for part in blobs)
    model = Likewise(20, random_state=0).fit(X, oracle=LabelOracle(y))
    other = pickle.loads(pickle.dumps(model))
    with pytest.raises(AttributeError, match=r"adopt\(model\.session_, X=X\).*a pickle has none"):
        _ = other.doubts_
    assert np.array_equal(other.adopt(other.session_, X=X).doubts_, model.doubts_)
    model = COBRA(12, labels="learned", random_state=0).fit(X, oracle=LabelOracle(y))
    other = pickle.loads(pickle.dumps(model))
    with pytest.raises(InputError, match=r"after pickling: predict_proba\(X\)"):
        _ = other.learned_.proba
    expected = model.learned_.predict_proba(X)
    assert np.array_equal(other.learned_.predict_proba(X), expected)
