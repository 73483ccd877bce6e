"""What a saved strategy says about its rows is checked, value by value, before it is used."""

import warnings

import numpy as np
import pytest

from likewise import COBRA, Likewise, Session
from likewise.core.journal import entry_from_dict
from likewise.errors import InputError, LikewiseError, SessionFileError

X = np.random.default_rng(0).normal(size=(12, 3))
GROUPS = ["a", "b", "1"] * 4

SESSIONS = {
    "given": lambda: Likewise(9, random_state=0).start(X, groups=GROUPS),
    "aspects": lambda: Likewise(9, aspects={"a": [0], "b": [1, 2]}, random_state=0).start(X),
    "cobra": lambda: COBRA(4, random_state=0).start(X),
}
DAMAGE = [
    ("given", "given", []),
    ("given", "given", [0] * 11),
    ("given", "given", [[0]] * 12),
    ("given", "given", [True] * 12),
    ("given", "given", [0.5] * 12),
    ("given", "given", [np.inf] * 12),
    ("given", "given", [60_000_000] * 12),
    ("given", "given_labels", ["a", "b"]),
    ("given", "given_labels", "x"),
    ("given", "given_labels", ["a", None, "1"]),
    ("given", "given_labels", ["a", "\x1b[31m", "1"]),
    ("aspects", "aspects", {"a": [0.5], "b": [1, 2]}),
    ("aspects", "aspects", {"a": [np.inf], "b": [1, 2]}),
]
PARTITION = [
    ("given", "points", np.full((12, 3), 1e300)),
    ("given", "points", [[1e30] * 3] * 12),
    ("given", "dtype", "complex128"),
    ("given", "assignment", np.full(12, np.inf)),
    ("cobra", "representatives", [0.0, 1.0, 2.0, 3.0]),
    ("cobra", "cell_owner", np.full(4, np.inf)),
    ("cobra", "points", None),
]


def refused(plain):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one of NumPy would be shown raw
        with pytest.raises(SessionFileError):
            Session.from_dict(plain)


@pytest.mark.parametrize(("kind", "name", "value"), DAMAGE)
def test_a_damaged_option_is_refused_when_the_session_is_read(kind, name, value):
    plain = SESSIONS[kind]().to_dict()
    assert name in plain["strategy"]
    refused({**plain, "strategy": {**plain["strategy"], name: value}})


@pytest.mark.parametrize(("kind", "name", "value"), PARTITION)
def test_a_damaged_partition_is_refused_when_the_session_is_read(kind, name, value):
    plain = SESSIONS[kind]().to_dict()
    partition = dict(plain["strategy"]["partition"])
    assert name in partition
    partition[name] = value
    if value is None:
        del partition[name]
    refused({**plain, "strategy": {**plain["strategy"], "partition": partition}})


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_rows_that_joined_are_numbers_that_can_be_compared(value):
    with pytest.raises(LikewiseError):
        entry_from_dict({"do": "grow", "rows": [[value, 0.0, 0.0]]})


def test_labels_of_given_groups_are_shown_and_so_are_texts_that_can_be():
    with pytest.raises(InputError, match="a label in groups has no control characters"):
        Likewise(9).start(X, groups=["a\x1b[31m", "b", "c"] * 4)
