import numpy as np
import pytest

from likewise.learning.given import fit_given
from likewise.learning.suspects import contradicted_rows
from likewise.learning.views import views_of


def test_rows_vote_like_the_known_rows_of_their_given_group():
    X = np.zeros((5, 1))
    rows = views_of(X)(X)._replace(given=np.array([0, 0, 0, 1, -1]))
    vote = fit_given(rows, np.ones(5), np.array([0, 1, 3]), np.array([0, 0, 1]))
    chances = vote.predict_proba(rows)
    assert chances[:3] == pytest.approx(np.tile([0.99, 0.01], (3, 1)), abs=0.005)
    assert chances[3] == pytest.approx([0.03, 0.97], abs=0.005)
    assert np.isnan(chances[4]).all()


def test_a_row_is_contradicted_where_its_group_is_very_unlikely():
    left_out = np.array([[0.9, 0.1], [0.8, 0.2], [0.98, 0.02], [0.5, 0.5]])
    assert contradicted_rows(left_out, np.array([0, 0, 1, 1])) == [(2, 0.02)]
