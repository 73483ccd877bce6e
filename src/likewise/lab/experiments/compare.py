"""One method against another on a few small tasks: a verdict within about a minute."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.lab.experiments.methods import find_method
from likewise.lab.experiments.plan import MIDDLE_SIZE
from likewise.lab.experiments.runner import OnRow, in_processes
from likewise.lab.experiments.statistics import (
    Comparison,
    Interval,
    Posterior,
    bootstrap,
    compare,
    signed_rank_posterior,
)
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


class Duel(NamedTuple):
    """A method against another after so many questions; 0 stands for the mean of all numbers."""

    questions: int
    means: tuple[float, float]
    difference: Interval
    counts: Comparison
    posterior: Posterior


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
    return list(_duels(*tables))


def _duels(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> Iterator[Duel]:
    """Yield the comparison after every number of questions, then by their mean."""
    columns = [*zip(NUMBERS, ours.T, theirs.T, strict=True)]
    for n, mine, other in [*columns, (0, ours.mean(axis=1), theirs.mean(axis=1))]:
        yield Duel(
            n,
            (float(mine.mean()), float(other.mean())),
            bootstrap(mine - other, is_difference=True),
            compare(mine, other),
            signed_rank_posterior(mine - other),
        )


def verdict(duel: Duel, method: str, against: str) -> str:
    """Return the result in a sentence."""
    n_tasks = duel.counts.wins + duel.counts.losses + duel.counts.ties
    if duel.difference.low > 0:
        outcome = f"{method} is better than {against}"
    elif duel.difference.high < 0:
        outcome = f"{method} is worse than {against}"
    else:
        outcome = f"{method} and {against} cannot be told apart"
    won_and_lost = f"{duel.counts.wins} won and {duel.counts.losses} lost"
    return f"{outcome}: {duel.difference} ARI on {plural(n_tasks, 'task')}, {won_and_lost}"
