"""Results of `Likewise` and its peers, by list of tasks, method and number of questions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.datasets import task_names
from likewise.experiments.methods import CONTROL, find_method
from likewise.experiments.plan import FLAGSHIP_METHODS
from likewise.experiments.protocol import NOISE, SIZES, half_of
from likewise.experiments.store import Row

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
"""The tasks that `Likewise` was developed on; the others were kept for the report."""

Own = Mapping[int, int]
When = Callable[[Own], int]
"""From COBRA's own numbers of questions in a fold, by super-instances, to a budget."""


class Line(NamedTuple):
    """A method, with its number of super-instances if it is told one.

    Examples
    --------
    >>> str(Line("COBRA", 25)), str(Line("Likewise"))
    ('COBRA 25', 'Likewise')
    """

    method: str
    size: int = 0

    def __str__(self) -> str:
        return f"{self.method} {self.size}" if self.size else self.method


class FlagshipResults:
    """The rows of the profile `flagship`, to be looked at from several sides.

    Parameters
    ----------
    rows : iterable of Row
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = sorted(rows, key=lambda row: row.cell)
        own: dict[tuple[str, int], dict[int, int]] = {}
        self._points: dict[tuple[str, Line, str], dict[int, dict[int, float]]] = {}
        for row in self.rows:
            if row.status != "ok":
                continue
            if (row.experiment, row.method) == ("main", CONTROL) and row.queries is not None:
                own.setdefault((row.task, row.fold), {})[row.n_super_instances] = row.queries
            if row.experiment in ("budgets", *NOISE):
                line = Line(row.method, row.n_super_instances)
                points = {int(b): float(score) for b, _, score in json.loads(row.curve)}
                key = (row.experiment, line, row.task)
                self._points.setdefault(key, {})[row.fold] = points
        self._own = {key: counts for key, counts in own.items() if set(SIZES) <= set(counts)}
        folds = {fold for found in self._points.values() for fold in found}
        self.n_folds = max(folds, default=-1) + 1

    @property
    def tasks(self) -> list[str]:
        """The tasks that there are results for, in the paper's order."""
        found = {task for _, _, task in self._points}
        return [task for task in task_names() if task in found]

    @property
    def parts(self) -> dict[str, list[str]]:
        """The tasks of each of the two lists that has any."""
        both = {
            "developed on": [task for task in self.tasks if task in DEVELOPED_ON],
            "second list": [task for task in self.tasks if task not in DEVELOPED_ON],
        }
        return {name: tasks for name, tasks in both.items() if tasks}

    @property
    def lists(self) -> dict[str, list[str]]:
        """The lists, and all tasks if there are two of them."""
        return {**self.parts, "all": self.tasks} if len(self.parts) > 1 else self.parts

    def lines(self, experiment: str = "budgets") -> list[Line]:
        """Return the methods of an experiment, ours in a fixed order, then others."""
        found = {line for name, line, _ in self._points if name == experiment}
        order = {method: place for place, method in enumerate(FLAGSHIP_METHODS)}
        return sorted(found, key=lambda line: (order.get(line.method, len(order)), line))

    def lines_at(self, size: int) -> list[Line]:
        """Return one line of every method, those that are told a number with this one."""
        return [line for line in self.lines() if line.size in (0, size)]

    def methods(self) -> list[str]:
        """Return the methods with scores at budgets."""
        return list(dict.fromkeys(line.method for line in self.lines()))

    def questions(self, task: str, when: When) -> float:
        """Return the mean number of questions over the folds."""
        found = [when(own) for (at, _), own in self._own.items() if at == task]
        return float(np.mean(found)) if found else float("nan")

    def score(self, line: Line, task: str, when: When, experiment: str = "budgets") -> float | None:
        """Return the mean ARI over all folds, None unless every fold has one."""
        found = self._points.get((experiment, line, task), {})
        scores = []
        for fold in range(self.n_folds):
            own = self._own.get((task, fold))
            score = None if own is None else found.get(fold, {}).get(when(own))
            if score is None:
                return None
            scores.append(score)
        return float(np.mean(scores)) if scores else None

    def table(
        self, lines: Sequence[Line], tasks: Sequence[str], when: When, experiment: str = "budgets"
    ) -> Scored:
        """Return the scores of lines on the tasks that all of them have a score for.

        Lines without a score on any of the tasks are left out.
        """
        scores = np.array(
            [
                [
                    np.nan if (s := self.score(li, t, when, experiment)) is None else s
                    for li in lines
                ]
                for t in tasks
            ]
        ).reshape(len(tasks), len(lines))
        there = np.isfinite(scores).any(axis=0)
        whole = np.isfinite(scores[:, there]).all(axis=1) & there.any()
        return Scored(
            [task for task, is_whole in zip(tasks, whole, strict=True) if is_whole],
            [line for line, is_there in zip(lines, there, strict=True) if is_there],
            scores[whole][:, there],
        )


class Scored(NamedTuple):
    """Mean ARI over folds, tasks by lines; no value is missing.

    Attributes
    ----------
    tasks : list of str
    lines : list of Line
    scores : ndarray
    """

    tasks: list[str]
    lines: list[Line]
    scores: NDArray[np.float64]

    def on(self, tasks: Sequence[str]) -> Scored:
        """Return the scores on some of the tasks."""
        places = [self.tasks.index(task) for task in tasks]
        return Scored(list(tasks), self.lines, self.scores[places])

    def of(self, line: Line) -> NDArray[np.float64]:
        """Return the scores of a line."""
        return self.scores[:, self.lines.index(line)]

    def means(self) -> dict[Line, float]:
        """Return the mean over the tasks."""
        if not self.tasks:
            return {}
        return dict(zip(self.lines, self.scores.mean(axis=0).tolist(), strict=True))


def write_points(results: FlagshipResults, path: Path) -> None:
    """Write one line for every budget of every run, as CSV."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    key = ("experiment", "task", "list", "method", "n_super_instances", "fold")
    writer.writerow([*key, "budget", "asked", "ari_test"])
    for row in results.rows:
        if row.experiment in ("budgets", *NOISE) and row.curve:
            part = "developed on" if row.task in DEVELOPED_ON else "second list"
            start = (row.experiment, row.task, part, row.method, row.n_super_instances, row.fold)
            for budget, asked, score in json.loads(row.curve):
                writer.writerow([*start, budget, asked, score])
    path.write_text(buffer.getvalue(), encoding="utf-8")


def shared(tables: Iterable[Scored]) -> list[str]:
    """Return the tasks that all of several tables have."""
    first, *others = tables
    return [task for task in first.tasks if all(task in other.tasks for other in others)]


def fixed(budget: int) -> When:
    """Return a budget that is the same in every fold."""
    return lambda own: budget  # noqa: ARG005


def own_count(size: int) -> When:
    """Return COBRA's number of questions with so many super-instances."""
    return lambda own: own[size]


def HALF(own: Own) -> int:  # noqa: N802
    """Return half the questions of the largest COBRA."""
    return half_of(own[max(own)])


def control(size: int) -> Line:
    """Return COBRA with so many super-instances."""
    return Line(CONTROL, size)


def is_sized(method: str) -> bool:
    """Return whether a method is told a number of super-instances."""
    return find_method(method).is_sized
