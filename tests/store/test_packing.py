import numpy as np
import pytest

from likewise import COBRA
from likewise.core.answered import Answers
from likewise.core.strategy import STRATEGIES
from likewise.errors import SessionFileError
from likewise.store.packing import pack, pack_session, unpack, unpack_session


def test_arrays_come_back_from_wherever_they_were():
    rows, points = np.arange(3), np.array([[0.5, -1.0]], dtype=np.float32)
    value = unpack(pack({"a": [rows, {"b": points, "c": None}], "d": (rows, "text", 7)}))
    assert value["a"][1]["c"] is None
    assert value["d"][1:] == ["text", 7]
    for found in (value["a"][0], value["d"][0]):
        assert found.tolist() == [0, 1, 2]
    assert value["a"][1]["b"].dtype == np.float32
    assert value["a"][1]["b"].tolist() == points.tolist()


def test_a_session_comes_back_without_what_was_done_in_it():
    session = COBRA(3, random_state=0).start(np.arange(8.0)[:, None])
    first = session.ask()
    session.tell("different")
    session.tell("same")
    session.undo()
    begun = unpack_session(pack_session(session))
    assert begun.ask() == first
    assert begun.events == ()
    assert not begun.can_redo


@pytest.mark.parametrize("data", [b"", b"{", b"PK", pack({"a": np.arange(9)})[:-30]])
def test_damaged_bytes_are_named(data):
    with pytest.raises(SessionFileError, match="is damaged"):
        unpack(data)


def test_nothing_that_would_run_code_is_written():
    objects = np.array([{}], dtype=object)
    with pytest.raises(TypeError, match="object is neither"):
        pack({"a": objects})


@pytest.mark.parametrize("name", ["cobras", "dsl", "acdm", "a3s", "closest-first", "most-doubt"])
def test_a_strategy_stores_what_it_needs_of_the_rows(name):
    strategy = STRATEGIES.find(name).from_rows(np.random.default_rng(0).normal(size=(30, 2)))
    loaded = type(strategy).load(unpack(pack(strategy.to_dict())))
    assert loaded.next_question(Answers(30)) == strategy.next_question(Answers(30))
