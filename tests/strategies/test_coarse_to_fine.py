"""The strategy of `Likewise`."""

import numpy as np

from likewise import LabelOracle, Likewise, Session, run
from likewise.strategies import CoarseToFine


def test_a_session_saved_under_its_earlier_name_goes_on():
    X = np.random.default_rng(0).normal(size=(30, 2))
    session = run(Likewise(random_state=0).start(X), LabelOracle(X[:, 0] > 0), max_queries=9)
    saved = session.to_dict()
    saved["strategy"]["name"] = "refine"
    loaded = Session.from_dict(saved)
    assert isinstance(loaded.strategy, CoarseToFine)
    assert loaded.ask() == session.ask()
    assert loaded.labels.tolist() == session.labels.tolist()
