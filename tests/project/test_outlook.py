from dataclasses import replace

import numpy as np
import pytest

from likewise import Answer, LabelOracle, Likewise, run
from likewise.core.reports import Completeness
from likewise.project.outlook import in_words, outlook


@pytest.fixture
def session():
    X = np.random.default_rng(0).normal(size=(90, 2)) + 9 * (np.arange(90) % 3)[:, None]
    session = Likewise(random_state=0).start(X)
    session.extend()
    return session


def test_no_figure_is_given_before_two_groups_are_known(session):
    assert outlook(session).line == "Too early to say how much is right"
    session.choose(Answer.UNSURE)
    assert not outlook(session).can_stop


def test_one_line_says_how_good_it_is_and_what_more_would_bring(session):
    run(session, LabelOracle(np.arange(90) % 3), max_queries=50)
    now = outlook(session)
    assert now.can_stop
    assert now.line.startswith("You can stop here · about 100% right, at least 99%")
    assert now.line.endswith("10 more answers would move less than 1% of the items")


@pytest.mark.parametrize("n", [30, 35, 40])
def test_no_more_would_move_than_is_wrong(session, n):
    run(session, LabelOracle(np.arange(90) % 3), max_queries=n)
    complete = session.completeness
    assert 0.35 * complete.changing <= 1.0 - complete.estimate < 0.03
    assert outlook(session).more.endswith("would move less than 1% of the items")


def test_too_early_it_is_not_said_either_what_more_would_move(session):
    run(session, LabelOracle(np.arange(90) % 3), max_queries=20)
    assert session.completeness is not None
    assert outlook(session).line.startswith("Too early to say how much is right")
    assert "would move" not in outlook(session).line


def test_the_end_is_never_there_beside_more_to_come(session):
    run(session, LabelOracle(np.arange(90) % 3))
    assert session.is_done
    assert outlook(session).more == "nothing left to ask"
    small = Likewise(5, random_state=0).start(session.strategy.partition.points)
    run(small, LabelOracle(np.arange(90) % 3))
    assert outlook(small).line == "Too early to say how much is right"


def test_where_all_was_asked_it_is_never_too_early():
    few = Likewise(random_state=0).start(np.arange(8.0)[:, None])
    run(few, LabelOracle(np.arange(8) % 2))
    assert few.progress.answered < 30
    assert outlook(few).line == "You can stop here · nothing left to ask"


def test_what_is_said_is_what_was_found_to_be_true():
    known = ((30, 0.9),)
    assert "right" not in str(Completeness(0.74, 0.6, 0.69, curve=known))
    assert str(Completeness(0.86, 0.7, 0.3, curve=known)) == "about 86% right, at least 70%"
    assert str(Completeness(0.85, 0.6, 0.3, curve=known)) == "at least 60% right"
    early = Completeness(0.9, 0.7, 0.3, curve=((29, 0.9),))
    assert str(early) == "too early to say how much is right"
    seen = replace(early, foreseen=(6, 8))
    assert str(seen).endswith("is right; 6 of the last 8 answers were foreseen")


def test_minutes_are_those_of_this_person_without_pauses(session):
    oracle = LabelOracle(np.arange(90) % 3)
    for k in range(12):
        question = session.ask()
        chosen = question.place(oracle.answer(question))
        session.choose(chosen, seconds=300.0 if k == 3 else 12.0)
    assert in_words(session) == "10 more answers (about 2 min)"


def test_one_can_stop_where_an_estimate_is_said_and_little_moves(session, monkeypatch):
    session.choose(Answer.UNSURE)
    still = Completeness(0.9, 0.8, 0.3, changing=0.01, curve=((30, 0.9),))
    for complete, can_stop in (
        (still, True),
        (replace(still, estimate=0.8, at_least=0.7), False),
        (replace(still, changing=0.03), False),
        (replace(still, curve=((29, 0.9),)), False),
    ):
        monkeypatch.setattr(type(session), "completeness", complete)
        assert outlook(session).can_stop == can_stop
