"""The oracle of the experiment: it knows the true labels, and errs on purpose if asked to."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from likewise.core.answers import N_LARGE, Answer, Question
from likewise.errors import BudgetExhausted, InputError, LikewiseError

PER = 100
"""The share of wrong answers is exact in every block of this many answers."""
TURN, N_PEOPLE = 10, 3
"""Three people take turns, ten questions each."""


class ForbiddenQueryError(LikewiseError):
    """A method asked about a row of the test part; its run does not count."""


class Slips:
    """Decide which answers are wrong: exactly ``100 * share`` of every hundred different questions.

    A question that is asked again gets the same answer. With `is_one_of_three` people take turns,
    ten questions each, and one of them gives all wrong answers: ``30 * share`` of every ten.
    """

    def __init__(self, share: float, seed: int, *, is_one_of_three: bool = False) -> None:
        self._per = TURN * N_PEOPLE if is_one_of_three else PER
        self._n_per = round(share * self._per)
        if not 0 <= share <= 1 or abs(self._n_per - share * self._per) > 1e-9:
            raise InputError(f"the share of wrong answers must be whole percent, got {share}")
        self._first, self._span = 0, self._per
        if is_one_of_three:
            self._first = TURN * int(np.random.default_rng(seed).integers(N_PEOPLE))
            self._span = TURN
        self.seed = seed
        self._wrong: dict[Hashable, bool] = {}
        self._places: frozenset[int] = frozenset()

    @property
    def n_wrong(self) -> int:
        """How many questions were answered wrongly."""
        return sum(self._wrong.values())

    def is_wrong(self, left: int, right: int) -> bool:
        """Return whether to give the wrong answer about a pair."""
        return self._is_wrong((min(left, right), max(left, right)))

    def chosen(self, question: Question, right: int | Answer) -> int | Answer:
        """Return what is chosen: the right group or, for a wrong answer, any other or none."""
        if question.is_pair:
            is_wrong = self.is_wrong(question.left, question.right)
        else:
            is_wrong = self._is_wrong((question.row, question.groups))
        if not is_wrong:
            return right
        places: list[int | Answer] = [*range(len(question.groups)), Answer.NONE]
        others = [place for place in places if place != right]
        shown = [row for group in question.groups for row in group]
        rng = np.random.default_rng([self.seed, question.row, *shown])
        return others[int(rng.integers(len(others)))]

    def _is_wrong(self, question: Hashable) -> bool:
        if question not in self._wrong:
            block, place = divmod(len(self._wrong), self._per)
            if place == 0:
                rng = np.random.default_rng([self.seed, block])
                drawn = self._first + rng.choice(self._span, self._n_per, replace=False)
                self._places = frozenset(drawn.tolist())
            self._wrong[question] = place in self._places
        return self._wrong[question]


def wrong_rows(y: ArrayLike, share: float, seed: int) -> NDArray[Any]:
    """Return classes, of which a share is any other class: an error about a row, not an answer."""
    classes = np.asarray(y)
    rng = np.random.default_rng(seed)
    n, k = len(classes), int(classes.max()) + 1
    is_wrong = rng.random(n) < share
    return np.where(is_wrong, (classes + rng.integers(1, k, n)) % k, classes)


def wrong_near_borders(X: ArrayLike, y: ArrayLike, share: float, seed: int) -> NDArray[Any]:
    """Return classes with a share of errors, most where neighbors are of other classes."""
    rows, classes = np.asarray(X), np.asarray(y)
    apart = cdist(rows, rows)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1)[:, :10]
    others = (classes[near] != classes[:, None]).mean(axis=1) + 0.02
    chances = np.minimum(1.0, others * share * len(classes) / others.sum())
    apart[classes[:, None] == classes[None]] = np.inf
    nearest = classes[apart.argmin(axis=1)]
    return np.where(np.random.default_rng(seed).random(len(classes)) < chances, nearest, classes)


class GuardedOracle:
    """Answer by the true labels, count the answers, and hold methods to the rules.

    It raises `BudgetExhausted` after `budget` answers, or once `time.thread_time` is past
    `deadline` (`is_late`). `forbidden` keeps the first pair asked about against the rules, which a
    method cannot hide by catching the error; `waits` the seconds on the processor from each answer
    to the next question; `reads` how many rows each question shows: one, up to three of each of
    the likeliest six groups, which are drawn large, and one of every other, which is drawn small.
    `glances` has how many of them are small.

    `slips` says which answers are wrong; `seen` are classes as somebody sees them who is wrong
    about rows; of all questions a share, `unsure`, is not answered, at places that depend on `seed`
    alone. After wrong answers a group may show rows of several classes: then one of the row's class
    is enough, or with `is_by_first`, its first row decides. Of the rows whose group is drawn small,
    the share `overlooked` is answered with none of these, whenever they are asked about.
    """

    can_choose = True

    def __init__(
        self,
        y: ArrayLike,
        train_indices: ArrayLike,
        budget: int | None = None,
        deadline: float | None = None,
        slips: Slips | None = None,
        *,
        seen: ArrayLike | None = None,
        unsure: float = 0.0,
        seed: int = 0,
        is_by_first: bool = False,
        overlooked: float = 0.0,
    ) -> None:
        self._is_by_first = is_by_first
        self._y = np.asarray(y)
        self._seen = self._y if seen is None else np.asarray(seen)
        self._unsure, self._seed, self._overlooked = unsure, seed, overlooked
        self.n_misseen = 0
        self._is_train = np.zeros(len(self._y), dtype=bool)
        self._is_train[np.asarray(train_indices)] = True
        self.budget = budget
        self.deadline = deadline
        self.slips = slips
        self.answers: list[Answer] = []
        self.reads: list[int] = []
        self.glances: list[int] = []
        self.waits: list[float] = []
        self.is_late = False
        self.forbidden: tuple[int, int] | None = None
        self._answered_at: float | None = None

    @property
    def n_queries(self) -> int:
        """Number of questions answered."""
        return len(self.answers)

    def same(self, i: int, j: int) -> bool:
        """Return whether rows i and j belong together."""
        return self.answer(Question(self.n_queries + 1, int(i), ((int(j),),))) is Answer.SAME

    def answer(self, question: Question) -> Any:
        """Return the answer to a question; a choice counts as one question."""
        row, groups = question.row, question.groups
        with self._asked(row, *(member for group in groups for member in group)):
            self.glances.append(len(groups[N_LARGE:]))
            self.reads.append(1 + sum(map(len, groups[:N_LARGE])) + self.glances[-1])
            rng = np.random.default_rng([self._seed, self.n_queries])
            if self._unsure and rng.random() < self._unsure:
                self.answers.append(Answer.UNSURE)
                return Answer.UNSURE
            chosen = self._place(self._seen, question)
            self.n_misseen += chosen != self._place(self._y, question)
            if isinstance(chosen, int) and chosen >= N_LARGE and self._overlooks(row):
                chosen, self.n_misseen = Answer.NONE, self.n_misseen + 1
            if self.slips is not None:
                chosen = self.slips.chosen(question, chosen)
            self.answers.append(Answer.DIFFERENT if chosen is Answer.NONE else Answer.SAME)
        return self.answers[-1] if len(groups) == 1 else chosen

    def _place(self, classes: NDArray[Any], question: Question) -> int | Answer:
        """Return the first group with a row of the same class, or `Answer.NONE`."""
        own = classes[question.row]
        shown = [group[:1] if self._is_by_first else group for group in question.groups]
        return next((k for k, rows in enumerate(shown) if own in classes[list(rows)]), Answer.NONE)

    def _overlooks(self, row: int) -> bool:
        """Return whether the group of a row is overlooked where it is drawn small."""
        return bool(np.random.default_rng([self._seed, row]).random() < self._overlooked)

    @contextmanager
    def _asked(self, *rows: int) -> Iterator[None]:
        """Refuse a question that is against the rules, and note how long it took to come."""
        asked_at = time.thread_time()
        for row in rows:
            if not 0 <= row < len(self._y) or not self._is_train[row]:
                self.forbidden = self.forbidden or (rows[0], rows[1])
                raise ForbiddenQueryError(
                    f"question {self.n_queries + 1} is about row {row} of the test part; only "
                    "training rows may be asked about"
                )
        if self.budget is not None and self.n_queries >= self.budget:
            raise BudgetExhausted(f"all {self.budget} answers were given")
        if self.deadline is not None and time.thread_time() > self.deadline:
            self.is_late = True
            raise BudgetExhausted("the time limit is over")
        yield
        if self._answered_at is not None:
            self.waits.append(asked_at - self._answered_at)
        self._answered_at = time.thread_time()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Run a block whose time does not count in `waits`."""
        started = time.thread_time()
        try:
            yield
        finally:
            if self._answered_at is not None:
                self._answered_at += time.thread_time() - started
