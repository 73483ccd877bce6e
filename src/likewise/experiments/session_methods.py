"""Methods that ask by a session: COBRA, `Likewise`, COBRAS, DSL, and any `Strategy`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from likewise.cluster.asking import Asker
from likewise.cluster.cobra import COBRA
from likewise.cluster.cobras import phases
from likewise.cluster.dsl import nearest_shown, tree_labels, trees
from likewise.cluster.likewise import Likewise
from likewise.core.partition import singletons
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.experiments.protocol import Method, State, Trial
from likewise.oracles import run
from likewise.strategies import ClosestFirst, RandomOrder


class SessionMethod(Method):
    """A method that can be stopped after any answer, because it is a session.

    Parameters
    ----------
    name, settings : str
        See `Method`.
    start : callable
        Makes the session of a trial.
    labels : callable, optional
        Makes labels of a session and its trial; by default those of the session.
    plans : bool
        Whether its questions depend on how many there will be.
    **more
        Other attributes of `Method`.
    """

    is_anytime = True

    def __init__(
        self,
        name: str,
        start: Callable[[Trial], Session],
        labels: Callable[[Session, Trial], ArrayLike] = lambda session, _: session.labels,
        *,
        plans: bool = False,
        **more: Any,
    ) -> None:
        self.name = name
        self.start = start
        self.labels = labels
        self.plans = plans
        for attribute, value in more.items():
            setattr(self, attribute, value)

    def run(self, trial: Trial) -> ArrayLike:
        """Return the cluster of every row."""
        session = run(self.start(trial), trial.oracle, max_queries=trial.budget)
        return self.labels(session, trial)

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield what makes the labels, at first and after every answer."""
        session = self.start(trial)
        oracle = trial.oracle
        n_before = -1
        while oracle.n_queries > n_before:
            n_before = oracle.n_queries
            yield n_before, partial(self.labels, session, trial)
            if trial.budget is None or n_before < trial.budget:
                run(session, oracle, max_queries=1)

    def shared_runs(self, trial: Trial, budgets: Sequence[int]) -> list[list[int]]:
        """Return budgets together for which the session begins, and so goes on, the same."""
        if not self.plans:
            return [list(budgets)]
        groups: list[tuple[Session, list[int]]] = []
        for budget in sorted(budgets):
            session = self.start(replace(trial, budget=budget))
            if groups and groups[-1][0] == session:
                groups[-1][1].append(budget)
            else:
                groups.append((session, [budget]))
        return [group for _, group in groups]


def estimator_method(
    name: str, estimator: type[Any], parameters: Callable[[Trial], dict[str, Any]], **more: Any
) -> SessionMethod:
    """Return an asking estimator as a method.

    Parameters
    ----------
    name : str
        Of the method.
    estimator : type
        A class with `start` and `adopt`, such as `COBRA`.
    parameters : callable
        The parameters of the estimator for a trial.
    **more
        Other parameters of `SessionMethod`.
    """

    def start(trial: Trial) -> Session:
        model = estimator(**parameters(trial))
        session: Session = model.start(trial.X, train_indices=trial.train_indices)
        return session

    def labels(session: Session, trial: Trial) -> ArrayLike:
        found: ArrayLike = estimator(**parameters(trial)).adopt(session, X=trial.X).labels_
        return found

    return SessionMethod(name, start, labels, sources=(estimator.__module__,), **more)


def strategy_method(strategy: type[Strategy]) -> SessionMethod:
    """Return any strategy as a method; it is made by `Strategy.from_rows`.

    It may plan by the number of questions, so each budget for which it begins differently is a
    run of its own.
    """

    def start(trial: Trial) -> Session:
        return Session(
            strategy.from_rows(
                trial.X, train_indices=trial.train_indices, budget=trial.budget, seed=trial.seed
            )
        )

    return SessionMethod(strategy.name, start, plans=True, sources=(strategy.__module__,))


def _cobra(name: str, **parameters: Any) -> SessionMethod:
    def of_trial(trial: Trial) -> dict[str, Any]:
        size = trial.n_super_instances
        return {"n_super_instances": size, "random_state": trial.seed, **parameters}

    settings = f"incomplete={parameters.get('incomplete', 'separate')}"
    if "labels" in parameters:
        settings += f", labels={parameters['labels']}"
    return estimator_method(
        name, COBRA, of_trial, settings=settings, is_sized=True, seeded_as="COBRA"
    )


def _likewise(name: str, **parameters: Any) -> SessionMethod:
    def of_trial(trial: Trial) -> dict[str, Any]:
        return {"max_queries": trial.budget, "random_state": trial.seed, **parameters}

    settings = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return estimator_method(name, Likewise, of_trial, settings=settings, plans=True)


cobra = _cobra("COBRA")
cobra_guess = _cobra("COBRA-guess", incomplete="guess")
cobra_learned = _cobra("COBRA-learned", labels="learned")
likewise_plain = _likewise("Likewise")
likewise_careful = _likewise("Likewise-careful", error_rate="estimate")

# Table 1 of the paper: all rows are asked about, not super-instances.
closest_rows = SessionMethod(
    "closest pairs first",
    lambda trial: Session(ClosestFirst(singletons(trial.X))),
    settings="order=closest",
    sources=(ClosestFirst.__module__,),
)
random_groups = SessionMethod(
    "random pairs of groups",
    lambda trial: Session(RandomOrder(singletons(trial.X), over="groups", seed=trial.seed)),
    settings="order=groups",
    sources=(RandomOrder.__module__,),
)
random_rows = SessionMethod(
    "random pairs of rows",
    lambda trial: Session(RandomOrder(singletons(trial.X), over="rows", seed=trial.seed)),
    settings="order=rows",
    sources=(RandomOrder.__module__,),
)


class _OneRun(Method):
    """A method that yields clusterings, and whose questions do not depend on their number."""

    is_anytime = True

    def run(self, trial: Trial) -> ArrayLike:
        """Return the last clustering."""
        labels: Any = None
        for _, labels in self.anytime(trial):  # noqa: B007
            pass
        return np.asarray(labels() if callable(labels) else labels)

    def shared_runs(self, trial: Trial, budgets: Sequence[int]) -> list[list[int]]:  # noqa: ARG002
        """Return all budgets in one group."""
        return [list(budgets)]


class CobrasMethod(_OneRun):
    """COBRAS: within a phase the clustering of the last one stays."""

    name = "COBRAS"
    settings = "n_init=10"
    sources = (phases.__module__,)

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield the clustering after every phase."""
        may_show = np.zeros(len(trial.X), dtype=bool)
        may_show[trial.train_indices] = True
        rng = np.random.default_rng(int(check_random_state(trial.seed).randint(2**31 - 1)))
        asker = Asker(len(trial.X), trial.oracle, trial.budget)
        for labels in phases(trial.X, may_show, asker, rng):
            yield trial.oracle.n_queries, labels


class DslMethod(_OneRun):
    """DSL, without its stop at the true clustering, which nobody knows."""

    name = "DSL"
    sources = (trees.__module__,)

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield the clustering before every question."""
        shown = np.unique(trial.train_indices)
        nearest = nearest_shown(trial.X, shown)
        for parent in trees(trial.X, shown, Asker(len(trial.X), trial.oracle, trial.budget)):
            yield trial.oracle.n_queries, partial(tree_labels, parent, nearest)
