"""Peers with the labels that their authors published, as methods of the experiment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from likewise.core.answers import Question
from likewise.core.session import Session
from likewise.errors import BudgetExhausted
from likewise.lab.experiments.protocol import State, Stepwise, Trial
from likewise.lab.experiments.session_methods import SessionMethod
from likewise.lab.peers.cobras import PhaseByPhase
from likewise.lab.peers.procedure import Procedure


def procedure_method(name: str, procedure: type[Procedure], settings: str = "") -> SessionMethod:
    """Return a procedure as a method; its labels are the published ones, which may lag behind."""

    def start(trial: Trial) -> Session:
        # As estimators draw theirs: rows of COBRAS were made so.
        seed = int(check_random_state(trial.seed).randint(2**31 - 1))
        return Session(procedure.from_rows(trial.X, train_indices=trial.train_indices, seed=seed))

    def labels(session: Session, _: Trial) -> ArrayLike:
        strategy: Any = session.strategy
        return strategy.labels_as_published()  # type: ignore[no-any-return]

    return SessionMethod(name, start, labels, settings=settings, sources=(procedure.__module__,))


class PublishedCOBRAS(Stepwise):
    """`PhaseByPhase` in a loop of its own: it asks what is implied, which no session does."""

    name = "COBRAS-published"
    settings = "n_init=10; what earlier phases imply is asked again"
    sources = (PhaseByPhase.__module__,)

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield what makes the labels, at first and after every answer."""
        strategy = PhaseByPhase(trial.X, trial.train_indices, seed=trial.seed)
        oracle = trial.oracle
        yield 0, strategy.labels_as_published
        while (asked := strategy.next_question()) and oracle.n_queries != trial.budget:
            question = Question(oracle.n_queries + 1, *asked)
            try:
                strategy.record(question.left, question.right, oracle.answer(question))
            except BudgetExhausted:
                return
            yield oracle.n_queries, strategy.labels_as_published
