"""What cannot be used is refused with its place and the remedy, and nothing is waited for."""

import os

import numpy as np
import pytest

from likewise import COBRA, LabelOracle, Likewise
from likewise.errors import InputError
from likewise.lab.selection import MinMax
from likewise.rows import ParquetRows
from likewise.rows.label_files import write_labels

pytestmark = pytest.mark.usefixtures("small_sample")
pyarrow = pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')

MODEL = COBRA(20, random_state=0)


def write(path, **columns):
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_files_of_different_columns_are_refused(tmp_path):
    write(tmp_path / "a.parquet", x=[1.0, 2.0], y=[1.0, 2.0])
    write(tmp_path / "b.parquet", x=[1.0])
    with pytest.raises(InputError, match="only some of the files have a column 'y'"):
        ParquetRows(tmp_path)
    with pytest.raises(InputError, match=r"b\.parquet has no column 'y'"):
        ParquetRows(tmp_path, ["x", "y"])
    assert ParquetRows(tmp_path, ["x"]).n_rows == 3
    write(tmp_path / "b.parquet", x=[1])
    with pytest.raises(InputError, match=r"holds int64 in .*b\.parquet but double"):
        ParquetRows(tmp_path, ["x"])


def test_columns_without_numbers_and_nulls_are_refused(tmp_path):
    path = write(tmp_path / "a.parquet", x=[1.0, None], name=["a", "b"])
    with pytest.raises(InputError, match=r"column .name. of .* holds string"):
        ParquetRows(path, ["name"])
    with pytest.raises(InputError, match="has a null in row group 0, 1 in all"):
        ParquetRows(path, ["x"])
    for columns in ([], ["x", "x"]):
        with pytest.raises(InputError, match="different names"):
            ParquetRows(path, columns)


def test_missing_and_broken_files_are_refused(tmp_path):
    for path, message in (
        (tmp_path, r"no file matches .*/\*\*/\*\.parquet\. likewise\.open_items reads a fo"),
        (tmp_path / "gone.parquet", "there is no file"),
        (f"{tmp_path}/*.parquet", "no file matches"),
        (tmp_path / "gone.npy", "cannot open"),
        ([], "no path was given"),
    ):
        with pytest.raises(InputError, match=message):
            MODEL.fit(ParquetRows(path) if path == [] else path)
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="is not a Parquet file, or is truncated"):
        MODEL.fit(tmp_path)
    (tmp_path / "x.npy").write_bytes(b"no array")
    with pytest.raises(InputError, match=r"is not a \.npy file"):
        MODEL.fit(tmp_path / "x.npy")
    np.savez(tmp_path / "x.npz", a=np.zeros(3))
    os.rename(tmp_path / "x.npz", tmp_path / "x.npy")
    with pytest.raises(InputError, match="is an archive"):
        MODEL.fit(tmp_path / "x.npy")
    empty = write(tmp_path / "x.parquet", x=pyarrow.array([], pyarrow.float64()))
    with pytest.raises(InputError, match="there are no rows"):
        ParquetRows(empty)
    with pytest.raises(InputError, match="more than once"):
        ParquetRows([empty, empty])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_in_the_middle_is_named_before_a_question_or_when_it_is_predicted(
    tmp_path, blobs, write_parquet, value
):
    X, y = blobs
    bad = X.copy()
    row = np.setdiff1d(np.arange(3000, 3100), MODEL.start(X).row_numbers)[0]
    bad[row, 2] = value
    np.save(tmp_path / "x.npy", bad)

    def never(i, j):
        raise AssertionError("a question was asked")

    for data in (bad, np.load(tmp_path / "x.npy", mmap_mode="r"), tmp_path / "x.npy"):
        with pytest.raises(InputError, match=f"row {row}, column 2 of X is"):
            MODEL.fit(data, oracle=never)
    model = MODEL.fit(X, oracle=LabelOracle(y))
    folder = write_parquet(tmp_path / "files", bad, [2000])
    with pytest.raises(InputError, match=f"row {row}, column 2"):
        model.predict(folder)
    bad[row] = X[row]
    row = MODEL.start(X).row_numbers[500]
    bad[row, 2] = value
    with pytest.raises(InputError, match=f"row {row}, column 2 of X is"):
        MODEL.fit(write_parquet(folder, bad, [2000]), oracle=never)
    array = pytest.importorskip("dask.array", reason='pip install "likewise[dask]"')
    labels = model.predict(array.from_array(bad, chunks=(1000, 5)))
    assert len(labels[:1000].compute()) == 1000
    with pytest.raises(InputError, match="column 2"):
        labels.compute()


