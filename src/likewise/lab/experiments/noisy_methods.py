"""Methods that take answers which contradict each other, with loops of their own."""

from __future__ import annotations

from collections.abc import Iterator

from likewise.core.answers import Question, as_answer
from likewise.errors import BudgetExhausted
from likewise.lab.experiments.protocol import State, Stepwise, Trial
from likewise.lab.peers.ncobras import CheckedSplitAndMerge


class NoisyCobras(Stepwise):
    """nCOBRAS as a method of the experiment."""

    name = "ncobras"
    sources = ("likewise.lab.peers.ncobras",)

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield the labels, at first and after every answer."""
        made = CheckedSplitAndMerge.from_rows(
            trial.X, train_indices=trial.train_indices, seed=trial.seed
        )
        asking, oracle = made._begun(), trial.oracle
        yield 0, asking._labels_now
        while (pair := asking._pair) is not None:
            if trial.budget is not None and oracle.n_queries >= trial.budget:
                return
            left, right = pair
            try:
                answer = as_answer(oracle.answer(Question(oracle.n_queries + 1, left, ((right,),))))
            except BudgetExhausted:
                return
            asking._record(left, right, answer)
            yield oracle.n_queries, asking._labels_now
