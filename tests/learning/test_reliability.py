from math import exp, log
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs

from likewise import LabelOracle, Likewise, run
from likewise.learning.reliability import Evidence, contradicted_rows, share_of_one_group


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
# Some sessions end before 100 answers.
@pytest.mark.filterwarnings("ignore::likewise.errors.NothingAskedWarning")
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


SOME = Evidence(60, 0.9, 0.9, 0.3, 0.05, 30, 50)


def test_rows_that_are_known_count_as_right_and_in_the_bound_as_nine_in_ten():
    said = [SOME._replace(is_open=share).share_right() for share in (1.0, 0.5, 0.0)]
    assert sorted(said) == said
    assert all(at_least < estimate for estimate, at_least in said)
    assert said[-1] == (1.0, 0.9)
    # What was never wrong is not said to be wrong where people know it.
    sure = SOME._replace(mean=0.99, moved=0.0, n_foreseen=50)
    assert sure._replace(is_open=0.5).share_right()[1] == pytest.approx(sure.share_right()[1])


@pytest.mark.parametrize(
    "better", [{"mean": 0.95}, {"n_foreseen": 40}, {"moved": 0.01}, {"one_group": 0.2}]
)
def test_each_kind_of_evidence_counts(better):
    for before, after in zip(
        SOME.share_right(), SOME._replace(**better).share_right(), strict=True
    ):
        assert after > before


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
    estimate, bound = Evidence(60, 1.0, 0.9, 0.3, 0.05, 30, 50).share_right()
    f = 31 / 52
    e = -0.49 + 0.55 * log(9) + 0.38 * log(f / (1 - f)) - 0.3 * log(3 / 7) - 0.3 * log(0.06)
    assert estimate == pytest.approx(1 / (1 + exp(-e)))
    assert bound == pytest.approx(1 / (1 + exp(1 - 1.2 * e)))


def test_what_was_foreseen_is_what_the_answers_of_ten_rows_before_predict():
    X, y = load_iris(return_X_y=True)
    session = Likewise(25, random_state=0).start(X)
    run(session, LabelOracle(y))
    known: Any = session.strategy
    course = known.known(session.answers).course()
    n_known = len(known.known(session.answers).examples()[0])
    assert [one.n_known for one in course] == [10, 20, n_known]
    assert [one.n_compared for one in course] == [0, 10, n_known - 10]
    assert 0 < course[1].n_foreseen <= 10
    assert course[-1].share_right() == (
        session.completeness.estimate,
        session.completeness.at_least,
    )
