import base64
import io
import re
import sys
from concurrent.futures import Future
from typing import Any

import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.cli.demo import has_screen
from likewise.items.encoders import installed
from likewise.items.images import recipes

Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    page = tmp_path_factory.mktemp("demo") / "page.html"
    result = CliRunner().invoke(main, ["demo", "--auto", "-o", str(page)])
    assert result.exit_code == 0, result.output
    return result.output, page.read_text(encoding="utf-8"), page


@pytest.mark.slow
def test_the_same_fish_are_grouped_in_three_ways(ran):
    pytest.importorskip("onnxruntime", reason='pip install "likewise[app]"')
    output, _, _ = ran
    rows = re.findall(r"^by (\w+)((?: +-?\d\.\d\d){3}) +(\d+) +(-?\d\.\d\d)$", output, re.M)
    assert [(way, n_groups) for way, _, n_groups, _ in rows][0::2] == [
        ("kind", "4"),
        ("pattern", "3"),
    ]
    for way, curve, _, kmeans in rows:
        assert float(curve.split()[-1]) > (0.9 if way == "color" else 0.99)
        assert (float(kmeans) < 0.1) == (way != "kind")


@pytest.mark.slow
def test_it_says_where_the_page_is_and_what_to_do_next(ran):
    output, _, page = ran
    assert str(page) in output
    assert "likewise label FOLDER" in output


@pytest.mark.slow
def test_the_page_is_whole_in_itself(ran):
    _, text, _ = ran
    assert "<script" not in text
    assert not re.findall(r"(?:src|href)=\"(?!data:)", text)
    assert 12 <= text.count("<section>") <= 14
    heights = [float(value) for value in re.findall(r'<i style="height: ([\d.]+)%"', text)]
    assert len(heights) == 3 * 41
    assert heights[0] == 0
    assert heights[-1] > 90
    n_shown = 0
    for data in re.findall(r'src="data:image/png;base64,([^"]+)"', text):
        with Image.open(io.BytesIO(base64.b64decode(data))) as sheet:
            assert sheet.width == 6 * 104
            n_shown += sheet.height // 104
    assert n_shown >= 3 * 96 / 6


def test_without_pillow_it_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    page = tmp_path / "page.html"
    result = CliRunner().invoke(main, ["demo", "--auto", "-o", str(page)])
    assert result.exit_code == 1
    assert 'pip install "likewise[app]"' in result.output
    assert not page.exists()


@pytest.mark.slow
def test_folders_are_made_and_one_that_cannot_be_is_named_without_a_traceback(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("likewise.cli.demo.ANSWERS", 1)
    monkeypatch.setattr("likewise.cli.demo.WAYS", ("kind",))
    page = tmp_path / "a" / "folder" / "page.html"
    assert CliRunner().invoke(main, ["demo", "--auto", "-o", str(page)]).exit_code == 0
    assert page.read_text("utf-8").startswith("<!doctype html>")
    below = page / "page.html"
    result = CliRunner().invoke(main, ["demo", "--auto", "-o", str(below)])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert f"Error: {below}" in result.output


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "10.0.0.1 22"}, "darwin", False),
    ],
)
def test_a_page_opens_only_where_there_is_a_screen(environment, platform, expected):
    assert has_screen(environment, platform) is expected


@pytest.mark.slow
def test_with_a_screen_it_asks_about_fish(tmp_path, monkeypatch):
    pytest.importorskip("starlette", reason='pip install "likewise[app]"')
    address: Future[str] = Future()
    shown: list[Any] = []

    def show(page, project):
        shown.append((project.items.n, project.session.ask(), project.items.aspects()))

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("webbrowser.open", address.set_result)
    monkeypatch.setattr("likewise.cli.served.ServedPage.show", show)
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    assert address.result().startswith("file:///")
    ((n, question, aspects),) = shown
    assert n == 96
    assert question is not None
    names = ["content", "layout"] if installed(recipes.DEFAULT) else ["layout"]
    assert [aspect.name for aspect in aspects] == names
    assert "Your answers are in" in result.output


def test_a_person_is_either_asked_or_played():
    result = CliRunner().invoke(main, ["demo", "--auto", "--no-browser"])
    assert result.exit_code == 2
    assert "give only one of them" in result.output


def test_without_a_screen_the_page_is_served_if_that_is_asked_for(monkeypatch):
    asked: list[bool] = []
    monkeypatch.setattr("likewise.cli.demo.ask_on_page", lambda *, opens: asked.append(opens))
    monkeypatch.setattr("likewise.cli.demo.has_screen", lambda *_: False)
    result = CliRunner().invoke(main, ["demo", "--no-browser"])
    assert result.exit_code == 0, result.output
    assert asked == [False]
