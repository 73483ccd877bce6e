"""The laws of oracles: what every oracle must do."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from likewise.core.answers import Answer, Chosen, Question
from likewise.core.partition import singletons
from likewise.core.session import Session
from likewise.oracles import Oracle, as_oracle, can_choose, run
from likewise.oracles.oracle import as_chosen
from likewise.strategies import ClosestFirst
from likewise.testing.walks import SEEDS, law


class OracleLaws:
    """The laws of oracles, one test method each.

    A subclass says how to make the oracle. Each law asks it about all pairs of rows, so use few
    rows.

    Attributes
    ----------
    n_rows : int
        How many rows it can be asked about, at least 2.
    sample_ids : sequence of hashable, optional
        Names of the rows, if it answers by names.
    errs : bool
        Whether it gives wrong answers, at random or because a budget is spent. Then what it
        chooses need not agree with what it answers.
    """

    n_rows: int = 6
    sample_ids: Sequence[Hashable] | None = None
    errs: bool = False

    def make(self) -> Any:
        """Return a new oracle, or a function of two row numbers; all of them answer alike."""
        raise NotImplementedError("say how to make your oracle: def make(self): ...")

    def test_every_pair_gets_an_answer(self) -> None:
        oracle = as_oracle(self.make())
        for pair in self._pairs():
            self._answer(oracle, *pair)

    def test_the_order_of_the_two_rows_does_not_matter(self) -> None:
        oracle = as_oracle(self.make())
        for left, right in self._pairs():
            assert self._answer(oracle, left, right) is self._answer(oracle, right, left)

    def test_the_same_question_gets_the_same_answer(self) -> None:
        oracle, other = as_oracle(self.make()), as_oracle(self.make())
        first = [self._answer(oracle, *pair) for pair in self._pairs()]
        assert [self._answer(oracle, *pair, number=9) for pair in self._pairs()] == first
        again = [self._answer(other, *pair) for pair in reversed(self._pairs())]
        assert again[::-1] == first

    @law(seed=SEEDS)
    def test_what_is_chosen_agrees_with_what_is_answered(self, seed: int) -> None:
        oracle = as_oracle(self.make())
        question = self._question(seed)
        if not can_choose(oracle):
            return  # `run` puts such a question as pairs
        chosen = _chosen_by(oracle, question)
        if chosen is Answer.UNSURE:
            return
        places = [] if chosen is Answer.NONE else np.atleast_1d(chosen).tolist()  # type: ignore[arg-type]
        for place, group in enumerate(question.groups):
            answers = [self._answer(oracle, question.row, row) for row in group]
            if place in places:
                assert self.errs or Answer.SAME in answers
            elif chosen is Answer.NONE:
                # The first row stands for its group; others may count, but need not.
                assert self.errs or answers[0] is not Answer.SAME

    def test_a_session_holds_its_answers(self) -> None:
        points = np.arange(self.n_rows, dtype=np.float64)[:, None] ** 1.5
        session = Session(ClosestFirst(singletons(points)), sample_ids=self.sample_ids)
        run(session, self.make())
        oracle = as_oracle(self.make())
        for gesture in session.events:
            assert gesture.answer is self._answer(oracle, gesture.left, gesture.right)
        assert session.is_done

    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.n_rows), 2))

    def _answer(self, oracle: Oracle, left: int, right: int, number: int = 1) -> Answer:
        ids = () if self.sample_ids is None else (self._ids(right),)
        question = Question(number, left, ((right,),), self._ids(left)[0], ids)
        chosen = _chosen_by(oracle, question)
        return chosen if isinstance(chosen, Answer) else Answer.SAME

    def _question(self, seed: int) -> Question:
        """Return a question about one row and all others, in groups of one or two."""
        row, *others = np.random.default_rng(seed).permutation(self.n_rows).tolist()
        groups = tuple(tuple(others[k : k + 2]) for k in range(0, len(others), 2))
        ids = () if self.sample_ids is None else tuple(self._ids(*group) for group in groups)
        return Question(1, row, groups, self._ids(row)[0], ids)

    def _ids(self, *rows: int) -> tuple[Any, ...]:
        return tuple(None if self.sample_ids is None else self.sample_ids[row] for row in rows)


def _chosen_by(oracle: Oracle, question: Question) -> Chosen:
    """Return what an oracle answers; one that is a coroutine is waited for."""

    async def wait() -> Any:
        return await answer

    answer = oracle.answer(question)
    if inspect.iscoroutine(answer):
        return as_chosen(asyncio.run(wait()), question)
    return as_chosen(answer, question)
