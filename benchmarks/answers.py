"""One answer, as the page gives it, and opening the project again, against COBRA and the floor."""

import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks._results import felt, save
from benchmarks.imports import cpu_seconds

N_ROWS, N_GROUPS, N_ANSWERS = 1000, 20, 300
N_MANY, N_ANSWERS_OF_MANY = 100_000, 50
PARTS = {
    "up to 100 answers": (slice(0, 100), 20, "60 ms"),
    "100 to 300 answers": (slice(100, 300), 50, "400 ms"),
}
"""Answers that are looked at together, with the aim and with version 0.1.0. Groups overlap, so that
a session has as many."""

WAYS = {
    "COBRA": {"n_super_instances": 100},
    "a pair": {"questions": "pairs"},
    "a choice of six": {"questions": "choices"},
}
OPEN = """
from likewise.project import open_project
project = open_project({path!r}).project
if project.ask() is None:
    project.rebuild(position=project.position)
project.ask()
"""
FLOOR = """
from likewise.project import open_project
from likewise.learning.learner import Learner
from likewise.items import open_items
import numpy
X = open_items({path!r}).features().X
Learner(X).learn(numpy.arange({n}), numpy.arange({n}) % {n_groups}).proba
"""
"""What opening again cannot do without: the imports, the rows, one fit."""


def body_of(question, truth, position):
    """Return what the page sends if the person is right."""
    own = truth[question.row]
    chosen = next((k for k, group in enumerate(question.groups) if truth[group[0]] == own), None)
    return {"position": position, "question": question.number, "chosen": chosen}


def milliseconds(project, truth, n_answers):
    """Return, for every answer, the CPU until the next question, and until all else is there.

    `Likewise` goes on where it has asked enough; COBRA ends there.
    """
    from likewise.page.calls import reply_to

    times = []
    while len(times) < n_answers:
        if project.ask() is None and project.session.strategy.name != "closest-first":
            project.rebuild(position=project.position)
        if project.ask() is None:
            break
        body = body_of(project.ask(), truth, project.position)
        began = time.process_time()
        reply_to(project, "answer", body)
        asked = time.process_time()
        reply_to(project, "progress")
        reply_to(project, "groups?limit=12")
        times.append((asked - began, time.process_time() - began))
    return 1000 * np.array(times)


def measure(folder, way, n_rows, n_answers):
    """Return CPU per answer; and that of opening again, with the least it takes."""
    from likewise.project import open_project

    rng = np.random.default_rng(0)
    truth = rng.integers(0, N_GROUPS, n_rows)
    X = 1.5 * rng.normal(size=(N_GROUPS, 8))[truth] + rng.normal(size=(n_rows, 8))
    path = Path(folder) / f"{way} {n_rows}.csv"
    header = ",".join("abcdefgh")
    np.savetxt(path, X, fmt="%.5f", delimiter=",", header=header, comments="")
    project = open_project(path, seed=0, **WAYS[way]).project
    took = milliseconds(project, truth, n_answers)
    project.close()
    programs = (
        OPEN.format(path=str(path)),
        FLOOR.format(path=str(path), n=len(took), n_groups=N_GROUPS),
    )
    return took, *map(cpu_seconds, programs)


def p95(took):
    """Return the 95th percentiles: to the next question, and with all else."""
    return np.percentile(took, 95, axis=0).tolist()


def main():
    rows, opening = [], []
    with tempfile.TemporaryDirectory() as folder:
        took = {}
        for way in WAYS:
            took[way], again, least = measure(folder, way, N_ROWS, N_ANSWERS)
            if way != "COBRA":
                what = f"opening again after {len(took[way])} times {way}"
                floor = "imports, rows, one fit"
                opening.append(felt(what, again, "s", floor, least, aim=1.5, before="2.6 s"))
        many, *_ = measure(folder, "a choice of six", N_MANY, N_ANSWERS_OF_MANY)
    for part, (where, aim, before) in PARTS.items():
        cobra = p95(took["COBRA"][where])
        for way in list(WAYS)[1:]:
            question, everything = p95(took[way][where])
            what = f"{way}, {part}, p95"
            rows.append(felt(what, everything, "ms", "COBRA", cobra[1], aim=aim, before=before))
            rows.append(felt(f"{what}: the next question", question, "ms", "COBRA", cobra[0]))
    few = p95(took["a choice of six"][:N_ANSWERS_OF_MANY])[1]
    what = f"a choice of six, 100 000 rows, up to {N_ANSWERS_OF_MANY} answers, p95"
    rows.append(felt(what, p95(many)[1], "ms", "1000 rows", few))
    save("answers", rows + opening)


if __name__ == "__main__":
    main()
