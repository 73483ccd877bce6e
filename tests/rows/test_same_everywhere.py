"""Same data, same seed: the same result from every source, in any batches."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from likewise import COBRA, LabelOracle, run
from likewise.rows.blocks import blocks, rows_per_block, spans
from likewise.rows.build import build_super_instances
from likewise.scale import SourceSession, from_array, from_arrow, from_npy, from_parquet

pytestmark = pytest.mark.usefixtures("small_blocks")
MODEL = COBRA(n_super_instances=30, engine="sample", random_state=3)


@pytest.fixture
def sources(blobs, tmp_path, table_of, write_parquet):
    from pyarrow import dataset

    X, _ = blobs
    np.save(tmp_path / "x.npy", X)
    one = write_parquet(tmp_path / "one", X, [])
    many = write_parquet(tmp_path / "many", X, [1, 999, 5000, 5001, 11_000], row_group_size=313)
    return {
        "array": from_array(X),
        "npy": from_npy(tmp_path / "x.npy"),
        "one file": from_parquet(one),
        "many files": from_parquet(f"{many}/*.parquet", ["a", "b", "c", "d", "e"]),
        "table": from_arrow(table_of(X)),
        "dataset": from_arrow(dataset.dataset(many)),
    }


def test_blocks_are_cut_at_the_same_rows_from_every_source(blobs, sources):
    X, _ = blobs
    size = rows_per_block(X.shape[1], X.dtype)
    for source in sources.values():
        found = list(blocks(source, 0, source.n_rows))
        assert [start for start, _ in found] == list(range(0, len(X), size))
        assert np.array_equal(np.concatenate([block for _, block in found]), X)
        assert all(block.dtype == np.float32 for _, block in found)
        middle = list(blocks(source, 2 * size, 4 * size))
        assert np.array_equal(
            np.concatenate([block for _, block in middle]), X[2 * size : 4 * size]
        )


def test_single_rows_come_in_the_order_asked_for(blobs, sources):
    X, _ = blobs
    wanted = [11_999, 0, 5000, 4999, 0]
    for source in sources.values():
        assert np.array_equal(source.rows(wanted), X[wanted])
        assert source.rows([]).shape == (0, 5)
        with pytest.raises(ValueError, match="no row 12000"):
            source.rows([12_000])


@pytest.mark.slow
def test_every_source_gives_the_questions_and_labels_of_the_array(blobs, sources):
    X, y = blobs
    expected = run(MODEL.start(X), LabelOracle(y))
    partition = expected.strategy.partition
    assert partition.points is not None
    for name, source in sources.items():
        session = run(MODEL.start(source), LabelOracle(y))
        assert isinstance(session, SourceSession)
        assert session.events == expected.events, name
        found = session.strategy.partition
        assert np.array_equal(found.representatives, partition.representatives)
        assert found.points is not None
        assert np.array_equal(found.points, partition.points)
        assert np.array_equal(found.sizes(), partition.sizes())
        assert np.array_equal(found.assignment, partition.assignment)
        assert np.array_equal(session.labels, expected.labels)
        assert np.array_equal(session.labels_guess, expected.labels_guess)


@pytest.mark.slow
def test_threads_change_nothing(blobs, sources):
    X, _ = blobs
    expected = build_super_instances(X, 30, engine="sample", seed=1)
    threaded = build_super_instances(X, 30, engine="sample", seed=1, n_jobs=3)
    assert np.array_equal(threaded.representatives, expected.representatives)
    assert np.array_equal(threaded.assignment, expected.assignment)
    model = COBRA(30, engine="sample", random_state=3, n_jobs=2)
    sessions = [m.start(s) for m in (MODEL, model) for s in (X, sources["many files"])]
    assert len({s.ask() for s in sessions}) == 1


@pytest.mark.slow
def test_up_to_fifty_thousand_rows_are_read_and_clustered_as_an_array(blobs, sources):
    X, y = blobs
    expected = COBRA(12, random_state=0).fit(X, oracle=LabelOracle(y))
    model = COBRA(12, random_state=0).fit(sources["many files"], oracle=LabelOracle(y))
    assert model.queries_ == expected.queries_
    assert np.array_equal(model.labels_, expected.labels_)
    assert model.n_features_in_ == 5


def test_fit_and_predict_take_a_source(blobs, sources):
    X, y = blobs
    expected = MODEL.fit(X, oracle=LabelOracle(y))
    labels, representatives = expected.labels_, expected.representatives_
    model = MODEL.fit(sources["npy"], oracle=LabelOracle(y))
    assert np.array_equal(model.labels_, labels)
    assert np.array_equal(model.representatives_, representatives)
    assert np.array_equal(model.super_instances_[representatives], np.arange(len(representatives)))
    assert np.array_equal(model.predict(X[:100]), labels[:100])


@pytest.mark.parametrize("representative", ["medoid", "nearest-mean"])
def test_only_allowed_rows_stand_for_others(blobs, sources, representative):
    X, _ = blobs
    train = np.flatnonzero(X[:, 0] < 2)[::3]
    model = COBRA(40, engine="sample", representative=representative, random_state=0)
    expected = model.start(X, train_indices=train).strategy.partition
    found = model.start(sources["many files"], train_indices=train).strategy.partition
    assert np.isin(expected.representatives, train).all()
    assert np.array_equal(found.representatives, expected.representatives)
    assert np.array_equal(found.assignment, expected.assignment)
    assert np.array_equal(found.sizes(), expected.sizes())


def test_integers_and_booleans_are_computed_as_float64(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pip install likewise[tables]")
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    columns = {"n": rng.integers(9, size=500), "flag": rng.integers(2, size=500).astype(bool)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
    source = from_parquet(tmp_path / "x.parquet", ["flag", "n"])
    expected = np.column_stack([columns["flag"], columns["n"]]).astype(float)
    assert source.dtype == np.float64
    assert np.array_equal(source.to_array(), expected)
    assert np.array_equal(from_array(columns["n"][:, None]).to_array(), expected[:, 1:])


@given(
    n_rows=st.integers(1, 5000),
    cuts=st.lists(st.integers(0, 5000), max_size=8),
    start_block=st.integers(0, 2),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_blocks_do_not_depend_on_the_batches(n_rows, cuts, start_block):
    X = np.arange(n_rows, dtype=np.float64)[:, None]
    source: Any = from_array(X)

    def batches(start, stop):
        inside = sorted({start, stop, *(c for c in cuts if start < c < stop)})
        for low, high in pairwise(inside):
            yield X[low:high]
            yield X[:0]

    source.batches = batches
    start = min(start_block * source.block_rows, n_rows // source.block_rows * source.block_rows)
    found = list(blocks(source, start, n_rows))
    assert [at for at, _ in found] == list(range(start, n_rows, source.block_rows))
    assert [len(block) for _, block in found[:-1]] == [source.block_rows] * (len(found) - 1)
    assert np.array_equal(np.concatenate([X[:start], *(block for _, block in found)]), X)


@given(
    n_rows=st.integers(1, 60_000),
    cuts=st.lists(st.integers(0, 60_000), max_size=12),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_spans_hold_every_row_once_in_whole_blocks(n_rows, cuts):
    source = from_array(np.zeros((n_rows, 1)))
    source.cuts = cuts
    found = spans(source)
    assert found[0][0] == 0
    assert found[-1][1] == n_rows
    assert all(a < b for a, b in found)
    assert all(one[1] == other[0] for one, other in pairwise(found))
    assert all(start % source.block_rows == 0 for start, _ in found)


def test_spans_begin_where_row_groups_begin(blobs, tmp_path, write_parquet):
    folder = write_parquet(tmp_path / "one", blobs[0], [], row_group_size=4096)
    assert [start for start, _ in spans(from_parquet(folder))] == [0, 4096, 8192]


def test_rows_that_are_shown_are_read_from_their_row_groups_alone(
    blobs, tmp_path, write_parquet, monkeypatch
):
    from pyarrow import parquet

    source = from_parquet(write_parquet(tmp_path / "one", blobs[0], [6000], row_group_size=500))
    read = []
    plain = parquet.ParquetFile.read_row_group

    def watched(file, group, **options):
        read.append(group)
        return plain(file, group, **options)

    monkeypatch.setattr(parquet.ParquetFile, "read_row_group", watched)
    found = source.records([7001, 3])
    assert read == [0, 2]
    assert found["a"] == blobs[0][[7001, 3], 0].tolist()
