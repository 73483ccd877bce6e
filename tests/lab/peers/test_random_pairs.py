"""What is drawn uniformly: pairs of groups, or pairs of rows."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from likewise import Answer, Gesture, Link, Session
from likewise.core.answered import Answers
from likewise.errors import InputError
from likewise.lab.peers.random_pairs import RandomOrder, RandomPairs

POINTS = np.arange(7.0)[:, None]
N_DRAWS = 300


def asked_by(strategy, answers):
    """Return the two rows that a strategy asks about, or None."""
    question = strategy.next_question(answers)
    return None if question is None else (question[0], question[1][0][0])


def first_questions(over):
    """Return how often each pair is asked about first, with rows 0 to 4 in one group."""
    found: Counter[tuple[int, int] | None] = Counter()
    for seed in range(N_DRAWS):
        strategy = RandomOrder(POINTS, np.arange(7), seed=seed, over=over)
        links = (Link(row, row + 1, Answer.SAME) for row in range(4))
        answers = Answers(7, [Gesture(0, (link,)) for link in links])
        found[asked_by(strategy, answers)] += 1
    return found


@pytest.fixture(params=[64, 0], ids=["by trial", "from all pairs"], autouse=True)
def how(request, monkeypatch):
    monkeypatch.setattr("likewise.lab.peers.random_pairs.N_TRIES", request.param)


def test_over_groups_every_two_groups_are_as_likely_and_stand_for_their_first_rows():
    found = first_questions("groups")
    assert set(found) == {(0, 5), (0, 6), (5, 6)}
    assert min(found.values()) > N_DRAWS / 4


def test_over_rows_every_two_rows_are_as_likely():
    found = first_questions("rows")
    assert set(found) == {(row, other) for row in range(5) for other in (5, 6)} | {(5, 6)}
    assert N_DRAWS / 22 < found[5, 6] < N_DRAWS / 6


@pytest.mark.parametrize("over", ["groups", "rows"])
def test_the_last_pairs_are_found_among_many_that_nobody_is_sure_of(over):
    strategy = RandomOrder(POINTS[:4], np.arange(4), seed=0, over=over)
    asked, answers = set(), Answers(4)
    while (pair := asked_by(strategy, answers)) is not None:
        asked.add(pair)
        answers.take(Gesture(0, (Link(pair[0], pair[1], Answer.UNSURE),)))
    assert len(asked) == 6


def test_random_order_names_what_it_can_draw_from():
    unknown: Any = "pairs"
    with pytest.raises(InputError, match="'pairs'"):
        RandomOrder(POINTS, np.arange(7), over=unknown)


def test_random_pairs_cannot_grow_and_say_so():
    session = Session(RandomPairs(POINTS, np.arange(7)))
    with pytest.raises(InputError, match="'random-pairs' cannot take further rows"):
        session.grow([[9.0]])
