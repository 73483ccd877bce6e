"""People who overlook a group begin it again; what is suggested joins the two."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from likewise import Likewise, run
from likewise.lab.experiments.oracle import GuardedOracle


@pytest.mark.slow
def test_of_people_who_overlook_one_in_ten_small_groups_at_most_one_pair_is_left():
    rows, labels = make_blobs(800, centers=16, n_features=6, cluster_std=3.0, random_state=1)
    session = Likewise(random_state=0).start(rows)
    session.extend()
    about: Any = {"overlooked": 0.1, "seed": 0, "is_by_first": True}
    person = GuardedOracle(labels, np.arange(800), **about)
    for _ in range(60):
        run(session, person, max_queries=1)
        for merge in session.merges[:1]:
            session.judge(merge.left, merge.right, bool(labels[merge.left] == labels[merge.right]))
    strategy: Any = session.strategy
    heads = [cells[0] for cells in strategy.known(session.answers).groups]
    assert len(heads) - len({*labels[heads]}) <= 1
