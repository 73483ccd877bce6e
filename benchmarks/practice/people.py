"""Simulated people: truthful, not sure, wrong now and then, or wrong whenever a row is shown."""

import numpy as np

from likewise import Answer
from likewise.core.answers import N_LARGE
from likewise.lab.experiments.oracle import wrong_near_borders, wrong_rows

CONDITIONS = {
    "truthful": {},
    "unsure 10 %": {"unsure": 0.1},
    "unsure 30 %": {"unsure": 0.3},
    "independent 10 %": {"independent": 0.1},
    "consistent 10 %": {"consistent": 0.1},
    "border 10 %": {"border": 0.1},
    "overlooked 10 %": {"overlooked": 0.1},
    "overlooked 33 %": {"overlooked": 0.33},
}


class Person:
    """Answers by classes.

    `independent` is the chance that an answer is another one of those possible; `consistent` the
    share of rows that have another class, drawn once; `border` the same, but rows with many near
    rows of other classes more often, and the wrong class is that of the nearest of them; `unsure`
    the chance of *not sure*; `overlooked` the share of rows whose group is overlooked where it is
    not among the six likeliest.
    """

    can_choose = True

    def __init__(
        self,
        X,
        y,
        *,
        seed=0,
        independent=0.0,
        consistent=0.0,
        border=0.0,
        unsure=0.0,
        overlooked=0.0,
    ):
        self.overlooked, self.seed = overlooked, seed
        self.y, self.independent, self.unsure = np.array(y), independent, unsure
        self.n_rows = len(y)
        self._rng = np.random.default_rng(seed)
        self.wrong = {}
        self.seen = self.y.copy()
        if consistent:
            self.seen = wrong_rows(self.y, consistent, 1000 + seed)
        if border:
            self.seen = wrong_near_borders(X, self.y, border, 1000 + seed)

    def answer(self, question):
        """Answer a question, and note whether that was right."""
        if self.unsure and self._rng.random() < self.unsure:
            return Answer.UNSURE
        right, place = self._place(question, self.y), self._place(question, self.seen)
        if place is not Answer.NONE and place >= N_LARGE and self._overlooks(question.row):
            place = Answer.NONE
        if self.independent and self._rng.random() < self.independent:
            places = (*range(len(question.groups)), Answer.NONE)
            others = [other for other in places if other != place]
            place = others[int(self._rng.integers(len(others)))]
        self.wrong[question.number] = place != right
        if len(question.groups) > 1:
            return place
        return Answer.DIFFERENT if place is Answer.NONE else Answer.SAME

    def _overlooks(self, row):
        return np.random.default_rng([self.seed, row]).random() < self.overlooked

    def _place(self, question, classes):
        own = classes[question.row]
        for place, group in enumerate(question.groups):
            if self.seen[group[0]] == own:
                return place
        return Answer.NONE
