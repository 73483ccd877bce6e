"""Methods as a user would write them; the tests load them by name."""

import numpy as np


class OneGroup:
    name = "one group"
    settings = "none"

    def run(self, X, *, oracle, train_indices, budget, n_clusters, n_super_instances, seed):
        oracle.same(train_indices[0], train_indices[1])
        return np.zeros(len(X), dtype=int)


class AsksTestRows(OneGroup):
    name = "asks test rows"

    def run(self, X, *, oracle, train_indices, **given):
        for row in range(len(X)):
            try:
                oracle.same(train_indices[0], row)
            except Exception:
                continue
        return np.zeros(len(X), dtype=int)


class Greedy(OneGroup):
    name = "asks without end"

    def run(self, X, *, oracle, train_indices, **given):
        while True:
            oracle.same(train_indices[0], train_indices[1])


class TooFewLabels(OneGroup):
    name = "too few labels"

    def run(self, X, **given):
        return [0, 1]


class Spins(OneGroup):
    name = "never ends"

    def run(self, X, **given):
        while True:
            pass


class Thinks(OneGroup):
    name = "thinks between questions"

    def run(self, X, *, oracle, train_indices, **given):
        from likewise.errors import BudgetExhausted

        try:
            while True:
                oracle.same(train_indices[0], train_indices[1])
        except BudgetExhausted:
            return np.zeros(len(X), dtype=int)


NOT_A_METHOD = object()
