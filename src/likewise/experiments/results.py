"""Results by task, method and size: what tables and figures are made of."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.datasets import task_names
from likewise.experiments.methods import CONTROL
from likewise.experiments.plan import PAPER_METHODS
from likewise.experiments.protocol import N_FOLDS
from likewise.experiments.store import Row

Key = TypeVar("Key")

MARK = "†"
"""Stands at every number into which a capped or failed cell went."""


@dataclass(frozen=True)
class Scores:
    """Mean ARI over the folds, tasks by methods.

    Attributes
    ----------
    tasks, methods : list of str
    table : ndarray
        nan where no fold has a score.
    incomplete : ndarray of int
        How many of the five folds are capped, failed or missing.
    """

    tasks: list[str]
    methods: list[str]
    table: NDArray[np.float64]
    incomplete: NDArray[np.intp]

    def complete(self, methods: Sequence[str]) -> tuple[list[str], NDArray[np.float64]]:
        """Return the tasks for which all of these methods have a score, and the scores."""
        columns = [self.methods.index(method) for method in methods]
        table = self.table[:, columns]
        rows = np.flatnonzero(np.isfinite(table).all(axis=1))
        return [self.tasks[i] for i in rows], table[rows]

    def mark(self, *methods: str) -> str:
        """Return the mark if a capped, failed or missing cell went into these columns."""
        columns = [self.methods.index(method) for method in methods]
        return MARK if self.incomplete[:, columns].any() else ""


class Results:
    """All rows of a store, to be looked at from several sides.

    Parameters
    ----------
    rows : iterable of Row
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = sorted(rows, key=lambda row: row.cell)
        self._by_experiment: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            self._by_experiment[row.experiment].append(row)

    def of(self, experiment: str) -> list[Row]:
        """Return the rows of one experiment."""
        return self._by_experiment[experiment]

    @property
    def tasks(self) -> list[str]:
        """The tasks of the main experiment, in the paper's order."""
        found = {row.task for row in self.of("main")}
        return [task for task in task_names() if task in found]

    @property
    def methods(self) -> list[str]:
        """The methods of the main experiment, the paper's first."""
        found = {row.method for row in self.of("main")}
        own = sorted(found - set(PAPER_METHODS))
        return [*(method for method in PAPER_METHODS if method in found), *own]

    @property
    def competitors(self) -> list[str]:
        """The methods but COBRA."""
        return [method for method in self.methods if method != CONTROL]

    @property
    def sizes(self) -> list[int]:
        """The numbers of super-instances of the main experiment."""
        return sorted({row.n_super_instances for row in self.of("main")})

    def scores(self, size: int) -> Scores:
        """Return the mean ARI on the test parts."""
        rows = [row for row in self.of("main") if row.n_super_instances == size]
        tasks, methods = self.tasks, self.methods
        table = np.full((len(tasks), len(methods)), np.nan)
        incomplete = np.full(table.shape, N_FOLDS, dtype=np.intp)
        for (task, method), group in grouped(rows, lambda row: (row.task, row.method)).items():
            at = tasks.index(task), methods.index(method)
            scored = [row.ari_test for row in group if row.ari_test is not None]
            if scored:
                table[at] = np.mean(scored)
            incomplete[at] = N_FOLDS - sum(row.status == "ok" for row in group)
        return Scores(tasks, methods, table, incomplete)

    def mean(
        self,
        value: Callable[[Row], float | None],
        *,
        method: str = CONTROL,
        size: int,
        experiment: str = "main",
    ) -> dict[str, float]:
        """Return for every task the mean of a column over the folds."""
        found = [
            row
            for row in self.of(experiment)
            if row.method == method and row.n_super_instances == size
        ]
        means = {}
        for task, group in grouped(found, lambda row: row.task).items():
            values = [v for row in group if (v := value(row)) is not None]
            if values:
                means[task] = float(np.mean(values))
        return {task: means[task] for task in task_names() if task in means}

    def n_classes(self, task: str) -> int:
        """Return the true number of groups of a task."""
        return next(row.n_classes for row in self.rows if row.task == task and row.n_classes)

    def not_ok(self) -> list[Row]:
        """Return the rows of cells that were capped or failed."""
        return [row for row in self.rows if row.status != "ok"]


def grouped(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    """Return rows by a key."""
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(groups)


def common_curves(results: Results) -> list[Row]:
    """Return the anytime rows of tasks and folds that every method has a curve for."""
    rows = [row for row in results.of("anytime") if row.curve and row.status == "ok"]
    methods = {row.method for row in rows}
    counts = grouped(rows, lambda row: (row.task, row.fold))
    return [row for row in rows if len(counts[row.task, row.fold]) == len(methods)]


def curve_of(row: Row) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers of answers and the ARI of an anytime row."""
    points = np.array(json.loads(row.curve), dtype=float)
    return points[:, 0], points[:, 1]
