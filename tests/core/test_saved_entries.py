"""Entries of a saved log name rows that are there."""

import numpy as np
import pytest

from likewise import COBRA, Session
from likewise.errors import LikewiseError, SessionFileError


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


@pytest.mark.parametrize(
    "entry",
    [
        {"do": "tell", "links": []},
        {"do": "tell", "links": [[1, 0, "same"]], "groups": [[0], []]},
        {"do": "check", "links": []},
        {"do": "tell", "links": [[1, 0, "same"]], "seconds": "long"},
    ],
)
def test_an_answer_about_nothing_is_refused(entry):
    plain = COBRA(3, random_state=0).start(np.arange(16.0).reshape(8, 2)).to_dict()
    with pytest.raises(SessionFileError, match="an entry that cannot be read"):
        Session.from_dict({**plain, "log": [entry]})
