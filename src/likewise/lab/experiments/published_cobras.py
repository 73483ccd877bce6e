"""COBRAS with the memory of the authors' code, as a method of the experiment."""

from __future__ import annotations

from collections.abc import Iterator

from likewise.core.answers import Question
from likewise.errors import BudgetExhausted
from likewise.lab.experiments.protocol import State, Stepwise, Trial
from likewise.lab.peers.cobras import PhaseByPhase


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
