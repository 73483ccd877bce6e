from collections import Counter

import numpy as np
import pytest

from likewise import LabelOracle, Random


@pytest.mark.slow
def test_every_pair_is_equally_likely():
    X = np.zeros((6, 1))
    questions = [Random(random_state=s).start(X).ask() for s in range(750)]
    first = Counter(frozenset((q.left, q.right)) for q in questions if q is not None)
    assert len(first) == 15
    assert min(first.values()) > 25
    assert max(first.values()) < 80


def test_the_last_pairs_are_found_when_nearly_all_are_settled():
    y = np.repeat([0, 1], 60)
    selector = Random(random_state=0)
    must, cannot = selector.select(np.zeros((120, 1)), oracle=LabelOracle(y))
    assert len(must) + len(cannot) == 120 * 119 // 2
    assert selector.n_queries_ < 400


def test_it_asks_for_nothing_that_follows_from_earlier_answers():
    y = np.repeat([0, 1, 2], 5)
    selector = Random(random_state=1)
    selector.select(np.zeros((15, 1)), oracle=LabelOracle(y))
    assert selector.n_queries_ < 15 * 14 // 2 / 2
