"""`Likewise(aspects=...)`: how aspects are named, and what follows them."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from likewise import LabelOracle, Likewise, open_items
from likewise.cluster import start
from likewise.errors import InputError

pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')

RNG = np.random.default_rng(1)
Y = RNG.integers(0, 3, 150)
FRAME = pandas.DataFrame(
    {
        "age": 4.0 * Y + RNG.normal(size=150),
        "height": RNG.normal(size=150),
        "color": np.array(["red", "green", "blue"])[RNG.integers(0, 3, 150)],
    }
)
ENCODED = ColumnTransformer(
    [
        ("num", StandardScaler(), ["age", "height"]),
        ("cat", OneHotEncoder(sparse_output=False), ["color"]),
    ],
)


def test_a_column_transformer_says_which_aspects_there_are():
    encode = clone(ENCODED)
    X = encode.fit_transform(FRAME)
    model: Any = Likewise(20, aspects=encode.output_indices_, random_state=0)
    model.fit(X, oracle=LabelOracle(Y))
    assert list(model.aspects_) == ["num", "cat"]  # the empty remainder is passed over
    assert model.aspects_["num"] > 0.5
    assert clone(model).aspects == model.aspects

    named = make_pipeline(
        clone(ENCODED).set_output(transform="pandas"),
        Likewise(20, aspects="prefix", random_state=0),
    ).fit(FRAME, likewise__oracle=LabelOracle(Y))
    assert np.array_equal(named[-1].labels_, model.labels_)
    assert named[-1].aspects_ == model.aspects_


def test_columns_are_named_as_in_the_frame():
    numbers = FRAME[["age", "height"]]
    model: Any = Likewise(20, aspects={"old": "age", "tall": ["height"]}, random_state=0)
    model.fit(numbers, oracle=LabelOracle(Y))
    assert model.aspects_["old"] > 0.5
    assert model.session_.grouped_by.endswith("by old") or ", a little" in model.session_.grouped_by
    with pytest.raises(InputError, match=r"no column of X\. Did you mean height"):
        Likewise(20, aspects={"old": "age", "tall": ["heights"]}).fit(numbers)
    with pytest.raises(InputError, match="the columns of X have none"):
        Likewise(20, aspects={"old": "age", "tall": "height"}).fit(numbers.to_numpy())


@pytest.mark.parametrize("aspects", ["auto", ["age"], 3, {}])
def test_aspects_are_a_mapping(aspects):
    with pytest.raises(InputError, match="aspects must be None, 'prefix'"):
        Likewise(aspects=aspects).fit(np.eye(3))


def test_aspects_hold_for_rows_that_are_predicted():
    numbers = FRAME[["age", "height"]].to_numpy()
    model: Any = Likewise(20, aspects={"old": [0], "tall": [1]}, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(start, "draw_rows", lambda *_, **__: np.arange(0, 150, 2))
        model.fit(numbers, oracle=LabelOracle(Y))
    assert model.session_.row_numbers is not None
    assert adjusted_rand_score(Y, model.labels_) > 0.6
    assert np.array_equal(
        pickle.loads(pickle.dumps(model)).predict(numbers), model.predict(numbers)
    )
    dask = pytest.importorskip("dask.dataframe", reason='pip install "likewise[dask]"')
    rows = dask.from_pandas(FRAME[["age", "height"]], npartitions=3)
    of_frame = clone(model).set_params(aspects={"old": "age", "tall": "height"})
    of_frame.fit(rows, oracle=LabelOracle(Y))
    expected = of_frame.predict(FRAME[["age", "height"]])
    assert np.array_equal(of_frame.predict(rows).compute(), expected)


def test_items_bring_their_aspects():
    items = open_items(FRAME)
    model: Any = Likewise(20, random_state=0).fit(items, oracle=LabelOracle(Y))
    assert list(model.aspects_) == ["numbers", "categories"]
    assert model.aspects_["numbers"] > 0.5
    assert np.array_equal(model.predict(FRAME), model.predict(items))
    overruled = Likewise(20, aspects={"all": slice(None)}, random_state=0)
    assert overruled.fit(items, oracle=LabelOracle(Y)).aspects_ == {"all": 1.0}
