"""The strategy of `Likewise`."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise, Session, run
from likewise.core.strategy import STRATEGIES
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["closest-first", "coarse-to-fine"])
def test_strategies_begin_from_rows(name):
    X, y = make_blobs(200, centers=3, cluster_std=0.5, random_state=0)
    train = np.arange(0, 200, 2)
    make = STRATEGIES.find(name).from_rows
    for budget in (None, 30):
        strategy = make(X, train_indices=train, budget=budget, seed=1)
        session = run(Session(strategy), LabelOracle(y), max_queries=30)
        assert {row for event in session.events for row in event.rows} <= set(train)
        assert adjusted_rand_score(y, session.labels_guess) > 0.9
    again = run(Session(make(X, train_indices=train, budget=30, seed=1)), LabelOracle(y))
    assert again.events[:30] == session.events[:30]


def test_a_budget_is_planned_for_as_by_the_estimator():
    X, y = make_blobs(200, centers=5, random_state=0)
    session = Likewise(25, random_state=0).start(X)
    assert isinstance(session.strategy, CoarseToFine)
    strategy = CoarseToFine.from_rows(X, budget=25, seed=session.strategy.seed)
    straight = run(Session(strategy), LabelOracle(y), max_queries=25)
    assert run(session, LabelOracle(y), max_queries=25).events == straight.events


def test_more_rows_than_cells_are_cut(monkeypatch):
    monkeypatch.setattr("likewise.strategies.coarse_to_fine.cells.MAX_CELLS", 50)
    monkeypatch.setattr("likewise.strategies.coarse_to_fine.cells.N_CELLS", 20)
    X = np.random.default_rng(0).normal(size=(100, 2))
    strategy = CoarseToFine.from_rows(X, train_indices=np.arange(40))
    assert strategy.partition.n_super_instances <= 20
    assert set(strategy.askable()) <= set(range(40))
