"""What sessions say of themselves, beside the truth: after every ten answers, by three people.

The table judges the numbers of the code (`likewise.learning.reliability`, `core.reports`), and in
brackets numbers that were fitted to the other sets. Those of the estimate are fitted by least
squares, every set with the same weight. The two limits are chosen by how well that predicts sets
that it was not fitted to: of drops of the bound in steps of .1, the smallest with which it held in
93% of the statements of all people and of each; of estimates in steps of .01, the smallest from
which on nine in ten were within .10, for few, more and many answers and for each kind of people.
"""

from copy import copy

import numpy as np

from benchmarks.practice.people import CONDITIONS, Person
from benchmarks.practice.sets import load, names
from likewise import Likewise, run
from likewise.core.reports import EARLY, HIGH
from likewise.learning.reliability import (
    DROP,
    FITTED,
    KNOWN_RIGHT,
    SLOPE,
    Evidence,
    log_odds,
)

FIELDS = ("set", "condition", "questions", "groups", *Evidence._fields, "truth")
WHO = ("truthful", "independent 10 %", "overlooked 10 %")
N_MOST, STEP = 150, 10
DROPS = tuple(k / 10 for k in range(5, 16))
HELD = 0.93
HIGHS = tuple(k / 100 for k in range(75, 96))
WITHIN = 0.9
ANSWERS = ((30, 59), (60, 99), (100, 150), (30, 150))


def statements(keep):
    """Measure what the learner says after every ten answers, and the truth."""
    for condition in WHO:
        for name in names():
            if keep.has(set=name, condition=condition, questions="end"):
                continue
            X, y = load(name)
            session = Likewise(random_state=0).start(X)
            session.extend()
            person = Person(X, y, seed=0, **CONDITIONS[condition])
            most = min(N_MOST, int(0.6 * len(X)))
            while session.n_asked < most and session.ask() is not None:
                run(session, person, max_queries=STEP - session.n_asked % STEP)
                if course := session.strategy.known(session.answers).course():
                    keep.add(
                        set=name,
                        condition=condition,
                        questions=session.n_asked,
                        groups=int(y.max()) + 1,
                        truth=share_right(session.labels, y),
                        **course[-1]._asdict(),
                    )
            keep.add(set=name, condition=condition, questions="end")


def share_right(labels, y):
    """Return the share of rows in the right group; of groups that are really one, only one is."""
    best = {}
    for group in np.unique(labels):
        counts = np.bincount(y[labels == group])
        best[int(counts.argmax())] = max(best.get(int(counts.argmax()), 0), int(counts.max()))
    return sum(best.values()) / len(y)


class Statements:
    """Statements about some sets, as arrays."""

    def __init__(self, rows):
        kinds = {"n_known": int, "n_foreseen": int, "n_compared": int}
        self.evidence = np.array(
            [Evidence(*(kinds.get(k, float)(row[k]) for k in Evidence._fields)) for row in rows],
            dtype=object,
        )
        evidence = [Evidence(*one) for one in self.evidence]
        self.values = np.array([one.values for one in evidence])
        self.is_open = np.array([one.is_open for one in evidence])
        self.truth = np.array([float(row["truth"]) for row in rows])
        self.questions = np.array([int(row["questions"]) for row in rows])
        self.groups = np.array([int(row["groups"]) for row in rows])
        self.set = np.array([row["set"] for row in rows])
        self.condition = np.array([row["condition"] for row in rows])

    @property
    def names(self):
        """The names of the sets."""
        return sorted(set(self.set.tolist()))

    def said(self, fitted=FITTED, drop=DROP):
        """Return the estimates and the bounds: `Evidence.share_right` of all statements."""
        e = self.values @ np.asarray(fitted)
        share, least = _share(e), _share(np.minimum(e, SLOPE * e - drop))
        known = 1.0 - self.is_open
        bound = np.maximum(KNOWN_RIGHT, least) * known + self.is_open * least
        return np.array([known + self.is_open * share, bound])

    def said_by_the_code(self):
        """Return the estimates and the bounds that a session says."""
        return np.array([Evidence(*one).share_right() for one in self.evidence]).T

    def without(self, name):
        """Return the statements about other sets."""
        others = copy(self)
        for field, values in vars(self).items():
            setattr(others, field, values[self.set != name])
        return others

    def fitted(self):
        """Return the numbers of the estimate, fitted to these statements."""
        A = self.values
        share = np.clip(1.0 - (1.0 - self.truth) / self.is_open, 0.0, 1.0)
        p = np.clip(share, 0.02, 0.98)
        n_of = {name: np.sum(self.set == name) for name in set(self.set.tolist())}
        # Errors of shares count, not errors of their odds.
        weights = np.array([1.0 / n_of[name] for name in self.set]) * (p * (1.0 - p)) ** 2
        B = A * weights[:, None]
        odds = np.array([log_odds(one) for one in share])
        ridge = 1e-3 * weights.sum() * np.diag([0.0] + [1.0] * (A.shape[1] - 1))
        return np.linalg.solve(A.T @ B + ridge, B.T @ odds)

    def chosen(self):
        """Return the fitted numbers, the drop of the bound and the least estimate that is said."""
        of_others = [self.without(name).fitted() for name in self.names]
        drop = next((d for d in DROPS if self._holds(of_others, d)), DROPS[-1])
        high = next((h for h in HIGHS if self._is_near(of_others, h)), HIGHS[-1])
        return self.fitted(), drop, high

    def said_by_others(self, of_others, drop=DROP):
        """Return the estimates and the bounds, of each set by numbers fitted to the others."""
        said = np.zeros((2, len(self.set)))
        for name, fitted in zip(self.names, of_others, strict=True):
            said[:, self.set == name] = self.said(fitted, drop)[:, self.set == name]
        return said

    def _holds(self, of_others, drop):
        held = self.said_by_others(of_others, drop)[1] <= self.truth
        people = (self.condition == one for one in set(self.condition.tolist()))
        return held.mean() >= HELD and all(held[some].mean() >= HELD for some in people)

    def _is_near(self, of_others, high):
        estimate = self.said_by_others(of_others)[0]
        is_near = abs(estimate - self.truth) <= 0.1
        is_said = estimate >= high
        spans = [(low <= self.questions) & (self.questions <= most) for low, most in ANSWERS]
        people = [self.condition == one for one in set(self.condition.tolist())]
        parts = [is_said & some for some in (*spans, *people)]
        return all(is_near[some].mean() >= WITHIN for some in parts if some.any())


