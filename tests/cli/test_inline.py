"""Pictures in the terminal, and what happens where it cannot show any."""

import base64
import io
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from likewise.cli import inline, main
from likewise.cli.terminal import run_terminal
from likewise.project import open_project

Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
pty = pytest.importorskip("pty", reason="pseudo-terminals are a thing of Unix")
termios = pytest.importorskip("termios", reason="pseudo-terminals are a thing of Unix")

SIXEL_TERMINAL = "\x1b[?62;4;22c"
OTHER_TERMINAL = "\x1b[?64;1;2;6;9;15;22c"


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
    found = open_project(folder, options={"image_features": "descriptors"}).project
    yield found
    found.close()


def never():
    raise AssertionError("the terminal was asked")


@pytest.mark.parametrize(
    ("environ", "way"),
    [
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-ghostty"}, "kitty"),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "iterm"),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "iterm"),  # over ssh
        ({"TERM": "dumb"}, None),
        ({"TERM": "linux"}, None),
        ({}, None),
    ],
)
def test_a_terminal_is_known_by_its_name(environ, way):
    assert inline.choose_way("auto", environ, True, never) == way


@pytest.mark.parametrize(
    ("said", "way"),
    [
        (SIXEL_TERMINAL, "sixel"),
        (OTHER_TERMINAL, None),
        ("\x1b[?4c", None),  # the first number is the kind of terminal: a VT132
        ("", None),
        ("garbage", None),
    ],
)
def test_another_terminal_is_asked_for_sixels(said, way):
    environ = {"TERM": "xterm-256color"}
    assert inline.choose_way("auto", environ, True, lambda: said) == way


def test_what_tmux_would_not_pass_on_is_not_sent():
    for environ in (
        {"TERM": "tmux-256color", "TERM_PROGRAM": "iTerm.app"},
        {"TERM": "screen", "KITTY_WINDOW_ID": "1"},
        {"TERM": "xterm-kitty", "TMUX": "/tmp/x"},
    ):
        assert inline.choose_way("auto", environ, True, lambda: OTHER_TERMINAL) is None


def test_a_pipe_is_never_asked_and_a_wish_is_taken_at_its_word():
    assert inline.choose_way("auto", {"TERM": "xterm-kitty"}, False, never) is None
    assert inline.choose_way("none", {"TERM": "xterm-kitty"}, True, never) is None
    assert inline.choose_way("sixel", {"TERM": "xterm-kitty"}, False, never) == "sixel"


@pytest.fixture
def attach(monkeypatch):
    """Return a function that makes input and output a terminal and returns its other end."""
    outside, inside = pty.openpty()
    with open(inside, "r+b", buffering=0) as raw, io.TextIOWrapper(raw, write_through=True) as both:

        def attach():
            monkeypatch.setattr(sys, "stdin", both)
            monkeypatch.setattr(sys, "stdout", both)
            return outside

        yield attach
        monkeypatch.undo()
        os.close(outside)


def test_a_terminal_answers_and_is_left_as_it_was(attach, monkeypatch):
    monkeypatch.setattr(inline, "PATIENCE", 60)
    terminal = attach()
    before = termios.tcgetattr(sys.stdin.fileno())
    asked = []

    def answer():
        asked.append(os.read(terminal, 100))
        for part in (SIXEL_TERMINAL[:4], SIXEL_TERMINAL[4:]):
            os.write(terminal, part.encode())

    thread = threading.Thread(target=answer)
    thread.start()
    assert inline.ask_terminal() == SIXEL_TERMINAL
    thread.join()
    assert asked == [b"\x1b[c"]
    assert termios.tcgetattr(sys.stdin.fileno()) == before


def test_a_terminal_that_says_nothing_is_not_waited_for(attach, monkeypatch):
    attach()
    monkeypatch.setattr(inline, "PATIENCE", 0.01)
    assert inline.ask_terminal() == ""


def test_keys_typed_early_are_not_eaten(attach):
    os.write(attach(), b"s\n")
    assert inline.ask_terminal() == ""
    assert sys.stdin.readline() == "s\n"


def test_no_terminal_at_all_is_no_error(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("s"))
    assert inline.ask_terminal() == ""


def test_an_answer_that_comes_late_is_no_key(project, capsys):
    keys = iter([SIXEL_TERMINAL, "s", "q"])
    run_terminal(project, lambda: next(keys))
    assert "is none of the keys" not in capsys.readouterr().out
    assert len(project.session.events) == 1


def pictures_in(said, way):
    """Return the pictures that a terminal would draw."""
    if way == "kitty":
        chunks = re.findall("\x1b_G([^;]*);([^\x1b]*)\x1b\\\\", said)
        assert all(len(data) <= 4096 for _, data in chunks)
        assert all("q=2" in about for about, _ in chunks if "a=T" in about)
        return [base64.b64decode("".join(data for _, data in chunks))]
    found = re.findall("\x1b]1337;File=inline=1;size=(\\d+);[^:]*:([^\x07]*)\x07", said)
    assert all(len(base64.b64decode(data)) == int(size) for size, data in found)
    return [base64.b64decode(data) for _, data in found]


