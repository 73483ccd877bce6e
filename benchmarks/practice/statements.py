"""What sessions say of themselves, beside the truth: after every ten answers, by three people.

The table judges the constants of the code (`likewise.learning.reliability`, `core.reports`) and
constants chosen on the other sets: of widths in steps of a half, the smallest with which the bound
held in 95% of their statements; of estimates in steps of .05, the smallest from which on nine in
ten were within .10.
"""

import numpy as np

from benchmarks.practice.people import CONDITIONS, Person
from benchmarks.practice.sets import load, names
from likewise import Likewise, run
from likewise.core.reports import EARLY, HIGH
from likewise.learning.reliability import WIDTH, estimate_and_bound

FIELDS = ("set", "condition", "questions", "groups", "known", "open", "mean", "one_group", "truth")
WHO = ("truthful", "independent 10 %", "overlooked 10 %")
N_MOST, STEP = 150, 10
WIDTHS = (2.0, 2.5, 3.0, 3.5, 4.0)
HELD = 0.95
HIGHS = (0.75, 0.8, 0.85, 0.9, 0.95)
WITHIN = 0.9


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
                if (complete := session.completeness) is not None:
                    learned = session.assessment.learned(False)
                    keep.add(
                        set=name,
                        condition=condition,
                        questions=session.n_asked,
                        groups=int(y.max()) + 1,
                        one_group=complete.one_group,
                        truth=share_right(session.labels, y),
                        **seen(learned),
                    )
            keep.add(set=name, condition=condition, questions="end")


def seen(learned):
    """Return what the statement is computed from."""
    proba, known = learned.known_proba(), learned.known
    is_open = np.ones(len(proba), dtype=bool)
    is_open[known] = False
    mean = float(proba[is_open].max(axis=1).mean()) if is_open.any() else 1.0
    return {"known": len(known), "open": float(is_open.mean()), "mean": mean}


def share_right(labels, y):
    """Return the share of rows in the right group; of groups that are really one, only one is."""
    best = {}
    for group in np.unique(labels):
        counts = np.bincount(y[labels == group])
        best[int(counts.argmax())] = max(best.get(int(counts.argmax()), 0), int(counts.max()))
    return sum(best.values()) / len(y)


def table(rows):
    """Return the table of the report."""
    rows = [row for row in rows if row["questions"] != "end"]
    if not rows:
        return ""
    sets = {row["set"] for row in rows}
    chosen = {name: (width_without(rows, name), high_without(rows, name)) for name in sets}
    widths, highs = (
        ", ".join(f"{one:g}" for one in sorted(set(some)))
        for some in zip(*chosen.values(), strict=True)
    )
    lines = [
        "## What sessions say of themselves\n",
        f"After every {STEP} answers. *Said* is the share of statements with an estimate, which is "
        f"made from {EARLY} rows on where it is {HIGH} or more. *Held* is how often the bound was "
        "not above the truth. In brackets: with constants that were chosen on the other sets "
        f"(widths {widths}, the code has {WIDTH:g}; estimates from {highs}, the code has "
        f"{HIGH:g}).\n",
        "| people | answers | statements | said | of these within .10 | all within .10 | held |",
        "|---|---|---|---|---|---|---|",
    ]
    for condition in (*WHO, "all"):
        for low, high in ((30, 59), (60, 99), (100, 150), (30, 150)):
            group = [
                row
                for row in rows
                if low <= int(row["questions"]) <= high and condition in (row["condition"], "all")
            ]
            if group:
                lines.append(f"| {condition} | {low} to {high} | {_cells(group, chosen)} |")
    for low, high in ((2, 2), (3, 6), (7, 99)):
        group = [
            row for row in rows if low <= int(row["groups"]) <= high and int(row["questions"]) >= 30
        ]
        if group:
            lines.append(f"| all, {low} to {high} groups | 30 to 150 | {_cells(group, chosen)} |")
    return "\n".join(lines) + "\n"


def _cells(rows, chosen):
    off = np.array([abs(_say(row)[0] - float(row["truth"])) for row in rows])
    within = []
    for highs in ([HIGH] * len(rows), [chosen[row["set"]][1] for row in rows]):
        is_said = [_is_said(row, high) for row, high in zip(rows, highs, strict=True)]
        within.append(f"{np.mean(off[is_said] <= 0.1):.2f}" if any(is_said) else "-")
    said = np.mean([_is_said(row, HIGH) for row in rows])
    held = np.mean([_say(row)[1] <= float(row["truth"]) for row in rows])
    apart = np.mean([_say(row, chosen[row["set"]][0])[1] <= float(row["truth"]) for row in rows])
    return (
        f"{len(rows)} | {said:.2f} | {within[0]} ({within[1]}) | {np.mean(off <= 0.1):.2f} | "
        f"{held:.2f} ({apart:.2f})"
    )


def _is_said(row, high):
    return _say(row)[0] >= high and int(row["known"]) >= EARLY


def _say(row, width=WIDTH):
    values = float(row["mean"]), float(row["open"]), int(row["known"])
    return estimate_and_bound(*values, width)


def width_without(rows, name):
    """Return the smallest width whose bound held often enough on the other sets."""
    others = [row for row in rows if row["set"] != name and int(row["questions"]) >= 30]
    for width in WIDTHS:
        if np.mean([_say(row, width)[1] <= float(row["truth"]) for row in others]) >= HELD:
            return width
    return WIDTHS[-1]


def high_without(rows, name):
    """Return the smallest estimate from which on they were good enough on the other sets."""
    others = [row for row in rows if row["set"] != name and int(row["questions"]) >= 30]
    for high in HIGHS:
        off = [abs(_say(r)[0] - float(r["truth"])) for r in others if _is_said(r, high)]
        if np.mean(np.array(off) <= 0.1) >= WITHIN:
            return high
    return HIGHS[-1]
