"""Pictures, texts and series that are in memory."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise
from likewise.errors import InputError
from likewise.items import open_items


def test_the_first_thing_tells_the_kind():
    texts = open_items(["red apple", "blue sea", "red apple pie"], cache=False)
    assert (texts.kind, texts.view(1)["text"]) == ("texts", "blue sea")
    series = open_items([np.arange(4), [3, 2, 1, 0, 0]], cache=False)
    assert (series.kind, series.view(1)["channels"][0]["y"]) == ("series", [3, 2, 1, 0, 0])
    assert open_items(["1", "2"], kind="texts", cache=False).kind == "texts"


def test_pictures_are_paths_images_or_pixels(tmp_path):
    image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    red = image.new("RGB", (6, 4), "red")
    red.save(tmp_path / "red.png")
    pixels = np.zeros((2, 4, 6, 3))
    pixels[:, :, :, 0] = 0.5
    for pictures in ([str(tmp_path / "red.png")], [tmp_path / "red.png"], [red], pixels):
        items = open_items(pictures, cache=False)
        assert (items.kind, items.view(0)["width"], items.view(0)["height"]) == ("images", 6, 4)
        shown = np.asarray(image.open(_file(items.thumbnail(0, 64, format="png"))))
        assert shown[0, 0].tolist() == [255, 0, 0]
    assert open_items([tmp_path / "red.png"], cache=False).ids == ("red.png",)


def _file(data):
    import io

    return io.BytesIO(data)


def test_what_is_no_item_is_refused(tmp_path):
    with pytest.raises(InputError, match="the list is empty"):
        open_items([])
    with pytest.raises(InputError, match=r"a row of numbers or a series, not 3\."):
        open_items([3, 4])
    with pytest.raises(InputError, match="memory has no column 'body'"):
        open_items(["a", "b"], text="body")
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    with pytest.raises(InputError, match=r"item 0, .*gone\.png, cannot be shown"):
        open_items([tmp_path / "gone.png"])


@pytest.mark.parametrize("things", [None, 5, {"a": [1, 2]}], ids=repr)
def test_what_is_no_list_of_things_is_refused_with_the_remedy(things):
    with pytest.raises(InputError, match=f"not {type(things).__name__}.*pandas.DataFrame"):
        open_items(things)


def test_a_sparse_matrix_is_refused_with_the_remedy():
    from scipy import sparse

    with pytest.raises(InputError, match=r"not csr_array.*matrix\.toarray\(\)"):
        open_items(sparse.csr_array(np.eye(3)))


def test_paths_of_pictures_that_are_not_there_are_no_texts():
    with pytest.raises(InputError, match=r"no picture at gone/a\.png, the first of 2 paths"):
        open_items(["gone/a.png", "gone/b.jpg"])
    assert open_items(["gone/a.png", "gone/b.jpg"], kind="texts", cache=False).kind == "texts"
    assert open_items(["gone/a.png", "and a text"], cache=False).kind == "texts"


def test_pixels_that_are_no_numbers_are_named():
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    pixels = np.ones((2, 4, 4))
    pixels[1, 0, 0] = np.nan
    with pytest.raises(InputError, match="item 1 has pixels that are NaN"):
        open_items(pixels)


def test_one_text_is_an_item():
    assert open_items(["alone"], encoder="words", cache=False).features().X.tolist() == [[0.0]]
    assert len(open_items(["alone"], cache=False).features().X) == 1


def test_an_empty_path_is_not_this_folder():
    with pytest.raises(InputError, match="the path is empty"):
        open_items("")


def test_things_in_memory_are_of_four_kinds():
    with pytest.raises(InputError, match=r"cannot be opened as rows, only as .*series, .*images"):
        open_items(["a", "b"], kind="rows")


def test_features_of_things_in_memory_can_be_chosen():
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    pixels = np.random.default_rng(0).random((3, 8, 8))
    items = open_items(pixels, encoder="layout", cache=False)
    assert "without a network" in items.features().description
    pytest.importorskip("dtaidistance", reason='pip install "likewise[series]"')
    warped = open_items([[1, 2, 1], [2, 1, 2]], series_features="dtw", cache=False)
    assert "dynamic time warping" in warped.features().description
    with pytest.raises(InputError, match="--columns is for tables, and memory is not a table"):
        open_items([[1, 2], [2, 1]], kind="series", columns=["a"])


def test_white_is_for_pixels_alone(tmp_path):
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    with pytest.raises(InputError, match="white is for arrays of pixels"):
        open_items(tmp_path, kind="images", white=255)


def test_pixels_in_lists_are_as_bright_as_in_an_array():
    image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    pixels = [[[0, 100], [200, 50]], [[0, 0], [0, 200]]]
    listed, array = (
        np.asarray(image.open(_file(open_items(one, cache=False).thumbnail(0, format="png"))))
        for one in (pixels, np.array(pixels))
    )
    assert np.array_equal(listed, array)
    assert len(np.unique(listed)) == 4


def test_a_series_in_memory_that_is_no_list_of_numbers_is_named():
    with pytest.raises(InputError, match="series 1 is not a list of numbers: could not convert"):
        open_items([[1, 2], ["a", "b"]], kind="series")


def test_gray_pixels_may_have_an_axis_of_one_channel():
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    pixels = np.random.default_rng(0).integers(0, 256, (3, 8, 8, 1), dtype=np.uint8)
    assert open_items(pixels, cache=False).thumbnail(0) == open_items(
        pixels[..., 0], cache=False
    ).thumbnail(0)


@pytest.mark.parametrize(
    "thing",
    [np.zeros((4, 4, 5)), np.zeros((0, 4)), [["a", "b"]], 3],
    ids=["5", "empty", "text", "3"],
)
def test_what_is_no_picture_is_named_with_its_shape(thing):
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    with pytest.raises(InputError, match=r"item 0 is no picture: .* got \S+ \("):
        open_items([thing], kind="images")


def test_equal_texts_are_described_without_a_warning():
    assert np.ptp(open_items(["the same words"] * 3, cache=False).features().X, axis=0).max() == 0


def test_an_array_with_two_dimensions_is_points_unless_series_are_asked_for():
    X = np.repeat([[0.0, 0.0], [5.0, 5.0], [10.0, 10.0]], 30, axis=0)
    X += np.random.default_rng(0).normal(size=X.shape)
    y = np.repeat([0, 1, 2], 30)
    for source in (X, X.tolist(), list(X)):
        items = open_items(source, cache=False)
        assert items.kind == "points"
        assert np.array_equal(items.features().X, X)
        assert items.view(0)["fields"][0][0] == "feature 0"
    model = Likewise(20, random_state=0).fit(open_items(X, cache=False), oracle=LabelOracle(y))
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert np.array_equal(model.predict(X), model.labels_)
    assert open_items(X, kind="points", cache=False).kind == "points"
    assert open_items(X, kind="series", cache=False).kind == "series"
    assert open_items(X, series=True, cache=False).kind == "series"
    with pytest.raises(InputError, match="row 1, column 0 of X is NaN"):
        open_items([[0.0, 1.0], [np.nan, 2.0]])
