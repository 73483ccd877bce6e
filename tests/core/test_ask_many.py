"""Several questions at the same time: for several people, or a model that answers in parallel."""

from typing import Any

import numpy as np
import pytest

from likewise import COBRA, Answer, LabelOracle, Likewise, Question, Session
from likewise.errors import InputError, StaleQueryError

rng = np.random.default_rng(0)
TRUTH = np.repeat([0, 1, 2], 12)
X = rng.normal(size=(36, 2)) + 6 * TRUTH[:, None]
ORACLE = LabelOracle(TRUTH)


def right(question):
    return question.place(ORACLE.answer(question))


def begun(n_answers=20, **options):
    session = Likewise(random_state=0, **{"max_queries": 36, **options}).start(X)
    for _ in range(n_answers):
        session.choose(right(session.ask()))
    return session


def test_they_are_about_different_rows_and_the_first_is_the_open_one():
    session = begun()
    many = session.ask_many(5)
    assert many[0] == session.ask()
    assert len({q.row for q in many}) == len({q.number for q in many}) == 5
    assert session.ask_many(5) == many
    assert session.ask_many(2) == many[:2]
    assert session.ask() == many[0]


def test_others_that_are_being_answered_are_passed_over():
    session = begun()
    first, second, third = session.ask_many(3)
    assert session.ask_many(2, besides=[first]) != [first, second]
    (other,) = session.ask_many(1, besides=[first, second])
    assert other.row == third.row
    assert other.row not in (first.row, second.row)


def test_they_lie_apart():
    session = begun()
    rows = [q.row for q in session.ask_many(4)]
    alone = session.strategy.next_question(session.answers)[0]
    assert rows[0] == alone
    gaps = [abs(X[a] - X[b]).max() for a in rows for b in rows if a < b]
    assert min(gaps) > 0.05


def test_answers_come_in_any_order():
    session = begun()
    first, second, third = session.ask_many(3)
    for question in (third, first, second):
        gesture = session.choose(right(question), question=question.number)
        assert gesture.source == "asked"
        assert gesture.left == question.row
    assert session.n_asked == 23
    assert session.ask().number == 24


def test_numbers_stay_unique():
    session, seen = begun(), set()
    pending = session.ask_many(4)
    while pending:
        seen |= {q.number for q in pending}
        last = pending.pop()
        session.choose(right(last), question=last)
        new = session.ask_many(4 - len(pending), besides=pending)
        assert seen.isdisjoint(q.number for q in new)
        pending = [*new, *pending]


def test_an_answer_is_taken_once():
    session = begun()
    first, second = session.ask_many(2)
    session.choose(right(second), question=second)
    with pytest.raises(StaleQueryError, match="is for question 22, but the open one is"):
        session.choose(right(second), question=second)
    forged = Question(first.number, first.row, ((0,),) if first.row else ((1,),))
    with pytest.raises(StaleQueryError):
        session.choose(0, question=forged)


def test_what_others_settled_meanwhile_is_evidence_and_costs_nothing():
    session = COBRA(4, max_queries=3, random_state=0).start([[0.0], [1.0], [2.1], [9.0]])
    first, second = session.ask_many(2)
    session.add_link(second.left, second.right, Answer.SAME)
    assert session.is_settled(second)
    n_asked = session.n_asked
    gesture = session.tell("same", question=second)
    assert gesture.source == "extra"
    assert not gesture.is_certain
    assert session.n_asked == n_asked
    session.tell("same", question=first)
    assert session.n_asked == n_asked + 1


def test_an_answer_that_contradicts_what_others_settled_is_weighed_by_rank():
    session = begun(by_person := 20)
    (question,) = session.ask_many(1)
    other = session.put(question.row, question.groups)
    session.choose(right(question), question=question, by="Ann")
    wrong = next(k for k in range(len(question.groups)) if k != right(question))
    before = session.labels.tolist()
    session.choose(wrong, question=other, by="model:llama3")
    assert session.labels.tolist() == before
    assert len(session.log) == by_person + 2
    assert session.answerers["model:llama3"] == 1
    assert len(session.events) == by_person + 1


def test_the_budget_counts_those_that_are_open():
    session = begun(6, max_queries=8)
    many = session.ask_many(5)
    assert len(many) == 2
    assert session.ask_many(3, besides=many) == []
    for question in many:
        session.choose(Answer.UNSURE, question=question)
    assert session.ask_many(3) == []
    assert session.n_asked == 8


def test_a_question_of_ones_own_costs_nothing():
    session = begun(6, max_queries=6)
    assert session.ask() is None
    gesture = session.events[0]
    again = session.put(gesture.left, gesture.groups or ((gesture.right,),), source="sampled")
    assert session.choose(Answer.UNSURE, question=again).source == "sampled"
    assert session.n_asked == 6
    with pytest.raises(InputError, match="there is no row"):
        session.put(999, ((0,),))


def test_when_saving_fails_the_question_is_still_open():
    session = begun()
    first, second = session.ask_many(2)
    with pytest.raises(OSError, match="full"), session.transaction():  # noqa: PT012
        session.choose(right(second), question=second)
        raise OSError("full")
    session.choose(right(second), question=second)
    session.choose(right(first), question=first)


def test_a_saved_session_knows_extra_and_sampled_answers():
    session = begun()
    question = session.put(3, ((4,),), source="sampled")
    session.choose(0, question=question)
    again = Session.from_dict(session.to_dict())
    assert again == session
    assert again.labels.tolist() == session.labels.tolist()
    assert again.n_asked == session.n_asked == 20


def test_a_strategy_that_takes_no_notice_gives_different_questions(monkeypatch):
    session = COBRA(8, random_state=0).start(X)
    strategy: Any = session.strategy
    plain = type(strategy).closest

    def closest(self, answers):
        return plain(self, answers.base)

    strategy._pairs  # noqa: B018  (sorted before)
    monkeypatch.setattr(type(strategy), "closest", closest)
    many = session.ask_many(4)
    assert len({(q.left, q.right) for q in many}) == len(many) > 1


@pytest.mark.parametrize("n", [-1, 1.5, None])
def test_a_number_that_is_none_is_refused(n):
    with pytest.raises(InputError, match="ask_many takes a whole number"):
        begun().ask_many(n)


def test_a_removed_row_is_passed_over():
    session = begun()
    first, second = session.ask_many(2)
    session.grow(removed=[second.row])
    rows = {q.row for q in session.ask_many(3, besides=[first])}
    assert second.row not in rows


def test_an_answer_about_a_row_that_was_removed_meanwhile_costs_nothing():
    session = begun()
    first, second = session.ask_many(2)
    session.grow(removed=[second.row])
    n_asked = session.n_asked
    assert session.choose(right(second), question=second).source == "extra"
    assert session.n_asked == n_asked
    session.grow(returned=[second.row])
    assert session.choose(right(first), question=first).source == "asked"
