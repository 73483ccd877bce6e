"""Every kind of items is under all laws."""

import inspect

import numpy as np
import pytest

from likewise.items import KINDS, open_items
from likewise.testing import ItemsLaws


class TestTexts(ItemsLaws):
    def write(self, folder, *, is_changed):
        texts = ["red wine from Aosta", "white wine", "a dark beer", "a light beer"]
        texts[1] += " from Trento" * is_changed
        path = folder / "drinks.jsonl"
        path.write_text("".join(f'{{"id": "d{k}", "text": "{t}"}}\n' for k, t in enumerate(texts)))
        return path

    def open(self, source):
        return open_items(source, text="text", id="id", cache=False)


class TestRows(ItemsLaws):
    def write(self, folder, *, is_changed):
        path = folder / "towns.csv"
        path.write_text(
            "name,people,region\nAosta,33000,north\n"
            f"Bari,{325000 + is_changed},south\nComo,,north\nEnna,26000,\n"
        )
        return path

    def open(self, source):
        return open_items(source, id="name", cache=False)


class TestPoints(ItemsLaws):
    def write(self, folder, *, is_changed):
        X = np.arange(12.0).reshape(4, 3)
        X[2, 0] += is_changed
        np.save(folder / "points.npy", X)
        return folder / "points.npy"


class TestSeries(ItemsLaws):
    def write(self, folder, *, is_changed):
        X = np.sin(np.arange(4)[:, None] + np.arange(20.0) / 3)
        X[1, 7] += is_changed
        np.save(folder / "curves.npy", X)
        return folder / "curves.npy"

    def open(self, source):
        return open_items(source, series=True, cache=False)


class TestImages(ItemsLaws):
    def write(self, folder, *, is_changed):
        image = pytest.importorskip("PIL.Image", reason='pip install "likewise[page]"')
        for k, color in enumerate(["red", "green", "yellow" if is_changed else "blue"]):
            image.new("RGB", (20, 10 + k), color).save(folder / f"{k}.png")
        (folder / "broken.png").write_bytes(b"no picture")
        return folder


def test_every_kind_with_features_is_under_the_laws(tmp_path):
    suites = [s for s in globals().values() if inspect.isclass(s) and issubclass(s, ItemsLaws)]
    held = set()
    for suite in suites:
        if suite is not ItemsLaws:
            folder = tmp_path / suite.__name__
            folder.mkdir()
            held.add(type(suite().open(suite().write(folder, is_changed=False))))
    # Names are compared by candidate pairs, and are their own ids: see tests/project/test_names.py.
    kinds = {KINDS.find(name) for name in KINDS.names if name != "names"}
    assert {kind for kind in kinds if kind.__module__.startswith("likewise.")} <= held
