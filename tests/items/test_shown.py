"""Values, texts and views in the little room that a tile or a column has."""

import numpy as np
import pytest

from likewise.items.fields import as_shown, short_number
from likewise.items.items import shorten, small
from likewise.items.latent import rounded


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.30000000000000004, "0.3"),
        ("6.326967087961573", "6.326967"),
        (20000.5, "20000.5"),
        ("3.10", "3.10"),
    ],
)
def test_numbers_have_no_more_digits_than_a_person_compares(value, text):
    assert as_shown(value) == text


@pytest.mark.parametrize(("number", "text"), [(0.123456, "0.1235"), (122112.4, "122112")])
def test_short_numbers_have_four_digits_or_all_before_the_point(number, text):
    assert short_number(number) == text


def test_a_long_text_is_cut():
    assert shorten("To whom it may concern", 10) == "To whom i…"


def test_a_small_tile_shows_one_line_or_one_curve():
    fields = [["town", "Aosta"], ["mayor", ""], ["people", "33000"]]
    assert small({"fields": fields}) == {"line": "town Aosta · people 33000"}
    channel = {"name": "t", "t": [0, 1, 2], "y": [1.0, 2.0, 3.0]}
    assert small({"channels": [channel]}) == {"spark": [0, 50, 100]}
    assert small({"channels": [{"y": [1e308, -1e308]}]}) == {"spark": [100, 0]}
    assert small({"channels": [{"y": [7.0, 7.0]}]}) == {"spark": [50, 50]}


def test_rounding_leaves_no_negative_zero():
    features = rounded(np.array([0.12345649, -1e-9]))
    assert features.tolist() == [0.123456, 0.0]
    assert not np.signbit(features).any()
