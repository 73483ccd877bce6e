from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs

from likewise import LabelOracle, Likewise, run
from likewise.learning.reliability import contradicted_rows, share_of_one_group, share_right


def datasets():
    yield load_iris(return_X_y=True)
    yield tuple(part[:700] for part in load_digits(return_X_y=True))
    for k in range(4):
        yield make_blobs(300, centers=3 + k, cluster_std=1.0 + k, random_state=k)


def share_of_right_rows(y, labels, rows):
    """Each group is worth the class of the rows in it that were asked about."""
    classes = {labels[row]: y[row] for row in rows}
    return np.mean([classes.get(label) == true for label, true in zip(labels, y, strict=True)])


@pytest.mark.slow
def test_the_lower_bound_holds_nine_times_in_ten_and_the_estimate_is_near():
    estimates, truths, bounds = [], [], []
    for X, y in datasets():
        session = Likewise(random_state=0).start(X)
        for n in (15, 30, 60, 100):
            run(session, LabelOracle(y), max_queries=n)
            model = Likewise().adopt(session, X=X)
            if model.completeness_ is None:
                continue
            estimates.append(model.completeness_.estimate)
            bounds.append(model.completeness_.at_least)
            strategy: Any = session.strategy
            rows, _ = strategy.known(session.answers).examples()
            truths.append(share_of_right_rows(y, model.labels_, rows))
    assert len(truths) >= 20
    assert np.mean(np.array(truths) >= bounds) >= 0.9
    assert abs(np.mean(estimates) - np.mean(truths)) < 0.1
    assert np.corrcoef(estimates, truths)[0, 1] > 0.6


def test_completeness_grows_with_answers():
    X, y = make_blobs(400, centers=4, cluster_std=1.5, random_state=0)
    session = Likewise(random_state=0).start(X)
    run(session, LabelOracle(y), max_queries=25)
    early = Likewise().adopt(session).completeness_
    run(session, LabelOracle(y), max_queries=90)
    late = Likewise().adopt(session).completeness_
    assert late.at_least > early.at_least


def test_before_there_are_two_groups_nothing_is_claimed():
    X = np.arange(20.0)[:, None]
    session = Likewise(random_state=0).start(X)
    assert Likewise().adopt(session).completeness_ is None


def test_rows_that_are_known_count_as_right_and_the_others_by_their_chances():
    proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.3, 0.7]])
    estimates = [share_right(proba, np.arange(n)) for n in (1, 2, 4)]
    assert estimates == sorted(estimates)
    assert all(at_least <= estimate for estimate, at_least in estimates)
    assert estimates[-1] == (1.0, 1.0)


def test_it_can_be_read():
    X, y = load_iris(return_X_y=True)
    model = Likewise(30, random_state=0).fit(X, oracle=LabelOracle(y))
    assert "% right, at least" in str(model.completeness_)


def test_the_share_of_one_group_is_that_of_the_likeliest():
    assert share_of_one_group(np.array([[0.9, 0.1], [0.7, 0.3]])) == pytest.approx(0.8)


def test_a_row_is_contradicted_where_its_group_is_very_unlikely():
    left_out = np.array([[0.9, 0.1], [0.8, 0.2], [0.98, 0.02], [0.5, 0.5]])
    assert contradicted_rows(left_out, np.array([0, 0, 1, 1]), 0.05) == [(2, 0.02)]


def test_the_estimate_and_its_bound_are_the_formulas_of_the_module():
    proba = np.tile([0.8, 0.2], (200, 1))
    estimate, bound = share_right(proba, np.arange(100))
    assert estimate == pytest.approx(1 - 0.5 * (1 - 0.8 - 0.02))
    assert bound == pytest.approx(1 - 0.5 * (1 - 0.8 + 0.02 + 3.0 * 0.04))