def test_only_the_chosen_columns_are_read(tmp_path, monkeypatch):
    from pyarrow import parquet

    rows = ParquetRows(write(tmp_path / "a.parquet", x=[1.0, 2.0], name=["a", "b"]), ["x"])
    read, original = [], parquet.ParquetFile.iter_batches

    def noted(file, **options):
        for batch in original(file, **options):
            read.extend(batch.schema.names)
            yield batch

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", noted)
    assert [block.tolist() for _, block in rows.blocks()] == [[[1.0], [2.0]]]
    assert rows.take([1]).tolist() == [[2.0]]
    assert set(read) == {"x"}


def test_files_that_change_are_refused_while_they_are_read(tmp_path, blobs, write_parquet):
    X, y = blobs
    folder = write_parquet(tmp_path / "files", X, [2000])
    rows = ParquetRows(folder)
    blocks = rows.blocks()
    next(blocks)
    write_parquet(folder, X[:5000], [2000], row_group_size=50)
    with pytest.raises(InputError, match="has changed since it was opened"):
        list(blocks)
    rows = ParquetRows(folder)
    (folder / "events-01.parquet").unlink()
    with pytest.raises(InputError, match="has gone since"):
        MODEL.fit(rows, oracle=LabelOracle(y[:5000]))
    rows = ParquetRows(folder)
    path = folder / "events-00.parquet"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError):
        rows.take([3])


def test_labels_appear_as_a_whole_or_not_at_all(tmp_path, blobs, write_parquet):
    X, y = blobs
    folder = write_parquet(tmp_path / "files", X, [2000])
    rows, out = ParquetRows(folder), tmp_path / "labels"
    label = MODEL.fit(X, oracle=LabelOracle(y))._predictor()

    def fail(number, block):
        if number > 3000:
            raise OSError("the disk is full")
        return label(block)

    with pytest.raises(OSError, match="the disk is full"):
        write_labels(rows, fail, out)
    assert [path.name for path in tmp_path.iterdir()] == ["files"]
    assert write_labels(rows, lambda _, block: label(block), out) == 6
    with pytest.raises(InputError, match="has labels already"):
        write_labels(rows, fail, out)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="is not empty"):
        write_labels(rows, fail, tmp_path / "mine", overwrite=True)
    assert write_labels(rows, lambda _, block: label(block), out, overwrite=True) == 6
    assert sorted(path.name for path in out.iterdir()) == [
        "_manifest.json", "events-00.parquet", "events-01.parquet"
    ]  # fmt: skip


def test_what_needs_all_rows_in_memory_says_so(tmp_path, blobs, write_parquet):
    folder = write_parquet(tmp_path / "files", blobs[0], [2000])
    with pytest.raises(InputError, match="MinMax needs all rows in memory"):
        MinMax(3).start(folder)
    with pytest.raises(InputError, match="precomputed"):
        COBRA(3, metric="precomputed").fit(np.zeros((21_000, 3), np.float32))


def test_other_columns_than_those_of_the_fit_are_refused(tmp_path, blobs, write_parquet):
    frame = pytest.importorskip("dask.dataframe", reason='pip install "likewise[dask]"')
    import pandas

    X, y = blobs
    table = pandas.DataFrame(X, columns=list("abcde"))
    model = MODEL.fit(write_parquet(tmp_path / "files", X, []), oracle=LabelOracle(y))
    with pytest.raises(InputError, match="those of the fit, in their order: a, b, c, d, e"):
        model.predict(frame.from_pandas(table[list("edcba")], npartitions=2))
    model = MODEL.fit(X, oracle=LabelOracle(y))
    with pytest.raises(InputError, match="X has 4 columns, the fit had 5"):
        model.predict(frame.from_pandas(table[list("abcd")], npartitions=2))
    text = frame.from_pandas(table.assign(e="x"), npartitions=2)
    with pytest.raises(InputError, match="column 'e' of the Dask data frame holds"):
        Likewise().start(text)
    with pytest.raises(InputError, match="rows and columns of numbers"):
        Likewise().start(frame.from_pandas(table.a, npartitions=2))
    with pytest.raises(InputError, match="has no rows"):
        Likewise().start(frame.from_pandas(table[:0], npartitions=1))


def test_partitions_that_differ_each_time_are_refused(blobs):
    dask = pytest.importorskip("dask", reason='pip install "likewise[dask]"')
    frame = pytest.importorskip("dask.dataframe", reason='pip install "likewise[dask]"')
    import pandas

    calls = []

    def other_rows(k):
        calls.append(k)
        return pandas.DataFrame({"a": np.zeros(3000 + len(calls))})

    parts = [dask.delayed(other_rows, pure=False)(k) for k in range(2)]
    data = frame.from_delayed(parts, meta=pandas.DataFrame({"a": np.zeros(0)}))
    with (
        pytest.raises(InputError, match="gives other rows each time"),
        dask.config.set(scheduler="synchronous"),
    ):
        COBRA(5, random_state=0).fit(data)
