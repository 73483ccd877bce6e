"""A session that grows: rows join, leave and come back; the laws are in `likewise.testing`."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from likewise import COBRA, LabelOracle, Likewise, Session
from likewise.errors import InputError
from likewise.oracles import run

X, Y = load_digits(return_X_y=True)
SOME = np.random.default_rng(0).permutation(len(X))[:600]
X, Y = X[SOME], Y[SOME]


def begun(n=500, max_queries=40, ids=None) -> Any:
    session = Likewise(max_queries, random_state=0).start(X[:n], sample_ids=ids)
    return run(session, LabelOracle(Y[:n]))


def test_what_joins_is_learned_and_asked_about_and_no_other_label_changes():
    session = begun()
    labels, doubts = session.labels, session.assessment.doubts()
    assert session.grow(X[500:550]) == range(500, 550)
    assert session.grow(X[550:]) == range(550, 600)
    assert np.array_equal(session.labels[:500], labels)
    assert np.array_equal(session.assessment.doubts()[:500], doubts)
    assert adjusted_rand_score(Y[500:], session.labels[500:]) > 0.7
    session.extend(40)
    run(session, LabelOracle(Y))
    assert any(max(gesture.rows) >= 500 for gesture in session.events)


@pytest.fixture
def nines_last():
    """Rows of four digits, the nines last, and how many are no nines."""
    rows = np.flatnonzero(np.isin(Y, [0, 1, 2, 9]))
    return rows[np.argsort(Y[rows] == 9, kind="stable")], int((Y[rows] != 9).sum())


def test_what_joins_may_form_a_new_group(nines_last):
    rows, n = nines_last
    session = Likewise(30, random_state=0).start(X[rows[:n]])
    run(session, LabelOracle(Y[rows[:n]]))
    n_groups = session.n_groups
    session.grow(X[rows[n:]])
    session.extend(20)
    run(session, LabelOracle(Y[rows]))
    assert session.n_groups == n_groups + 1


def test_a_session_that_thought_it_had_enough_asks_about_doubtful_rows_that_join(nines_last):
    rows, n = nines_last
    session = run(Likewise(random_state=0).start(X[rows[:n]]), LabelOracle(Y[rows[:n]]))
    assert session.ask() is None
    session.grow(X[rows[n:]])
    assert session.ask() is not None


def test_two_rows_that_belong_to_a_removed_one_stay_together():
    session = Likewise(random_state=0).start(X[:20])
    session.add_link(0, 1, "same")
    session.add_link(1, 2, "same")
    session.grow(removed=[1])
    assert session.labels[0] == session.labels[2]
    assert session.links.implied(0, 2).value == "same"
    assert session.removed == {1}


def test_a_grown_session_is_saved_undone_and_redone():
    session = begun(ids=[f"r{k}" for k in range(500)])
    session.grow(X[500:], sample_ids=[f"r{k}" for k in range(500, 600)], removed=[7])
    session.add_link(3, 550, "same")
    loaded: Any = Session.from_dict(json.loads(json.dumps(session.to_dict())), X=X[:500])
    assert loaded == session
    assert loaded.sample_ids[550] == "r550"
    for each in (session, loaded):
        each.undo()
        each.undo()
        assert each.strategy.n_rows == len(each.sample_ids) == 500
        assert not each.removed
    # What is undone may be about rows that are undone, too.
    loaded = Session.from_dict(session.to_dict())
    loaded.redo()
    loaded.redo()
    assert loaded.labels[3] == loaded.labels[550]
    # The page takes back what was said, and rows that joined stay.
    assert loaded.undo(keeps_growth=True).pair == (3, 550)
    assert loaded.undo(keeps_growth=True).source == "asked"
    assert loaded.strategy.n_rows == 600


def test_super_instances_take_in_the_rows_nearest_to_their_centers():
    session = run(COBRA(50, random_state=0).start(X[:500]), LabelOracle(Y[:500]))
    labels = session.labels
    expected = COBRA(50).adopt(session).predict(X[500:])
    session.grow(X[500:])
    assert np.array_equal(session.labels, np.append(labels, expected))


def test_with_cosine_rows_that_join_are_brought_to_unit_length():
    session = Likewise(random_state=0, metric="cosine").start(X[:50])
    session.grow(3 * X[50:52])
    points: Any = session.strategy.partition.points
    assert np.allclose(np.linalg.norm(points, axis=1), 1.0)
    with pytest.raises(InputError, match="all zeros"):
        session.grow(np.zeros((1, 64)))


class Tensor:
    """Rows that are no array of NumPy, with a value that is missing."""

    def __array__(self, dtype=None, copy=None):
        return np.full((1, 64), np.nan)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"X_new": X[:1, :3], "sample_ids": ["z"]},
            "3 columns, but the rows of the session have 64",
        ),
        ({"X_new": [[np.nan] * 64]}, "row 0, column 0 of X is NaN"),
        ({"X_new": Tensor()}, "row 0, column 0 of X is NaN"),
        ({"X_new": X[0]}, r"got an array of shape \(64,\)"),
        ({"X_new": X[:2], "sample_ids": ["a", "a"]}, "'a' occurs more than once"),
        ({"X_new": X[:2], "sample_ids": ["r1", "z"]}, "'r1' occurs more than once"),
        ({"X_new": X[:2], "sample_ids": ["z"]}, "sample_ids has 1 entry, but 2 rows join"),
        ({"X_new": X[:2]}, "sample_ids has 0 entries, but 2 rows join"),
        (
            {"X_new": X[:1], "sample_ids": ["z"], "train_indices": [1]},
            "train_indices: there is no row",
        ),
        ({"removed": [30]}, "there is no row 30"),
        ({"X_new": X[:2], "sample_ids": 5}, "must be a list of one id per row, got 5"),
        ({"removed": ["r1"]}, "removed: rows are numbered from 0 to 29, got 'r1'"),
        ({"removed": 3}, "removed must be a list of row numbers, got 3"),
        ({"removed": range(30)}, "no row would be left"),
        ({"returned": [3]}, "row 3 cannot return"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_changes(options, message):
    session = Likewise(random_state=0).start(X[:30], sample_ids=[f"r{k}" for k in range(30)])
    before = session.to_dict()
    with pytest.raises(InputError, match=message):
        session.grow(**options)
    assert session.to_dict() == before
    assert session.ask() is not None


def test_sessions_that_cannot_grow_say_so():
    distances = COBRA(3, metric="precomputed").start(np.ones((5, 5)) - np.eye(5))
    with pytest.raises(InputError, match="knows distances alone"):
        distances.grow(X[:1])
    sample = Session(begun(30, 0).strategy, row_numbers=range(30))
    with pytest.raises(InputError, match="sample of larger data"):
        sample.grow(X[:1])


def test_another_strategy_must_be_about_all_rows():
    session = begun(30, 5)
    strategy = session.strategy
    session.grow(X[30:33])
    with pytest.raises(InputError, match="about 30 rows, but the session has 33"):
        session.rebuild(strategy)
    session.rebuild(session.strategy)
    loaded = Session.from_dict(session.to_dict())
    assert np.array_equal(loaded.labels, session.labels)
    assert loaded.ask() == session.ask()


def test_the_last_rows_may_leave_when_another_comes_back():
    session = Likewise(random_state=0).start(X[:4])
    session.grow(removed=[0, 1])
    session.grow(removed=[2, 3], returned=[1])
    assert session.removed == {0, 2, 3}
    with pytest.raises(InputError, match="no row would be left"):
        session.grow(removed=[1])


def test_after_a_failure_the_rows_are_those_that_joined_before_it():
    session = begun(n=100)
    session.grow(X[100:110])
    before = session.strategy.partition.points.copy()

    def fail():
        with session.transaction():
            session.undo()
            session.grow(X[200:210])
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert np.array_equal(session.strategy.partition.points, before)


def test_rows_that_join_and_are_not_asked_about_change_no_question():
    session, other = (Likewise(30, random_state=0).start(X[:500]) for _ in range(2))
    other.grow(X[500:], train_indices=[])
    for _ in range(30):
        question = session.ask()
        assert other.ask() == question is not None
        run(session, LabelOracle(Y[:500]), max_queries=1)
        run(other, LabelOracle(Y), max_queries=1)
    session.grow(X[500:], train_indices=[])
    assert np.array_equal(session.labels, other.labels)


def test_what_was_undone_can_be_redone_after_rows_joined_but_not_after_some_left():
    session = begun()
    gesture = session.undo()
    session.grow(X[500:510])
    assert session.can_redo
    assert Session.from_dict(session.to_dict()).can_redo
    assert session.redo().links == gesture.links
    session.undo()
    session.grow(removed=[4])
    assert not session.can_redo
    session.undo()
    session.grow(X[510:520])
    assert not session.can_redo  # the rows that left would have to leave again
