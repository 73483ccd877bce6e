"""Is `Completeness` calibrated? What it says against what is true, on all tasks.

One session per task and way of asking, told nothing about the number of questions. A row is right
if the rows of its group that were asked about have its class. "You can stop" is right if fewer than
2 % of the rows are in another group after the next 20 answers.

    python benchmarks/flagship/completeness.py run    # writes results/completeness.csv, resumes
    python benchmarks/flagship/completeness.py show
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix
from sklearn.model_selection import KFold

from likewise import LabelOracle, Likewise, run
from likewise.lab.datasets import load, task_names
from likewise.lab.experiments.plan import DEVELOPED_ON
from likewise.project.outlook import GOOD_ENOUGH

FILE = Path(__file__).parent / "results" / "completeness.csv"
FIELDS = ("task", "questions", "answers", "estimate", "at_least", "unmet", "right", "moved")
STEP, LAST, AHEAD = 10, 120, 20
FEW = 0.02

Row = dict[str, Any]


def share_right(y: Any, labels: Any, known: Any) -> float:
    """Return the share of rows whose class is that of the known rows of their group."""
    classes = {labels[row]: y[row] for row in known}
    return float(np.mean([classes.get(a) == b for a, b in zip(labels, y, strict=True)]))


def share_moved(before: Any, after: Any) -> float:
    """Return the share of rows in another group, groups matched as well as they can be."""
    table = contingency_matrix(before, after)
    return 1.0 - float(table[linear_sum_assignment(-table)].sum()) / len(before)


def run_task(task: str, questions: Any) -> list[Row]:
    """Return what was said and what was true after every ten answers."""
    data = load(task)
    train, _ = next(KFold(5, shuffle=True, random_state=0).split(data.X))
    session = Likewise(questions=questions, random_state=0).start(data.X, train_indices=train)
    found: list[Row] = []
    labels: dict[int, Any] = {}
    for n in range(STEP, LAST + AHEAD + 1, STEP):
        if session.is_done:
            break
        run(session, LabelOracle(data.y), max_queries=STEP)
        model = Likewise().adopt(session, X=data.X)
        labels[n] = model.labels_
        for row in found:
            if row["answers"] == n - AHEAD:
                row["moved"] = f"{share_moved(labels[n - AHEAD], labels[n]):.4f}"
        said = model.completeness_
        if said is not None and n <= LAST:
            right = share_right(data.y, model.labels_, session.strategy.examples()[0])
            shares = (said.estimate, said.at_least)
            found.append(
                {
                    **{"task": task, "questions": questions, "answers": n, "unmet": said.unmet},
                    **dict(
                        zip(("estimate", "at_least"), map("{:.4f}".format, shares), strict=True)
                    ),
                    **{"right": f"{right:.4f}", "moved": ""},
                }
            )
    return found


def line(name: str, rows: Iterable[Row]) -> str:
    """Return a line of the table: how often the bound held, how near estimates and bounds were."""
    some = list(rows)
    said, bound, was = (
        np.array([float(row[key]) for row in some]) for key in ("estimate", "at_least", "right")
    )
    held = {
        task: np.mean([h for h, row in zip(was >= bound, some, strict=True) if row["task"] == task])
        for task in {row["task"] for row in some}
    }
    worst = min(sorted(held), key=lambda task: held[task])
    stops = [
        float(row["moved"]) < FEW
        for row in some
        if row["moved"] and float(row["at_least"]) >= GOOD_ENOUGH and not int(row["unmet"])
    ]
    return (
        f"| {name} | {len(some)} | {100 * np.mean(was >= bound):.1f} % "
        f"| {100 * held[worst]:.0f} %, {worst} | {np.mean(was - bound):.3f} "
        f"| {np.abs(said - was).mean():.3f} | {sum(stops)} of {len(stops)} |"
    )


def show() -> None:
    """Print how often the bound held, by list of tasks and by the number of answers."""
    rows = list(csv.DictReader(FILE.open()))
    print(
        "| | moments | bound holds | worst task | below the truth | error of the estimate "
        "| right to stop |\n|---|---|---|---|---|---|---|"
    )
    for questions in ("pairs", "choices"):
        mine = [row for row in rows if row["questions"] == questions]
        for name, developed_on in (("developed on", True), ("second list", False)):
            some = [row for row in mine if (row["task"] in DEVELOPED_ON) == developed_on]
            if some:
                print(line(f"{questions}, {name}", some))
    for n in range(STEP, LAST + 1, STEP):
        some = [row for row in rows if int(row["answers"]) == n]
        if some:
            print(line(f"after {n} answers", some))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["run", "show"])
    parser.add_argument("tasks", nargs="*")
    options = parser.parse_intermixed_args()
    if options.command == "run":
        done = set()
        if FILE.exists():
            done = {(row["task"], row["questions"]) for row in csv.DictReader(FILE.open())}
        else:
            FILE.parent.mkdir(exist_ok=True)
            FILE.write_text(",".join(FIELDS) + "\n")
        for task in options.tasks or task_names():
            for questions in ("pairs", "choices"):
                if (task, questions) not in done:
                    rows = run_task(task, questions)
                    with FILE.open("a", newline="") as file:
                        csv.DictWriter(file, FIELDS).writerows(rows)
    show()


if __name__ == "__main__":
    main()