def _share(e):
    return np.minimum(0.99, 1.0 / (1.0 + np.exp(-e)))


def table(rows):
    """Return the table of the report."""
    rows = [row for row in rows if row["questions"] != "end" and int(row["questions"]) >= EARLY]
    if not rows:
        return ""
    all_of = Statements(rows)
    of_others = np.zeros((3, len(rows)))
    drops, highs = [], []
    for name in all_of.names:
        fitted, drop, high = all_of.without(name).chosen()
        is_it = all_of.set == name
        of_others[:2, is_it] = all_of.said(fitted, drop)[:, is_it]
        of_others[2, is_it] = high
        drops.append(drop)
        highs.append(high)
    fitted, drop, high = all_of.chosen()
    lines = [
        "## What sessions say of themselves\n",
        f"After every {STEP} answers. *Said* is the share of statements with an estimate, which is "
        f"made from {EARLY} rows on where it is {HIGH} or more. *Held* is how often the bound was "
        "not above the truth. In brackets: each set judged by numbers that were fitted to the "
        f"others (bounds {min(drops):g} to {max(drops):g} lower, the code has {DROP:g}; estimates "
        f"said from {min(highs):g} to {max(highs):g}, the code has {HIGH:g}).\n",
        f"Fitted to all of them: {', '.join(f'{one:.2f}' for one in fitted)}; {drop:g}; {high:g}. "
        f"The code has {', '.join(f'{one:g}' for one in FITTED)}.\n",
        "| people | answers | statements | said | of these within .10 | all within .10 | held |",
        "|---|---|---|---|---|---|---|",
    ]
    code = np.vstack([all_of.said_by_the_code(), np.full(len(rows), HIGH)])
    for condition in (*WHO, "all"):
        is_theirs = (all_of.condition == condition) | (condition == "all")
        for low, most in ANSWERS:
            some = is_theirs & (low <= all_of.questions) & (all_of.questions <= most)
            if some.any():
                cells = _cells(all_of.truth, code, of_others, some)
                lines.append(f"| {condition} | {low} to {most} | {cells} |")
    for low, most in ((2, 2), (3, 6), (7, 99)):
        some = (low <= all_of.groups) & (all_of.groups <= most)
        if some.any():
            cells = _cells(all_of.truth, code, of_others, some)
            lines.append(f"| all, {low} to {most} groups | 30 to 150 | {cells} |")
    return "\n".join(lines) + "\n"


def _cells(truth, code, of_others, some):
    columns = [_judged(truth[some], *which[:, some]) for which in (code, of_others)]
    shown = [f"{one} ({other})" for one, other in zip(*columns, strict=True)]
    return " | ".join([str(some.sum()), *shown])


def _judged(truth, estimate, bound, high):
    return cells(truth, estimate, bound, estimate >= high)


def cells(truth, estimate, bound, is_said):
    """Return how many estimates are said, and how many estimates and bounds are true."""
    is_near = abs(estimate - truth) <= 0.1
    near = f"{is_near[is_said].mean():.2f}" if is_said.any() else "-"
    held = np.mean(bound <= truth)
    return f"{is_said.mean():.2f}", near, f"{is_near.mean():.2f}", f"{held:.2f}"
