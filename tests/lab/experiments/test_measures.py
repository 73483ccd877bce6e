from itertools import combinations

import pytest
from sklearn.metrics import f1_score

from likewise.lab.experiments.protocol import MEASURES, pairwise_f1

TRUTH, LABELS = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1]


def test_f1_is_that_of_all_pairs():
    def together(classes):
        return [a == b for a, b in combinations(classes, 2)]

    assert pairwise_f1(TRUTH, LABELS) == pytest.approx(f1_score(together(TRUTH), together(LABELS)))
    assert pairwise_f1([0, 1, 2], [2, 1, 0]) == 1


@pytest.mark.parametrize("name", MEASURES)
def test_only_the_true_partition_has_one(name):
    assert MEASURES[name](TRUTH, [5, 5, 5, 3, 3, 9]) == pytest.approx(1)
    assert MEASURES[name](TRUTH, LABELS) < 0.8
