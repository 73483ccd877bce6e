"""The picture of the same fish grouped by two aspects shows what the program does."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
def test_the_same_fish_are_grouped_by_content_and_by_layout(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime", reason='pip install "likewise[app]"')
    pyplot = pytest.importorskip("matplotlib.pyplot", reason='pip install "likewise[lab]"')
    titles: list[str] = []
    shapes: list[tuple[int, int]] = []
    subplots = pyplot.Figure.subplots

    def drawn(panel, *shape, **more):
        shapes.append(shape)
        return subplots(panel, *shape, **more)

    monkeypatch.setattr(
        "matplotlib.figure.SubFigure.suptitle", lambda _, words: titles.append(words)
    )
    monkeypatch.setattr("matplotlib.figure.SubFigure.subplots", drawn)
    runpy.run_path(str(DOCS / "make_diagrams.py"))["by_two_aspects"](tmp_path)
    pyplot.close("all")
    assert titles == [
        "20 answers by which fish it is: grouped by content",
        "20 answers by where it swims: grouped by layout",
    ]
    assert shapes == [(4, 5), (4, 5)]  # every group is right: five of each kind, and of each corner
    assert (tmp_path / "sees-aspects.png").stat().st_size > 10_000
    assert (DOCS / "pictures" / "sees-aspects.png").exists()
