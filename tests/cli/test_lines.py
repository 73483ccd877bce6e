import pytest

from likewise import open_items
from likewise.cli.lines import (
    block,
    both,
    cells,
    clean,
    fit,
    fit_end,
    for_terminal,
    in_lines,
    sparkline,
    strip,
)


def test_a_curve_is_bars_of_eight_heights():
    assert sparkline([0, 1, 2, 4, 7], 5) == "▁▂▃▅█"


@pytest.mark.parametrize("n", [1, 2, 7, 40, 41, 100, 1000])
def test_curves_of_any_length_are_equally_wide(n):
    line = sparkline([float(k) for k in range(n)], 40)
    assert len(line) == 40
    assert list(line) == sorted(line)


def test_words_are_not_broken_where_there_is_room():
    assert fit("one two three four", 15) == "one two three…"
    assert fit("one two three four", 17) == "one two three…"
    assert fit("a-very-long-name-of-a-file.png", 12) == "a-very-long…"
    parts = ("[z] undo", "[Z] redo", "[g]roups")
    assert in_lines(parts, 20) == "[z] undo  [Z] redo\n[g]roups"
    assert in_lines(["a" * 9], 5) == "aaaa…"
    assert in_lines(["one two three", "four"], 9) == "one two\nthree\nfour"
    assert in_lines(["1 one two"], 8, indent="  ") == "  1 one\n  two"
    path = "/home/me/session.likewise"
    assert for_terminal(f"session {path} begun", 12) == f"session\n{path}\nbegun"
    assert for_terminal("one\ntwo --three", 8) == "one\ntwo\n--three"


def test_of_a_long_path_the_end_is_shown():
    assert fit_end("/home/me/9.png", 8) == "…e/9.png"
    assert fit_end("9.png", 8) == "9.png"


def test_a_strip_shows_spread_middle_and_item():
    assert strip(0.0, 0.5, 0.99, None, 5) == "──┼──"
    assert strip(0.2, 0.4, 0.6, 0.99, 5) == " ─┼─◆"
    assert strip(1.0, 1.0, 1.0, 0.0, 5) == "◆   ┼"


def test_characters_that_control_the_terminal_are_replaced():
    assert clean("red\x1b[31m\nline") == "red·[31m line"


def test_wide_characters_take_two_columns():
    assert (cells("abc"), cells("日本")) == (3, 4)


def test_a_text_is_cut_to_columns():
    assert fit("日本語", 6) == "日本語"
    assert fit("日本語", 5) == "日本…"
    assert fit("abc", 2) == "a…"


def test_texts_of_wide_characters_stand_side_by_side_and_whole():
    texts = ["日本語の長い文章" * 9, "short words " * 9]
    items = open_items(texts)
    whole = block(items, 0, 29)
    assert "".join(whole) == texts[0]
    assert {cells(line) for line in whole[:-1]} == {28}
    lines = list(both(items, 0, 1, 64))
    assert {cells(line.partition("│")[0]) for line in lines} == {2 + 29 + 1}
    assert "…" not in "".join(lines)
