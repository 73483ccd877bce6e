"""A session goes on only with the rows it was made from."""

import numpy as np
import pytest

from likewise import COBRA, LabelOracle, Likewise, Session
from likewise.core.fingerprint import fingerprint, refuse_other_rows
from likewise.errors import SessionFileError

X = np.random.default_rng(0).normal(size=(30, 3))
OTHERS = {
    "order of rows": X[::-1],
    "order of columns": X[:, ::-1],
    "fewer columns": X[:, :2],
    "fewer rows": X[1:],
    "one value": np.where(np.arange(90).reshape(30, 3) == 44, 0, X),
    "rounded": X.round(3),
    "transposed": X.T,
}


@pytest.fixture(params=list(OTHERS))
def other(request):
    return OTHERS[request.param]


def test_a_saved_session_refuses_other_rows(other):
    plain = COBRA(5, random_state=0).start(X).to_dict()
    assert Session.from_dict(plain, X=X).digest == plain["digest"]
    with pytest.raises(SessionFileError, match="made from other rows than these"):
        Session.from_dict(plain, X=other)


@pytest.mark.parametrize("model", [COBRA(5, random_state=0), Likewise(5, random_state=0)])
def test_an_estimator_refuses_to_adopt_a_session_about_other_rows(model, other):
    session = model.start(X)
    assert len(model.adopt(session, X=X).labels_) == 30
    with pytest.raises(ValueError, match="the session"):
        model.adopt(session, X=other)


def test_a_widget_refuses_other_rows(other):
    pytest.importorskip("anywidget", reason='pip install "likewise[notebook]"')
    session = COBRA(5, random_state=0).start(X)
    with pytest.raises(SessionFileError, match="made from other rows"):
        session.widget(items=[f"text {k}" for k in range(30)], X=other)


@pytest.mark.parametrize(
    "rows",
    [X.astype(np.float32), X.astype(np.float32).astype(float), X.astype(np.float32).tolist()],
)
def test_the_same_values_are_the_same_rows_whatever_their_type(rows):
    session = COBRA(5, random_state=0).start(X.astype(np.float32))
    assert Session.from_dict(session.to_dict(), X=rows).digest == session.digest
    with pytest.raises(SessionFileError):
        Session.from_dict(session.to_dict(), X=X)


def test_whole_numbers_and_frames_are_compared_as_they_are_fitted():
    pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    whole = (X * 10).astype(int)
    session = COBRA(5, random_state=0).start(whole)
    refuse_other_rows(session.digest, whole)
    refuse_other_rows(session.digest, pandas.DataFrame(whole))
    model = COBRA(5, random_state=0, labels="learned")
    model.fit(pandas.DataFrame(whole), oracle=LabelOracle(np.arange(30) % 2))


def test_a_session_without_a_fingerprint_takes_any_rows():
    refuse_other_rows(None, X)
    assert fingerprint(X) != fingerprint(X[::-1])
