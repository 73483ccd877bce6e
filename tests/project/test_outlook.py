from functools import partial

import numpy as np

from likewise import Likewise
from likewise.core.reports import Completeness
from likewise.project.outlook import ENOUGH_ANSWERS, outlook


def test_no_figure_is_given_before_it_means_something(monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 2))
    session = Likewise(random_state=0).start(X)
    sure = partial(Completeness, 1.0, 0.95)
    monkeypatch.setattr(session.strategy, "completeness", sure)
    for _ in range(ENOUGH_ANSWERS):
        found = outlook(session)
        assert found.quality == ""
        assert not found.can_stop
        session.tell("same" if session.ask().left % 2 == session.ask().right % 2 else "different")
    found = outlook(session)
    assert found.quality == "about 100 % right (at least 95 %)"
    assert found.can_stop
    assert found.line.startswith("You can stop here · about 100 % right")
