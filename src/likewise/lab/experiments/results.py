"""Results as data frames, from which tables and figures are made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.lab.datasets import task_names
from likewise.lab.datasets.fourth import FOURTH
from likewise.lab.datasets.third import THIRD
from likewise.lab.experiments.methods import CONTROL, find_method
from likewise.lab.experiments.plan import Plan
from likewise.lab.experiments.protocol import (
    AT_BUDGETS,
    BUDGETS,
    COUNTS,
    MEASURES,
    PEOPLE,
    SIZES,
    half_of,
)
from likewise.lab.experiments.provenance import why_stale
from likewise.lab.experiments.seconds import PUBLISHED, Seconds
from likewise.lab.experiments.store import Row
from likewise.lab.experiments.tasks import in_order

MARK = "†"
"""Marks every line that includes a capped, failed or missing cell."""
POINT = ("budget", "asked", *MEASURES, "rows_read")
"""What the points of a curve are, with a budget each."""
POINTS = ("experiment", "task", "method", "line", "size", "fold", *POINT)
"""The columns of all points."""
WITHOUT = "without the faces"
"""The list of all tasks but the faces, whose features are of another network than the paper's."""
STALE_MARK = "‡"
"""Marks every line that includes a row whose code has changed since."""

OfFold = Callable[[pd.DataFrame], "pd.Series[int]"]
"""From COBRA's own numbers of questions, by fold and size, to one for each fold."""


def own_count(size: int) -> OfFold:
    """Return COBRA's number of questions with a number of super-instances."""
    return lambda own: own[size]


def half(own: pd.DataFrame) -> pd.Series[int]:
    """Return half the questions of the largest COBRA."""
    return own[SIZES[-1]].map(half_of)


class Results:
    """The rows of a plan, as tables and figures need them.

    `rows` has a line per row, with the reason in `stale` if it is stale; `points` a line per
    clustering that was scored; `own` COBRA's number of questions by task, fold and size; `seconds`
    how long answers take a person.
    """

    def __init__(self, rows: Iterable[Row], plan: Plan, seconds: Seconds = PUBLISHED) -> None:
        self.plan = plan
        self.seconds = seconds
        by_budget = [name for name in ("budgets", "rivals") if name in plan.experiments]
        self.is_by_budget = bool(by_budget)
        self.scored, *_ = (*by_budget, "main")
        self.counts = COUNTS if self.scored == "rivals" else BUDGETS
        wanted = {*plan.experiments, *(("main", *PEOPLE) if by_budget else ())}
        given = sorted((row for row in rows if row.experiment in wanted), key=lambda row: row.cell)
        if not any(row.experiment == self.scored for row in given):
            raise InputError(
                f"there are no results of the experiment {self.scored}. Run `likewise bench run` "
                "with this profile first."
            )
        self.rows = pd.DataFrame([{**asdict(row), "stale": why_stale(row)} for row in given])
        self._by_experiment = dict(tuple(self.rows.groupby("experiment")))
        self.n_folds = self.folds_of(self.scored)
        points = [point for row in given for point in _points(row)]
        self.points = pd.DataFrame(points).reindex(columns=POINTS)
        main = self.of("main")
        cobra = main[(main["method"] == CONTROL) & (main["status"] == "ok")]
        self.own = cobra.pivot_table(
            index=["task", "fold"], columns="n_super_instances", values="queries", aggfunc="first"
        ).dropna()

    def of(self, experiment: str, **values: Any) -> pd.DataFrame:
        """Return the rows of an experiment, those with given values in some columns."""
        chosen: pd.DataFrame = self._by_experiment.get(experiment, self.rows.head(0))
        for name, value in values.items():
            chosen = chosen[chosen[name] == value]
        return chosen

    def folds_of(self, experiment: str) -> int:
        """Return how many folds of an experiment there are."""
        return int(self.of(experiment)["fold"].max()) + 1

    @cached_property
    def tasks(self) -> list[str]:
        """The tasks that there are results for, in the paper's order."""
        return in_order(self.of(self.scored)["task"])

    @cached_property
    def methods(self) -> list[str]:
        """The methods, in the order of the plan, then others."""
        return self._in_order(self.of(self.scored)["method"])

    @cached_property
    def lines(self) -> list[str]:
        """The lines of `at`, in the order of the methods."""
        return self._in_order(self.points.loc[self.points["experiment"] == self.scored, "line"])

    @cached_property
    def sizes(self) -> list[int]:
        """The numbers of super-instances that there are results for."""
        return sorted({int(n) for n in self.of("main")["n_super_instances"]})

    @cached_property
    def parts(self) -> dict[str, list[str]]:
        """The lists of tasks that are kept apart."""
        apart = set(self.plan.kept_apart)
        added = {task for task in self.tasks if task not in task_names()}
        split = {
            "developed on": [t for t in self.tasks if t in apart],
            "second list": [t for t in self.tasks if t not in apart | added],
            "third list": [t for t in self.tasks if t in THIRD],
            "fourth list": [t for t in self.tasks if t in FOURTH],
            "added": [t for t in self.tasks if t in added and t not in THIRD | FOURTH],
        }
        parts = {name: tasks for name, tasks in split.items() if tasks}
        return parts if apart or added else {"all": self.tasks}

    @property
    def lists(self) -> dict[str, list[str]]:
        """`parts`; where there are several parts, also all tasks together, and those but faces."""
        lists = {**self.parts, "all": self.tasks} if len(self.parts) > 1 else dict(self.parts)
        others = [task for task in self.tasks if not task.startswith("faces-")]
        return lists | ({WITHOUT: others} if 0 < len(others) < len(self.tasks) else {})

    def at_own(
        self, size: int, tasks: Sequence[str] | None = None, column: str = "ari"
    ) -> pd.DataFrame:
        """Return the mean ARI, tasks by methods, at COBRA's own number of questions."""
        points = self.points[self.points["experiment"] == self.scored]
        if self.is_by_budget:
            points = self._at(points[points["size"].isin([0, size])], own_count(size))
        else:
            points = points[points["size"] == size]
        return self._means(points, "method", tasks, column)

    def at(
        self,
        when: int | OfFold,
        tasks: Sequence[str] | None = None,
        experiment: str = "",
        column: str = "ari",
        n_folds: int = 0,
    ) -> pd.DataFrame:
        """Return the mean of a column of the points, tasks by lines, at a number of questions."""
        # Where every run has its own number of questions, there are no rows at given ones.
        name = experiment or (self.scored if self.is_by_budget else "")
        points = self.points[self.points["experiment"] == name]
        points = points[points["fold"] < (n_folds or self.n_folds)]
        return self._means(self._at(points, when), "line", tasks, column, n_folds)

    def at_counts(self, tasks: Sequence[str] | None = None) -> dict[int, pd.DataFrame]:
        """Return the mean ARI on complete tasks at every number of questions that is scored."""
        return {n: complete(self.at(n, tasks)) for n in self.counts}

    def questions(self, when: OfFold, tasks: Sequence[str]) -> float:
        """Return the mean number of questions over folds, then over tasks."""
        counts = when(self.own).groupby("task").mean()
        return float(counts.reindex(list(tasks)).mean())

    def comparisons(self) -> Iterator[tuple[str, int, pd.DataFrame]]:
        """Yield for every list and size the mean ARI at COBRA's own number of questions."""
        for name, tasks in self.lists.items():
            for size in self.sizes:
                yield name, size, self.at_own(size, tasks)

    def mark(self, method: str, size: int | None = None, experiment: str = "") -> str:
        """Return the marks of a method whose rows are incomplete or stale."""
        runs = self.of(experiment or self.scored, method=method)
        if size is not None:
            runs = runs[runs["n_super_instances"].isin([0, size])]
        whole = len(self.tasks) * self.n_folds
        is_scored = experiment in ("", self.scored)
        is_incomplete = bool((runs["status"] != "ok").any()) or (
            is_scored and size is not None and len(runs) < whole
        )
        is_stale = bool((runs["stale"] != "").any())
        return (MARK if is_incomplete else "") + (STALE_MARK if is_stale else "")

    def _at(self, points: pd.DataFrame, when: int | OfFold) -> pd.DataFrame:
        if isinstance(when, int):
            return points[points["budget"] == when]
        if self.own.empty or points.empty:
            return points.head(0)
        budget = when(self.own).rename("budget").astype(int).reset_index()
        return points.merge(budget, on=["task", "fold", "budget"])

    def _means(
        self,
        points: pd.DataFrame,
        by: str,
        tasks: Sequence[str] | None,
        column: str = "ari",
        n_folds: int = 0,
    ) -> pd.DataFrame:
        """Return means over folds, tasks by lines; by budget only where all folds are there."""
        folds = points.groupby(["task", by])[column]
        means = folds.mean()
        if self.is_by_budget:
            means = means[folds.count() == (n_folds or self.n_folds)]
        table = means.unstack(by)
        order = self._in_order([str(name) for name in table.columns])
        return table.reindex(
            index=[t for t in tasks or self.tasks if t in table.index], columns=order
        )

    def _in_order(self, names: Iterable[str]) -> list[str]:
        place = {name: k for k, name in enumerate(self.plan.methods)}

        def key(name: str) -> tuple[int, str, int]:
            method, size = split_line(name)
            return place.get(method, len(place)), method, size

        return sorted(set(names), key=key)


