"""Pictures in the terminal, and what happens where it cannot show any."""

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from likewise.cli import inline, main
from likewise.cli.terminal import run_terminal
from likewise.errors import MissingExtraError
from likewise.project import open_project

Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
renderable = pytest.importorskip(
    "textual_image.renderable", reason='pip install "likewise[terminal]"'
)

MARKS = {"kitty": "\x1b_G", "sixel": "\x1bP", "blocks": "▀"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(4):
        Image.new("RGB", (30, 20), (k * 60, 0, 200)).save(folder / f"{k}.png")
    return folder


@pytest.fixture
def project(folder):
    project = open_project(folder, options={"encoder": "layout"}).project
    yield project
    project.close()


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("TGPImage", "kitty"),
        ("SixelImage", "sixel"),
        ("HalfcellImage", "blocks"),
        ("UnicodeImage", None),
    ],
)
def test_a_terminal_shows_pictures_as_it_can(kind, way, monkeypatch):
    monkeypatch.setattr(renderable, "Image", getattr(renderable, kind))
    assert inline.choose_way("auto", {"TERM": "xterm-256color"}, True) == way


@pytest.mark.parametrize("environ", [{}, {"TERM": "dumb"}, {"TERM": "linux"}])
def test_a_terminal_without_colors_is_not_asked(environ, monkeypatch):
    monkeypatch.setattr(renderable, "Image", renderable.HalfcellImage)
    assert inline.choose_way("auto", environ, True) is None


def test_a_pipe_is_never_asked_and_a_wish_is_taken_at_its_word(monkeypatch):
    monkeypatch.setattr(renderable, "Image", renderable.HalfcellImage)
    assert inline.choose_way("auto", {"TERM": "xterm-kitty"}, False) is None
    assert inline.choose_way("none", {"TERM": "xterm-kitty"}, True) is None
    assert inline.choose_way("sixel", {"TERM": "xterm-kitty"}, False) == "sixel"


def test_without_the_extra_paths_are_shown_and_a_wish_says_what_to_install(monkeypatch):
    monkeypatch.setattr(inline, "find_spec", lambda name: None)
    assert inline.choose_way("auto", {"TERM": "xterm-kitty"}, True) is None
    monkeypatch.setitem(sys.modules, "textual_image", None)
    with pytest.raises(MissingExtraError, match=r"likewise\[terminal\]"):
        inline.choose_way("sixel", {"TERM": "xterm-kitty"}, True)


@pytest.mark.parametrize("reply", ["\x1b[?62;4;22c", "\x1b_Gi=31;OK\x1b\\", "\x1b[6;20;10t"])
def test_an_answer_that_comes_late_is_no_key(project, reply, capsys):
    keys = iter([reply, "s", "q"])
    run_terminal(project, lambda: next(keys))
    assert "is none of the keys" not in capsys.readouterr().out
    assert len(project.session.events) == 1


@pytest.mark.parametrize("way", MARKS)
def test_pictures_and_their_paths_are_shown(project, way, capfd):
    run_terminal(project, lambda: "q", way=way)
    shown = capfd.readouterr().out
    assert MARKS[way] in shown
    assert shown.count(".png") == 2


def test_both_pictures_stand_beside_each_other(project, capfd):
    query = project.ask()
    run_terminal(project, lambda: "q", way="blocks")
    lines = capfd.readouterr().out.splitlines()
    k, line = next((k, line) for k, line in enumerate(lines) if "▀" in line)
    # Their names stand above their middles.
    assert lines[k - 1].split() == ["left", "right"]
    n_columns = line.count("▀")
    places = [lines[k - 1].index(name) + len(name) / 2 for name in ("left", "right")]
    assert abs(places[0] - n_columns / 4) < 3
    assert abs(places[1] - n_columns * 3 / 4) < 3
    red = [int(color) for color in re.findall(r"38;2;(\d+);0;200;", line)]
    assert (red[0], red[-1]) == (60 * query.left, 60 * query.right)


def test_more_than_four_pictures_are_in_two_rows_each_with_its_key(project, capfd):
    places, names = [0, 1, 2, 3, 0, 1, 2], ["it", *"123456"]
    inline.show_side_by_side(project.items, places, 80, 24, "blocks", sys.stdout, names)
    lines = capfd.readouterr().out.splitlines()
    keys = [k for k, line in enumerate(lines) if line.strip() and "▀" not in line]
    assert [lines[k].split() for k in keys] == [["it", "1", "2", "3"], ["4", "5", "6"]]
    # Those of the second row are as wide as those of the first and stand below them.
    assert [lines[keys[1]].index(key) for key in "456"] == pytest.approx(
        [lines[keys[0]].index(key) for key in ("it", "1", "2")], abs=1
    )
    assert len(lines) <= 24 - 8


def test_a_broken_picture_gets_a_placeholder_here_too(project, capfd):
    query = project.ask()
    Path(project.items.location(query.left)).write_bytes(b"broken meanwhile")
    run_terminal(project, lambda: "q", way="sixel")
    assert MARKS["sixel"] in capfd.readouterr().out


def test_a_pipe_gets_paths_and_no_escapes(folder, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-kitty")
    args = ["label", str(folder), "--terminal", "--encoder", "layout"]
    result = CliRunner().invoke(main, args, input="s\nq\n")
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "likewise[terminal]" in result.output
    wished = CliRunner().invoke(main, [*args, "--pictures", "sixel"], input="q\n")
    assert MARKS["sixel"] in wished.output


def test_the_option_is_refused_where_it_has_no_effect(folder):
    result = CliRunner().invoke(main, ["label", str(folder), "--pictures", "kitty"])
    assert result.exit_code == 2
    assert "--pictures is for --terminal" in result.output
