"""How many questions until the groups are nearly as good as all labels would make them?

What all labels give is the adjusted Rand index on the test rows if the learner knows the class of
every training row. "Nearly" is nine tenths of that, in the mean over the folds.

    python benchmarks/flagship/enough.py    # reads benchmarks/results/flagship/results.csv.gz
                                            # and writes enough.csv and enough.md beside it
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from likewise.lab.datasets import load, task_names
from likewise.lab.experiments.protocol import folds
from likewise.lab.experiments.store import read_results
from likewise.learning.learner import Learner

FOLDER = Path(__file__).parents[1] / "results" / "flagship"
METHODS = (
    *("COBRA", "COBRAS", "Likewise", "Likewise-careful"),
    *("Likewise-choices", "Likewise-careful-choices"),
)
SIZE = 100
NEARLY = 0.9

Curves = dict[tuple[str, str], dict[int, list[float]]]


def all_labels(task: str, n_folds: int) -> float:
    """Return the mean score over folds if every training row is known."""
    data = load(task)
    classes = np.unique(data.y, return_inverse=True)[1]
    scores = []
    for test in folds(task, len(data.X))[:n_folds]:
        train = np.setdiff1d(np.arange(len(data.X)), test)
        # In the order of chance, since kernels are chosen on the first known rows.
        known = np.random.default_rng(0).permutation(train)
        groups = np.unique(classes[known], return_inverse=True)[1].astype(np.intp)
        labels = Learner(data.X).learn(known, groups).chances.argmax(axis=1)
        scores.append(adjusted_rand_score(data.y[test], labels[test]))
    return float(np.mean(scores))


def curves() -> tuple[Curves, int]:
    """Return the scores of every method and task by the number of questions, and the folds."""
    found: Curves = defaultdict(lambda: defaultdict(list))
    n_folds = 0
    for row in read_results(FOLDER / "results.csv.gz"):
        is_wanted = row.method != "COBRA" or row.n_super_instances == SIZE
        if row.experiment == "budgets" and row.method in METHODS and is_wanted:
            n_folds = max(n_folds, row.fold + 1)
            for budget, _, score in json.loads(row.curve):
                found[row.method, row.task][budget].append(score)
    return found, n_folds


def enough(scores: dict[int, list[float]], n_folds: int, target: float) -> int | None:
    """Return the first number of questions with which the target is reached; None if with none."""
    whole = {n: np.mean(some) for n, some in sorted(scores.items()) if len(some) == n_folds}
    return next((n for n, score in whole.items() if score >= target), None)


def main() -> None:
    """Make the table."""
    found, n_folds = curves()
    rows = []
    for task in task_names():
        best = all_labels(task, n_folds)
        reached = {
            method: enough(found[method, task], n_folds, NEARLY * best) for method in METHODS
        }
        last = max(found[METHODS[-1], task])
        shown = {m: f"over {last}" if n is None else str(n) for m, n in reached.items()}
        rows.append({"task": task, "all labels": f"{best:.3f}", **shown})
    total = {m: f"{sum(r[m].isdigit() for r in rows)} of {len(rows)}" for m in METHODS}
    rows.append({"task": "reached", "all labels": "", **total})
    names = list(rows[0])
    with (FOLDER / "enough.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    lines = [" | ".join(row.values()) for row in rows]
    title = f"**Questions until {NEARLY:.0%} of the ARI that all labels of the training rows give**"
    table = [f"| {' | '.join(names)} |", "|" + "---|" * len(names), *(f"| {x} |" for x in lines)]
    (FOLDER / "enough.md").write_text("\n".join([title, "", *table]) + "\n")
    print("\n".join(table))


if __name__ == "__main__":
    main()
