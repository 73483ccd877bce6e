"""Sessions as methods of the experiment: sessions of estimators, and of any strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from likewise.cluster.start import start_session
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.lab.experiments.protocol import State, Stepwise, Trial
from likewise.oracles import run


class SessionMethod(Stepwise):
    """A method that can be stopped after any answer, because it is a session.

    `start` makes the session of a trial, `labels` the labels of a session and its trial; `more`
    are other attributes of `Method`.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[Trial], Session],
        labels: Callable[[Session, Trial], ArrayLike] = lambda session, _: session.labels,
        **more: Any,
    ) -> None:
        self.name = name
        self.start = start
        self.labels = labels
        for attribute, value in more.items():
            setattr(self, attribute, value)

    def run(self, trial: Trial) -> ArrayLike:
        """Return the cluster of every row, by one run to the end."""
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


def estimator_method(
    name: str, estimator: type[Any], parameters: Callable[[Trial], dict[str, Any]], **more: Any
) -> SessionMethod:
    """Return an asking estimator such as `COBRA` as a method; `parameters` makes its parameters."""

    def start(trial: Trial) -> Session:
        model = estimator(**parameters(trial))
        session: Session = model.start(trial.X, train_indices=trial.train_indices)
        return session

    def labels(session: Session, trial: Trial) -> ArrayLike:
        model = estimator(**parameters(trial)).adopt(session, X=trial.X)
        return model.labels_  # type: ignore[no-any-return]

    return SessionMethod(name, start, labels, sources=(estimator.__module__,), **more)


def strategy_method(strategy: type[Strategy]) -> SessionMethod:
    """Return any strategy as a method; it is made by `Strategy.from_rows`."""
    return SessionMethod(
        strategy.name, starting(strategy.from_rows), sources=(strategy.__module__,)
    )


def starting(
    begin: Callable[..., Strategy], seed_of: Callable[[int], int] = int
) -> Callable[[Trial], Session]:
    """Return what starts the session of a trial.

    `begin` makes the strategy, as `Strategy.from_rows`; `seed_of` its seed from that of the trial.
    """

    def start(trial: Trial) -> Session:
        about: Any = {"seed": seed_of(trial.seed), "train_indices": trial.train_indices}
        return start_session(trial.X, begin, **about)[0]

    return start
