"""The rules of the experiment: folds, seeds, budgets, measures, and what a method is.

In each of five folds a fifth of the rows is the test part. A method clusters all rows, asks only
about pairs of training rows, and is scored on the test part.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, v_measure_score
from sklearn.metrics.cluster import pair_confusion_matrix

from likewise.errors import InputError
from likewise.lab.experiments.oracle import GuardedOracle
from likewise.words import plural

N_FOLDS = 5
"""Folds of the cross-validation, as in the paper."""
SIZES = (25, 50, 100)
"""COBRA's numbers of super-instances in the paper."""
BUDGETS = (10, 20, 30, 40, 50, 75, 100, 125, 150, 200)
"""Numbers of questions at which methods are scored, beside COBRA's own."""
NOISE = {"noise-5": 0.05, "noise-10": 0.10}
"""The experiments with wrong answers, and the share of them."""
NOISE_BUDGETS = (100,)
"""Numbers of questions at which methods are scored there."""
PEOPLE = {
    "independent-10": ("independent", 0.1),
    "consistent-10": ("consistent", 0.1),
    "border-10": ("border", 0.1),
    "careless-10": ("careless", 0.1),
    "unsure-10": ("unsure", 0.1),
    "unsure-30": ("unsure", 0.3),
    "overlooked-10": ("overlooked", 0.1),
}
"""The experiments with people who are wrong, not sure, or overlook groups that are drawn small: in
what way, and how often."""
AT_BUDGETS = ("budgets", "rivals", *NOISE, *PEOPLE)
"""The experiments that score one run at many numbers of questions."""
COUNTS = (10, 20, 30, 50, 75, 100, 150)
"""Numbers of questions at which the rivals that ask choices are scored, and all beside them."""

State = tuple[int, ArrayLike | Callable[[], ArrayLike]]
"""The number of answers so far, and the clustering from them or a function that makes it."""


@dataclass(frozen=True)
class Trial:
    """What a method gets: data, an oracle, and a number of questions."""

    X: NDArray[np.float64]  # all rows, those of the test part too
    oracle: GuardedOracle  # answers by ``oracle.same(i, j)`` or ``oracle.answer(question)``
    train_indices: NDArray[np.intp]  # the rows that may be asked about
    budget: int | None  # how many questions may be asked; None for as many as it needs
    n_clusters: int  # for methods that must be told
    n_super_instances: int  # what COBRA is told; others need not care
    seed: int  # the source of all randomness
    aspects: Mapping[str, slice] | None = None  # the columns of each, if there are several


class Method(ABC):
    """A method in the comparison. Only `name` and `run` must be written."""

    name: str
    """Stands in messages. Rows have the name or address under which the method was asked for."""
    settings: str = ""
    """How it was configured, in a few words; kept with every row."""
    is_sized: bool = False
    """Whether it is told a number of super-instances, and so runs once for each of them."""
    is_anytime: bool = False
    """Whether `anytime` yields clusterings on the way."""
    plans: bool = True
    """Whether each budget takes a run. If not, one run of `anytime` serves all budgets."""
    seeded_as: str = ""
    """Another method whose seeds it shares, so that both make the same super-instances."""
    sources: tuple[str, ...] = ()
    """The modules of `likewise` that it calls. If one of them, or what they import, changes, its
    results are stale."""

    @abstractmethod
    def run(self, trial: Trial) -> ArrayLike:
        """Return the cluster of every row."""

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield increasing numbers of answers, each with the clustering made from them.

        If the clustering takes time, yield a function that makes it, after every single answer. It
        is called before the next question, or never.
        """
        labels = self.run(trial)
        yield trial.oracle.n_queries, labels


class Stepwise(Method):
    """A method that writes down `anytime` and does not care for its budget."""

    is_anytime = True
    plans = False

    def run(self, trial: Trial) -> ArrayLike:
        """Return the last clustering."""
        *_, (_, labels) = self.anytime(trial)
        return labels() if callable(labels) else labels


class Point(NamedTuple):
    """A clustering at a budget."""

    budget: int
    asked: int  # may be fewer than the budget
    labels: NDArray[Any]
    oracle: GuardedOracle

    @property
    def rows_read(self) -> int:
        """How many rows the questions showed: two for a pair."""
        return sum(self.oracle.reads[: self.asked])


def clusterings(
    method: Method, new_trial: Callable[[int | None], Trial], budgets: Sequence[int]
) -> Iterator[Point]:
    """Yield the clustering at every budget, each the same as if no more had been allowed."""
    wanted = sorted(set(budgets))
    if not method.plans:
        trial = new_trial(max(wanted))
        yield from at_budgets(method.anytime(trial), wanted, trial.oracle)
        return
    for budget in wanted:
        trial = new_trial(budget)
        labels = np.asarray(method.run(trial))
        yield Point(budget, trial.oracle.n_queries, labels, trial.oracle)


def at_budgets(
    states: Iterable[State], budgets: Iterable[int], oracle: GuardedOracle
) -> Iterator[Point]:
    """Yield for every budget the last clustering that needed no more answers."""
    waiting = sorted(set(budgets))
    before: State | None = None

    def point(budget: int) -> Point:
        if before is None:
            raise InputError(f"the method has no clustering for {plural(budget, 'question')}")
        n_answers, labels = before
        if callable(labels):
            raise InputError(
                f"the method went from {plural(n_answers, 'answer')} beyond {budget} at once; one "
                "that yields functions does so after every answer"
            )
        return Point(budget, n_answers, np.asarray(labels), oracle)

    for n_answers, labels in states:
        with oracle.aside():
            while waiting and waiting[0] < n_answers:
                yield point(waiting.pop(0))
            is_due = bool(waiting) and waiting[0] == n_answers
            before = n_answers, labels() if is_due and callable(labels) else labels
    if before is not None and callable(before[1]):
        before = before[0], before[1]()
    for budget in waiting:
        yield point(budget)


def budgets_of(own: Mapping[int, int]) -> list[int]:
    """Return all budgets of a fold, from COBRA's own number of questions by super-instances."""
    return sorted({*BUDGETS, *own.values(), half_of(own[max(own)])})


def half_of(n_questions: int) -> int:
    """Return half the questions, rounded down: the budget of "half of COBRA's questions"."""
    return n_questions // 2


def seed_of(*parts: str | int) -> int:
    """Return a seed that depends only on its parts, not on order, process or machine."""
    text = "|".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def folds(task: str, n_rows: int, n_folds: int = N_FOLDS) -> list[NDArray[np.intp]]:
    """Return the test rows of every fold: each row is tested once, the same for all methods."""
    if n_rows < n_folds:
        raise InputError(f"{task} has {n_rows} rows; {n_folds} folds need at least one each")
    order = np.random.default_rng(seed_of(task, "folds")).permutation(n_rows)
    return [np.sort(part) for part in np.array_split(order, n_folds)]


def pairwise_f1(truth: ArrayLike, labels: ArrayLike) -> float:
    """Return F1 of the pairs put together, against those that belong together."""
    (_, wrong), (missed, right) = pair_confusion_matrix(truth, labels).tolist()
    return 2 * right / (2 * right + wrong + missed) if right + wrong + missed else 1.0


MEASURES: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "ari": adjusted_rand_score,
    "ami": adjusted_mutual_info_score,
    "v": v_measure_score,
    "f1": pairwise_f1,
}
"""The measures by the names of their columns, in the order of a curve's points."""
