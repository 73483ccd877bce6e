"""Dask collections on a cluster: the same labels, and an end in bounded time."""

import os
import signal
from typing import Any

import numpy as np
import pytest

from likewise import COBRA, LabelOracle, Likewise
from likewise.errors import ClusterLostError, InputError
from likewise.rows import ParquetRows
from likewise.rows.dask_rows import DaskRows, known_lengths
from likewise.rows.label_files import write_labels

dask: Any = pytest.importorskip("dask", reason='pip install "likewise[dask]"')
dask_frame: Any = pytest.importorskip("dask.dataframe", reason='pip install "likewise[dask]"')
distributed: Any = pytest.importorskip("distributed", reason='pip install "likewise[dask]"')
pandas = pytest.importorskip("pandas", reason='pip install "likewise[dask]"')
parquet = pytest.importorskip("pyarrow.parquet", reason='pip install "likewise[dask]"')

pytestmark = [
    pytest.mark.usefixtures("small_sample"),
    # Workers that are killed leave sockets behind.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    # Dask writes Parquet in a way that pandas 3.1 deprecates.
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]
MODELS = [COBRA(30, random_state=3), Likewise(25, random_state=3)]
LIMIT = 900
"""Seconds after which a test is taken to hang; beside much other work the slowest took 300."""


@pytest.fixture(autouse=True)
def _bounded():
    """Let a test that hangs fail, whatever it waits for."""

    def stop(*_):
        pytest.fail(f"the cluster did not come to an end within {LIMIT} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def cluster(n_workers=2, processes=False):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=processes, dashboard_address=":0"
    )


def frame_of(X, n=5):
    return dask_frame.from_pandas(pandas.DataFrame(X, columns=list("abcde")), npartitions=n)


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_labels_are_the_same_in_one_process_in_threads_and_on_two_workers(
    tmp_path, blobs, write_parquet, processes
):
    X, y = blobs
    oracle = LabelOracle(y)
    alone = [model.fit(X, oracle=oracle).predict(X) for model in MODELS]
    with cluster(processes=processes) as place, distributed.Client(place):
        for model, expected in zip(MODELS, alone, strict=True):
            data = frame_of(X)
            labels = model.fit(data, oracle=oracle).predict(data)
            assert np.array_equal(labels.compute(), expected)
            assert np.array_equal(labels.compute(scheduler="threads"), expected)
            labels.to_frame().to_parquet(tmp_path / "labels", overwrite=True)
            written = parquet.read_table(tmp_path / "labels")["label"].to_numpy()
            assert np.array_equal(written, expected)
            rows = ParquetRows(write_parquet(tmp_path / "files", X, [10, 4000]))
            predict = model._predictor()
            out = tmp_path / "by cluster"

            # Dask sends a local function as it is; one of a module would be imported there.
            def labels_of(_, block, predict=predict):
                return predict(block)

            write_labels(rows, labels_of, out, overwrite=True, is_on_cluster=True)
            files = sorted(out.glob("*.parquet"))
            tables = [parquet.read_table(file)["label"].to_numpy() for file in files]
            assert np.array_equal(np.concatenate(tables), expected)


def test_a_cluster_without_workers_is_an_error_after_the_time_limit(blobs):
    with cluster(n_workers=0) as place, distributed.Client(place):
        data = frame_of(blobs[0])
        with (
            dask.config.set({"likewise.timeout": "200ms"}),
            pytest.raises(ClusterLostError, match="within 200ms: has it workers"),
        ):
            COBRA(5).start(data)


def test_a_closed_cluster_is_an_error(blobs):
    X, y = blobs
    place = cluster()
    client = distributed.Client(place)
    data = frame_of(X).persist()
    distributed.wait(data)
    place.close()
    with dask.config.set({"likewise.timeout": "2s"}), pytest.raises(ClusterLostError):
        COBRA(5).fit(data, oracle=LabelOracle(y))
    client.close()


@pytest.mark.slow
def test_a_partition_that_kills_its_worker_is_an_error(blobs):
    def die(part):
        if len(part) and part.a.iloc[0] == blobs[0][0, 0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    with cluster(processes=True) as place, distributed.Client(place):
        whole = frame_of(blobs[0])
        data = whole.map_partitions(die, meta=whole._meta)
        with (
            dask.config.set(
                {"likewise.timeout": "60s", "distributed.scheduler.allowed-failures": 1}
            ),
            pytest.raises(ClusterLostError),
        ):
            COBRA(5).start(data)


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_no_label(tmp_path, blobs):
    X, y = blobs
    model = COBRA(30, random_state=3).fit(X, oracle=LabelOracle(y))
    flag = tmp_path / "killed"

    def die_once(part):
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    with cluster(processes=True) as place, distributed.Client(place):
        whole = frame_of(X)
        data = whole.map_partitions(die_once, meta=whole._meta)
        other = COBRA(30, random_state=3).fit(data, oracle=LabelOracle(y))
        assert flag.exists()
        assert other.queries_ == model.queries_
        flag.unlink()
        labels = other.predict(data).compute()
        assert flag.exists()
    assert labels.tolist() == model.predict(X).tolist()


def test_an_error_in_a_partition_keeps_its_message(blobs):
    X = blobs[0].copy()
    row = COBRA(5, random_state=0).start(X).row_numbers[500]
    X[row, 3] = np.nan
    with (
        cluster(n_workers=1) as place,
        distributed.Client(place),
        pytest.raises(InputError, match=f"row {row}, column 3 of X is NaN"),
    ):
        COBRA(5, random_state=0).start(frame_of(X))


def test_rows_in_parquet_are_counted_without_reading_them(tmp_path, blobs, write_parquet):
    X = blobs[0]
    frame = dask_frame.read_parquet(write_parquet(tmp_path / "files", X, [10, 4000]))
    assert known_lengths(frame) == known_lengths(frame[["a", "b"]]) == (10, 3990, 2000)
    for other in (frame[frame.a > 0], frame.map_partitions(lambda part: part[part.a > 0])):
        assert known_lengths(other) is None
        assert DaskRows(other).n_rows == (X[:, 0] > 0).sum()
    assert np.array_equal(DaskRows(frame).take([3, 4001, 5999]), X[[3, 4001, 5999]])
