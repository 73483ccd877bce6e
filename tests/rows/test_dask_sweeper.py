"""The same work on a cluster of two processes, with and without accidents."""

import json
import os
import pickle
import signal
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from likewise import COBRA, LabelOracle, run
from likewise.errors import ClusterLostError, InputError
from likewise.rows.dask_sweeper import DaskSweeper, freed_memory_kept
from likewise.rows.kmeans import FEW
from likewise.scale import from_array, from_dask, from_npy, from_parquet

distributed: Any = pytest.importorskip("distributed", reason="pip install likewise[dask]")
parquet = pytest.importorskip("pyarrow.parquet", reason="pip install likewise[dask]")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("small_blocks"),
    # Workers that are killed leave sockets behind.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
MODEL = COBRA(n_super_instances=30, engine="sample", random_state=3)
PHASES = ["sample", "train", "assign", "medians", "nearest", "score", "write"]


LIMIT = 900
"""Seconds after which a test is taken to hang; on an idle machine the slowest takes 8."""


@pytest.fixture(autouse=True)
def _bounded():
    """Let a test that hangs fail, whatever it waits for."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_):
        pytest.fail(f"the cluster did not come to an end within {LIMIT} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


class Watch(distributed.SchedulerPlugin):
    """Tells when a worker has come."""

    def __init__(self):
        self.came = threading.Event()

    def add_worker(self, scheduler, worker):
        self.came.set()


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="4GiB"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def events(tmp_path, blobs, write_parquet):
    return write_parquet(tmp_path / "events", blobs[0], [10, 4000, 4001, 9000])


def labels_in(folder):
    manifest = json.loads((folder / "_manifest.json").read_text())
    tables = [parquet.read_table(folder / part["file"]) for part in manifest["parts"]]
    rows = np.concatenate([table["row"].to_numpy() for table in tables])
    assert rows.tolist() == list(range(manifest["n_rows"]))
    assert not list(folder.rglob("*.tmp"))
    return np.concatenate([table["label"].to_numpy() for table in tables])


def group(source, y, folder, progress=None):
    session = run(MODEL.start(source, progress=progress), LabelOracle(y))
    session.write_labels(folder, progress=progress)
    return session


def frame(X):
    dask_frame = pytest.importorskip("dask.dataframe", reason="pip install likewise[dask]")
    pandas = pytest.importorskip("pandas", reason="pip install likewise[dask]")
    return dask_frame.from_pandas(pandas.DataFrame(X, columns=list("abcde")), npartitions=7)


@pytest.mark.parametrize("kind", ["parquet", "frame"])
@pytest.mark.parametrize("is_held", [True, False])
def test_rows_stay_on_the_workers_if_there_is_memory(
    client, blobs, events, kind, is_held, monkeypatch
):
    if not is_held:
        monkeypatch.setattr("likewise.rows.dask_sweeper.HELD_SHARE", 0)
    by_dask = kind == "frame"
    source = from_dask(frame(blobs[0])) if by_dask else from_parquet(events, client=client)
    sweeper = DaskSweeper(source)
    numbers = np.array([0, 7, 5000, 11_999])
    for _ in range(2):
        assert np.array_equal(sweeper.take(numbers), blobs[0][numbers])
        assert sweeper._held is not None
        assert len(sweeper._held) == (len(sweeper._spans) if is_held else 0)


@pytest.mark.parametrize("kind", ["parquet", "npy", "frame", "array"])
def test_a_cluster_finds_what_one_machine_finds(client, tmp_path, blobs, events, kind):
    dask_array = pytest.importorskip("dask.array", reason="pip install likewise[dask]")
    X, y = blobs
    np.save(tmp_path / "x.npy", X)
    make = {
        "parquet": lambda: from_parquet(events, client=client),
        "npy": lambda: from_npy(tmp_path / "x.npy", client=client),
        "frame": lambda: from_dask(frame(X), client=client),
        "array": lambda: from_dask(dask_array.from_array(X, chunks=(1700, 2))),
    }
    expected = group(from_npy(tmp_path / "x.npy"), y, tmp_path / "here")
    source = make[kind]()
    session = group(source, y, tmp_path / "there")
    assert session.events == expected.events
    found, partition = session.strategy.partition, expected.strategy.partition
    assert np.array_equal(found.representatives, partition.representatives)
    assert np.array_equal(found.sizes(), partition.sizes())
    assert np.array_equal(labels_in(tmp_path / "there"), labels_in(tmp_path / "here"))
    assert np.array_equal(session.labels, expected.labels)
    assert np.array_equal(source.rows([11_999, 5, 1700]), X[[11_999, 5, 1700]])


@pytest.mark.parametrize("kind", ["parquet", "frame"])
def test_what_was_learned_labels_rows_on_a_cluster_as_here(client, tmp_path, blobs, events, kind):
    X, y = blobs
    sources = {
        "parquet": lambda: from_parquet(events, client=client),
        "frame": lambda: from_dask(frame(X), client=client),
    }
    model = COBRA(20, engine="sample", labels="learned", random_state=3)
    expected = run(model.start(from_array(X)), LabelOracle(y % 2)).labels
    session = run(model.start(sources[kind]()), LabelOracle(y % 2))
    session.write_labels(tmp_path / "labels")
    assert np.array_equal(session.labels, expected)
    assert np.array_equal(labels_in(tmp_path / "labels"), expected)


@pytest.mark.parametrize("phase", PHASES)
def test_a_worker_killed_in_any_phase_changes_nothing(client, tmp_path, blobs, events, phase):
    _, y = blobs
    expected = group(from_parquet(events), y, tmp_path / "here")
    before = client.run(os.getpid)
    killed: list[int] = []
    watch = Watch()
    client.cluster.scheduler.add_plugin(watch, name=f"watch {phase}")

    def kill_one(now, done, n_rows):
        if now == phase and not killed and (done or phase in ("train", "medians")):
            busy = [worker for worker, tasks in client.processing().items() if tasks]
            victim = before[(busy or list(before))[0]]
            killed.append(victim)
            os.kill(victim, signal.SIGKILL)

    session = group(from_parquet(events, client=client), y, tmp_path / "there", kill_one)
    assert len(killed) == 1
    # Not all workers need be back: what counts is that a new one came and the old one is gone.
    assert watch.came.wait(LIMIT)
    assert killed[0] not in client.run(os.getpid).values()
    assert session.events == expected.events
    assert np.array_equal(labels_in(tmp_path / "there"), labels_in(tmp_path / "here"))


def test_what_is_wrong_with_the_data_is_told_by_the_worker(client, tmp_path, blobs, write_parquet):
    X = blobs[0].copy()
    X[7000, 2] = np.nan
    events = write_parquet(tmp_path / "events", X, [5000])
    with pytest.raises(InputError, match=r"row 2000 of .*events-01\.parquet has nan in column 2"):
        MODEL.start(from_parquet(events, client=client))


def test_a_dask_collection_that_cannot_be_used_is_refused(client):
    rows = np.zeros((100, 5), dtype=np.float32)
    data = frame(rows)
    with pytest.raises(InputError, match="no column 'z'"):
        from_dask(data, ["a", "z"], client=client)
    with pytest.raises(InputError, match="holds str"):
        from_dask(data.assign(name="x").astype({"name": "string"}), client=client)
    with pytest.raises(InputError, match="no rows"):
        from_dask(data[data.a > 1], client=client)
    with pytest.raises(InputError, match="needed, got ndarray"):
        from_dask(rows, client=client)


def test_nulls_of_a_data_frame_follow_the_policy(client, blobs):
    X = blobs[0].copy()
    X[17, 0] = np.nan
    with pytest.raises(InputError, match="row 17 of partition 0 has nan in column 0"):
        MODEL.start(from_dask(frame(X), client=client))
    filled = from_dask(frame(X), client=client, nulls=0)
    assert filled.rows([17])[0, 0] == 0


def test_a_lost_scheduler_is_told_and_nothing_is_half_written(tmp_path, blobs, events):
    _, y = blobs
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="4GiB"
    )
    with distributed.Client(cluster, timeout="2s") as client:
        session = run(MODEL.start(from_parquet(events, client=client)), LabelOracle(y))

        def lose(phase, done, n_rows):
            if done:
                cluster.close()

        with pytest.raises(ClusterLostError, match="no answer is lost"):
            session.write_labels(tmp_path / "labels", progress=lose)
    assert [p for p in (tmp_path / "labels").rglob("*") if p.suffix == ".parquet"] == []
    assert not (tmp_path / "labels" / "_manifest.json").exists()
    again = session.attach(from_parquet(events))
    again.write_labels(tmp_path / "other")
    assert np.array_equal(labels_in(tmp_path / "other"), session.labels)


@pytest.mark.parametrize("phase", PHASES[:-1])
def test_a_scheduler_lost_in_any_phase_is_told_and_finished_phases_are_kept(
    tmp_path, blobs, events, phase
):
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="4GiB"
    )

    def lose(now, done, n_rows):
        if now == phase and (done or phase in ("train", "medians")):
            cluster.close()

    with (
        distributed.Client(cluster, timeout="2s") as client,
        pytest.raises(ClusterLostError, match="start this step again"),
    ):
        MODEL.start(from_parquet(events, client=client), checkpoint=tmp_path / "run", progress=lose)
    finished = {path.name for path in (tmp_path / "run").iterdir()}
    before = PHASES[: PHASES.index(phase)]
    assert finished == {"plan.json", *(f"{earlier}.npz" for earlier in before)}
    again = MODEL.start(from_parquet(events), checkpoint=tmp_path / "run")
    expected = MODEL.start(from_array(blobs[0]))
    assert again.to_dict() == expected.to_dict()


def test_what_comes_back_to_the_client_does_not_grow_with_the_data(client, tmp_path, monkeypatch):
    # A sample that is smaller than the data, as that of large data is.
    monkeypatch.setattr("likewise.rows.streaming.SAMPLE_PER_CENTER", 40)
    monkeypatch.setattr("likewise.rows.kmeans.FEW", replace(FEW, rows_per_center=20))
    plain = DaskSweeper.sweep
    back: dict[tuple[int, str], list[int]] = {}

    def watched(sweeper, task, cells=None):
        for found in plain(sweeper, task, cells):
            is_rows = task.phase == "sample"
            size = sum(map(len, found)) if is_rows else len(pickle.dumps(found))
            back.setdefault((sweeper.source.n_rows, task.phase), []).append(size)
            yield found

    monkeypatch.setattr(DaskSweeper, "sweep", watched)
    rng = np.random.default_rng(0)
    sizes = 24_000, 96_000
    for n_rows in sizes:
        path = tmp_path / f"{n_rows}.npy"
        np.save(path, rng.normal(size=(n_rows, 5)).astype(np.float32))
        MODEL.start(from_npy(path, client=client)).write_labels(tmp_path / f"labels {n_rows}")
    small, large = sizes
    assert sum(back[large, "sample"]) == sum(back[small, "sample"]) == 40 * 30
    for phase in ("assign", "nearest", "score"):
        assert len(back[large, phase]) > 3 * len(back[small, phase])
        assert max(back[large, phase]) < 1.1 * max(back[small, phase])


def test_work_is_shared_by_the_size_of_its_pieces():
    class Client:
        def nthreads(self):
            return {"one": 1, "two": 2}

    source = source_with(Client())
    shares = dict(DaskSweeper(source)._shares([5, 1, 3, 3, 9, 9]))
    assert sorted(i for own in shares.values() for i in own) == list(range(6))
    sizes = {worker: sum([5, 1, 3, 3, 9, 9][i] for i in own) for worker, own in shares.items()}
    assert sizes["two"] == 2 * sizes["one"]


def source_with(client):
    source = from_array(np.zeros((10, 2)))
    source.client = client
    return source


def test_a_cluster_without_workers_is_told():
    class Client:
        def nthreads(self):
            return {}

    with pytest.raises(ClusterLostError, match="no workers"):
        DaskSweeper(source_with(Client()))._shares([1])


class Libc:
    """Notes what it is asked for."""

    def __init__(self):
        self.calls = []

    def mallopt(self, option, value):
        self.calls.append((option, value))

    def malloc_trim(self, pad):
        self.calls.append("trim")


def test_a_worker_reuses_memory_during_a_task_and_is_as_before_after_it(monkeypatch):
    libc = Libc()
    monkeypatch.setattr("ctypes.CDLL", lambda name: libc)
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with freed_memory_kept():
        during = dict(libc.calls)
    assert min(during.values()) >= 2**25
    *after, last = libc.calls[2:]
    assert dict(after) == {-1: 65536, -3: 2**17}
    assert last == "trim"


@pytest.mark.parametrize("value", [None, "none"])
def test_memory_is_left_alone_where_dask_did_not_set_it(monkeypatch, value):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if value:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", value)
    monkeypatch.setattr("ctypes.CDLL", lambda name: pytest.fail("asked for"))
    with freed_memory_kept():
        pass


def test_memory_is_left_alone_where_there_is_no_glibc(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with freed_memory_kept():
        pass
