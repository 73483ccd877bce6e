"""The contract between a session and a strategy."""

import numpy as np
import pytest

from likewise import Gesture, Link, Session
from likewise.core.answered import Answers
from likewise.core.answers import Answer
from likewise.core.partition import standing_for_rows
from likewise.core.strategy import Strategy
from likewise.errors import InputError


class FirstOpen(Strategy):
    """The least that a strategy must say."""

    name = "first-open"

    def next_question(self, answers):
        rows = self.askable().tolist()
        pairs = ((row, other) for k, row in enumerate(rows) for other in rows[:k])
        return next(((row, ((k,),)) for row, k in pairs if answers.is_open(row, k)), None)


def test_the_contract_has_at_most_fourteen_names_and_one_without_a_default():
    names = {name for name in (*vars(Strategy), *Strategy.__annotations__) if name[0] != "_"}
    assert len(names) <= 14
    assert Strategy.__abstractmethods__ == {"next_question"}


def test_by_default_rows_that_may_not_be_asked_about_follow_the_nearest_that_may():
    rows = np.array([[0.0], [1.0], [8.0], [9.0]])
    strategy = FirstOpen.from_rows(rows, train_indices=np.array([0, 3]))
    assert strategy.askable().tolist() == [0, 3]
    assert strategy.labels(Answers(4)).tolist() == [0, 0, 1, 1]
    joined = Answers(4, [Gesture(0, (Link(0, 3, Answer.SAME),))])
    assert strategy.labels(joined).tolist() == [0, 0, 0, 0]


def test_by_default_what_is_left_are_pairs_of_groups_that_nothing_is_known_about():
    strategy = FirstOpen(standing_for_rows(np.arange(4.0)[:, None]))
    answers = Answers(4)
    assert strategy.assess(answers).remaining() == (6, None)
    answers.take(Gesture(0, (Link(0, 1, Answer.SAME), Link(0, 2, Answer.DIFFERENT))))
    assert strategy.assess(answers).remaining() == (2, None)
    assert strategy.assess(answers).suspects(1.0) == []
    assert strategy.assess(answers).doubts() is None
    assert strategy.assess(answers).completeness() is None


def test_a_strategy_of_nothing_but_a_question_is_saved_and_refuses_to_grow():
    session = Session(FirstOpen.from_rows(np.arange(4.0)[:, None]))
    session.tell("same")
    assert Session.from_dict(session.to_dict()).ask() == session.ask()
    with pytest.raises(InputError, match="'first-open' cannot take further rows"):
        session.grow([[9.0]])
