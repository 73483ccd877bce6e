"""An aspect that is switched off: an entry of the log like others."""

import numpy as np
import pytest

from likewise import COBRA, LabelOracle, Likewise, Session, run
from likewise.errors import InputError, SessionFileError

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 90)
X = np.hstack([3.0 * np.eye(3)[Y] + RNG.normal(size=(90, 3)), RNG.normal(size=(90, 3))])
ASPECTS = {"shape": slice(0, 3), "color": slice(3, 6)}


@pytest.fixture
def session():
    session = Likewise(15, aspects=ASPECTS, random_state=0).start(X)
    return run(session, LabelOracle(Y))


def test_nothing_is_learned_from_an_aspect_that_is_off(session):
    both, weights = session.labels, session.aspects
    session.switch("color", is_on=False, by="Ada")
    assert session.aspects == {"shape": 1.0, "color": 0.0}
    assert session.grouped_by == "grouped by shape"
    assert session.log[-1].by == "Ada"
    alone = Likewise(15, random_state=0).start(X[:, :3])
    for gesture in session.events:
        alone.add_links(gesture.links)
    assert np.array_equal(session.labels, alone.labels)
    session.switch("color", is_on=True)
    assert np.array_equal(session.labels, both)
    assert session.aspects == weights


def test_it_is_undone_redone_and_replayed(session):
    before = session.labels
    session.switch("shape", is_on=False)
    off = session.labels
    assert not np.array_equal(off, before)
    session.undo()
    assert np.array_equal(session.labels, before)
    session.redo()
    assert np.array_equal(session.labels, off)
    assert session.answers.off == {"shape"}
    again = Session.from_dict(session.to_dict())
    assert again == session
    assert np.array_equal(again.labels, off)
    again.grow(X[:2] + 1.0)
    assert np.array_equal(again.labels[:90], off)


def test_one_aspect_stays_on(session):
    session.switch("color", is_on=False)
    with pytest.raises(InputError, match="'shape' is the only aspect that is on"):
        session.switch("shape", is_on=False)
    with pytest.raises(InputError, match="no aspect 'size': there is shape and color"):
        session.switch("size", is_on=False)
    with pytest.raises(InputError, match="is_on must be True or False"):
        session.switch("shape", is_on=0)
    with pytest.raises(InputError, match="these rows have none"):
        COBRA(5).start(X).switch("shape", is_on=False)
    assert len(session.log) == 16


def test_a_file_cannot_switch_what_is_not_there(session):
    session.switch("color", is_on=False)
    saved = session.to_dict()
    assert saved["log"][-1]["do"] == "switch"
    for damage in ({"aspect": "size"}, {"is_on": "no"}, {"is_on": 0}, {"aspect": 3}):
        log = [*saved["log"][:-1], {**saved["log"][-1], **damage}]
        with pytest.raises((InputError, SessionFileError)):
            Session.from_dict({**saved, "log": log})


def test_before_anything_is_known_no_aspect_weighs_anything():
    session = Likewise(aspects=ASPECTS).start(X)
    assert session.aspects is None
    assert session.grouped_by == ""
    session.switch("color", is_on=False)
    assert [each.is_on for each in session.assessment.aspects()] == [True, False]
