"""`Likewise`, COBRAS and DSL as methods of the comparison: told neither groups nor cells.

Each can be stopped after any answer, so one run with many questions is looked at on the way
instead of being made anew for every number of questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from likewise.cluster.asking import Asker
from likewise.cluster.cobras import COBRAS, phases
from likewise.cluster.dsl import DSL, nearest_shown, tree_labels, trees
from likewise.cluster.likewise import Likewise
from likewise.core.session import Session
from likewise.experiments.protocol import GuardedOracle, State
from likewise.oracles import run


def answer_by_answer(
    session: Session,
    oracle: GuardedOracle,
    budget: int | None,
    labels: Callable[[], ArrayLike],
) -> Iterator[State]:
    """Yield what makes the labels, at first and after every answer, until no more are allowed."""
    n_before = -1
    while oracle.n_queries > n_before:
        n_before = oracle.n_queries
        yield n_before, labels
        if budget is None or n_before < budget:
            run(session, oracle, max_queries=1)


class LikewiseMethod:
    """`Likewise`, which is told how many questions there will be and nothing else."""

    name = "Likewise"
    settings = ""
    error_rate: float | Literal["estimate"] = 0.0

    def run(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],
        budget: int | None,
        seed: int,
        **_: Any,
    ) -> NDArray[np.intp]:
        """Cluster all rows."""
        model = self._model(budget, seed)
        return model.fit(X, oracle=oracle, train_indices=train_indices).labels_

    def anytime(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],
        budget: int | None,
        seed: int,
        **_: Any,
    ) -> Iterator[State]:
        """Yield the clustering after every answer."""
        session = self._model(budget, seed).start(X, train_indices=train_indices)
        return answer_by_answer(
            session, oracle, budget, lambda: Likewise().adopt(session, X=X).labels_
        )

    def shared_runs(
        self,
        X: NDArray[np.float64],
        *,
        train_indices: NDArray[np.intp],
        budgets: Sequence[int],
        seed: int,
        **_: Any,
    ) -> list[list[int]]:
        """Return budgets together for which the session begins, and so goes on, the same."""
        groups: list[tuple[Session, list[int]]] = []
        for budget in sorted(budgets):
            session = self._model(budget, seed).start(X, train_indices=train_indices)
            if groups and groups[-1][0] == session:
                groups[-1][1].append(budget)
            else:
                groups.append((session, [budget]))
        return [group for _, group in groups]

    def _model(self, budget: int | None, seed: int) -> Likewise:
        return Likewise(budget, error_rate=self.error_rate, random_state=seed)


class CarefulMethod(LikewiseMethod):
    """`Likewise` that expects wrong answers, and is not told how many there are."""

    name = "Likewise-careful"
    settings = "error_rate=estimate"
    error_rate = "estimate"


class _OneRun:
    """A method whose questions do not depend on how many there will be."""

    def shared_runs(
        self,
        X: NDArray[np.float64],  # noqa: ARG002
        *,
        budgets: Sequence[int],
        **_: Any,
    ) -> list[list[int]]:
        """Return all budgets in one group."""
        return [list(budgets)]


class CobrasMethod(_OneRun):
    """COBRAS, as published."""

    name = "COBRAS"
    settings = "n_init=10"

    def run(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],
        budget: int | None,
        seed: int,
        **_: Any,
    ) -> NDArray[np.intp]:
        """Cluster all rows."""
        model = COBRAS(budget, random_state=seed)
        return model.fit(X, oracle=oracle, train_indices=train_indices).labels_

    def anytime(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],
        budget: int | None,
        seed: int,
        **_: Any,
    ) -> Iterator[State]:
        """Yield the clustering after every phase; within one it stays as it was."""
        may_show = np.zeros(len(X), dtype=bool)
        may_show[train_indices] = True
        rng = np.random.default_rng(int(check_random_state(seed).randint(2**31 - 1)))
        asker = Asker(len(X), oracle, budget)
        for labels in phases(X, may_show, asker, rng):
            yield oracle.n_queries, labels


class DslMethod(_OneRun):
    """DSL, as published, without its stop at the true clustering, which nobody knows."""

    name = "DSL"
    settings = ""

    def run(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],
        budget: int | None,
        **_: Any,
    ) -> NDArray[np.intp]:
        """Cluster all rows."""
        return DSL(budget).fit(X, oracle=oracle, train_indices=train_indices).labels_

    def anytime(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],
        budget: int | None,
        **_: Any,
    ) -> Iterator[State]:
        """Yield the clustering before every question."""
        shown = np.unique(train_indices)
        nearest = nearest_shown(X, shown)
        for parent in trees(X, shown, Asker(len(X), oracle, budget)):
            yield oracle.n_queries, partial(tree_labels, parent, nearest)
