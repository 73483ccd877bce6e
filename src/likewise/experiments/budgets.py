"""Scores at many numbers of questions, each the same as if no more had been allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.experiments.protocol import BudgetedMethod, GuardedOracle, Method, State

BUDGETS = (10, 20, 30, 40, 50, 75, 100, 125, 150, 200)
SIZES = (25, 50, 100)
"""COBRA's numbers of questions with so many super-instances are budgets as well."""
NOISE = {"noise-5": 0.05, "noise-10": 0.10}
"""The experiments with wrong answers, and the share of them."""
NOISE_BUDGETS = (100,)


class Point(NamedTuple):
    """A clustering at a budget.

    Attributes
    ----------
    budget : int
        How many questions were allowed.
    asked : int
        After how many the clustering was made; fewer if there was nothing left to ask, or if the
        method changes its clustering only now and then.
    labels : ndarray
    """

    budget: int
    asked: int
    labels: NDArray[Any]


def budgets_of(own: Mapping[int, int]) -> list[int]:
    """Return all budgets of a fold, from COBRA's own number of questions by super-instances.

    Examples
    --------
    >>> budgets_of({25: 26, 50: 52, 100: 105})
    [10, 20, 26, 30, 40, 50, 52, 75, 100, 105, 125, 150, 200]
    """
    return sorted({*BUDGETS, *own.values(), half_of(own)})


def half_of(own: Mapping[int, int]) -> int:
    """Return half the questions of the largest COBRA, rounded down."""
    return own[max(own)] // 2


def clusterings(
    method: Method,
    X: NDArray[np.float64],
    budgets: Sequence[int],
    new_oracle: Callable[[int], GuardedOracle],
    given: dict[str, Any],
) -> Iterator[tuple[GuardedOracle, Point]]:
    """Yield the clustering at every budget, and who answered.

    Parameters
    ----------
    method : Method
        If it is no `BudgetedMethod`, it runs anew for every budget.
    X : ndarray of shape (n_rows, n_features)
    budgets : sequence of int
    new_oracle : callable
        Makes an oracle that answers so many questions.
    given : dict
        The other parameters of `Method.run`.
    """
    groups = [[budget] for budget in sorted(budgets)]
    states_of: Callable[..., Iterator[State]] = partial(_only, method)
    if isinstance(method, BudgetedMethod):
        which = ("train_indices", "n_super_instances", "seed")
        shared = {name: given[name] for name in which}
        groups = method.shared_runs(X, budgets=sorted(budgets), **shared)
        states_of = method.anytime
    for group in groups:
        oracle = new_oracle(max(group))
        states = states_of(X, **given, oracle=oracle, budget=max(group))
        for point in at_budgets(states, group, oracle):
            yield oracle, point


def at_budgets(
    states: Iterable[State], budgets: Iterable[int], oracle: GuardedOracle
) -> Iterator[Point]:
    """Yield for every budget the last clustering that needed no more answers.

    Examples
    --------
    >>> oracle = GuardedOracle([0, 0, 1], [0, 1, 2])
    >>> states = [(0, [0, 0, 0]), (4, [0, 0, 1])]
    >>> [(p.budget, p.asked, p.labels.tolist()) for p in at_budgets(states, [3, 4, 9], oracle)]
    [(3, 0, [0, 0, 0]), (4, 4, [0, 0, 1]), (9, 4, [0, 0, 1])]
    """
    waiting = sorted(set(budgets))
    before: State | None = None
    for n_answers, labels in states:
        with oracle.aside():
            while waiting and waiting[0] < n_answers:
                yield _point(waiting.pop(0), before, is_over=False)
            is_due = bool(waiting) and waiting[0] == n_answers
            before = n_answers, labels() if is_due and callable(labels) else labels
    for budget in waiting:
        yield _point(budget, before, is_over=True)


def _point(budget: int, state: State | None, *, is_over: bool) -> Point:
    if state is None:
        raise InputError(f"the method has no clustering for {budget} questions")
    n_answers, labels = state
    if callable(labels):
        if not is_over:
            raise InputError(
                f"the method went from {n_answers} answers beyond {budget} at once; one that "
                "yields functions does so after every answer"
            )
        labels = labels()
    return Point(budget, n_answers, np.asarray(labels))


def _only(
    method: Method, X: NDArray[np.float64], *, oracle: GuardedOracle, **given: Any
) -> Iterator[State]:
    labels = method.run(X, oracle=oracle, **given)
    yield oracle.n_queries, labels