@pytest.mark.parametrize("way", ["kitty", "iterm"])
def test_both_pictures_are_sent_as_one_beside_each_other(project, way, capsys):
    run_terminal(project, lambda: "q", way=way)
    said = capsys.readouterr().out
    (data,) = pictures_in(said, way)
    query = project.ask()
    with Image.open(io.BytesIO(data)) as shown:
        assert shown.width > shown.height
        middle = shown.height // 4
        left = shown.getpixel((20, middle))
        right = shown.getpixel((shown.width - 20, middle))
        gap = shown.getpixel((shown.width // 2, middle))
    assert left == (60 * query.left, 0, 200, 255)
    assert right == (60 * query.right, 0, 200, 255)
    assert gap[3] == 0
    assert said.count(".png") == 2  # the paths are there all the same


def draw_sixels(text):
    """Draw sixels as a terminal does; return rows of color numbers, -1 where nothing was drawn."""
    about, width, height, body = re.fullmatch(
        '\x1bP0;1;0q("1;1;(\\d+);(\\d+))(.*)\x1b\\\\\n', text, re.DOTALL
    ).groups()
    assert about
    drawn = np.full((-(-int(height) // 6) * 6, int(width)), -1)
    x = y = color = 0
    colors = {}
    for token in re.findall(r"#\d+;2;\d+;\d+;\d+|#\d+|!\d+.|[$]|-|[?-~]", body):
        if token.startswith("#"):
            numbers = list(map(int, token[1:].split(";")))
            color = numbers[0]
            if len(numbers) > 1:
                colors[color] = numbers[2:]
        elif token == "$":
            x = 0
        elif token == "-":
            x, y = 0, y + 6
        else:
            n = int(token[1:-1]) if token.startswith("!") else 1
            for k in range(6):
                if (ord(token[-1]) - 63) >> k & 1:
                    drawn[y + k, x : x + n] = color
            x += n
    return drawn[: int(height)], colors


def test_sixels_draw_the_picture():
    rng = np.random.default_rng(0)
    blocks = rng.integers(0, 256, (5, 9, 3)).astype(np.uint8).repeat(4, axis=0).repeat(7, axis=1)
    alpha = np.full((20, 63, 1), 255, dtype=np.uint8)
    alpha[:, 30:40] = 0
    picture = Image.fromarray(np.concatenate([blocks, alpha], axis=2))
    drawn, colors = draw_sixels(inline.sixel(picture, 8, 2))
    assert (drawn[:, 30:40] == -1).all()
    for y, x in np.argwhere(alpha[:, :, 0] > 0):
        seen = np.array(colors[drawn[y, x]]) * 255 / 100
        assert np.abs(seen - blocks[y, x]).max() < 16


def test_a_broken_picture_gets_a_placeholder_here_too(project, folder, capsys):
    query = project.ask()
    Path(project.items.location(query.left)).write_bytes(b"broken meanwhile")
    run_terminal(project, lambda: "q", way="sixel")
    sixels = re.search("\x1bP.*?\x1b\\\\\n", capsys.readouterr().out, re.DOTALL)
    assert sixels is not None
    drawn, _ = draw_sixels(sixels[0])
    assert (drawn >= 0).any()


def test_a_pipe_gets_paths_and_no_escapes(folder, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-kitty")
    args = ["label", str(folder), "--terminal", "--image-features", "descriptors"]
    result = CliRunner().invoke(main, args, input="s\nq\n")
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert (
        CliRunner().invoke(main, [*args, "--pictures", "kitty"], input="q\n").output.count("\x1b_G")
    )


def test_the_option_is_refused_where_it_has_no_effect(folder):
    result = CliRunner().invoke(main, ["label", str(folder), "--pictures", "kitty"])
    assert result.exit_code == 2
    assert "--pictures is for --terminal" in result.output


@pytest.mark.slow
@pytest.mark.parametrize(("said", "mark"), [(SIXEL_TERMINAL, "\x1bP0;1;0q"), (OTHER_TERMINAL, "")])
def test_the_command_in_a_real_terminal_shows_what_that_can(folder, said, mark):
    outside, inside = pty.openpty()
    # Here the terminal is a test, which may be slow.
    patient = "from likewise.cli import inline; inline.PATIENCE = 60"
    program = f"{patient}; from likewise.cli import main; main()"
    options = ["--terminal", "--image-features", "descriptors"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, "label", str(folder), *options],
        stdin=inside,
        stdout=inside,
        stderr=inside,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(inside)
    seen = ""
    while "\x1b[c" not in seen:
        seen += os.read(outside, 1000).decode()
    os.write(outside, said.encode())
    for key in ("s", "q"):
        seen = ""
        while "[q]uit" not in seen:
            seen += os.read(outside, 100_000).decode()
        assert (mark in seen) if mark else ("\x1b" not in seen)
        assert seen.count(".png") == 2
        # Keys before the question are thrown away: wait until single keys are read.
        while termios.tcgetattr(outside)[3] & termios.ICANON:
            os.sched_yield()
        os.write(outside, key.encode())
    assert process.wait() == 0
    os.close(outside)
