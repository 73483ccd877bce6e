"""What sessions say of themselves, beside the truth: after every ten answers, by three people.

The table judges the numbers of the code (`likewise.learning.reliability`, `core.reports`), and in
brackets numbers that were fitted to the other sets: those of the estimate by least squares, every
set with the same weight; of drops of the bound in steps of .1, the smallest with which it held in
93% of the statements of all people and of each; of estimates in steps of .01, the smallest from
which on nine in ten were within .10, for few, more and many answers.
"""

import numpy as np

from benchmarks.practice.people import CONDITIONS, Person
from benchmarks.practice.sets import load, names
from likewise import Likewise, run
from likewise.core.reports import EARLY, HIGH
from likewise.learning.reliability import DROP, FITTED, Evidence, log_odds

FIELDS = ("set", "condition", "questions", "groups", *Evidence._fields, "truth")
WHO = ("truthful", "independent 10 %", "overlooked 10 %")
N_MOST, STEP = 150, 10
FROM = 20
DROPS = tuple(k / 10 for k in range(5, 16))
HELD = 0.93
HIGHS = tuple(k / 100 for k in range(75, 96))
WITHIN = 0.9
ANSWERS = ((20, 29), (30, 59), (60, 99), (100, 150), (30, 150))


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
        self.rows = rows
        kinds = {"n_known": int, "n_foreseen": int, "n_compared": int}
        self.evidence = [
            Evidence(*(kinds.get(k, float)(row[k]) for k in Evidence._fields)) for row in rows
        ]
        self.truth = np.array([float(row["truth"]) for row in rows])
        self.questions = np.array([int(row["questions"]) for row in rows])
        self.groups = np.array([int(row["groups"]) for row in rows])
        self.set = np.array([row["set"] for row in rows])
        self.condition = np.array([row["condition"] for row in rows])

    def said(self, fitted=FITTED, drop=DROP):
        """Return the estimates and the bounds."""
        return np.array([one.share_right(fitted, drop) for one in self.evidence]).T

    def without(self, name):
        """Return the statements from `FROM` answers on about other sets."""
        return Statements(
            [r for r in self.rows if r["set"] != name and int(r["questions"]) >= FROM]
        )

    def fitted(self):
        """Return the numbers of the estimate, fitted to these statements."""
        A = np.array([one.values for one in self.evidence])
        is_open = np.array([one.is_open for one in self.evidence])
        share = np.clip(1.0 - (1.0 - self.truth) / is_open, 0.0, 1.0)
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
        fitted = self.fitted()
        drop = next((d for d in DROPS if self._holds(fitted, d)), DROPS[-1])
        high = next((h for h in HIGHS if self._is_near(fitted, h)), HIGHS[-1])
        return fitted, drop, high

    def _holds(self, fitted, drop):
        held = self.said(fitted, drop)[1] <= self.truth
        is_late = self.questions >= EARLY
        people = (is_late & (self.condition == one) for one in set(self.condition.tolist()))
        return all(held[some].mean() >= HELD for some in (is_late, *people))

    def _is_near(self, fitted, high):
        estimate = self.said(fitted)[0]
        is_near = abs(estimate - self.truth) <= 0.1
        for low, most in ANSWERS[1:4]:
            some = (estimate >= high) & (low <= self.questions) & (self.questions <= most)
            if some.any() and is_near[some].mean() < WITHIN:
                return False
        return True


def table(rows):
    """Return the table of the report."""
    rows = [row for row in rows if row["questions"] != "end"]
    if not rows:
        return ""
    all_of = Statements(rows)
    of_others = np.zeros((3, len(rows)))
    drops, highs = [], []
    for name in sorted(set(all_of.set.tolist())):
        fitted, drop, high = all_of.without(name).chosen()
        is_it = all_of.set == name
        of_others[:2, is_it] = all_of.said(fitted, drop)[:, is_it]
        of_others[2, is_it] = high
        drops.append(drop)
        highs.append(high)
    fitted, drop, high = all_of.without("").chosen()
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
    code = np.vstack([all_of.said(), np.full(len(rows), HIGH)])
    for condition in (*WHO, "all"):
        is_theirs = (all_of.condition == condition) | (condition == "all")
        for low, most in ANSWERS:
            some = is_theirs & (low <= all_of.questions) & (all_of.questions <= most)
            if some.any():
                cells = _cells(all_of.truth, code, of_others, some)
                lines.append(f"| {condition} | {low} to {most} | {cells} |")
    for low, most in ((2, 2), (3, 6), (7, 99)):
        some = (all_of.questions >= 30) & (low <= all_of.groups) & (all_of.groups <= most)
        if some.any():
            cells = _cells(all_of.truth, code, of_others, some)
            lines.append(f"| all, {low} to {most} groups | 30 to 150 | {cells} |")
    return "\n".join(lines) + "\n"


def _cells(truth, code, of_others, some):
    columns = [_judged(truth[some], *which[:, some]) for which in (code, of_others)]
    shown = [f"{one} ({other})" for one, other in zip(*columns, strict=True)]
    return " | ".join([str(some.sum()), *shown])


def _judged(truth, estimate, bound, high):
    """Return how many estimates are said, and how many estimates and bounds are true."""
    is_near, is_said = abs(estimate - truth) <= 0.1, estimate >= high
    near = f"{is_near[is_said].mean():.2f}" if is_said.any() else "-"
    held = np.mean(bound <= truth)
    return f"{is_said.mean():.2f}", near, f"{is_near.mean():.2f}", f"{held:.2f}"
