"""`run` with coroutines, and with several questions at a time."""

import asyncio
import re

import numpy as np
import pytest

from likewise import COBRA, Answer, BudgetedOracle, LabelOracle, Likewise, run
from likewise.errors import AnswerError, BudgetExhausted, InputError
from likewise.oracles import arun

rng = np.random.default_rng(0)
TRUTH = np.repeat([0, 1, 2], 12)
X = rng.normal(size=(36, 2)) + 6 * TRUTH[:, None]


class Slow:
    """Answers in the order in which it is told to, and knows how many wait."""

    can_choose = True

    def __init__(self, by=None, fails_at=None):
        self.known, self.by, self.fails_at = LabelOracle(TRUTH), by, fails_at
        self.n, self.most, self.waiting = 0, 0, 0

    async def answer(self, question):
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        self.n += 1
        number = self.n
        try:
            for _ in range(2 + 7 * number % 5):  # so that later ones are often ready first
                await asyncio.sleep(0)
            if number == self.fails_at:
                raise OSError("the line is dead")
            return self.known.answer(question)
        finally:
            self.waiting -= 1


def begun(**options):
    return Likewise(random_state=0, **{"max_queries": 20, **options}).start(X)


def test_a_coroutine_is_awaited():
    session = run(begun(), Slow())
    assert session.n_asked == 20
    plain = run(begun(), LabelOracle(TRUTH))
    assert session == plain


def test_several_are_open_at_a_time_and_never_more():
    oracle = Slow()
    session = run(begun(), oracle, n_at_once=4)
    assert oracle.most == 4
    assert session.n_asked == 20
    assert len(np.unique(session.labels)) == 3


def test_a_function_and_a_choice_may_be_coroutines():
    async def same(i, j):
        return TRUTH[i] == TRUTH[j]

    session = COBRA(6, random_state=0).start(X)
    assert run(session, same, n_at_once=3).is_done


def test_several_of_an_oracle_that_does_not_wait():
    one, other = (run(begun(), LabelOracle(TRUTH), n_at_once=5) for _ in range(2))
    assert one == other
    assert one.n_asked == 20


def test_no_more_is_asked_than_now_and_in_all():
    session = begun()
    run(session, Slow(), max_queries=7, n_at_once=4)
    assert session.n_asked == 7
    run(session, Slow(), n_at_once=4)
    assert session.n_asked == 20


@pytest.mark.parametrize("n_at_once", [1, 4])
def test_after_an_error_every_answer_that_came_is_kept(n_at_once):
    session, oracle = begun(), Slow(fails_at=6)
    with pytest.raises(OSError, match="the line is dead"):
        run(session, oracle, n_at_once=n_at_once)
    assert session.n_asked >= 5
    assert oracle.waiting == 0
    run(session, Slow(), n_at_once=n_at_once)
    assert session.n_asked == 20


def test_after_an_error_of_one_that_does_not_wait_the_others_are_kept():
    class Failing(LabelOracle):
        def answer(self, question):
            if question.number == 8:
                raise OSError("no")
            return super().answer(question)

    session = begun()
    with pytest.raises(OSError, match="no"):
        run(session, Failing(TRUTH), n_at_once=4)
    assert session.n_asked >= 7


def test_when_the_oracle_gives_up_the_rest_is_taken_in():
    session = run(begun(), BudgetedOracle(LabelOracle(TRUTH), 9), n_at_once=4)
    assert session.n_asked == 9

    class Tired(Slow):
        async def answer(self, question):
            if self.n >= 9:
                raise BudgetExhausted("enough")
            return await super().answer(question)

    assert run(begun(), Tired(), n_at_once=4).n_asked == 9


def test_what_is_no_answer_is_refused():
    class Wrong(Slow):
        async def answer(self, question):
            return "no"

    with pytest.raises(AnswerError, match=re.escape("'no' is")):
        run(begun(), Wrong(), n_at_once=3)


def test_an_oracle_signs_its_answers():
    session = run(begun(), Slow(by="model:llama3"), n_at_once=3)
    assert session.answerers == {"model:llama3": 20}
    for gesture in session.events:
        assert gesture.at.startswith("20")
        assert gesture.seconds >= 0


def test_in_a_running_loop_there_is_arun():
    async def cell():
        session = begun()
        with pytest.raises(
            InputError, match=r"await likewise.oracles.arun\(session, oracle\) instead"
        ):
            run(session, Slow())
        assert run(session, LabelOracle(TRUTH), max_queries=2).n_asked == 2
        return await arun(session, Slow(), n_at_once=3)

    assert asyncio.run(cell()).n_asked == 20


def test_not_sure_is_an_answer():
    class Unsure(Slow):
        async def answer(self, question):
            return None

    session = run(begun(max_queries=5), Unsure(), n_at_once=3)
    assert {gesture.answer for gesture in session.events} == {Answer.UNSURE}


@pytest.mark.parametrize("n", [0, -1, 1.5, None])
def test_how_many_at_once_is_checked(n):
    with pytest.raises(InputError, match="n_at_once must be a whole number from 1"):
        run(begun(), LabelOracle(TRUTH), n_at_once=n)
