import pytest

from likewise.words import plural, table_lines


@pytest.mark.parametrize(
    ("n", "word", "text"),
    [
        (1, "row", "1 row"),
        (3, "row", "3 rows"),
        (2, "entry", "2 entries"),
        (1, "series", "1 series"),
    ],
)
def test_plurals(n, word, text):
    assert plural(n, word) == text


def test_columns_of_a_table_are_aligned():
    lines = table_lines([("name", "rows"), ("iris", "150"), ("wine", "9")], right=[1])
    assert lines == ["name  rows", "iris   150", "wine     9"]
