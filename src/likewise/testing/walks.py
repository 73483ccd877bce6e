"""Examples for the laws of strategies: small data, and random sequences of what people do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from likewise.core.answers import Answer, Link, Question
from likewise.core.growth import loaded_strategy
from likewise.core.partition import SuperInstances
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import ContradictionError, InputError

MAX_ROWS = 12
"""The most rows of an example: few, since the laws try all pairs of them."""

SHARE_SHOWN = 0.75
"""The share of rows that may be asked about."""

LARGEST = 1000
"""The numbers in moves are below this; they are used modulo what there is."""

SEEDS = st.integers(0, 2**16)
"""Decide what is random in an example."""

Law = Callable[..., None]


def law(**drawn: st.SearchStrategy[Any]) -> Callable[[Law], Law]:
    """Make a test of a method, tried on many examples of what is `drawn`."""
    suppressed = [
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        # One law is run by the suites of many strategies.
        HealthCheck.differing_executors,
    ]

    def decorate(method: Law) -> Law:
        return settings(deadline=None, suppress_health_check=suppressed)(given(**drawn)(method))

    return decorate


@dataclass(frozen=True, eq=False)
class Case:
    """Rows to ask about.

    Attributes
    ----------
    X : ndarray of shape (n_rows, 2)
        The rows, on a small grid: distances tie, and some rows are equal.
    train : ndarray of int
        The rows that may be asked about, increasing.
    partition : SuperInstances
        Small groups of the rows, for strategies that ask about such. All representatives are in
        `train`.
    seed : int
        Decides what is random in the strategy.
    """

    X: NDArray[np.float64]
    train: NDArray[np.intp]
    partition: SuperInstances
    seed: int
    made_by: str = ""

    def __repr__(self) -> str:
        return self.made_by

    @classmethod
    def drawn(cls, n_rows: int, seed: int, *, ties: bool = True) -> Case:
        """Return rows at random; without `ties`, no two pairs of them are equally far apart."""
        rng = np.random.default_rng([n_rows, seed])
        X = rng.integers(0, 5, (n_rows, 2)).astype(np.float64)
        if not ties:
            X += rng.normal(size=X.shape)
        owners = rng.integers(0, max(1, 3 * n_rows // 4), n_rows)
        _, first, inverse = np.unique(owners, return_index=True, return_inverse=True)
        standing = np.sort(first).astype(np.intp)
        assignment = np.argsort(np.argsort(first))[inverse].astype(np.intp)
        shown = np.flatnonzero(rng.random(n_rows) < SHARE_SHOWN)
        train = np.union1d(standing, shown).astype(np.intp)
        partition = SuperInstances(assignment, standing, points=X[standing])
        made_by = f"Case.drawn({n_rows}, {seed}, ties={ties})"
        return cls(X, train, partition, int(rng.integers(4)), made_by)

    def permuted(self, order: NDArray[np.intp]) -> Case:
        """Return the same with another order of rows: row k is the row `order[k]` of this one."""
        place = np.argsort(order)
        X, standing = self.X[order], place[self.partition.representatives]
        by_row = np.argsort(standing)
        assignment = np.argsort(by_row)[self.partition.assignment[order]]
        standing = standing[by_row]
        partition = SuperInstances(assignment, standing, points=X[standing])
        made_by = f"{self.made_by}.permuted(np.{order!r})"
        return Case(X, np.sort(place[self.train]), partition, self.seed, made_by)


def cases(*, ties: bool = True) -> st.SearchStrategy[Case]:
    """Draw rows; see `Case.drawn`."""
    n_rows = st.sampled_from(range(1, MAX_ROWS + 1))
    return st.builds(Case.drawn, n_rows, SEEDS, ties=st.just(ties))


YES_NO = (Answer.SAME, Answer.DIFFERENT)


@dataclass(frozen=True)
class Move:
    """Something that a person does. What its numbers mean depends on where the session is."""

    kind: str
    i: int
    j: int
    answer: Answer

    def do(self, session: Session, case: Case) -> bool:
        """Do it, and return whether something was done."""
        n_done = len(session.log), session.can_redo
        try:
            self._do(session, case)
        except ContradictionError:
            return False  # what was given clashes with earlier answers
        return (len(session.log), session.can_redo) != n_done

    def _do(self, session: Session, case: Case) -> None:  # noqa: PLR0912  (one for each kind)
        n_rows = session.strategy.n_rows
        left, right = self.i % n_rows, self.j % n_rows
        if self.kind == "answer":
            if (question := session.ask()) is not None:
                reply(session, question, self.answer, self.i)
        elif self.kind == "link" and left != right:
            session.add_link(left, right, self.answer)
        elif self.kind == "mend" and left != right and self.answer.is_link:
            session.add_links([Link(left, right, self.answer)], overrules=True)
        elif self.kind == "undo":
            session.undo()
        elif self.kind == "redo":
            session.redo()
        elif self.kind == "revise" and session.events:
            number = 1 + self.i % len(session.events)
            session.revise(number, self.other_answer(session, number))
        elif self.kind == "name":
            session.name({left: ["", "name"][self.j % 2]})
        elif self.kind == "mark":
            session.mark(left)
        elif self.kind == "doubt" and left != right and {left, right} <= shown(session, case):
            session.mark(left, right)
        elif self.kind == "check" and left != right:
            session.check(left, right, self.answer)
        elif self.kind == "rebuild":
            plain = {"name": session.strategy.name, **session.strategy.to_dict()}
            session.rebuild(loaded_strategy(plain))
        elif self.kind == "grow":
            self._grow(session, left)
        elif self.kind == "switch":
            self._switch(session)

    def _grow(self, session: Session, row: int) -> None:
        """Let one or two rows join, and one leave or return."""
        if not can_grow(session.strategy):
            return
        is_there = row not in session.removed and self.answer is Answer.DIFFERENT
        back = sorted(session.removed)[:1] if self.answer is Answer.UNSURE else []
        asked: list[int] | None = None if self.j % 4 else []
        session.grow(
            rows_that_join(self.i, 1 + self.j % 2),
            train_indices=asked,
            removed=[row] if is_there else [],
            returned=back,
        )

    def _switch(self, session: Session) -> None:
        """Switch an aspect off or on, if there are several and one stays on."""
        aspects = session.assessment.aspects()
        if len(aspects) > 1:
            name, is_on = aspects[self.i % len(aspects)].name, bool(self.j % 2)
            if is_on or any(one.is_on for one in aspects if one.name != name):
                session.switch(name, is_on=is_on)

    def other_answer(self, session: Session, number: int) -> Any:
        """Return an answer to give instead of an earlier one."""
        groups = session.events[number - 1].groups
        return choice_of(len(groups), self.answer, self.j) if groups else self.answer


Walk = list[Move]

DEEDS = ("link", "mend", "revise", "name", "mark", "doubt", "check", "rebuild", "grow", "switch")
ANYTHING = (*DEEDS, "undo", "redo")
SAYINGS = ("link", "mend", "revise", "undo", "redo", "rebuild", "grow")


def can_grow(strategy: Strategy) -> bool:
    """Return whether a strategy takes further rows."""
    return type(strategy).grown is not Strategy.grown


def refuses_growth(session: Session) -> bool:
    """Return whether a strategy takes no further rows; then it says so."""
    if can_grow(session.strategy):
        return False
    try:
        session.grow(rows_that_join(0, 1))
    except InputError:
        return True
    raise AssertionError("it should have refused to grow")


def rows_that_join(seed: int, n: int) -> NDArray[np.float64]:
    """Return rows like those of a `Case`, no two of them equal."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.integers(0, 5, (n, 2)) + rng.normal(0.0, 0.1, (n, 2)))


