import json
import sys
from typing import Any

import numpy as np
import pytest

from likewise.errors import InputError, MissingExtraError
from likewise.items import open_items
from likewise.items.fields import scaled
from likewise.items.series import SeriesItems, z_normalize


def bump(at, length=60):
    return np.exp(-(((np.arange(length) - at) / 3.0) ** 2))


@pytest.fixture
def waves():
    """Early bumps, later bumps of another height, and ramps."""
    rows = [bump(20), bump(23) * 9 + 4, np.linspace(0, 1, 60), np.linspace(5, 8, 60)]
    return np.array(rows)


def test_a_table_has_a_series_in_every_row(tmp_path, waves):
    path = tmp_path / "t.csv"
    names = ",".join(["name", "kind", *(f"t{k}" for k in range(60))])
    rows = [",".join([f"s{k}", "x", *map(str, row)]) for k, row in enumerate(waves)]
    path.write_text("\n".join([names, *rows]))
    items = open_items(path, series=True, id="name", show=["kind"])
    assert (items.kind, items.ids) == ("series", ("s0", "s1", "s2", "s3"))
    assert any("left out: kind" in note for note in items.notes)
    view = items.view(2)
    assert view["length"] == 60
    assert view["channels"][0]["t"] == list(range(60))
    assert np.allclose(view["channels"][0]["y"], waves[2])
    assert view["fields"] == [["kind", "x"]]
    assert json.loads(json.dumps(view)) == view
    with pytest.raises(InputError, match="has no column 'sort'"):
        open_items(path, series=True, id="name", show=["sort"])


def test_series_are_compared_by_shape_and_not_by_height(tmp_path, waves):
    path = tmp_path / "t.npy"
    np.save(path, waves)
    features = open_items(path, series=True).features()
    shape = features.block("shape")
    assert shape.shape == (4, 60)
    assert np.allclose(shape.mean(axis=1), 0)
    assert np.allclose(shape[2], shape[3])
    assert "--series-features dtw" in features.description


def test_the_level_is_an_aspect_where_series_differ_in_it(waves):
    items = open_items(waves, kind="series")
    means, spreads = items.features().block("level").T
    assert means.tolist() == pytest.approx(scaled(waves.mean(axis=1), 0.088623, 6.5), abs=1e-5)
    assert (spreads[0], spreads[1]) == (0, 1)
    # New series are described in the ranges of the first ones.
    assert items.describe([[13.0 - means[0]] * 60]).block("level")[0, 0] > 1.9
    huge = open_items(np.array([[1e308, -1e308], [1e308, 1e308]]), kind="series")
    assert np.array_equal(huge.features().block("level"), [[0, 1], [1, 0]])
    # z-scores have the same level, but for rounding.
    normal = open_items([z_normalize(row[:, None])[:, 0] for row in waves], kind="series")
    assert [aspect.name for aspect in normal.features().aspects] == ["shape"]


def test_time_warping_forgives_a_shift(tmp_path, waves):
    pytest.importorskip("dtaidistance", reason='pip install "likewise[series]"')
    path = tmp_path / "t.npy"
    np.save(path, waves)
    features = open_items(path, series=True, series_features="dtw").features()
    assert features.metric == "precomputed"
    D = features.X
    assert D.shape == (4, 4)
    assert np.array_equal(D, D.T)
    assert (np.diag(D) == 0).all()
    plain = open_items(path, series=True).features().X
    straight = np.linalg.norm(plain[0] - plain[1])
    assert D[0, 1] < straight / 4


def test_time_warping_takes_several_channels_and_lengths(tmp_path, waves):
    pytest.importorskip("dtaidistance", reason='pip install "likewise[series]"')
    for k, row in enumerate(waves):
        np.save(tmp_path / f"{k}.npy", np.column_stack([row, row[::-1]])[: 60 - 5 * k])
    items = open_items(tmp_path, series=True, series_features="dtw")
    D = items.features().X
    assert D.shape == (4, 4)
    assert np.isfinite(D).all()
    assert [c["name"] for c in items.view(0)["channels"]] == ["column 1", "column 2"]


def test_without_dtaidistance_the_extra_is_named(tmp_path, waves, monkeypatch):
    monkeypatch.setitem(sys.modules, "dtaidistance", None)
    np.save(tmp_path / "t.npy", waves)
    with pytest.raises(MissingExtraError, match=r"likewise\[series\]"):
        open_items(tmp_path / "t.npy", series=True, series_features="dtw").features()


def test_too_many_series_for_time_warping_are_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.random.default_rng(0).normal(size=(5001, 3)))
    pytest.importorskip("dtaidistance", reason='pip install "likewise[series]"')
    with pytest.raises(InputError, match=r"5001 series are too many.*euclidean"):
        open_items(tmp_path / "t.npy", series=True, series_features="dtw").features()


