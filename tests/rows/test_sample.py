"""Large data is a sample and a prediction, and the same one wherever the rows lie."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise import COBRA, LabelOracle, Likewise, Session, run
from likewise.errors import InputError
from likewise.rows.sample import SAMPLE_ROWS, draw_rows

pytestmark = pytest.mark.usefixtures("small_sample")

MODELS = {
    "COBRA": COBRA(20, random_state=3),
    "learned": COBRA(20, labels="learned", random_state=3),
    "Likewise": Likewise(12, questions="choices", random_state=3),
    "pairs": Likewise(16, random_state=3),
}


def places_of(X, tmp_path, write_parquet):
    """Return the same rows in all places that a fit takes them from."""
    array = pytest.importorskip("dask.array", reason='pip install "likewise[dask]"')
    frame = pytest.importorskip("dask.dataframe", reason='pip install "likewise[dask]"')
    import pandas

    np.save(tmp_path / "x.npy", X)
    table = pandas.DataFrame(X, columns=list("abcde"))
    return {
        "array": X,
        "memory map": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "npy": tmp_path / "x.npy",
        "pandas": table,
        "one file": write_parquet(tmp_path / "one", X, []) / "events-00.parquet",
        "folder": str(write_parquet(tmp_path / "many", X, [10, 11, 4000])),
        "Dask array": array.from_array(X, chunks=(1700, 2)),
        "Dask array of unknown chunks": frame.from_pandas(table, npartitions=3).to_dask_array(),
        "Dask frame": frame.from_pandas(table, npartitions=7),
    }


@pytest.mark.parametrize(
    "name",
    [
        "COBRA",
        "Likewise",
        pytest.param("learned", marks=pytest.mark.slow),
        pytest.param("pairs", marks=pytest.mark.slow),
    ],
)
def test_questions_and_labels_are_the_same_wherever_the_rows_lie(
    tmp_path, blobs, write_parquet, name
):
    X, y = blobs
    expected = None
    for place, data in places_of(X, tmp_path, write_parquet).items():
        model = pickle.loads(pickle.dumps(MODELS[name])).fit(data, oracle=LabelOracle(y))
        predicted = np.asarray(model.predict(data))
        if expected is None:
            expected = model
            labels = predicted
            assert model.session_.strategy.n_rows == 1000
            assert adjusted_rand_score(y, model.labels_) > 0.9
            numbers = model.session_.row_numbers
            assert np.array_equal(model.labels_[numbers], model.session_.labels) or name == (
                "learned"
            )
            others = np.setdiff1d(np.arange(len(X)), numbers)
            assert np.array_equal(model.labels_[others], labels[others])
        assert np.array_equal(predicted, labels), place
        assert model.queries_ == expected.queries_, place
        assert all(y[i] == y[j] for i, j, answer in model.queries_ if answer.value == "same")
        assert model.session_.digest == expected.session_.digest
        if "Dask" in place or place in ("folder", "one file"):
            with pytest.raises(AttributeError, match=r"model\.predict\(X\)"):
                _ = model.labels_
            assert not hasattr(model, "labels_")
        else:
            assert np.array_equal(model.labels_, expected.labels_), place


def test_a_dask_collection_gives_a_lazy_one_with_the_same_index(tmp_path, blobs, write_parquet):
    X, y = blobs
    places = places_of(X, tmp_path, write_parquet)
    frame = places["Dask frame"]
    model = Likewise(20, random_state=0).fit(frame, oracle=LabelOracle(y))
    labels, proba = model.predict(frame), model.predict_proba(frame)
    assert type(labels).__name__ == "Series"
    assert labels.npartitions == frame.npartitions
    assert labels.dtype == np.intp
    assert labels.compute().index.equals(frame.compute().index)
    assert np.array_equal(proba.compute().to_numpy().argmax(axis=1), labels.compute())
    assert list(proba.columns) == list(range(model.n_clusters_))
    model = Likewise(20, random_state=0).fit(X, oracle=LabelOracle(y))
    array = places["Dask array"]
    labels, proba = model.predict(array), model.predict_proba(array)
    assert labels.chunks == ((1700, 1700, 1700, 900),)
    assert proba.shape == (len(X), model.n_clusters_)
    assert np.array_equal(labels.compute(), model.predict(X))
    assert np.array_equal(proba.compute(scheduler="threads"), model.predict_proba(X))


def test_rows_are_predicted_with_the_same_bits_in_blocks_of_any_size(blobs):
    X, y = blobs
    model = Likewise(30, random_state=0).fit(X, oracle=LabelOracle(y))
    whole = model.predict_proba(X)
    for size in (1, 2, 63, 64, 65, 500):
        assert np.array_equal(model.predict_proba(X[17 : 17 + size]), whole[17 : 17 + size]), size


def test_a_session_about_a_sample_is_an_ordinary_one_that_knows_where_its_rows_are(blobs):
    X, y = blobs
    model = Likewise(questions="pairs", random_state=0)
    session = model.start(X)
    assert type(session) is Session
    numbers = session.row_numbers
    assert session.sample_ids == tuple(numbers.tolist())
    again = Session.from_dict(session.to_dict())
    assert np.array_equal(again.row_numbers, numbers)
    for each, oracle in ((session, LabelOracle(y)), (again, lambda i, j: y[i] == y[j])):
        run(each, oracle, max_queries=10)
    assert again.events == session.events
    by_id: Any = model.start(X, sample_ids=[f"row {k}" for k in range(len(X))])
    assert by_id.sample_ids[0] == f"row {numbers[0]}"
    run(by_id, LabelOracle({f"row {k}": label for k, label in enumerate(y)}), max_queries=10)
    assert [event.links for event in by_id.events] == [event.links for event in session.events]
    with pytest.raises(InputError, match="pass the labels of all rows"):
        run(session, LabelOracle(y[:1000]))
    with pytest.raises(InputError, match="6000 rows"):
        Likewise().start(X, sample_ids=["a", "b"])


def test_links_and_rows_to_ask_about_are_in_the_sample(blobs):
    X, y = blobs
    train = np.arange(1, 6000, 10)
    assert y[0] != y[2]
    must = [(row, int(np.flatnonzero(y == y[row])[-1])) for row in (0, 2)]
    model = COBRA(20, random_state=0).fit(
        X, oracle=LabelOracle(y), train_indices=train, must_link=must, cannot_link=[(0, 2)]
    )
    assert {row for i, j, _ in model.queries_ for row in (i, j)} <= set(train.tolist())
    assert set(train.tolist()) <= set(model.session_.row_numbers.tolist())
    labels = model.labels_
    assert all(labels[i] == labels[j] for i, j in must)
    assert labels[0] != labels[2]
    assert set(model.representatives_) <= set(train.tolist())
    assert np.array_equal(
        model.super_instances_[model.representatives_], np.arange(len(model.representatives_))
    )


def test_the_sample_depends_on_the_seed_and_the_number_of_rows_alone():
    numbers: Any = [draw_rows(50_000, seed=seed) for seed in (0, 1)]
    one, other = numbers
    again: Any = draw_rows(50_000, seed=0)
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert np.all(np.diff(one) > 0)
    assert len(one) == 1000  # as the fixture has it
    assert draw_rows(1000, seed=0) is None
    assert SAMPLE_ROWS == 20_000
    many = draw_rows(50_000, seed=0, train=np.arange(3000))
    assert many.max() < 3000


def test_small_data_is_asked_about_as_a_whole(tmp_path, blobs, write_parquet):
    X, y = (part[:900] for part in blobs)
    for place, data in places_of(X, tmp_path, write_parquet).items():
        model = COBRA(12, random_state=0).fit(data, oracle=LabelOracle(y))
        assert model.session_.row_numbers is None
        assert len(model.labels_) == 900, place