def shown(session: Session, case: Case) -> set[int]:
    """Return the rows that may be shown: of the first those to train on, and all that joined."""
    later = range(len(case.X), session.strategy.n_rows)
    return {*case.train.tolist(), *later} - session.removed


def walks(
    *kinds: str, answers: Sequence[Answer] = tuple(Answer), max_size: int = 12
) -> st.SearchStrategy[Walk]:
    """Draw a list of moves: every second one answers the open question, the others are of `kinds`.

    Hypothesis draws every move, so that it can shrink a walk step by step.
    """
    either = [*["answer"] * max(1, len(kinds)), *kinds]
    numbers = st.integers(0, LARGEST)
    moves = st.builds(
        Move, st.sampled_from(either), numbers, numbers, st.sampled_from(list(answers))
    )
    return st.lists(moves, max_size=max_size)


def endless(strategy: Strategy, **about: Any) -> Session:
    """Return a session that asks all there is to ask."""
    session = Session(strategy, **about)
    session.extend()
    return session


def states(strategy: Strategy, case: Case, walk: Walk, **about: Any) -> Iterator[Session]:
    """Yield a session at its beginning and after every move of a walk that does something."""
    session = endless(strategy, **about)
    yield session
    for move in walk:
        if move.do(session, case):
            yield session


def walked(strategy: Strategy, case: Case, walk: Walk, **about: Any) -> Session:
    """Return a session after all moves of a walk."""
    *_, session = states(strategy, case, walk, **about)
    return session


def choice_of(n_groups: int, answer: Answer, number: int) -> Any:
    """Return a group to choose, several, none of these or *unsure*."""
    if answer is not Answer.SAME:
        return answer
    return [0, 1] if n_groups > 1 and number % 5 == 4 else number % n_groups


def reply(session: Session, question: Question, answer: Answer, number: int = 0) -> None:
    """Answer the open question."""
    session.choose(choice_of(len(question.groups), answer, number), question=question)
