"""The paper's Table 1: closest pairs first, on all instances."""

import pytest

from likewise import LabelOracle, Session, run
from likewise.core.partition import singletons
from likewise.lab.datasets import load
from likewise.lab.peers.random_order import RandomOrder
from likewise.strategies import ClosestFirst

COUNTS = {
    "iris": 155,
    "wine": 187,
    "dermatology": 379,
    "hepatitis": 140,
    "ecoli": 440,
    "optdigits389": 1164,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_closest_pairs_first_takes_exactly_the_published_number_of_questions(name, data_home):
    data = load(name, data_home=data_home)
    session = run(Session(ClosestFirst(singletons(data.X))), LabelOracle(data.y))
    assert len(session.events) == COUNTS[name]


@pytest.mark.slow
@pytest.mark.parametrize(("over", "low", "high"), [("groups", 340, 400), ("rows", 310, 370)])
def test_random_orders_take_more_than_twice_as_many(over, low, high, data_home):
    data = load("iris", data_home=data_home)
    counts = []
    for seed in range(3):
        strategy = RandomOrder(singletons(data.X), over=over, seed=seed)
        counts.append(len(run(Session(strategy), LabelOracle(data.y)).events))
    assert low < sum(counts) / 3 < high
