import json
import pickle

import numpy as np
import pytest

from likewise import COBRA, LabelOracle, run
from likewise.errors import InputError
from likewise.scale import SourceSession, from_array, from_npy, from_parquet

pytestmark = pytest.mark.usefixtures("small_blocks")
MODEL = COBRA(n_super_instances=30, engine="sample", random_state=3)
parquet = pytest.importorskip("pyarrow.parquet", reason="pip install likewise[tables]")


def labels_in(folder):
    manifest = json.loads((folder / "_manifest.json").read_text())
    tables = [parquet.read_table(folder / part["file"]) for part in manifest["parts"]]
    rows = np.concatenate([table["row"].to_numpy() for table in tables])
    return rows, np.concatenate([table["label"].to_numpy() for table in tables]), manifest


@pytest.fixture
def events(tmp_path, blobs, write_parquet):
    return write_parquet(tmp_path / "events", blobs[0], [10, 4000, 4001, 9000])


def test_every_row_is_written_once_in_files_like_the_inputs(tmp_path, events, blobs):
    X, y = blobs
    session = run(MODEL.start(from_parquet(events)), LabelOracle(y))
    seen = []
    session.write_labels(tmp_path / "labels", progress=lambda *report: seen.append(report))
    rows, labels, manifest = labels_in(tmp_path / "labels")
    assert rows.tolist() == list(range(len(X)))
    assert np.array_equal(labels, session.labels)
    names = {path.name for path in events.iterdir()}
    assert {path.name for path in (tmp_path / "labels").iterdir()} == names | {"_manifest.json"}
    for path in events.iterdir():
        written = parquet.read_metadata(tmp_path / "labels" / path.name).num_rows
        assert written == parquet.read_metadata(path).num_rows
    assert manifest["n_rows"] == 12_000
    assert manifest["n_groups"] == session.progress.n_groups
    assert seen[0] == ("write", 0, 12_000)
    assert seen[-1] == ("write", 12_000, 12_000)


def test_folders_of_the_input_are_folders_of_the_labels(tmp_path, blobs, write_parquet):
    X, _ = blobs
    for day, start in (("day=1", 0), ("day=2", 6000)):
        write_parquet(tmp_path / day, X[start : start + 6000], [])
    session = MODEL.start(from_parquet([tmp_path / "day=1", tmp_path / "day=2"]))
    session.write_labels(tmp_path / "labels")
    assert (tmp_path / "labels" / "day=2" / "events-00.parquet").exists()


def test_guessed_labels_can_be_written(tmp_path, blobs):
    session = MODEL.start(from_array(blobs[0]))
    session.write_labels(tmp_path / "guess", guess=True)
    assert np.array_equal(labels_in(tmp_path / "guess")[1], session.labels_guess)


def test_a_small_source_writes_the_labels_it_holds(tmp_path, blobs):
    X, y = blobs
    session = run(COBRA(10, random_state=0).start(from_array(X[:500])), LabelOracle(y[:500]))
    session.write_labels(tmp_path / "labels")
    assert np.array_equal(labels_in(tmp_path / "labels")[1], session.labels)


@pytest.mark.slow
def test_a_saved_session_is_small_and_goes_on_with_its_source(tmp_path, blobs, events):
    _, y = blobs
    session = run(MODEL.start(from_parquet(events)), LabelOracle(y), max_queries=20)
    text = json.dumps(session.to_dict())
    assert len(text) < 50_000
    again = SourceSession.from_dict(json.loads(text), X=from_parquet(events))
    assert again == session
    run(again, LabelOracle(y))
    run(session, LabelOracle(y))
    assert again.events == session.events
    again.write_labels(tmp_path / "labels")
    assert np.array_equal(labels_in(tmp_path / "labels")[1], session.labels)


def test_a_saved_session_refuses_other_data_and_none(blobs, events):
    X, _ = blobs
    plain = MODEL.start(from_parquet(events)).to_dict()
    with pytest.raises(ValueError, match="other data"):
        SourceSession.from_dict(plain, X=from_array(X[::-1].copy()))
    with pytest.raises(InputError, match="pass it as X"):
        SourceSession.from_dict(plain)


