"""One answer, as the page gives it, and opening the project again, against COBRA and the floor."""

import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks._results import save
from benchmarks.imports import cpu_seconds

N_ROWS, N_GROUPS, N_ANSWERS = 1000, 20, 300
PARTS = {"first 100": slice(0, 100), "100 to 300": slice(100, 300)}
"""Answers that are looked at together; groups overlap, so that a session has as many."""

WAYS = {
    "COBRA": {"n_super_instances": 100},
    "pairs": {"questions": "pairs"},
    "choices": {"questions": "choices"},
}
OPEN = "from likewise.project import open_project; open_project({path!r}).project.ask()"
FLOOR = """
from likewise.project import open_project
from likewise.learning.learner import Learner
from likewise.items import open_items
import numpy
X = open_items({path!r}).features().X
Learner(X).learn(numpy.arange({n}), numpy.arange({n}) % {n_groups}).chances
"""
"""What opening again cannot do without: the imports, the rows, one fit."""


def body_of(question, truth, position):
    """Return what the page sends if the person is right."""
    found = {"position": position, "question": question.number}
    if hasattr(question, "groups"):
        groups = enumerate(question.groups)
        found["chosen"] = next((k for k, g in groups if truth[g[0]] == truth[question.row]), None)
    else:
        is_same = truth[question.left] == truth[question.right]
        found["answer"] = "same" if is_same else "different"
    return found


def milliseconds(project, truth):
    """Return, for every answer, the CPU until the next question, and until all else is there."""
    from likewise.page.calls import reply_to

    found = []
    while project.ask() is not None and len(found) < N_ANSWERS:
        body = body_of(project.ask(), truth, project.position)
        began = time.process_time()
        reply_to(project, "answer", body)
        asked = time.process_time()
        reply_to(project, "progress")
        reply_to(project, "groups?limit=12")
        found.append((asked - began, time.process_time() - began))
    return 1000 * np.array(found)


def percentiles(took):
    """Return the median and the 95th percentile: to the next question, and with all else."""
    found = {}
    for column, what in enumerate(("question", "all")):
        for share in (50, 95):
            value = np.percentile(took[:, column], share) if len(took) else np.nan
            found[f"{what} p{share} ms"] = round(float(value), 1)
    return found


def main():
    from likewise.project import open_project

    rng = np.random.default_rng(0)
    truth = rng.integers(0, N_GROUPS, N_ROWS)
    X = 1.5 * rng.normal(size=(N_GROUPS, 8))[truth] + rng.normal(size=(N_ROWS, 8))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for way, options in WAYS.items():
            path = Path(folder) / f"{way}.csv"
            header = ",".join("abcdefgh")
            np.savetxt(path, X, fmt="%.5f", delimiter=",", header=header, comments="")
            project = open_project(path, seed=0, **options).project
            took = milliseconds(project, truth)
            project.close()
            floor = FLOOR.format(path=str(path), n=len(took), n_groups=N_GROUPS)
            again, least = cpu_seconds(OPEN.format(path=str(path))), cpu_seconds(floor)
            for part, where in PARTS.items():
                rows.append(
                    {
                        "way": way,
                        "answers": part,
                        "n": len(took[where]),
                        **percentiles(took[where]),
                        "open again CPU s": round(again, 2),
                        "imports and one fit CPU s": round(least, 2),
                        "open again / that": round(again / least, 2),
                    }
                )
    save("answers", rows)


if __name__ == "__main__":
    main()
