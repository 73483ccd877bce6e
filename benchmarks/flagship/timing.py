"""Measure the processor time to the next question, on one core.

OMP_NUM_THREADS=1 python benchmarks/flagship/timing.py
"""

from __future__ import annotations

import time
from typing import Literal

import numpy as np
from sklearn.datasets import make_blobs

from likewise import Answer, LabelOracle, Likewise, Session
from likewise.core.partition import SuperInstances
from likewise.strategies import RowByRow


def rows_of_their_own(
    n_rows: int, n_questions: int, *, is_told: bool, error_rate: float | Literal["estimate"] = 0.0
) -> list[float]:
    """Return the milliseconds of every answer and the question after it."""
    X, y = make_blobs(n_rows, 20, centers=12, cluster_std=6.0, random_state=0)
    y %= 6
    model = Likewise(n_questions if is_told else None, error_rate=error_rate, random_state=0)
    session = model.start(X)
    session.ask()
    found = []
    for _ in range(n_questions):
        query = session.ask()
        answer = LabelOracle(y).answer(query)
        began = time.process_time()
        session.tell(answer)
        session.ask()
        found.append((time.process_time() - began) * 1000)
    return found


def many_cells(n_rows: int, n_cells: int, n_placed: int) -> list[float]:
    """Return the milliseconds of ten questions after many answers."""
    points, y = make_blobs(n_cells, 20, centers=12, cluster_std=6.0, random_state=0)
    y %= 6
    assignment = np.arange(n_rows) % n_cells
    partition = SuperInstances(assignment, np.arange(n_cells), points=points)
    strategy = RowByRow(partition, max_groups=1, error_rate=0.0, seed=0, n_regions=(12,))
    session = Session(strategy)
    firsts = [int(np.flatnonzero(y == g)[0]) for g in range(6)]
    for k, a in enumerate(firsts):
        for b in firsts[k + 1 :]:
            session.give(a, b, Answer.DIFFERENT)
    for row in range(n_placed):
        if row not in firsts:
            session.give(firsts[int(y[row])], row, Answer.SAME)
    found = []
    for _ in range(10):
        query = session.ask()
        answer = LabelOracle(y).answer(query)
        began = time.process_time()
        session.tell(answer)
        session.ask()
        found.append((time.process_time() - began) * 1000)
    return found


if __name__ == "__main__":
    for title, times in (
        ("5000 rows, 240 questions as planned", rows_of_their_own(5000, 240, is_told=True)),
        ("5000 rows, 240 of many questions", rows_of_their_own(5000, 240, is_told=False)),
        (
            "5000 rows, 100 questions as planned, some expected to be wrong",
            rows_of_their_own(5000, 100, is_told=True, error_rate="estimate"),
        ),
        ("100 000 rows, 1000 cells, 900 placed", many_cells(100_000, 1000, 900)),
    ):
        low, high = np.percentile(times, [50, 95])
        print(
            f"{title}: median {low:.0f} ms, p95 {high:.0f} ms, most {max(times):.0f} ms", flush=True
        )
