"""Which groups are suggested as one: hard to tell apart, and not told apart."""

import pytest
from sklearn.datasets import make_blobs

from likewise import LabelOracle, Likewise, run
from likewise.strategies.merging import least_probability


@pytest.fixture
def alike():
    """Return rows of four classes that lie upon each other, and their classes."""
    return make_blobs(200, centers=4, cluster_std=9.0, random_state=0)


def test_groups_that_somebody_told_apart_are_not_suggested(alike):
    rows, labels = alike
    session = Likewise(30, random_state=0).start(rows)
    for n in (10, 20, 30):
        run(session, LabelOracle(labels), max_queries=n - session.n_asked)
        assert session.merges == []


def test_the_more_suggestions_were_refused_the_surer_the_next_must_be():
    assert [least_probability(n) for n in (0, 10, 90)] == pytest.approx([0.5, 0.75, 0.95])
