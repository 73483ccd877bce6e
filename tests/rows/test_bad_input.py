"""What cannot be used is refused by name, before anything is asked."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from likewise import COBRA, LabelOracle, Likewise, run
from likewise.errors import InputError
from likewise.rows.kmeans import FEW
from likewise.rows.scaled import scaled
from likewise.scale import from_array, from_arrow, from_npy, from_parquet

pyarrow = pytest.importorskip("pyarrow", reason="pip install likewise[tables]")
from pyarrow import dataset, parquet  # noqa: E402

pytestmark = pytest.mark.usefixtures("small_blocks")
MODEL = COBRA(n_super_instances=20, engine="sample", random_state=0)


def write(path, **columns):
    path.parent.mkdir(exist_ok=True)
    parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.fixture
def good(tmp_path):
    return write(tmp_path / "a.parquet", x=[1.0, 2.0], y=[3.0, 4.0])


def test_a_column_missing_in_one_file(tmp_path, good):
    write(tmp_path / "b.parquet", x=[1.0])
    with pytest.raises(InputError, match=r"b\.parquet has no column 'y'"):
        from_parquet(tmp_path)


def test_a_column_that_only_one_file_has(tmp_path, good):
    write(tmp_path / "b.parquet", x=[1.0], y=[1.0], z=[1.0])
    with pytest.raises(InputError, match=r"b\.parquet has a column 'z' that .*a\.parquet does not"):
        from_parquet(tmp_path)
    assert from_parquet(tmp_path, ["y", "x"]).n_rows == 3


def test_a_column_of_another_type_in_one_file(tmp_path, good):
    write(tmp_path / "b.parquet", x=[1], y=[2.0])
    with pytest.raises(InputError, match=r"'x' holds int64 in .*b\.parquet but double in .*a\.p"):
        from_parquet(tmp_path)


def test_a_column_without_numbers(tmp_path):
    path = write(tmp_path / "a.parquet", x=[1.0], name=["one"])
    with pytest.raises(InputError, match=r"'name' of .*a\.parquet holds string.*: x$"):
        from_parquet(path)
    with pytest.raises(InputError, match="'name' of the data holds string"):
        from_arrow(parquet.read_table(path))


def test_columns_that_are_not_there_or_named_twice(good):
    with pytest.raises(InputError, match=r"a\.parquet has no column 'q'; it has x, y"):
        from_parquet(good, ["x", "q"])
    with pytest.raises(InputError, match="must differ"):
        from_parquet(good, ["x", "x"])
    with pytest.raises(InputError, match="no columns"):
        from_parquet(good, [])
    with pytest.raises(InputError, match="no column 'q'"):
        from_arrow(parquet.read_table(good), ["q"])


def test_nulls_are_refused_by_the_files_own_statistics(tmp_path):
    path = write(tmp_path / "a.parquet", x=[1.0, None, None], y=[1.0, 2.0, 3.0])
    with pytest.raises(InputError, match=r"'x' of .*a\.parquet has 2 nulls in row group 0"):
        from_parquet(path)
    assert from_parquet(path, ["y"]).n_rows == 3
    assert from_parquet(path, nulls=-1).to_array()[:, 0].tolist() == [1, -1, -1]
    unknown: Any = "drop"
    with pytest.raises(InputError, match="nulls must be"):
        from_parquet(path, nulls=unknown)


def test_nulls_that_no_statistics_tell_of_are_found_before_a_question(tmp_path):
    table = pyarrow.table({"x": [1.0, 2.0, None]})
    parquet.write_table(table, tmp_path / "a.parquet", write_statistics=False)
    source = from_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"'x' of .*a\.parquet has a null in row 2"):
        MODEL.start(source)
    with pytest.raises(InputError, match="'x' of the table has a null in row 2"):
        MODEL.start(from_arrow(table))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("engine", ["full", "sample"])
def test_values_that_are_no_numbers(tmp_path, blobs, write_parquet, bad, engine):
    X = blobs[0].copy()
    X[7003, 1] = bad
    folder = write_parquet(tmp_path / "events", X, [7000])
    model = COBRA(20, engine=engine, random_state=0)
    with pytest.raises(InputError, match=rf"row 3 of .*events-01\.parquet has {bad} in column 1"):
        model.start(from_parquet(folder))


def test_a_value_that_is_no_number_outside_the_sample(tmp_path, blobs, monkeypatch):
    monkeypatch.setattr("likewise.rows.streaming.SAMPLE_BYTES", 1)
    X = np.repeat(blobs[0], 2, axis=0)
    for row in range(0, len(X), 4001):
        X[row, 4] = np.nan
    np.save(tmp_path / "x.npy", X)
    monkeypatch.setattr("likewise.rows.kmeans.FEW", replace(FEW, rows_per_center=2))
    with pytest.raises(InputError, match=r"row 0 of .*x\.npy has nan in column 4"):
        MODEL.start(from_npy(tmp_path / "x.npy"))


@pytest.mark.parametrize(("dtype", "bad"), [(np.float64, 1e200), (np.float32, -1e30)])
@pytest.mark.parametrize("engine", ["full", "sample"])
def test_values_whose_squares_overflow(tmp_path, blobs, dtype, bad, engine):
    X = blobs[0].astype(dtype)
    X[7003, 1] = bad
    np.save(tmp_path / "x.npy", X)
    model = COBRA(20, engine=engine, random_state=0)
    for source in (from_array(X), from_npy(tmp_path / "x.npy")):
        with pytest.raises(InputError, match=r"row 7003.* has -?1e\+\d+ in column 1.*Scale"):
            model.start(source)
    with pytest.raises(InputError, match="row 7003 has"):
        Likewise(random_state=0).start(from_array(X))


def test_a_value_whose_square_overflows_outside_the_sample(blobs, monkeypatch):
    monkeypatch.setattr("likewise.rows.streaming.SAMPLE_BYTES", 1)
    monkeypatch.setattr("likewise.rows.kmeans.FEW", replace(FEW, rows_per_center=2))
    X = np.repeat(blobs[0], 2, axis=0).astype(np.float64)
    X[::4001, 4] = 1e200
    with pytest.raises(InputError, match=r"row 0 has 1e\+200 in column 4"):
        MODEL.start(from_array(X))


def test_columns_that_are_scaled_first_may_have_large_values(tmp_path, good):
    path = write(tmp_path / "large" / "a.parquet", x=[1e160, 2e160], y=[3.0, 4.0])
    assert scaled(from_parquet(path)).to_array().tolist() == [[0, 0], [1, 1]]


def test_no_rows(tmp_path, good):
    empty = write(tmp_path / "none" / "a.parquet", x=pyarrow.array([], pyarrow.float64()))
    with pytest.raises(InputError, match=r"no rows in .*a\.parquet"):
        from_parquet(empty)
    with pytest.raises(InputError, match="no rows"):
        from_arrow(parquet.read_table(empty))
    with pytest.raises(InputError, match="no rows"):
        from_arrow(dataset.dataset(tmp_path / "none"))
    with pytest.raises(InputError, match=r"empty: its shape is \(0, 3\)"):
        from_array(np.empty((0, 3)))


def test_a_file_without_rows_among_others_is_no_trouble(tmp_path, good):
    none = pyarrow.array([], pyarrow.float64())
    write(tmp_path / "b.parquet", x=none, y=none)
    write(tmp_path / "c.parquet", x=[5.0], y=[6.0])
    source = from_parquet(tmp_path)
    assert source.to_array().tolist() == [[1, 3], [2, 4], [5, 6]]
    assert "row 0 of" in source.where(2)
    assert "c.parquet" in source.where(2)


def test_a_folder_without_files_and_a_pattern_without_a_match(tmp_path):
    with pytest.raises(InputError, match=r"has no \.parquet files"):
        from_parquet(tmp_path)
    with pytest.raises(InputError, match=r"no file matches .*events\*"):
        from_parquet(f"{tmp_path}/events*.parquet")
    with pytest.raises(InputError, match=r"cannot open .*gone\.parquet: No such file"):
        from_parquet(tmp_path / "gone.parquet")
    with pytest.raises(InputError, match=r"cannot open .*gone\.npy: No such file"):
        from_npy(tmp_path / "gone.npy")


def test_a_file_given_twice(good):
    with pytest.raises(InputError, match="more than once"):
        from_parquet([good, good])


def test_a_file_that_is_cut(tmp_path, blobs, write_parquet):
    folder = write_parquet(tmp_path / "events", blobs[0], [6000])
    second = folder / "events-01.parquet"
    second.write_bytes(second.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"events-01\.parquet is no Parquet file, or is cut"):
        from_parquet(folder)
    np.save(tmp_path / "x.npy", blobs[0])
    with (tmp_path / "x.npy").open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(InputError, match=r"x\.npy is no \.npy file of numbers, or is cut"):
        from_npy(tmp_path / "x.npy")


def test_a_file_that_is_damaged_in_the_middle(tmp_path, blobs, write_parquet):
    folder = write_parquet(tmp_path / "events", blobs[0], [6000])
    second = folder / "events-01.parquet"
    content = bytearray(second.read_bytes())
    content[10_000:20_000] = bytes(10_000)
    second.write_bytes(content)
    with pytest.raises(InputError, match=r"events-01\.parquet"):
        MODEL.start(from_parquet(folder))


def test_npy_files_of_something_else(tmp_path):
    np.save(tmp_path / "flat.npy", np.zeros(3))
    with pytest.raises(InputError, match=r"flat\.npy must have rows and columns"):
        from_npy(tmp_path / "flat.npy")
    np.save(tmp_path / "text.npy", np.array([["a"]]))
    with pytest.raises(InputError, match=r"text\.npy must hold numbers"):
        from_npy(tmp_path / "text.npy")
    (tmp_path / "not.npy").write_text("hello")
    with pytest.raises(InputError, match=r"not\.npy is no \.npy file"):
        from_npy(tmp_path / "not.npy")
    np.savez(tmp_path / "x.npz", a=np.zeros((2, 2)))
    with pytest.raises(InputError, match="archive"):
        from_npy(tmp_path / "x.npz")


@pytest.mark.parametrize("phase", ["sample", "assign", "nearest", "score"])
def test_a_file_that_changes_between_passes(tmp_path, blobs, write_parquet, phase):
    folder = write_parquet(tmp_path / "events", blobs[0], [6000])

    def change(now, done, n_rows):
        if now == phase and done == n_rows:
            parquet.write_table(
                parquet.read_table(folder / "events-00.parquet").slice(1),
                folder / "events-00.parquet",
            )

    with pytest.raises(InputError, match=r"events-00\.parquet has changed"):
        MODEL.start(from_parquet(folder), progress=change)


def test_a_file_that_is_gone_when_labels_are_written_costs_no_answer(
    tmp_path, blobs, write_parquet
):
    X, y = blobs
    folder = write_parquet(tmp_path / "events", X, [6000])
    session = run(MODEL.start(from_parquet(folder)), LabelOracle(y))
    answers = session.events
    (folder / "events-01.parquet").rename(tmp_path / "kept")
    with pytest.raises(InputError, match=r"events-01\.parquet has gone"):
        session.write_labels(tmp_path / "labels")
    (tmp_path / "kept").rename(folder / "events-01.parquet")
    session.write_labels(tmp_path / "labels")
    assert session.events == answers


def test_options_that_need_all_rows_in_memory(blobs, monkeypatch):
    monkeypatch.setattr("likewise.rows.build.FULL_LIMIT", 1000)
    source = from_array(blobs[0])
    for option in ({"engine": "full"}, {"metric": "cosine"}, {"exact_medoids": True}):
        model = COBRA(20, random_state=0).set_params(**{"engine": "sample", **option})
        with pytest.raises(InputError, match="needs all rows in memory"):
            model.start(source)


def test_arrow_data_is_a_table_or_a_dataset():
    with pytest.raises(InputError, match="needed, got list"):
        from_arrow([1, 2])


@pytest.mark.parametrize(
    "header",
    [
        b"(" * 3000,
        b"{'descr': '<f8'",
        b"[1, 2",
        b"\xff",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (10**9, 3)}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3)}",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 3)}",
    ],
)
@pytest.mark.parametrize("version", [b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"])
def test_an_npy_header_that_cannot_be_read(tmp_path, header, version):
    path = tmp_path / "x.npy"
    size = len(header).to_bytes(2 if version == b"\x01\x00" else 4, "little")
    path.write_bytes(b"\x93NUMPY" + version + size + header + bytes(64))
    with pytest.raises(InputError, match=r"x\.npy .*Write it again with numpy\.save"):
        from_npy(path)


@pytest.mark.parametrize("n_bytes", [0, 3, 6, 8, 9, 40, 127])
def test_an_npy_file_that_is_cut_in_its_header(tmp_path, n_bytes):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((4, 3)))
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(InputError, match=r"x\.npy .*Write it again with numpy\.save"):
        from_npy(path)


def test_a_folder_is_no_npy_file(tmp_path):
    with pytest.raises(InputError, match=r"Write it again with numpy\.save"):
        from_npy(tmp_path)
