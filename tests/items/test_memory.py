"""Pictures, texts and series that are in memory."""

import numpy as np
import pytest

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
    with pytest.raises(InputError, match=r"not 3\. Rows of numbers are opened as a data frame"):
        open_items([3, 4])
    with pytest.raises(InputError, match="text: not for things in memory"):
        open_items(["a", "b"], text="body")
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    with pytest.raises(InputError, match=r"item 0, .*gone\.png, cannot be shown"):
        open_items([tmp_path / "gone.png"])
