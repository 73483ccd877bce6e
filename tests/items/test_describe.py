"""New things are described as those that a model learned from, for every kind of items."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise, open_items
from likewise.errors import InputError
from likewise.store.packing import pack, unpack

SPECIES = np.array([0, 1, 2] * 20)


def animals(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = SPECIES[:n]
    return pd.DataFrame(
        {
            "mass": rng.normal([10.0, 40.0, 90.0], 1.0, (n // 3, 3)).ravel(),
            "island": np.array(["Dream", "Biscoe", "Torgersen"])[y],
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(y * 30, unit="D"),
        }
    )


WORDS = ["river water fish boat", "engine wheel brake car", "violin piano concert opera"]


def sentences(seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.permutation(WORDS[k].split() * 2)) for k in SPECIES]


def curves(seed, length=30):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 6, length)
    shapes = np.stack([np.sin(t), t, np.cos(3 * t)])
    return [shapes[k] + rng.normal(0, 0.05, length) for k in SPECIES]


def bright_parts(seed):
    """Return pictures that are bright above, on the left or in the middle."""
    pictures = np.random.default_rng(seed).uniform(0, 6, (len(SPECIES), 16, 16))
    pictures[SPECIES == 0, :8] += 10
    pictures[SPECIES == 1, :, :8] += 10
    pictures[SPECIES == 2, 4:12, 4:12] += 10
    return pictures


def fitted(items, y=SPECIES, max_queries=20):
    return Likewise(max_queries, random_state=0).fit(items, oracle=LabelOracle(y))


def test_a_model_of_a_data_frame_predicts_new_rows_of_it():
    model = fitted(open_items(animals()))
    new = animals(seed=1)
    assert adjusted_rand_score(SPECIES, model.predict(new)) == 1.0
    assert (model.predict(new.iloc[[4]]) == model.predict(new)[4]).all()
    assert np.allclose(model.predict_proba(new).sum(axis=1), 1.0)


def test_the_fitted_rows_are_described_by_their_own_features():
    frame = animals()
    frame.loc[3, "mass"] = None
    frame.loc[4, "island"] = None
    items = open_items(frame)
    assert np.array_equal(items.describe(frame), items.features().X)
    assert np.array_equal(items.describe(items), items.features().X)


def test_ranges_categories_and_the_median_are_those_of_the_fit():
    items = open_items(pd.DataFrame({"a": [0.0, 5.0, 10.0], "b": ["x", "y", "x"]}))
    new = pd.DataFrame({"b": ["y", "z"], "a": [20.0, None]})
    assert items.describe(new).tolist() == [[2.0, 0.0, 1.0], [0.5, 0.0, 0.0]]
    assert items.describe(pd.DataFrame({"a": [None], "b": [None]})).tolist() == [[0.5, 0.0, 0.0]]


def test_dates_are_read_as_those_of_the_fit():
    items = open_items(pd.DataFrame({"day": ["01/13/2020", "01/03/2020"]}))
    assert items.describe(pd.DataFrame({"day": ["01/03/2020"]})).tolist() == [[0.0]]
    with pytest.raises(InputError, match=r"'day' .* not dates written as in the fit"):
        items.describe(pd.DataFrame({"day": ["soon"]}))


def test_free_text_columns_and_ids():
    names = [f"{word} {k}" for k, word in enumerate(["amber", "birch"] * 20)]
    frame = pd.DataFrame({"key": range(40), "name": names})
    items = open_items(frame, id="key", columns=["name"])
    assert np.allclose(items.describe(frame[["name"]]), items.features().X, atol=1e-3)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (pd.DataFrame({"mass": [1.0]}), "no column 'island'"),
        (pd.DataFrame({"mass": ["heavy"], "island": ["Dream"], "seen": [None]}), "not numbers"),
        (["a text", "another"], "these are texts, but the model was fitted on rows"),
    ],
)
def test_new_rows_that_do_not_fit_are_refused(new, message):
    with pytest.raises(InputError, match=message):
        fitted(open_items(animals())).predict(new)


def test_a_model_of_texts_predicts_new_texts():
    model = fitted(open_items(sentences(0)))
    assert adjusted_rand_score(SPECIES, model.predict(sentences(1))) == 1.0
    assert model.predict([WORDS[1]])[0] == model.labels_[1]


def test_a_model_of_a_column_of_texts_predicts_frames_and_lists():
    frame = pd.DataFrame({"text": sentences(0), "key": [f"k{i}" for i in range(60)]})
    model = fitted(open_items(frame, text="text", id="key"))
    new = sentences(2)
    expected = model.predict(new)
    assert np.array_equal(model.predict(pd.DataFrame({"text": new})), expected)


def test_new_texts_are_described_by_the_model_of_the_first(monkeypatch):
    class Lengths:
        def encode(self, texts, **options):
            return np.array([[len(text), 1.0] for text in texts])

    monkeypatch.setattr("likewise.items.texts._load", lambda model: Lengths())
    frame = pd.DataFrame({"body": ["one", "three"], "key": ["a", "b"]})
    items = open_items(frame, text="body", id="key", text_features="lengths", cache=False)
    assert items.describe(["seven"]).tolist() == [[5.0, 1.0]]


def test_warped_series_are_compared_with_all_others_so_new_ones_are_refused():
    items = open_items(curves(0), series_features="dtw")
    with pytest.raises(InputError, match="new ones cannot be described"):
        items.describe(curves(1))


def test_words_that_were_not_there_before_do_not_count():
    items = open_items(sentences(0))
    assert items.describe(["entirely unknown"]).tolist() == [[0.0] * items.features().X.shape[1]]


def test_a_model_of_pictures_predicts_new_pictures():
    model = fitted(open_items(bright_parts(0)))
    assert adjusted_rand_score(SPECIES, model.predict(bright_parts(1))) == 1.0


def test_one_picture_is_as_bright_as_among_many():
    rng = np.random.default_rng(0)
    pictures = rng.uniform(0, 16, (20, 12, 12))
    items = open_items(pictures)
    assert np.allclose(items.describe(pictures[[7]] * 1.0)[0], items.features().X[7], atol=1e-5)


def test_a_picture_that_cannot_be_read_is_refused(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    for k in range(4):
        Image.new("RGB", (20, 20), (60 * k, 0, 0)).save(tmp_path / f"{k}.png")
    items = open_items(tmp_path)
    new = tmp_path / "new"
    new.mkdir()
    Image.new("RGB", (20, 20), (60, 0, 0)).save(new / "good.png")
    assert np.allclose(items.describe(new)[0], items.features().X[1], atol=1e-5)
    (new / "broken.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"broken\.png"):
        items.describe(new)


def test_a_model_of_series_predicts_new_series_of_any_length():
    model = fitted(open_items(curves(0)))
    assert adjusted_rand_score(SPECIES, model.predict(curves(1))) == 1.0
    assert adjusted_rand_score(SPECIES, model.predict(curves(1, length=50))) == 1.0
    # An array of series is not taken for features: its values are z-normalized first.
    assert adjusted_rand_score(SPECIES, model.predict(100 * np.stack(curves(1)) + 7)) == 1.0


def test_a_model_of_a_file_of_features_predicts_files_and_arrays(tmp_path):
    X = np.random.default_rng(0).normal(5.0 * SPECIES[:, None], 1.0, (60, 2))
    np.save(tmp_path / "X.npy", X)
    model = fitted(open_items(tmp_path / "X.npy"))
    assert np.array_equal(model.predict(tmp_path / "X.npy"), model.predict(X))


def test_given_features_cannot_be_made_of_new_things(tmp_path):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).normal(size=(60, 2)))
    animals().to_csv(tmp_path / "animals.csv", index=False)
    items = open_items(tmp_path / "animals.csv", features=tmp_path / "X.npy")
    model = fitted(items)
    with pytest.raises(InputError, match=r"features .* were given\. Pass features of the new"):
        model.predict(animals())
    assert len(model.predict(np.zeros((3, 2)))) == 3


def test_new_items_are_described_too_and_models_can_be_pickled():
    model = fitted(open_items(animals()))
    again = pickle.loads(pickle.dumps(model))
    new = open_items(animals(seed=3))
    assert np.array_equal(again.predict(new), model.predict(new))
    text_model = pickle.loads(pickle.dumps(fitted(open_items(sentences(0)))))
    assert text_model.predict(sentences(1)).shape == (60,)


@pytest.mark.parametrize(
    ("first", "new", "options"),
    [
        (animals(), animals(seed=1), {}),
        (animals().assign(seen="3.4.2024"), animals(seed=1).assign(seen="5.4.2024"), {}),
        (
            pd.DataFrame({"name": [f"{w} {k}" for k, w in enumerate(sentences(0))]}),
            pd.DataFrame({"name": sentences(1)}),
            {"columns": ["name"]},
        ),
        (pd.DataFrame({"t": sentences(0)}), pd.DataFrame({"t": sentences(1)}), {"text": "t"}),
        (curves(0), curves(1, length=40), {"kind": "series"}),
        (load_digits().images[:6], load_digits().images[6:9], {}),
    ],
)
def test_what_was_learned_is_plain_and_describes_as_the_items_do(first, new, options):
    items, others = open_items(first, **options), open_items(new, **options)
    learned = unpack(pack(items.learned()))
    assert np.array_equal(others.features_like(learned).X, items.describe(others))


def test_rows_with_other_columns_cannot_join():
    learned = open_items(animals()).learned()
    with pytest.raises(InputError, match="color came, and seen went"):
        open_items(animals().drop(columns="seen").assign(color="red")).features_like(learned)
    with pytest.raises(InputError, match="earlier release, which did not keep"):
        open_items(animals()).features_like(None)
