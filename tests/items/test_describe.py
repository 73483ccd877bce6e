"""New things are described as those that a model learned from, for every kind of items."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise, open_items
from likewise.errors import InputError
from likewise.items import Aspect, Features, Items
from likewise.items.features import joined
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
    assert np.array_equal(items.describe(frame).X, items.features().X)
    assert np.array_equal(items.describe(items).X, items.features().X)


def test_ranges_categories_and_the_median_are_those_of_the_fit():
    items = open_items(pd.DataFrame({"a": [0.0, 5.0, 10.0], "b": ["x", "y", "x"]}))
    new = pd.DataFrame({"b": ["y", "z"], "a": [20.0, None]})
    assert items.describe(new).X.tolist() == [[2.0, 0.0, 1.0], [0.5, 0.0, 0.0]]
    assert items.describe(pd.DataFrame({"a": [None], "b": [None]})).X.tolist() == [[0.5, 0.0, 0.0]]


def test_dates_are_read_as_those_of_the_fit():
    items = open_items(pd.DataFrame({"day": ["01/13/2020", "01/03/2020"]}))
    assert items.describe(pd.DataFrame({"day": ["01/03/2020"]})).X.tolist() == [[0.0]]
    with pytest.raises(InputError, match=r"'day' .* not dates written as in the fit"):
        items.describe(pd.DataFrame({"day": ["soon"]}))


def test_free_text_columns_and_ids():
    names = [f"{word} {k}" for k, word in enumerate(["amber", "birch"] * 20)]
    frame = pd.DataFrame({"key": range(40), "name": names})
    items = open_items(frame, id="key", columns=["name"])
    assert np.allclose(items.describe(frame[["name"]]).X, items.features().X, atol=1e-3)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (pd.DataFrame({"mass": [1.0]}), "no column 'seen'"),
        (pd.DataFrame({"mass": ["heavy"], "island": ["Dream"], "seen": [None]}), "not numbers"),
        (["a text", "another"], "these are texts, but the model was fitted on rows"),
    ],
)
def test_new_rows_that_do_not_fit_are_refused(new, message):
    with pytest.raises(InputError, match=message):
        fitted(open_items(animals())).predict(new)


def test_a_model_of_texts_predicts_new_texts():
    model = fitted(open_items(sentences(0), encoder="words"))
    assert adjusted_rand_score(SPECIES, model.predict(sentences(1))) == 1.0
    assert model.predict([WORDS[1]])[0] == model.labels_[1]


def test_a_model_of_a_column_of_texts_predicts_frames_and_lists():
    frame = pd.DataFrame({"text": sentences(0), "key": [f"k{i}" for i in range(60)]})
    model = fitted(open_items(frame, text="text", id="key", encoder="words"))
    new = sentences(2)
    expected = model.predict(new)
    assert np.array_equal(model.predict(pd.DataFrame({"text": new})), expected)


def test_warped_series_are_compared_with_all_others_so_new_ones_are_refused():
    items = open_items(curves(0), series_features="dtw")
    with pytest.raises(InputError, match="new ones cannot be described"):
        items.describe(curves(1))


def test_words_that_were_not_there_before_do_not_count():
    items = open_items(sentences(0), encoder="words")
    assert items.describe(["entirely unknown"]).X.tolist() == [[0.0] * items.features().X.shape[1]]


def test_a_model_of_pictures_predicts_new_pictures():
    model = fitted(open_items(bright_parts(0)))
    assert adjusted_rand_score(SPECIES, model.predict(bright_parts(1))) == 1.0


def test_one_picture_is_as_bright_as_among_many():
    rng = np.random.default_rng(0)
    pictures = rng.uniform(0, 16, (20, 12, 12))
    items = open_items(pictures)
    assert np.allclose(items.describe(pictures[[7]] * 1.0).X[0], items.features().X[7], atol=1e-5)


def test_a_picture_that_cannot_be_read_is_refused(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    for k in range(4):
        Image.new("RGB", (20, 20), (60 * k, 0, 0)).save(tmp_path / f"{k}.png")
    items = open_items(tmp_path)
    new = tmp_path / "new"
    new.mkdir()
    Image.new("RGB", (20, 20), (60, 0, 0)).save(new / "good.png")
    assert np.allclose(items.describe(new).X[0], items.features().X[1], atol=1e-5)
    (new / "broken.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"broken\.png"):
        items.describe(new)


def test_a_model_of_series_predicts_new_series_of_any_length():
    model = fitted(open_items(curves(0), kind="series"))
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
    text_model = pickle.loads(pickle.dumps(fitted(open_items(sentences(0), encoder="words"))))
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
def test_recipes_are_plain_and_describe_as_the_items_do(first, new, options):
    items, others = open_items(first, **options), open_items(new, **options)
    kept = unpack(pack([aspect.to_dict() for aspect in items.features().aspects]))
    features = others.features(aspects=[Aspect.from_dict(plain) for plain in kept])
    assert np.array_equal(features.X, items.describe(others).X)
    assert [aspect.name for aspect in features.aspects] == [a.name for a in items.aspects()]
    again = open_items(first, **options).features(aspects=[Aspect.from_dict(p) for p in kept])
    assert np.array_equal(again.X, items.features().X)


def test_rows_with_other_columns_cannot_join():
    aspects = open_items(animals()).aspects()
    others = open_items(animals().drop(columns="seen").assign(color="red"))
    with pytest.raises(InputError, match="color came, and seen went"):
        others.features(aspects=aspects)


def names_and_widths(items):
    features = items.features()
    return {aspect.name: features.block(aspect.name).shape[1] for aspect in features.aspects}


def test_every_kind_has_its_aspects(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(3))
    frame = animals().assign(note=[f"{word} {k}" for k, word in enumerate(sentences(0))])
    columns = ["island", "note", "mass", "seen"]
    rows = open_items(frame, columns=columns, encoder="words")
    assert names_and_widths(rows) == {"numbers": 2, "categories": 3, "note": 10}
    assert names_and_widths(open_items(sentences(0), encoder="words")) == {"words": 10}
    assert names_and_widths(open_items(curves(0), kind="series")) == {"shape": 30, "level": 2}
    assert names_and_widths(open_items(tmp_path / "X.npy")) == {"numbers": 3}
    own = open_items(animals()).with_features(Features(np.eye(60), "of my own"))
    assert [aspect.name for aspect in own.features().aspects] == ["own"]
    digits = open_items(load_digits().images[:6], encoder="layout")
    assert list(names_and_widths(digits)) == ["layout"]


def test_blocks_are_found_by_name_wherever_their_columns_are():
    items = open_items(animals())
    features = items.features()
    # The columns keep the order of the table: mass, three islands, seen.
    assert [aspect.columns for aspect in features.aspects] == [(0, 4), (1, 2, 3)]
    assert np.array_equal(features.block("numbers"), features.X[:, [0, 4]])
    assert repr(features) == "<Features: 60 x 5, euclidean: numbers, categories>"
    with pytest.raises(InputError, match="no aspect 'layout', only numbers, categories"):
        features.block("layout")


@pytest.mark.parametrize(
    ("columns", "parts", "message"),
    [
        ((5,), [np.eye(2), np.eye(2)], "not 0 to 3, each once"),
        (None, [np.eye(2), Features(np.eye(2), metric="precomputed")], "must be the only aspect"),
    ],
)
def test_aspects_that_do_not_fit_together_are_refused(columns, parts, message):
    aspects = [Aspect("a", "one"), Aspect("b", "two", columns=columns)]
    with pytest.raises(InputError, match=message):
        joined(aspects, parts)


def test_the_length_of_series_in_a_recipe_is_bounded():
    items = open_items(curves(0), kind="series")
    recipe = {"length": 10**9, "channels": ["value"]}
    with pytest.raises(InputError, match="at 1 to 1024 moments, not 1000000000"):
        items.features(aspects=[Aspect("shape", "of a file", recipe)])


def test_items_without_aspects_can_only_be_shown(tmp_path):
    class Bare(Items):
        kind = "bare"

        def view(self, i):
            return {"kind": self.kind, "text": self.ids[i]}

        def content_hash(self, i):
            return self.ids[i]

    items = Bare(tmp_path, ["a", "b"])
    with pytest.raises(InputError, match="bare have no features"):
        items.features()
    with pytest.raises(InputError, match="bare have no aspect 'layout'"):
        items.features(aspects=[Aspect("layout", "of others")])
