from functools import partial

import numpy as np
from likewise.strategies.row_by_row.strategy import ENOUGH_ROWS

from likewise import Likewise
from likewise.core.reports import Completeness
from likewise.project.outlook import outlook


def test_no_figure_is_given_before_it_means_something():
    X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * (np.arange(60) % 2)[:, None]
    session = Likewise(random_state=0).start(X)
    while len({row for event in session.events for row in event.rows}) < ENOUGH_ROWS:
        assert outlook(session).quality == ""
        assert not outlook(session).can_stop
        session.tell("same" if session.ask().left % 2 == session.ask().right % 2 else "different")
    assert outlook(session).quality.startswith("about 100 % right (at least ")


def test_one_can_stop_when_most_is_right_and_no_group_was_met_only_once(monkeypatch):
    session = Likewise(random_state=0).start(np.arange(9.0)[:, None])
    monkeypatch.setattr(session.strategy, "completeness", partial(Completeness, 1.0, 0.95))
    assert outlook(session).line.startswith("You can stop here · about 100 % right (at least 95 %)")
    monkeypatch.setattr(session.strategy, "completeness", partial(Completeness, 1.0, 0.95, 2))
    assert not outlook(session).can_stop
    assert outlook(session).quality.endswith("95 %), maybe 2 groups not met yet")
