"""The picture of the same fish grouped by two aspects shows what the program does."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
def test_the_same_fish_are_grouped_by_content_and_by_layout(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime", reason='pip install "likewise[app]"')
    pyplot = pytest.importorskip("matplotlib.pyplot", reason='pip install "likewise[lab]"')
    spec = importlib.util.spec_from_file_location("make_diagrams", DOCS / "make_diagrams.py")
    diagrams = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(diagrams)
    titles, shapes = [], []
    monkeypatch.setattr(
        "matplotlib.figure.SubFigure.suptitle", lambda _panel, title: titles.append(title)
    )
    subplots = pyplot.Figure.subplots
    monkeypatch.setattr(
        "matplotlib.figure.SubFigure.subplots",
        lambda panel, *shape, **more: shapes.append(shape) or subplots(panel, *shape, **more),
    )
    diagrams.by_two_aspects(tmp_path)
    pyplot.close("all")
    assert titles == [
        "20 answers by which fish it is: grouped by content",
        "20 answers by where it swims: grouped by layout",
    ]
    assert shapes == [(4, 5), (4, 5)]  # every group is right: five of each kind, and of each corner
    assert (tmp_path / "sees-aspects.png").stat().st_size > 10_000
    assert (DOCS / "pictures" / "sees-aspects.png").exists()
