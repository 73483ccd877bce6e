"""Data frames: the same recipes as for files."""

import datetime as dt

import numpy as np
import pytest

import likewise
from likewise import LabelOracle, Likewise
from likewise.errors import InputError
from likewise.items import open_items
from likewise.items.columns import find_reading
from likewise.items.series import SeriesItems

COLUMNS = {
    "age": [20, 30, None, 60],
    "town": ["Rome", None, "Oslo", "Rome"],
    "since": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 11), None, dt.datetime(2020, 1, 21)],
    "vip": [True, False, False, True],
}
X = [
    [0.0, 0.0, 1.0, 0.0, 1.0],
    [0.25, 0.0, 0.0, 0.5, 0.0],
    [0.25, 1.0, 0.0, 0.5, 0.0],
    [1.0, 0.0, 1.0, 1.0, 1.0],
]


def pandas_frame(columns):
    pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    frame = pandas.DataFrame(columns)
    return frame.astype({"town": "category"}) if "town" in frame else frame


def polars_frame(columns):
    return pytest.importorskip("polars", reason="pip install polars").DataFrame(columns)


def arrow_table(columns):
    return pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"').table(columns)


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_numbers_categories_dates_and_gaps_become_features(make):
    items = likewise.open_items(make(COLUMNS))
    assert (items.kind, items.n, items.ids) == ("rows", 4, ("0", "1", "2", "3"))
    features = items.features()
    assert features.X.tolist() == X
    assert features.description.startswith(
        "numbers scaled to [0, 1]: age, vip; dates as points in time, scaled to "
        "[0, 1]: since; categories one-hot: town."
    )
    assert features.notes == (
        "age: 1 missing value, filled with the median",
        "town: 1 missing value, in none of the categories",
        "since: 1 missing value, filled with the median",
    )
    shown = dict(items.view(1)["fields"])
    assert (shown["town"], shown["since"], shown["vip"]) == ("", "2020-01-11 00:00:00", "false")
    assert dict(items.view(2)["fields"])["since"] == ""


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_a_frame_and_its_file_have_the_same_features(make, tmp_path):
    rows = zip(*COLUMNS.values(), strict=True)
    lines = [",".join("" if v is None else str(v).lower() for v in row) for row in rows]
    (tmp_path / "t.csv").write_text("\n".join(["age,town,since,vip", *lines]))
    from_file = open_items(tmp_path / "t.csv", columns=["age", "town", "since"]).features().X
    from_frame = open_items(make(COLUMNS), columns=["age", "town", "since"]).features().X
    assert np.array_equal(from_file, from_frame)


def test_an_index_without_repetitions_names_the_rows():
    frame = pandas_frame({"x": [1.0, 2.0, 3.0]})
    assert open_items(frame.set_axis(["a", "b", "c"])).ids == ("a", "b", "c")
    assert open_items(frame.set_axis(["a", "b", "a"])).ids == ("0", "1", "2")
    assert open_items(frame.set_axis(["a", "b", "c"])).title(1) == "b"


def test_a_frame_may_hold_texts_or_series(tmp_path):
    words = [f"red apple {k}" if k % 2 else f"blue sea {k}" for k in range(20)]
    texts = open_items(pandas_frame({"body": words}), text="body", encoder="words", cache=tmp_path)
    assert (texts.kind, texts.features().X.shape) == ("texts", (20, 4))
    series = open_items(pandas_frame({"a": [1.0, 2], "b": [2.0, 1], "c": [3.0, 0]}), series=True)
    assert isinstance(series, SeriesItems)
    assert (series.kind, series.view(1)["channels"][0]["y"]) == ("series", [2, 1, 0])


def test_frames_that_cannot_be_used_are_refused():
    with pytest.raises(InputError, match="the data frame has no column 'y'; it has 'x'"):
        open_items(pandas_frame({"x": [1, 2]}), id="y")
    with pytest.raises(InputError, match="has 1 column and 0 rows"):
        open_items(pandas_frame({"x": []}))
    with pytest.raises(InputError, match="encoding, delimiter, header, sheet are for files"):
        open_items(pandas_frame({"x": [1, 2]}), header=True)
    for kind in ("images", "points"):
        with pytest.raises(InputError, match=f"the data frame cannot be opened as {kind}, only as"):
            open_items(pandas_frame({"x": [1, 2]}), kind=kind)
    with pytest.raises(InputError, match="no column of the data frame tells its rows apart"):
        open_items(pandas_frame({"x": [1, 1]})).features()


def test_an_estimator_takes_items():
    frame = pandas_frame({"size": [1.0, 2, 90, 91, None, 92], "town": list("aabbab")})
    y = [0, 0, 1, 1, 0, 1]
    items = open_items(frame)
    model = Likewise(max_queries=10, random_state=0).fit(items, oracle=LabelOracle(y))
    assert np.array_equal(np.asarray(items), items.features().X)
    assert len({*zip(model.labels_.tolist(), y, strict=True)}) == 2


@pytest.mark.parametrize(
    ("values", "days"),
    [
        (["2020-01-01", "2020-01-03", ""], [0, 2, np.nan]),
        (["2020-01-01T00:00:00Z", "2020-01-01 12:00", "NaT"], [0, 0.5, np.nan]),
        (["1.1.2020", "13.1.2020"], [0, 12]),
        (["1/1/2020", "1/13/2020"], [0, 12]),
        (["1/1/2020", "13/1/2020"], [0, 12]),
        (["Jan 1, 2020", "Jan 2, 2020"], [0, 1]),
        ([dt.date(2020, 1, 1), dt.datetime(2020, 1, 2, tzinfo=dt.UTC), None], [0, 1, np.nan]),
        (["2020-01-01", "soon"], None),
        (["1.1.2020", "1/13/2020"], None),
        (["", None], None),
        (["red"], None),
        ([["2020-01-01"]], None),
    ],
)
def test_dates_are_read_in_the_usual_ways(values, days):
    reading = find_reading(values)
    if days is None:
        assert reading is None
    else:
        assert reading is not None
        assert reading.way["as"] == "date"
        start = dt.datetime(2020, 1, 1, tzinfo=dt.UTC).timestamp()
        np.testing.assert_array_equal((reading.values - start) / 86400, days)
