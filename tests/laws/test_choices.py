"""Choices are under the laws: a strategy that asks to which group a row belongs."""

import numpy as np

from likewise.core.answers import ordered
from likewise.core.links import LinkGraph
from likewise.core.strategy import Strategy
from likewise.testing import StrategyLaws

MOST_SHOWN = 3


class ChooseGroups(Strategy):
    """Show one row after another and the groups of the rows before it."""

    name = "choose-groups"

    def __init__(self, n_rows, train):
        self.train = [int(row) for row in train]
        self._n_rows = n_rows
        self._log = []
        self.links = LinkGraph(n_rows)

    n_rows = property(lambda self: self._n_rows)

    def next_question(self):
        unsure = {ordered(left, right) for left, right, answer in self._log if not answer.is_link}
        for place, row in enumerate(self.train):
            groups: dict[int, list[int]] = {}
            for other in self.train[:place]:
                groups.setdefault(self.links.find(other), []).append(other)
            shown = tuple(
                tuple(rows[:2])
                for rows in groups.values()
                if self.links.implied(row, rows[0]) is None and ordered(row, rows[0]) not in unsure
            )
            if shown:
                return row, shown[:MOST_SHOWN]
        return None

    def record(self, left, right, answer, *, is_certain=False):
        if answer.is_link:
            self.links.add(left, right, answer)
        self._log.append((left, right, answer))

    def fresh(self):
        return type(self)(self.n_rows, self.train)

    def remaining(self):
        roots = sorted({self.links.find(row) for row in self.train})
        n_open = sum(
            self.links.implied(left, right) is None
            for k, left in enumerate(roots)
            for right in roots[k + 1 :]
        )
        return n_open, n_open

    def labels(self, *, guess=False):
        roots = [self.links.find(row) for row in range(self.n_rows)]
        return np.unique(roots, return_inverse=True)[1]

    def askable(self):
        return np.array(self.train, dtype=np.intp)

    def to_dict(self):
        return {"n_rows": self.n_rows, "train": self.train}

    @classmethod
    def load(cls, plain, X):
        return cls(plain["n_rows"], plain["train"])


class TestChooseGroups(StrategyLaws):
    def make(self, case):
        return ChooseGroups(len(case.X), case.train)
