"""Compare `Likewise` with COBRA, with and without learned labels, in the paper's protocol.

Five folds; the whole data are clustered, only training rows are asked about, ARI on test rows.
COBRA runs at 25, 50 and 100 super-instances; `Likewise` runs once and is scored at COBRA's own
numbers of questions and at fixed budgets. One JSON file per task; what is there is not run again.

    python benchmarks/flagship/compare.py run --out results iris wine ...
    python benchmarks/flagship/compare.py show --out results
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import KFold

from likewise import COBRA, LabelOracle, Likewise, run
from likewise.datasets import load

SUPER_INSTANCES = (25, 50, 100)
BUDGETS = (10, 25, 50)
DEVELOPED_ON = (
    "iris",
    "wine",
    "glass",
    "ionosphere",
    "optdigits389",
    "segmentation",
    "column_2C",
    "yeast",
    "newsgroups-sim3",
    "faces-pose",
)


def run_fold(X: Any, y: Any, train: Any, test: Any, fold: int) -> dict[str, Any]:
    """Return the scores of one fold."""

    def score(labels: Any) -> float:
        return float(adjusted_rand_score(y[test], labels[test]))

    found: dict[str, Any] = {"cells": {}, "learned": {}, "questions": {}}
    for n in SUPER_INSTANCES:
        session = COBRA(n, random_state=fold).start(X, train_indices=train)
        run(session, LabelOracle(y))
        cells = COBRA(n).adopt(session)
        found["questions"][n] = cells.n_queries_
        found["cells"][n] = score(cells.labels_)
        found["learned"][n] = score(COBRA(n, labels="learned").adopt(session, X=X).labels_)
    marks = sorted({*BUDGETS, *found["questions"].values()})
    session = Likewise(100, random_state=fold).start(X, train_indices=train)
    scores, seconds = {}, []
    for mark in marks:
        while len(session.events) < mark:
            began = time.process_time()
            query = session.ask()
            seconds.append(time.process_time() - began)
            if query is None:
                break
            session.tell(LabelOracle(y).answer(query))
        scores[mark] = score(Likewise().adopt(session, X=X).labels_)
    found["likewise"] = {n: scores[q] for n, q in found["questions"].items()}
    found["anytime"] = {n: scores[n] for n in BUDGETS}
    found["ms_p95"] = float(np.percentile(seconds, 95) * 1000)
    return found


def run_task(name: str) -> list[dict[str, Any]]:
    """Return the scores of all folds of a task."""
    data = load(name)
    folds = KFold(5, shuffle=True, random_state=0).split(data.X)
    return [run_fold(data.X, data.y, a, b, k) for k, (a, b) in enumerate(folds)]


def show(folder: Path) -> None:
    """Print the means over folds and tasks."""
    results = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    print("| task | questions | COBRA | COBRA, learned | Likewise | Likewise at 10/25/50 |")
    print("|---|---|---|---|---|---|")
    lists = {
        "developed on": [name for name in results if name in DEVELOPED_ON],
        "not developed on": [name for name in results if name not in DEVELOPED_ON],
        "all": list(results),
    }
    for name, folds in results.items():
        print(_line(name, [folds]))
    for title, names in lists.items():
        if names:
            print(_line(f"**{title}** ({len(names)})", [results[name] for name in names]))


def _line(title: str, tasks: list[list[dict[str, Any]]]) -> str:
    def means(key: str, numbers: tuple[int, ...]) -> list[float]:
        return [
            float(np.mean([np.mean([fold[key][str(n)] for fold in folds]) for folds in tasks]))
            for n in numbers
        ]

    parts = ["/".join(f"{q:.0f}" for q in means("questions", SUPER_INSTANCES))]
    columns = [(key, SUPER_INSTANCES) for key in ("cells", "learned", "likewise")]
    columns.append(("anytime", BUDGETS))
    parts += [" ".join(f"{v:.3f}" for v in means(key, numbers)) for key, numbers in columns]
    return f"| {title} | " + " | ".join(parts) + " |"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["run", "show"])
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_intermixed_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.command == "show":
        show(options.out)
        return
    for name in options.tasks or DEVELOPED_ON:
        path = options.out / f"{name}.json"
        if not path.exists():
            path.write_text(json.dumps(run_task(name), indent=1))
            print(name, flush=True)


if __name__ == "__main__":
    main()