def test_without_its_source_a_session_still_asks(blobs, events):
    from likewise import Session

    session = MODEL.start(from_parquet(events))
    alone = Session.from_dict(session.to_dict())
    assert alone.ask() == session.ask()
    with pytest.raises(InputError, match="not at hand"):
        _ = alone.labels


def test_a_session_and_a_fitted_model_are_copied_with_their_source(tmp_path, blobs, events):
    X, y = blobs
    model = MODEL.fit(from_parquet(events), oracle=LabelOracle(y))
    copied = pickle.loads(pickle.dumps(model))
    assert copied.session_ == model.session_
    assert np.array_equal(copied.predict(X[:50]), model.labels_[:50])
    assert np.array_equal(copied.session_.labels, model.labels_)


def test_labels_are_not_written_over_by_accident(tmp_path, blobs):
    X, y = blobs
    session = MODEL.start(from_array(X))
    session.write_labels(tmp_path / "labels")
    with pytest.raises(InputError, match="overwrite=True"):
        session.write_labels(tmp_path / "labels")
    run(session, LabelOracle(y)).write_labels(tmp_path / "labels", overwrite=True)
    assert np.array_equal(labels_in(tmp_path / "labels")[1], session.labels)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(InputError, match="not empty"):
        session.write_labels(tmp_path / "mine", overwrite=True)
    with pytest.raises(InputError, match="is a file"):
        session.write_labels(tmp_path / "mine" / "thesis.tex")


def test_nothing_is_left_when_writing_fails_in_the_middle(tmp_path, events, blobs):
    session = run(MODEL.start(from_parquet(events)), LabelOracle(blobs[1]))

    def interrupt(phase, done, n_rows):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.write_labels(tmp_path / "labels", progress=interrupt)
    assert list((tmp_path / "labels").rglob("*")) == []
    session.write_labels(tmp_path / "labels")
    assert np.array_equal(labels_in(tmp_path / "labels")[1], session.labels)


def test_data_that_changed_is_refused_and_the_answers_stay(tmp_path, blobs, monkeypatch):
    X, y = blobs
    monkeypatch.setattr("likewise.rows.source.FULL_LIMIT", 1000)
    np.save(tmp_path / "x.npy", X)
    session = run(MODEL.start(from_npy(tmp_path / "x.npy")), LabelOracle(y))
    plain = session.to_dict()
    changed = X.copy()
    changed[6000:6100] = X[0]
    np.save(tmp_path / "x.npy", changed)
    with pytest.raises(InputError, match=r"x\.npy has changed"):
        session.write_labels(tmp_path / "labels")
    # Opened anew, the file looks the same at both ends; the rows in between give it away.
    again = SourceSession.from_dict(plain, X=from_npy(tmp_path / "x.npy"))
    with pytest.raises(InputError, match="other super-instances"):
        again.write_labels(tmp_path / "labels")
    assert list((tmp_path / "labels").iterdir()) == []
    assert again.events == session.events


@pytest.mark.slow
def test_threads_write_the_same_files(tmp_path, events, blobs):
    model = COBRA(30, engine="sample", random_state=3, n_jobs=3)
    sessions = [run(m.start(from_parquet(events)), LabelOracle(blobs[1])) for m in (MODEL, model)]
    for i, session in enumerate(sessions):
        session.write_labels(tmp_path / str(i))
    one, other = (labels_in(tmp_path / str(i)) for i in range(2))
    assert np.array_equal(one[0], other[0])
    assert np.array_equal(one[1], other[1])


def test_a_source_must_be_attached_to_write(tmp_path, blobs):
    session = MODEL.start(from_array(blobs[0]))
    alone = SourceSession(session.strategy)
    with pytest.raises(InputError, match="attach"):
        alone.write_labels(tmp_path / "labels")
