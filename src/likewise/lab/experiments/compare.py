"""One method against another on a few small tasks: a verdict within about a minute."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.lab.experiments.methods import find_method
from likewise.lab.experiments.plan import MIDDLE_SIZE
from likewise.lab.experiments.runner import OnRow, in_processes
from likewise.lab.experiments.statistics import Comparison, compare
from likewise.lab.experiments.store import Cell
from likewise.lab.experiments.tasks import check_task
from likewise.words import plural

SMALL_TASKS = (
    *("iris", "wine", "hepatitis", "glass", "parkinsons"),
    *("sonar", "column_2C", "ecoli", "ionosphere", "dermatology"),
)
"""The tasks with fewer than 400 rows, which take a second or two each."""
NUMBERS = (10, 20, 30, 50, 75, 100)
"""The numbers of questions at which the methods are compared."""
FEWEST_TASKS = 6
"""So many tasks are needed for a verdict: with fewer, even a method that wins them all could have
won them by chance (sign test, 5 %)."""


class Duel(NamedTuple):
    """A method against another after so many questions; 0 stands for the mean of all numbers."""

    questions: int
    means: tuple[float, float]
    outcome: Comparison

    @property
    def is_enough(self) -> bool:
        """Whether there are enough tasks for an interval and a verdict."""
        return self.outcome.n_tasks >= FEWEST_TASKS

    @property
    def gain(self) -> str:
        """The mean difference, with its interval where there are enough tasks."""
        difference = self.outcome.difference
        return str(difference) if self.is_enough else f"{difference.mean:+.3f}"


def cells_to_compare(methods: Sequence[str], tasks: Sequence[str], n_folds: int) -> list[Cell]:
    """Return the runs that a comparison needs; methods with a size get the middle one."""
    if len(set(methods)) < len(methods):
        raise InputError(f"{methods[0]} cannot be compared with itself")
    for task in tasks:
        check_task(task)
    sizes = {name: MIDDLE_SIZE if find_method(name).is_sized else 0 for name in methods}
    return [
        Cell("budgets", name, task, sizes[name], fold)
        for task, fold, name in product(tasks, range(n_folds), methods)
    ]


def run_duel(
    cells: Sequence[Cell],
    *,
    n_jobs: int = 1,
    data_home: str | None = None,
    tasks_from: str | None = None,
    on_row: OnRow = lambda _: None,
) -> list[Duel]:
    """Run the cells of two methods; return how they compare, last by the mean of all numbers."""
    methods = list(dict.fromkeys(cell.method for cell in cells))
    tasks = list(dict.fromkeys(cell.task for cell in cells))
    scores: dict[tuple[str, str], list[NDArray[np.float64]]] = {}
    given = {"budgets": NUMBERS, "data_home": data_home, "tasks_from": tasks_from}
    for row in in_processes([(cell, given) for cell in cells], n_jobs):
        on_row(row)
        if row.status != "ok":
            raise InputError(f"{row.cell} {row.status}: {row.error}")
        ari = np.array([values[2] for values in json.loads(row.curve)])
        scores.setdefault((row.method, row.task), []).append(ari)
    tables = [
        np.array([np.mean(scores[method, task], axis=0) for task in tasks]) for method in methods
    ]
    ours, theirs = ([*table.T, table.mean(axis=1)] for table in tables)
    return [
        Duel(n, (float(mine.mean()), float(other.mean())), compare(mine, other))
        for n, mine, other in zip((*NUMBERS, 0), ours, theirs, strict=True)
    ]


def verdict(duel: Duel, method: str, against: str) -> str:
    """Return the result in a sentence; on few tasks there is none."""
    outcome = duel.outcome
    text = f"{method} and {against} cannot be told apart"
    if not duel.is_enough:
        text = f"No verdict, which takes {FEWEST_TASKS} tasks"
    elif outcome.difference.low > 0 or outcome.difference.high < 0:
        text = f"{method} is {'better' if outcome.difference.low > 0 else 'worse'} than {against}"
    tasks = f"{plural(outcome.n_tasks, 'task')}, {outcome.wins} won and {outcome.losses} lost"
    return f"{text}: {duel.gain} ARI on {tasks}"
