import numpy as np
import pytest

from likewise.learning.given import (
    agreement,
    believed,
    fit_given,
    is_no_group,
    met_groups,
    number_groups,
    suspicion_of,
)
from likewise.learning.views import views_of


def test_rows_vote_like_the_known_rows_of_their_given_group():
    X = np.zeros((5, 1))
    rows = views_of(X)(X)._replace(given=np.array([0, 0, 0, 1, -1]))
    vote = fit_given(rows, np.ones(5), np.array([0, 1, 3]), np.array([0, 0, 1]))
    proba = vote.predict_proba(rows)
    assert proba[:3] == pytest.approx(np.tile([0.99, 0.01], (3, 1)), abs=0.005)
    assert proba[3] == pytest.approx([0.03, 0.97], abs=0.005)
    assert np.isnan(proba[4]).all()


def test_given_groups_agree_with_known_rows_or_not():
    given = np.array([0, 0, 1, 1])
    assert agreement(given, given) == 1.0
    assert agreement(given, np.array([0, 1, 0, 1])) == pytest.approx(1 / 7)
    assert agreement(np.array([0, 1]), np.array([0, 0])) == 1.0  # no two rows of one given group


def test_rows_among_those_of_another_given_group_are_suspicious_and_no_evidence():
    x = np.repeat([0.0, 9.0], 6) + np.tile(np.arange(6), 2) / 10
    distances = np.abs(x[:, None] - x).astype(np.float32)
    given = np.repeat([0, 1], 6)
    given[[0, 7]] = [1, -1]
    suspicion = suspicion_of(distances, given)
    assert np.flatnonzero(suspicion).tolist() == [0]
    known = np.array([0, 1, 20])  # the last one joined later
    assert believed(np.array([1, 0, -1]), known, suspicion).tolist() == [-1, 0, -1]
    half = np.tile([0, 1], 6)  # most are suspicious, so that says nothing
    assert not suspicion_of(distances, half).any()
    assert not suspicion_of(distances, np.full(12, -1)).any()


def test_a_single_row_that_may_be_misplaced_is_no_evidence_about_its_given_group():
    given = np.array([0, 0, 1])
    assert met_groups(given, np.array([0, 0, 0])) == [0]
    assert met_groups(given, np.array([0, 0, 1])) == [0, 1]


def test_given_groups_are_numbered_by_their_labels():
    numbers, labels = number_groups(["cat", "", "dog", "cat"], 4)
    assert (numbers.tolist(), labels) == ([0, -1, 1, 0], ["cat", "dog"])
    nothing = (-1, None, float("nan"), "", "noise")
    assert [is_no_group(label) for label in (*nothing, 0, "cats")] == [True] * 5 + [False] * 2
