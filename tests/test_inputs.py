"""Rows that cannot be used are refused by every estimator, with value, place and remedy."""

from typing import Any

import numpy as np
import pytest

from likewise import COBRA, COSC, Likewise, MinMax, MPCKMeans, ReplayOracle, Session, run
from likewise.core.answers import is_whole
from likewise.errors import InputError
from likewise.inputs import refuse_rows
from likewise.rows import ParquetRows

X = np.arange(12.0).reshape(6, 2) ** 1.3


def changed(value, dtype=np.float64):
    rows = X.astype(dtype)
    rows[3, 1] = value
    return rows


BAD = {
    "nan": (changed(np.nan), r"row 3, column 1 of X is NaN \(1 missing value in all\).*SimpleImp"),
    "infinite": (changed(-np.inf), r"row 3, column 1 of X is -inf \(1 infinite value in all\)"),
    "huge": (changed(1e200), r"row 3, column 1 of X is 1e\+200: squared distances.*MinMaxSc"),
    "large": (changed(1e15, np.float32), r"column 1 of X is 1e\+15: .*MinMaxSc"),
    "large whole": (changed(-(2**63), np.int64), r"column 1 of X is -9.22e\+18: .*MinMaxSc"),
    "text": (changed("b", object), "row 3, column 1 of X is 'b', not a number.*open_items"),
    "strings": (np.array([["1", "x"], ["2", "y"]]), "row 0, column 1 of X is 'x', not a number"),
    "missing": (changed(None, object), "row 3, column 1 of X is missing"),
    "dates": (np.array([["2020-01-01"]], "datetime64[D]"), r"dates or times \(datetime64\[D\]\)"),
    "masked": (np.ma.masked_greater(X, 9), r"masked values.*X\.filled"),
    "ragged": ([[1, 2], [3, 4], [5]], "row 2 of X has 1 value, but row 0 has 2"),
    "fields": (np.zeros(4, [("a", float), ("b", int)]), r"fields \(a, b\), not columns"),
    "nothing": (None, "must be rows of numbers.*not NoneType"),
    "a name": ("x.npy", "must be rows of numbers.*not str"),
    "a dict": ({"a": [1]}, "must be rows of numbers.*not dict"),
    "a generator": (iter([[1]]), "must be rows of numbers.*not list_iterator"),
}
ESTIMATORS = [Likewise(), COBRA(2), MPCKMeans(2), COSC(2)]


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_is_named_with_its_place_and_the_remedy(name):
    rows, message = BAD[name]
    with pytest.raises(InputError, match=message):
        refuse_rows(rows)


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", ["nan", "huge", "text", "dates", "masked", "nothing"])
def test_every_estimator_refuses_it(model, name):
    with pytest.raises(InputError, match=BAD[name][1]):
        model.fit(BAD[name][0])


def test_new_rows_and_rows_to_select_from_are_held_to_the_same():
    model = COBRA(2, random_state=0).fit(X)
    with pytest.raises(InputError, match="row 3, column 1 of X is NaN"):
        model.predict(changed(np.nan))
    with pytest.raises(InputError, match="row 3, column 1 of X is NaN"):
        MPCKMeans(2, random_state=0).fit(X).predict(changed(np.nan))
    with pytest.raises(InputError, match="row 3, column 1 of X is NaN"):
        MinMax(2, max_queries=1).select(changed(np.nan), oracle=lambda i, j: True)


def test_columns_of_frames_are_named():
    pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    frame = pandas.DataFrame({"size": [1.0, np.inf], "n": [1, 2]})
    with pytest.raises(InputError, match=r"row 1, column 'size' of X is inf"):
        refuse_rows(frame)
    with pytest.raises(InputError, match="row 0, column 'day' of X is a date, 2020-01-01"):
        refuse_rows(frame.assign(day=pandas.Timestamp("2020-01-01")))
    with pytest.raises(InputError, match="two columns called 'a'; rename one"):
        refuse_rows(pandas.DataFrame(np.eye(2), columns=["a", "a"]))
    with pytest.raises(InputError, match="has no columns"):
        refuse_rows(pandas.DataFrame())


@pytest.mark.parametrize(
    "rows",
    [
        X,
        X.astype(np.float16),
        X.astype(np.float32),
        X.astype(int),
        X > 3,
        X.astype(object),
        X.astype(str),
        X.tolist(),
        np.ma.masked_array(X),
        X * 1e12,
    ],
    ids=lambda rows: f"{type(rows).__name__} {getattr(rows, 'dtype', '')}",
)
def test_numbers_of_all_kinds_are_taken(rows):
    refuse_rows(rows)
    assert len(COBRA(2, random_state=0).fit(rows).labels_) == len(X)


@pytest.mark.parametrize("thing", [None, 5, {"format": "likewise-session"}])
def test_what_is_no_session_is_refused_with_the_remedy(thing):
    for model in (COBRA(), Likewise()):
        with pytest.raises(InputError, match=f"got {type(thing).__name__}.*Session.from_dict"):
            model.adopt(thing)
    with pytest.raises(InputError, match="a Session is needed"):
        run(thing, lambda i, j: True)


@pytest.mark.parametrize("thing", [None, 5, "row-by-row", X])
def test_what_is_no_strategy_is_refused_with_the_remedy(thing):
    with pytest.raises(InputError, match=rf"got {type(thing).__name__}.*Likewise\(\)\.start\(X\)"):
        Session(thing)


@pytest.mark.parametrize("thing", [None, 5, "a.likewise", {"log": []}])
def test_what_is_no_list_of_answers_is_refused_with_the_remedy(thing):
    with pytest.raises(InputError, match=rf"got {type(thing).__name__}: pass session\.events"):
        ReplayOracle(thing)


def test_an_entry_that_is_no_answer_is_refused_by_its_place():
    session = COBRA(2, random_state=0).start(X)
    session.tell("same")
    wrong: list[Any] = [*session.events, (0, 1)]
    for events in (wrong, iter(wrong)):
        with pytest.raises(InputError, match=r"entry 1 is \(0, 1\), which is not a record"):
            ReplayOracle(events)


@pytest.mark.parametrize("n", ["x", -1, 2.5, True])
def test_a_number_of_questions_is_a_whole_number(n):
    session = COBRA(2, random_state=0).start(X)
    with pytest.raises(InputError, match=f"whole number from 0, got {n!r}"):
        run(session, lambda i, j: True, max_queries=n)
    assert session.events == ()


def test_a_list_of_no_files_has_no_rows():
    pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    with pytest.raises(InputError, match="no path was given"):
        ParquetRows([])


@pytest.mark.parametrize(
    ("value", "is_one"), [(3, True), (np.int64(3), True), (3.0, False), (True, False)]
)
def test_whole_numbers_are_integers_of_python_or_numpy(value, is_one):
    assert is_whole(value) is is_one
