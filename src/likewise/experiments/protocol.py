"""The rules of the experiment: folds, seeds, what a method is, and who answers it.

In each of five folds a fifth of the rows is the test part. A method clusters all rows, asks only
about pairs of training rows, and is scored on the test part.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.core.answers import Answer, Gesture, Link, Query
from likewise.errors import BudgetExhausted, InputError, LikewiseError
from likewise.experiments.slips import Slips

N_FOLDS = 5

Labels = NDArray[np.intp]


class ForbiddenQueryError(LikewiseError):
    """A method asked about a row of the test part; its run does not count."""


class GuardedOracle:
    """Answer by the true labels, count, keep a log, and hold methods to the rules.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The true classes.
    train_indices : array-like of int
        The rows that may be asked about.
    budget : int, optional
        After this many answers `BudgetExhausted` is raised. By default there is no limit.
    deadline : float, optional
        A value of `time.thread_time` after which `BudgetExhausted` is raised as well, and
        `is_late` is true.
    slips : Slips, optional
        Which answers are wrong. By default none is.

    Attributes
    ----------
    log : list of Gesture
        Every answer, in order.
    is_late : bool
        Whether questions were refused because of the deadline.
    forbidden : tuple of int or None
        The first pair asked about against the rules. A method cannot hide it by catching the
        error.
    waits : list of float
        Seconds on the processor from each answer to the next question.

    Examples
    --------
    >>> oracle = GuardedOracle([0, 0, 1, 1], train_indices=[0, 1, 2], budget=2)
    >>> oracle.same(0, 1), oracle.same(1, 2), oracle.n_queries
    (True, False, 2)
    >>> GuardedOracle([0, 0, 1, 1], train_indices=[0, 1, 2]).same(0, 3)
    Traceback (most recent call last):
    ...
    likewise.experiments.protocol.ForbiddenQueryError: question 1 is about row 3 of the test part...
    """

    def __init__(
        self,
        y: ArrayLike,
        train_indices: ArrayLike,
        budget: int | None = None,
        deadline: float | None = None,
        slips: Slips | None = None,
    ) -> None:
        self._y = np.asarray(y)
        self._is_train = np.zeros(len(self._y), dtype=bool)
        self._is_train[np.asarray(train_indices)] = True
        self.budget = budget
        self.deadline = deadline
        self.slips = slips
        self.waits: list[float] = []
        self._answered_at: float | None = None
        self.log: list[Gesture] = []
        self.is_late = False
        self.forbidden: tuple[int, int] | None = None

    @property
    def n_queries(self) -> int:
        """Number of questions answered."""
        return len(self.log)

    def same(self, i: int, j: int) -> bool:
        """Return whether rows i and j belong together."""
        return self.answer(Query(self.n_queries + 1, int(i), int(j))) is Answer.SAME

    def answer(self, query: Query) -> Answer:
        """Return whether the two rows of a query belong together."""
        left, right = query.left, query.right
        asked_at = time.thread_time()
        for row in (left, right):
            if not 0 <= row < len(self._y) or not self._is_train[row]:
                self.forbidden = self.forbidden or (left, right)
                raise ForbiddenQueryError(
                    f"question {self.n_queries + 1} is about row {row} of the test part; only "
                    "pairs of training rows may be asked about"
                )
        if self.budget is not None and self.n_queries >= self.budget:
            raise BudgetExhausted(f"all {self.budget} answers were given")
        if self.deadline is not None and time.thread_time() > self.deadline:
            self.is_late = True
            raise BudgetExhausted("the time limit is over")
        is_same = self._y[left] == self._y[right]
        if self.slips is not None and self.slips.is_wrong(left, right):
            is_same = not is_same
        answer = Answer.SAME if is_same else Answer.DIFFERENT
        self.log.append(Gesture(self.n_queries + 1, (Link(left, right, answer),)))
        if self._answered_at is not None:
            self.waits.append(asked_at - self._answered_at)
        self._answered_at = time.thread_time()
        return answer

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do something that nobody waits for: its time is not part of `waits`."""
        started = time.thread_time()
        try:
            yield
        finally:
            if self._answered_at is not None:
                self._answered_at += time.thread_time() - started


@runtime_checkable
class Method(Protocol):
    """A method in the comparison. Any object with a name and this `run` will do.

    A method may have two things more. ``settings``, a short text on how it was configured, is
    kept with every result. ``anytime``, with the same parameters as `run`, makes it part of the
    curves "quality after every answer": it yields ``(n_answers, labels)`` with a growing number
    of answers.
    """

    name: str

    def run(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],
        budget: int | None,
        n_clusters: int,
        n_super_instances: int,
        seed: int,
    ) -> ArrayLike:
        """Cluster all rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            All rows, those of the test part too.
        oracle : GuardedOracle
            ``oracle.same(i, j)`` or ``oracle.answer(query)``.
        train_indices : ndarray of int
            The rows that may be asked about.
        budget : int or None
            How many questions may be asked: as many as COBRA asked in this fold. None for COBRA.
        n_clusters : int
            The number of clusters the method is told.
        n_super_instances : int
            What COBRA is told; others need not care.
        seed : int
            The source of all randomness.

        Returns
        -------
        array-like of shape (n_rows,)
            The cluster of every row.
        """


State = tuple[int, ArrayLike | Callable[[], ArrayLike]]
"""The number of answers so far and the clustering made of them, or what makes it if called."""


class AnytimeMethod(Method, Protocol):
    """A method that can be stopped after any answer."""

    def anytime(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],
        budget: int | None,
        n_clusters: int,
        n_super_instances: int,
        seed: int,
    ) -> Iterator[State]:
        """Yield the number of answers so far and the clustering made of them.

        Where the clustering takes time, yield a function that makes it, after every single
        answer: it is called before the next question, or not at all.
        """


@runtime_checkable
class BudgetedMethod(AnytimeMethod, Protocol):
    """A method one run of which, looked at on the way, is as good as a run for each budget."""

    def shared_runs(
        self,
        X: NDArray[np.float64],
        *,
        train_indices: NDArray[np.intp],
        budgets: Sequence[int],
        n_super_instances: int,
        seed: int,
    ) -> list[list[int]]:
        """Return the budgets in groups that share a run, each made for the largest of its group."""


def seed_of(*parts: str | int) -> int:
    """Return a seed that depends on nothing but its parts: not on order, process or machine.

    Examples
    --------
    >>> seed_of("iris", 0, 25, "COBRA")
    1651204943
    """
    text = "|".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def folds(task: str, n_rows: int, n_folds: int = N_FOLDS) -> list[NDArray[np.intp]]:
    """Return the test rows of every fold: each row is tested once, the same for all methods.

    Examples
    --------
    >>> [len(test) for test in folds("iris", 147)]
    [30, 30, 29, 29, 29]
    """
    if n_rows < n_folds:
        raise InputError(f"{task} has {n_rows} rows; {n_folds} folds need at least one each")
    order = np.random.default_rng(seed_of(task, "folds")).permutation(n_rows)
    return [np.sort(part) for part in np.array_split(order, n_folds)]
