from likewise import open_items
from likewise.cli.lines import block, both, cells, clean, fit, sparkline


def test_a_curve_is_bars_of_eight_heights():
    assert sparkline([0, 1, 2, 4, 7], 10) == "▁▂▃▅█"


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
