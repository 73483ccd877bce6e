"""When the page says that one can stop, beside the last answer that mattered.

That is the last one before which the share of rows in the right group was `MATTERS` or more from
that at the end of the session.
"""

import numpy as np

from benchmarks.practice.people import CONDITIONS, Person
from benchmarks.practice.sets import load, names
from benchmarks.practice.statements import N_MOST, WHO, share_right
from likewise import Likewise, run
from likewise.project.outlook import outlook

FIELDS = ("set", "condition", "seed", "questions", "stop", "mattered", "at_stop", "at_end")
SEEDS = (0, 1)
MATTERS = 0.01
LATE = 10


def stop(keep):
    """Answer one question after another, and note when one could have stopped."""
    for condition in WHO:
        for name in names():
            for seed in SEEDS:
                key = {"set": name, "condition": condition, "seed": seed}
                if not keep.has(**key):
                    X, y = load(name)
                    keep.add(**key, **_measured(X, y, condition, seed))


def _measured(X, y, condition, seed):
    session = Likewise(random_state=seed).start(X)
    session.extend()
    person = Person(X, y, seed=seed, **CONDITIONS[condition])
    most = min(N_MOST, int(0.6 * len(X)))
    shares, stopped = [0.0], 0
    while session.n_asked < most and session.ask() is not None:
        run(session, person, max_queries=1)
        shares.append(share_right(session.labels, y))
        if not stopped and outlook(session).can_stop:
            stopped = len(shares) - 1
    return {"questions": len(shares) - 1} | stopped_at(shares, stopped)


def stopped_at(shares, stopped):
    """Return when one could have stopped, the last answer that mattered, and the shares right."""
    is_away = abs(np.array(shares) - shares[-1]) >= MATTERS
    return {
        "stop": stopped or "",
        "mattered": int(np.flatnonzero(is_away)[-1]) + 1,
        "at_stop": shares[stopped] if stopped else "",
        "at_end": shares[-1],
    }


def table(rows):
    """Return the table of the report."""
    if not rows:
        return ""
    return "\n".join(
        [
            "## When one can stop\n",
            f"Sessions of up to {N_MOST} answers. *In time*: at most {LATE} answers after the last "
            f"one before which the share of rows in the right group was {MATTERS:g} or more from "
            "that at the end. *Lost*: how much smaller that share was than at the end.\n",
            *lines(rows),
            "",
        ]
    )


def lines(rows):
    """Return the lines of the table."""
    lines = [
        "| people | sessions | can stop | in time | so many answers later in three of four "
        "| lost, mean | in nine of ten at most |",
        "|---|---|---|---|---|---|---|",
    ]
    for condition in (*WHO, "all"):
        some = [row for row in rows if condition in (row["condition"], "all")]
        said = [row for row in some if row["stop"]]
        if not said:
            lines.append(f"| {condition} | {len(some)} | 0 | - | - | - | - |")
            continue
        late = np.array([int(row["stop"]) - int(row["mattered"]) for row in said])
        lost = np.array([float(row["at_end"]) - float(row["at_stop"]) for row in said])
        lines.append(
            f"| {condition} | {len(some)} | {len(said)} | {np.mean(late <= LATE):.0%} | "
            f"{np.quantile(late, 0.75):.0f} | {lost.mean():.3f} | {np.quantile(lost, 0.9):.3f} |"
        )
    return lines
