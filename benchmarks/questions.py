"""The next question: time of ask + tell, of undo and redo, and memory, by representatives.

The peer in the same run is a NumPy row scan of the same length (one pass over a float64 vector of
as many entries as there are representatives), which any exact method needs once per answer.
"""

import json
import resource
import subprocess
import sys
from time import thread_time as clock  # CPU time: other programs' load must not count

import numpy as np

from benchmarks._results import save
from likewise import LabelOracle, Session
from likewise.core.partition import singletons
from likewise.strategies import ClosestFirst

SIZES = (100, 1_000, 5_000, 10_000, 20_000)
N_CLASSES = 100
MAX_QUESTIONS = 12_000


def data(n):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, N_CLASSES, n)
    return rng.normal(size=(N_CLASSES, 32))[truth] * 2 + rng.normal(size=(n, 32)), truth


def measure(n):
    points, truth = data(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = clock()
    session = Session(ClosestFirst(singletons(points)))
    build = clock() - start
    oracle = LabelOracle(truth)
    times = []
    while len(times) < MAX_QUESTIONS:
        start = clock()
        question = session.ask()
        asked = clock() - start
        if question is None:
            break
        answer = oracle.answer(question)
        start = clock()
        session.tell(answer)
        times.append(asked + clock() - start)
    undo, redo = [], []
    for _ in range(5):
        start = clock()
        session.undo()
        session.ask()
        undo.append(clock() - start)
    for _ in range(5):
        start = clock()
        session.redo()
        session.ask()
        redo.append(clock() - start)
    row = np.random.default_rng(0).random(n)
    start = clock()
    for _ in range(200):
        row.min()
    scan = (clock() - start) / 200
    milliseconds = np.array(times) * 1e3
    half = len(times) // 2
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "representatives": n,
        "answers": len(times),
        "build s": round(build, 2),
        "ask+tell p50 ms": round(float(np.median(milliseconds)), 3),
        "ask+tell p99 ms": round(float(np.quantile(milliseconds, 0.99)), 3),
        "worst ms": round(float(milliseconds.max()), 2),
        "p50 second half / first half": round(
            float(np.median(milliseconds[half:]) / np.median(milliseconds[:half])), 2
        ),
        "p99 / row scan": round(float(np.quantile(times, 0.99) / scan), 1),
        "undo worst ms": round(max(undo) * 1e3, 2),
        "redo worst ms": round(max(redo) * 1e3, 2),
        "peak MB above start": round((peak - before) / 1024),
    }


def main():
    # Each size in a process of its own, so that peak memory is its own.
    rows = []
    for n in SIZES:
        code = f"from benchmarks import questions as q; q.json.dump(q.measure({n}), q.sys.stdout)"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        rows.append(json.loads(done.stdout))
    save("questions", rows)
