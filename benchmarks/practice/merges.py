"""Which groups are suggested as one, and which are: people who overlook small groups, or nothing.

On the sets with seven classes or more. A person judges the likeliest suggestion after every answer,
and judges rightly. *Wrong* is how many suggestions were about groups that differ, *right* how many
about groups that are one; *left* how many groups another one of the same class should
have in it.
"""

from collections import Counter

import numpy as np

from benchmarks.practice.people import CONDITIONS, Person
from benchmarks.practice.sets import load, names
from likewise import Likewise, run

FIELDS = ("set", "condition", "seed", "questions", "wrong", "right", "left")
WHO = ("truthful", "overlooked 10 %", "overlooked 33 %")
SEEDS = (0, 1)
AT = (60, 100)
MANY = 7


def merges(keep):
    """Judge suggestions for 100 answers; what was suggested, and what is left."""
    for name in names():
        X, y = load(name)
        if y.max() + 1 < MANY:
            continue
        for condition in WHO:
            for seed in SEEDS:
                row = {"set": name, "condition": condition, "seed": seed}
                if keep.has(**row, questions=AT[-1]):
                    continue
                for found in judged(X, y, seed, CONDITIONS[condition]):
                    keep.add(**row, **found)


def judged(X, y, seed, how):
    """Yield what was suggested and what is left after some numbers of answers."""
    # Another sample of the rows for every seed, since a truthful session has no chance in it.
    rows = np.sort(np.random.default_rng(seed).permutation(len(X))[: int(0.8 * len(X))])
    X, y = X[rows], y[rows]
    session = Likewise(AT[-1], random_state=0).start(X)
    person, verdicts = Person(X, y, seed=seed, **how), Counter()
    while session.ask() is not None:
        run(session, person, max_queries=1)
        for merge in session.merges[:1]:
            is_one = bool(y[merge.left] == y[merge.right])
            session.judge(merge.left, merge.right, is_one)
            verdicts[is_one] += 1
        if session.n_asked in AT or session.ask() is None:
            heads = [cells[0] for cells in session.strategy.known(session.answers).groups]
            left = len(heads) - len({*y[heads].tolist()})
            yield {
                "questions": session.n_asked,
                "wrong": verdicts[False],
                "right": verdicts[True],
                "left": left,
            }


def table(rows):
    """Return the table of the report."""
    if not rows:
        return ""
    lines = [
        "## Groups that may be one\n",
        f"Sets with {MANY} classes or more, {len(SEEDS)} samples of each. Somebody judges the "
        "likeliest suggestion after every answer. *Left* is how many groups should be in another "
        "one.\n",
        "| people | answers | suggestions per session: wrong (median, most) | right, of all "
        "sessions | left on average, at most | sessions with at most one left |",
        "|---|---|---|---|---|---|",
    ]
    for condition in WHO:
        for at in AT:
            some = [
                row for row in rows if row["condition"] == condition and int(row["questions"]) == at
            ]
            if some:
                wrong, right, left = (
                    np.array([int(row[k]) for row in some]) for k in ("wrong", "right", "left")
                )
                lines.append(
                    f"| {condition} | {at} | {wrong.mean():.1f} ({np.median(wrong):.0f}, "
                    f"{wrong.max()}) | {right.sum()} | {left.mean():.2f}, {left.max()} | "
                    f"{np.sum(left <= 1)} of {len(left)} |"
                )
    return "\n".join(lines) + "\n"
