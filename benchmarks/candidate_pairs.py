"""Ten million candidate pairs among a million items: the first question and the next ones.

Every part runs in a process of its own, whose peak of memory is measured. Seconds are those of the
clock unless they are called CPU seconds. The items are made up: entities of one to five records,
and pairs of records that are near each other in the file.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks._results import save
from likewise import Answer

N_ITEMS, N_PAIRS, N_ANSWERS = 1_000_000, 10_000_000, 300
COLUMNS = (
    "first question s", "of it CPU s", "next question p95 ms", "undo p95 ms", "progress ms",
    "peak GB", "load before",
)  # fmt: skip
"""The first question should come within 30 s and 4 GB. On a busy machine CPU seconds say more."""


def made():
    """Return the entity of every item, the two items of every pair, and how alike they are."""
    rng = np.random.default_rng(0)
    entity = np.repeat(np.arange(N_ITEMS), rng.integers(1, 6, N_ITEMS))[:N_ITEMS]
    left = rng.integers(0, N_ITEMS, int(1.2 * N_PAIRS))
    right = (left + rng.integers(1, 60, len(left))) % N_ITEMS
    code = np.unique(np.minimum(left, right) * N_ITEMS + np.maximum(left, right))
    left, right = np.divmod(rng.permutation(code)[:N_PAIRS], N_ITEMS)
    is_same = entity[left] == entity[right]
    return entity, left, right, np.where(is_same, 0.6, 0.1) + 0.4 * rng.random(N_PAIRS)


def quantile(times, share=0.95):
    return round(1e3 * float(np.quantile(times, share)), 2)


def since(clock, cpu):
    """Return how long the first question took."""
    seconds = time.perf_counter() - clock, time.process_time() - cpu
    return {"first question s": round(seconds[0], 1), "of it CPU s": round(seconds[1], 1)}


def answered(session, entity):
    """Answer questions; return the milliseconds of the next question, of undo and of progress."""
    from likewise import LabelOracle, run

    oracle, times, undone = LabelOracle(entity), [], []
    for _ in range(N_ANSWERS):
        began = time.perf_counter()
        run(session, oracle, max_queries=1)
        session.ask()
        times.append(time.perf_counter() - began)
    began = time.perf_counter()
    _ = session.progress
    progress = time.perf_counter() - began
    for _ in range(10):
        began = time.perf_counter()
        session.undo()
        session.ask()
        undone.append(time.perf_counter() - began)
    return {
        "next question p95 ms": quantile(times),
        "undo p95 ms": quantile(undone),
        "progress ms": round(1e3 * progress),
    }


def library(questions):
    """Begin from a sparse matrix, by pairs as COBRA asks them, or by choices."""
    from scipy.sparse import coo_array

    from likewise import COBRA, Session
    from likewise.rows.candidates import candidates_from_sparse
    from likewise.strategies import CandidatePairs

    entity, left, right, alike = made()
    places = np.concatenate([left, right]), np.concatenate([right, left])
    X = coo_array((np.tile(1 - alike, 2), places), shape=(N_ITEMS, N_ITEMS)).tocsr()
    del left, right, alike, places
    began = time.perf_counter(), time.process_time()
    if questions == "pairs":
        session = COBRA(metric="precomputed").start(X)
    else:
        session = Session(CandidatePairs(candidates_from_sparse(X), questions=questions))
    session.ask()
    return {**since(*began), **answered(session, entity)}


def files(folder):
    """Write the pairs and the items, as Splink would."""
    import pyarrow
    from pyarrow import parquet

    entity, left, right, alike = made()
    ids = pyarrow.array([f"r{k}" for k in range(N_ITEMS)])
    names = ("unique_id_l", "unique_id_r", "match_probability")
    columns = (ids.take(pyarrow.array(left)), ids.take(pyarrow.array(right)), alike)
    parquet.write_table(
        pyarrow.table(dict(zip(names, columns, strict=True))), folder / "pairs.parquet"
    )
    people = {"unique_id": ids, "name": [f"person {k}" for k in entity.tolist()]}
    parquet.write_table(pyarrow.table(people), folder / "people.parquet")


def command(folder, is_new):
    """Open the files as `likewise label pairs.parquet --pairs --items people.parquet` does."""
    from likewise.project import open_project

    options = {"items": folder / "people.parquet", "id": "unique_id", "pairs": "auto"}
    began = time.perf_counter(), time.process_time()
    project = open_project(folder / "pairs.parquet", options=options).project
    project.ask()
    row: dict[str, float] = since(*began)
    if is_new:
        times = []
        for _ in range(N_ANSWERS):
            question = project.ask()
            asked = time.perf_counter()
            project.choose(Answer.NONE, number=question.number, position=project.position)
            project.ask()
            times.append(time.perf_counter() - asked)
        row["next question p95 ms"] = quantile(times)
    project.close()
    return row


PARTS = {
    "sparse matrix, pairs": lambda _: library("pairs"),
    "sparse matrix, choices": lambda _: library("choices"),
    "files": lambda folder: files(folder) or {},
    "likewise label, begun": lambda folder: command(folder, is_new=True),
    "likewise label, opened again": lambda folder: command(folder, is_new=False),
}


def main():
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in PARTS:
            load = round(os.getloadavg()[0], 1)
            arguments = [sys.executable, "-m", "benchmarks.candidate_pairs", name, folder]
            done = subprocess.run(arguments, capture_output=True, text=True, check=True)
            empty = {"what": name, **dict.fromkeys(COLUMNS, "")}
            row = empty | json.loads(done.stdout.splitlines()[-1]) | {"load before": load}
            if name != "files":
                rows.append(row)
                print(row, flush=True)
    save("candidate_pairs", rows)


if __name__ == "__main__":
    name, folder = sys.argv[1:]
    row = PARTS[name](Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({**row, "peak GB": round(peak, 2)}))
