"""COBRAS with the memory of the authors' code, as a method of the experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numpy.typing import ArrayLike

from likewise.core.question import Question
from likewise.errors import BudgetExhausted
from likewise.lab.experiments.protocol import Method, State, Trial
from likewise.lab.peers.cobras import PhaseByPhase


class PublishedCOBRAS(Method):
    """`PhaseByPhase` in a loop of its own: it asks what is implied, which no session does."""

    name = "COBRAS-published"
    settings = "n_init=10; what earlier phases imply is asked again"
    is_anytime = True
    sources = (PhaseByPhase.__module__,)

    def run(self, trial: Trial) -> ArrayLike:
        """Return the clustering of the last complete phase."""
        *_, (_, labels) = self.anytime(trial)
        return labels() if callable(labels) else labels

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

    def shared_runs(self, trial: Trial, budgets: Sequence[int]) -> list[list[int]]:  # noqa: ARG002
        """Return all budgets together: it does not plan."""
        return [list(budgets)]
