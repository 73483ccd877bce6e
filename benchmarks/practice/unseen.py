"""What sessions say of themselves on tasks that nothing was fitted to, and when one can stop.

These are the tasks of the third and the fourth list that are here, at most `MAX_ROWS` rows of each,
drawn once. The numbers of the estimate, its limits and the rule to stop come from the practice sets
alone.
"""

import numpy as np

from benchmarks.practice import stop
from benchmarks.practice.people import CONDITIONS, Person
from benchmarks.practice.statements import ANSWERS, STEP, WHO, cells, share_right
from likewise import Likewise, run
from likewise.core.reports import EARLY
from likewise.lab.datasets.fourth import FOURTH, how_to_install, load_fourth
from likewise.lab.datasets.third import THIRD, load_third
from likewise.project.outlook import outlook

FIELDS = (
    "set", "condition", "what", "questions", "groups", "n_known", "estimate", "bound", "is_said",
    "truth", *stop.FIELDS[4:],
)  # fmt: skip
N_MOST = 120
MAX_ROWS, SEED = 700, 5


def names():
    """Return the names of the tasks whose packages are here."""
    return [*THIRD, *(name for name in FOURTH if not how_to_install(name))]


def load(name):
    """Return the rows, the classes and the aspects of a task."""
    X, y, aspects = (*load_third(name), None) if name in THIRD else load_fourth(name)
    rows = np.sort(np.random.default_rng(SEED).permutation(len(X))[:MAX_ROWS])
    return X[rows], np.unique(y[rows], return_inverse=True)[1], aspects


def unseen(keep):
    """Answer one question after another; note what is said, and when one could have stopped."""
    for name in names():
        for condition in WHO:
            key = {"set": name, "condition": condition}
            if not keep.has(**key, what="stop"):
                for row in measured(*load(name), condition):
                    keep.add(**key, **row)


def measured(X, y, aspects, condition):
    """Yield a row after every ten answers, and one on when one could have stopped."""
    session = Likewise(random_state=0, aspects=aspects).start(X)
    session.extend()
    person = Person(X, y, seed=0, **CONDITIONS[condition])
    most = min(N_MOST, int(0.6 * len(X)))
    shares, stopped, about = [0.0], 0, {"groups": int(y.max()) + 1}
    while session.n_asked < most and session.ask() is not None:
        run(session, person, max_queries=1)
        shares.append(share_right(session.labels, y))
        n, complete = len(shares) - 1, session.completeness
        if not stopped and outlook(session).can_stop:
            stopped = n
        if n % STEP == 0 and complete is not None and complete.n_known >= EARLY:
            yield about | {
                "what": "said",
                "questions": n,
                "n_known": complete.n_known,
                "estimate": complete.estimate,
                "bound": complete.at_least,
                "is_said": int(complete.is_said),
                "truth": shares[-1],
            }
    yield about | {"what": "stop", "questions": len(shares) - 1} | stop.stopped_at(shares, stopped)


def table(rows):
    """Return the tables of the report."""
    said = [row for row in rows if row["what"] == "said"]
    if not said:
        return ""
    n_tasks = len({row["set"] for row in rows})
    lines = [
        "## The same on tasks that nothing was fitted to\n",
        f"{n_tasks} tasks of the third and the fourth list, at most {MAX_ROWS} rows of each, up to "
        f"{N_MOST} answers. Columns as above.\n",
        "| people | answers | statements | said | of these within .10 | all within .10 | held |",
        "|---|---|---|---|---|---|---|",
    ]
    for who in (*WHO, "all"):
        theirs = [row for row in said if who in (row["condition"], "all")]
        for low, most in ANSWERS:
            lines += _lines(theirs, who, low, most)
    for fewest, largest in ((2, 2), (3, 6), (7, 99)):
        some = [row for row in said if fewest <= int(row["groups"]) <= largest]
        lines += _lines(some, f"all, {fewest} to {largest} groups", *ANSWERS[-1])
    ends = [row for row in rows if row["what"] == "stop"]
    return "\n".join([*lines, "", *stop.lines(ends)]) + "\n"


def _lines(rows, who, low, most):
    some = [row for row in rows if low <= int(row["questions"]) <= most]
    if not some:
        return []
    truth, estimate, bound, is_said = (
        np.array([float(row[k]) for row in some]) for k in ("truth", "estimate", "bound", "is_said")
    )
    judged = " | ".join(cells(truth, estimate, bound, is_said > 0))
    return [f"| {who} | {low} to {min(most, N_MOST)} | {len(some)} | {judged} |"]
