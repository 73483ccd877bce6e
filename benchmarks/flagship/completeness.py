"""Is `Completeness` calibrated? What it says against what is true, on all tasks.

One session per fold, told nothing about the number of questions, as in the page. A row of the data
is right if the rows of its group that were asked about have its class.

    python benchmarks/flagship/completeness.py run    # writes results/completeness.csv, resumes
    python benchmarks/flagship/completeness.py show
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from likewise import LabelOracle, Likewise, run
from likewise.datasets import load, task_names

FILE = Path(__file__).parent / "results" / "completeness.csv"
FIELDS = ("task", "fold", "answers", "estimate", "at_least", "right")
MARKS = range(10, 111, 10)


def share_right(y: Any, labels: Any, known: Any) -> float:
    """Return the share of rows whose class is that of the known rows of their group."""
    classes = {labels[row]: y[row] for row in known}
    return float(np.mean([classes.get(a) == b for a, b in zip(labels, y, strict=True)]))


def run_fold(task: str, fold: int) -> list[dict[str, Any]]:
    """Return what was said and what was true after every ten answers."""
    data = load(task)
    train, _ = list(KFold(5, shuffle=True, random_state=0).split(data.X))[fold]
    session = Likewise(random_state=fold).start(data.X, train_indices=train)
    found: list[dict[str, Any]] = []
    for n in MARKS:
        if session.is_done:
            break
        run(session, LabelOracle(data.y), max_queries=10)
        model = Likewise().adopt(session, X=data.X)
        said = model.completeness_
        if said is None:
            continue
        right = share_right(data.y, model.labels_, session.strategy.examples()[0])
        found.append(
            {
                "task": task,
                "fold": fold,
                "answers": n,
                "estimate": f"{said.estimate:.4f}",
                "at_least": f"{said.at_least:.4f}",
                "right": f"{right:.4f}",
            }
        )
    return found


def show() -> None:
    """Print how often the bound held and how near the estimates were."""
    rows = list(csv.DictReader(FILE.open()))
    print("| answers | sessions | said right | was right | error | bound holds |")
    print("|---|---|---|---|---|---|")
    for n in (*MARKS, None):
        some = [row for row in rows if n is None or int(row["answers"]) == n]
        if not some:
            continue
        said, bound, was = (
            np.array([float(row[key]) for row in some]) for key in ("estimate", "at_least", "right")
        )
        print(
            f"| {n or 'all'} | {len(some)} | {said.mean():.3f} | {was.mean():.3f} "
            f"| {np.abs(said - was).mean():.3f} | {100 * np.mean(was >= bound):.1f} % |"
        )
    print()
    tasks = sorted({row["task"] for row in rows})
    for task in tasks:
        some = [row for row in rows if row["task"] == task]
        held = np.mean([float(row["right"]) >= float(row["at_least"]) for row in some])
        if held < 0.9:
            print(f"{task}: the bound holds {100 * held:.0f} % of the time")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["run", "show"])
    parser.add_argument("tasks", nargs="*")
    options = parser.parse_intermixed_args()
    if options.command == "run":
        done = set()
        if FILE.exists():
            done = {(row["task"], int(row["fold"])) for row in csv.DictReader(FILE.open())}
        else:
            FILE.parent.mkdir(exist_ok=True)
            FILE.write_text(",".join(FIELDS) + "\n")
        for task in options.tasks or task_names():
            for fold in range(5):
                if (task, fold) not in done:
                    rows = run_fold(task, fold)
                    with FILE.open("a", newline="") as file:
                        csv.DictWriter(file, FIELDS).writerows(rows)
    show()


if __name__ == "__main__":
    main()
