"""The next question of `Likewise`, undo, and opening again, beside one fit of its learner.

CPU seconds, since other programs' load must not count. The peer in the same run is one fit of the
learner and its prediction of all rows, which a question cannot do without.
"""

import json
import resource
import subprocess
import sys
from time import process_time as clock

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks._results import save
from likewise import Answer, LabelOracle, Likewise, Link, Session, run
from likewise.learning.learner import Learner

N_ANSWERS = 300
MILESTONES = (50, 100, 200, 300)


def data(n_rows):
    return make_blobs(n_rows, 30, centers=12, cluster_std=6.0, random_state=0)


def one_fit(X, session):
    """Return the CPU seconds of one fit from what a session knows, and of predicting all rows."""
    examples = session.strategy.known(session.answers).examples()
    began = clock()
    _ = Learner(X).learn(*examples).proba
    return clock() - began


def questions(n_rows):
    """Answer 300 choices; return how long the next question takes."""
    X, y = data(n_rows)
    session, oracle, times = Likewise(N_ANSWERS, random_state=0).start(X), LabelOracle(y), []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    session.ask()
    while not session.is_done:
        began = clock()
        run(session, oracle, max_queries=1)
        session.ask()
        times.append((clock() - began) * 1e3)
    undone = []
    for _ in range(20):
        began = clock()
        session.undo()
        session.ask()
        undone.append((clock() - began) * 1e3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    row = {"what": f"next question, {n_rows} rows"}
    for n in MILESTONES:
        row[f"p95 ms up to {n}"] = round(float(np.quantile(times[:n], 0.95)), 1)
    row["undo p95 ms"] = round(float(np.quantile(undone, 0.95)), 1)
    row["p95 / one fit"] = round(row["p95 ms up to 300"] / (one_fit(X, session) * 1e3), 2)
    row["MB above start"] = round((peak - before) / 1024)
    return row


def reopening(n_rows, n_answers):
    """Open a session with many answers again, up to its next question."""
    X, y = data(n_rows)
    session = Likewise(random_state=0).start(X)
    session.extend()
    first = [int(np.flatnonzero(y == group)[0]) for group in range(int(y.max()) + 1)]
    for row in np.random.default_rng(0).permutation(n_rows)[:n_answers].tolist():
        if row not in first:
            session.add_links([Link(row, first[y[row]], Answer.SAME)])
    plain = session.to_dict()
    began = clock()
    opened = Session.from_dict(plain)
    replayed = clock() - began
    opened.ask()
    seconds = clock() - began
    return {
        "what": f"opening {n_answers} answers on {n_rows} rows",
        "replay s": round(replayed, 2),
        "to the next question s": round(seconds, 2),
        "/ one fit": round(seconds / one_fit(X, opened), 2),
    }


CALLS = {
    "next_question": ("questions", ((1000,), (2000,), (20_000,))),
    "reopening": ("reopening", ((20_000, 500), (20_000, 1000), (20_000, 2000))),
}
"""The files of results, with the function and its arguments."""


def main():
    for file, (function, calls) in CALLS.items():
        rows = []
        for arguments in calls:
            # Each in a process of its own, so that peak memory is its own.
            code = "import json, sys; from benchmarks import next_question as q; "
            code += f"json.dump(q.{function}(*{arguments}), sys.stdout)"
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            rows.append(json.loads(done.stdout))
        save(file, rows)


if __name__ == "__main__":
    main()