def sorted_by(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return lines sorted by some columns, of which `task` is in the paper's order."""
    place = {task: k for k, task in enumerate(in_order(frame["task"]))}
    return frame.sort_values(
        list(columns), key=lambda column: column.map(place) if column.name == "task" else column
    )


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """Return scores without lines that have none, then without tasks that lack one."""
    return table.dropna(axis="columns", how="all").dropna()


def is_sized(method: str) -> bool:
    """Return whether a method is told a number of super-instances; no if it cannot be found."""
    try:
        return find_method(method).is_sized
    except InputError:
        return False


def line_of(method: str, size: int) -> str:
    """Return the name of a method's line in `Results.at`."""
    return f"{method} {size}" if size and is_sized(method) else method


def split_line(name: str) -> tuple[str, int]:
    """Return the method and the number of super-instances of a line, 0 without one."""
    method, _, size = name.rpartition(" ")
    return (method, int(size)) if method and size.isdigit() else (name, 0)


def curve_of(text: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers of answers and the ARI of an anytime row's curve."""
    points = np.array(json.loads(text), dtype=float)
    return points[:, 0], points[:, 1]


def _points(row: Row) -> Iterator[dict[str, Any]]:
    line = line_of(row.method, row.n_super_instances)
    of_row = (row.experiment, row.task, row.method, line, row.n_super_instances, row.fold)
    key = dict(zip(POINTS, of_row, strict=False))
    points: list[tuple[Any, ...]] = []
    if row.experiment in ("main", "own-end") and row.ari_test is not None:
        scores = (getattr(row, f"{name}_test") for name in MEASURES)
        points = [(row.allowed or row.queries, row.queries, *scores, row.rows_read)]
    elif row.experiment in AT_BUDGETS and row.status == "ok":
        points = json.loads(row.curve)
    for values in points:  # of earlier versions they end with ARI
        yield {**key, **dict(zip(POINT, values, strict=False))}
