"""Entries of a saved log name rows that are there."""

import numpy as np
import pytest

from likewise import COBRA, Session
from likewise.errors import LikewiseError


@pytest.mark.parametrize("place", ["log", "undone"])
@pytest.mark.parametrize("row", [8, -1, 10**9])
@pytest.mark.parametrize(
    "entry",
    [
        {"do": "name", "names": [["ROW", "cats"]]},
        {"do": "mark", "row": "ROW"},
        {"do": "check", "links": [["ROW", 0, "same"]]},
        {"do": "tell", "links": [["ROW", 0, "same"]]},
        {"do": "tell", "links": [[1, 0, "same"]], "groups": [["ROW"]]},
    ],
)
def test_a_row_that_is_not_there_is_refused(entry, row, place):
    def with_row(value):
        if isinstance(value, list):
            return [with_row(inner) for inner in value]
        return row if value == "ROW" else value

    plain = COBRA(3, random_state=0).start(np.arange(16.0).reshape(8, 2)).to_dict()
    plain[place] = [{name: with_row(value) for name, value in entry.items()}]
    with pytest.raises(LikewiseError, match="there is no row"):
        Session.from_dict(plain)
