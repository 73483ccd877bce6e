from likewise.cli.lines import cells, clean, sparkline


def test_a_curve_is_bars_of_eight_heights():
    assert sparkline([0, 1, 2, 4, 7], 10) == "▁▂▃▅█"


def test_characters_that_control_the_terminal_are_replaced():
    assert clean("red\x1b[31m\nline") == "red·[31m line"


def test_wide_characters_take_two_columns():
    assert (cells("abc"), cells("日本")) == (3, 4)