def test_a_folder_has_a_series_in_every_file(tmp_path):
    folder = tmp_path / "runs"
    (folder / "day2").mkdir(parents=True)
    (folder / "a.csv").write_text("x,y\n1,2\n2,4\n3,5\n")
    (folder / "day2" / "b.csv").write_text("x,y\n1,2\n2,4\n")
    (folder / "wrong.csv").write_text("x,z\n1,2\n2,4\n")
    (folder / "words.csv").write_text("x,y\n1,two\n")
    (folder / "readme.md").write_text("no series")
    (tmp_path / "secret.csv").write_text("x,y\n1,2\n")
    (folder / "out.csv").symlink_to(tmp_path / "secret.csv")
    items = open_items(folder, series=True)
    assert items.ids == ("a.csv", "day2/b.csv")
    assert [c["name"] for c in items.view(0)["channels"]] == ["x", "y"]
    left_out = " ".join(problem.message for problem in items.problems)
    assert all(name in left_out for name in ("wrong.csv", "words.csv", "out.csv"))
    features = items.features()
    assert features.block("shape").shape == (2, 4)
    assert features.block("level").shape == (2, 4)
    assert "bringing all series to 2 moments" in features.description


def test_a_file_of_one_column_without_a_name_is_a_series(tmp_path):
    (tmp_path / "a.txt").write_text("1.5\n2\n3\n")
    assert open_items(tmp_path, series=True).view(0)["channels"][0]["y"] == [1.5, 2, 3]


def test_json_may_hold_a_series_as_a_list(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "a", "v": [1, 2, 4]}\n{"id": "b", "v": [3, 2, null, 0]}\n')
    items = open_items(path, series=True, id="id")
    assert isinstance(items, SeriesItems)
    assert items.view(1)["channels"][0]["y"] == [3, 2, 1, 0]
    path.write_text('{"id": "a", "v": [1, "two"]}\n')
    with pytest.raises(InputError, match="row 0, v is not a list of numbers"):
        open_items(path, series=True, id="id")


def test_gaps_are_filled_and_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,d\n1,,3,4\n1,2,,\n")
    items = open_items(path, series=True)
    assert isinstance(items, SeriesItems)
    assert items.view(0)["channels"][0]["y"] == [1, 2, 3, 4]
    assert items.view(1)["channels"][0]["y"] == [1, 2]
    assert items.notes == (
        "1 series ends before the last column",
        "1 missing value filled in along a straight line",
    )


def test_a_long_series_is_thinned_for_showing_with_its_peak(tmp_path):
    values = np.sin(np.arange(100_000) / 1000)
    values[54_321] = 9.0
    np.save(tmp_path / "t.npy", values[None])
    view = open_items(tmp_path / "t.npy", series=True).view(0)
    assert view["length"] == 100_000
    drawn = view["channels"][0]
    assert len(drawn["t"]) <= 2002
    assert drawn["t"][0] == 0
    assert drawn["t"][-1] == 99_999
    assert max(drawn["y"]) == 9.0


@pytest.mark.parametrize("shape", [(3,), (2, 0), (2, 3, 4, 5)])
def test_an_array_of_another_shape_is_refused(tmp_path, shape):
    np.save(tmp_path / "t.npy", np.zeros(shape))
    with pytest.raises(InputError, match="series come as"):
        open_items(tmp_path / "t.npy", series=True)


def test_a_folder_without_series_is_refused(tmp_path):
    with pytest.raises(InputError, match="no time series"):
        open_items(tmp_path, series=True)


def test_another_way_to_compare_is_refused(tmp_path, waves):
    np.save(tmp_path / "t.npy", waves)
    unknown: Any = "cosine"
    with pytest.raises(InputError, match="euclidean or dtw, not 'cosine'"):
        open_items(tmp_path / "t.npy", series=True, series_features=unknown)


@pytest.mark.parametrize("values", [[1e300, -1e300, 0], [7, 7, 7], [0, 0, 0], [1e-300, 0, 0]])
def test_z_normalization_stays_finite(values):
    assert np.isfinite(z_normalize(np.array(values, dtype=float)[:, None])).all()


def test_a_column_that_says_when_is_no_channel(tmp_path):
    for k in range(3):
        lines = [f"2024-01-{day:02},{day * k}" for day in range(1, 9)]
        (tmp_path / f"{k}.csv").write_text("date,temp\n" + "\n".join(lines))
    items = open_items(tmp_path, series=True)
    assert (items.n, items.problems) == (3, ())
    assert [channel["name"] for channel in items.view(1)["channels"]] == ["temp"]


def test_a_table_of_ids_alone_has_no_series(tmp_path):
    (tmp_path / "t.csv").write_text("name\na\nb\n")
    with pytest.raises(InputError, match=r"t\.csv: series are numbers, and it has nothing but ids"):
        open_items(tmp_path / "t.csv", series=True, id="name")
