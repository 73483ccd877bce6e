"""Entries of a saved log name rows that are there."""

import numpy as np
import pytest

from likewise import COBRA, Likewise, Session
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


# -- damaged strategies --------------------------------------------------------------------------

ROWS = np.arange(12.0).reshape(6, 2)


def saved(model):
    return model.start(ROWS).to_dict()


@pytest.mark.parametrize("value", [None, 1.5, "x", 0, True])
@pytest.mark.parametrize("name", ["seed", "n_first"])
def test_a_number_that_is_none_is_named_by_its_field(name, value):
    if (name, value) == ("seed", 0):
        return
    plain = saved(Likewise(random_state=0))
    plain["strategy"][name] = value
    with pytest.raises(SessionFileError, match=rf"{name} must be a whole number .* got {value!r}"):
        Session.from_dict(plain)


@pytest.mark.parametrize("model", [Likewise(random_state=0), COBRA(3, random_state=0)])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("assignment", [-999, 1, 2, 0, 1, 2]),
        ("assignment", [999, 1, 2, 0, 1, 2]),
        ("assignment", None),
        ("representatives", [0, 1, 99]),
        ("points", [[0.0, 1.0]]),
        ("points", [1.0, 2.0, 3.0]),
        ("points", "x"),
    ],
)
def test_a_damaged_partition_is_named(model, name, value):
    plain = saved(model)
    plain["strategy"]["partition"][name] = value
    with pytest.raises(SessionFileError, match=r"the saved strategy '.*' is damaged"):
        Session.from_dict(plain)


def test_distances_of_another_size_are_named():
    plain = COBRA(3, metric="precomputed").start(np.ones((4, 4)) - np.eye(4)).to_dict()
    plain["strategy"]["partition"]["distances"] = [[0.0]]
    with pytest.raises(SessionFileError, match=r"distances must have shape \(3, 3\)"):
        Session.from_dict(plain)


@pytest.mark.parametrize("value", [60_000_000, -2])
def test_there_are_no_more_given_groups_than_rows(value):
    plain = Likewise(random_state=0).start(ROWS, groups=[0, 0, 1, 1, 2, 2]).to_dict()
    plain["strategy"]["given"][0] = value
    with pytest.raises(SessionFileError, match=r"given must have numbers of groups from -1"):
        Session.from_dict(plain)


def test_what_is_missing_is_named():
    plain = saved(Likewise(random_state=0))
    del plain["strategy"]["seed"]
    with pytest.raises(SessionFileError, match="'most-doubt' has no 'seed'"):
        Session.from_dict(plain)
