"""What was learned from the answers labels the rows of a source as it does those of an array."""

import json

import numpy as np
import pytest

from likewise import COBRA, Answer, LabelOracle, Likewise, run
from likewise.errors import InputError
from likewise.scale import SourceSession, from_array, from_npy, from_parquet

parquet = pytest.importorskip("pyarrow.parquet", reason="pip install likewise[tables]")
pytestmark = pytest.mark.usefixtures("small_blocks")

MODELS = {
    "COBRA": COBRA(20, engine="sample", labels="learned", random_state=3),
    "Likewise": Likewise(25, n_cells=40, random_state=3),
    "Likewise with wrong answers": Likewise(25, n_cells=40, error_rate=0.05, random_state=3),
}


@pytest.fixture
def large(monkeypatch):
    """Treat the rows as too many to be held, though an array holds them."""
    monkeypatch.setattr("likewise.cluster.learner.FULL_LIMIT", 1000)
    monkeypatch.setattr("likewise.cluster.likewise.FULL_LIMIT", 1000)
    monkeypatch.setattr("likewise.rows.build.FULL_LIMIT", 1000)


@pytest.fixture(scope="module")
def overlapping():
    """Rows of which cells say less than a learner: two groups with a slanting border."""
    X = np.random.default_rng(5).uniform(-1, 1, size=(9000, 5)).astype(np.float32)
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.fixture
def sources(tmp_path, overlapping, write_parquet):
    X, _ = overlapping
    np.save(tmp_path / "x.npy", X)
    return {
        "array": from_array(X),
        "npy": from_npy(tmp_path / "x.npy"),
        "parquet": from_parquet(write_parquet(tmp_path / "files", X, [10, 4000, 4001])),
    }


def written_in(folder):
    manifest = json.loads((folder / "_manifest.json").read_text())
    tables = [parquet.read_table(folder / part["file"]) for part in manifest["parts"]]
    return np.concatenate([table["label"].to_numpy() for table in tables]), manifest


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("large")
def test_every_source_gets_the_labels_of_the_array(name, overlapping, sources, tmp_path):
    X, y = overlapping
    model = MODELS[name].fit(X, oracle=LabelOracle(y))
    expected, queries = model.labels_, model.queries_
    for kind, source in sources.items():
        found = MODELS[name].fit(source, oracle=LabelOracle(y))
        assert found.queries_ == queries, kind
        assert np.array_equal(found.labels_, expected), kind
        assert np.array_equal(found.session_.labels, expected), kind
        assert np.array_equal(found.predict(X[:2048]), MODELS[name].predict(X[:2048]))
        assert isinstance(found.session_, SourceSession)
        found.session_.write_labels(tmp_path / kind)
        labels, manifest = written_in(tmp_path / kind)
        assert np.array_equal(labels, expected), kind
        assert manifest["label_by"] == found.session_.label_by
        assert manifest["n_groups"] == len(np.unique(expected))


@pytest.mark.slow
def test_small_sources_get_the_labels_of_the_array_too(overlapping):
    X, y = overlapping[0][:900], overlapping[1][:900]
    for model in (COBRA(20, labels="learned", random_state=0), Likewise(20, random_state=0)):
        expected = model.fit(X, oracle=LabelOracle(y)).labels_
        found = model.fit(from_array(X), oracle=LabelOracle(y))
        assert np.array_equal(found.labels_, expected)


@pytest.mark.usefixtures("large")
def test_threads_and_the_size_of_blocks_change_nothing(overlapping, sources, monkeypatch):
    _, y = overlapping
    session = run(MODELS["COBRA"].start(sources["parquet"]), LabelOracle(y))
    expected = session.labels
    assert np.array_equal(session.attach(sources["parquet"], n_jobs=3).labels, expected)
    monkeypatch.setattr("likewise.rows.blocks.BLOCK_BYTES", 2**17)
    other = from_array(overlapping[0])
    assert other.block_rows == 4096
    assert np.array_equal(session.attach(other).labels, expected)


@pytest.mark.usefixtures("large")
def test_every_answer_is_respected_also_those_about_other_rows(overlapping, sources, tmp_path):
    _, y = overlapping
    session = MODELS["COBRA"].start(sources["parquet"])
    reps = session.strategy.partition.representatives
    one, other, third = np.setdiff1d(np.arange(9000), reps)[[5, 4321, 8000]]
    session.give(int(one), int(other), Answer.SAME)
    session.give(int(one), int(third), Answer.DIFFERENT)
    run(session, LabelOracle(y))
    session.write_labels(tmp_path / "labels")
    labels, _ = written_in(tmp_path / "labels")
    for event in session.events:
        is_same = labels[event.left] == labels[event.right]
        assert is_same == (event.answer is Answer.SAME)


def test_before_two_groups_are_known_rows_get_the_group_of_their_cell(sources):
    session = MODELS["Likewise"].start(sources["array"])
    assert np.array_equal(session.labels, session.find_labels("cells"))


@pytest.mark.slow
def test_a_saved_session_labels_as_before(overlapping, sources):
    _, y = overlapping
    session = run(MODELS["COBRA"].start(sources["npy"]), LabelOracle(y))
    again = SourceSession.from_dict(json.loads(json.dumps(session.to_dict())), X=sources["npy"])
    assert again == session
    assert again.label_by == "learned"
    assert np.array_equal(again.labels, session.labels)
    assert np.array_equal(again.labels_guess, session.labels)
    again.label_by = "cells"
    assert not np.array_equal(again.labels, session.labels)


def test_a_learner_is_better_than_cells_here_and_unknown_ways_are_refused(overlapping, sources):
    _, y = overlapping
    session = run(MODELS["COBRA"].start(sources["npy"]), LabelOracle(y))
    right = {by: np.mean(session.find_labels(by) == y) for by in ("cells", "learned")}
    assert max(right["learned"], 1 - right["learned"]) > max(right["cells"], 1 - right["cells"])
    with pytest.raises(InputError, match="'cells', 'learned', not by 'guess'"):
        session.find_labels("guess")
