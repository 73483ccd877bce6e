"""Methods as a user would write them; the tests load them by name."""

import numpy as np

from likewise.errors import BudgetExhausted
from likewise.lab.experiments.protocol import Method
from likewise.strategies import MostDoubt


class OneGroup(Method):
    name = "one group"
    settings = "none"

    def run(self, trial):
        trial.oracle.same(*trial.train_indices[:2])
        return np.zeros(len(trial.X), dtype=int)


class AsksTestRows(OneGroup):
    name = "asks test rows"

    def run(self, trial):
        for row in range(len(trial.X)):
            try:
                trial.oracle.same(trial.train_indices[0], row)
            except Exception:
                continue
        return np.zeros(len(trial.X), dtype=int)


class Greedy(OneGroup):
    name = "asks without end"

    def run(self, trial):
        while True:
            trial.oracle.same(*trial.train_indices[:2])


class TooFewLabels(OneGroup):
    name = "too few labels"

    def run(self, trial):
        return [0, 1]


class Spins(OneGroup):
    name = "never ends"

    def run(self, trial):
        while True:
            pass


class Thinks(OneGroup):
    name = "thinks between questions"

    def run(self, trial):
        try:
            while True:
                trial.oracle.same(*trial.train_indices[:2])
        except BudgetExhausted:
            return np.zeros(len(trial.X), dtype=int)


class ByDoubt(MostDoubt):
    """A strategy as it is, without a method around it."""


NOT_A_METHOD = object()
