"""Run one cell: load the task, split it, let the method ask, score it, measure it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from likewise.core.answers import Answer
from likewise.errors import InputError
from likewise.lab.datasets import Dataset
from likewise.lab.experiments.machine import (
    CellTimeoutError,
    cut_off,
    kernel,
    machine,
    peak_memory_mb,
    reset_peak_memory,
    versions,
)
from likewise.lab.experiments.methods import find_method
from likewise.lab.experiments.oracle import (
    ForbiddenQueryError,
    GuardedOracle,
    Slips,
    wrong_near_borders,
    wrong_rows,
)
from likewise.lab.experiments.protocol import (
    MEASURES,
    NOISE,
    PEOPLE,
    Method,
    Trial,
    clusterings,
    folds,
    seed_of,
)
from likewise.lab.experiments.provenance import code_of
from likewise.lab.experiments.store import Cell, Row
from likewise.lab.experiments.tasks import dataset


def run_cell(
    cell: Cell,
    *,
    allowed: int | None = None,
    budgets: Sequence[int] = (),
    time_limit: float | None = None,
    data_home: str | None = None,
    tasks_from: str | None = None,
    method: Method | None = None,
) -> Row:
    """Run one method on one fold of one task and return its row, whatever happens."""
    # After `time_limit` seconds no more questions are answered; after twice as many the method is
    # cut off (in the main thread only). Either way the row is "capped".
    row = Row(
        **asdict(cell),
        allowed=max(budgets) if budgets else allowed,
        versions=versions(),
        machine=machine(),
        kernel=kernel(),
    )
    started, cpu_started = time.perf_counter(), time.thread_time()
    reset_peak_memory()
    oracles: list[GuardedOracle] = []
    try:
        method = find_method(cell.method) if method is None else method
        seeded_as = method.seeded_as or cell.method
        data = dataset(cell.task, data_home, tasks_from)
        row = replace(
            row,
            seed=seed_of(cell.task, cell.fold, cell.n_super_instances, seeded_as),
            features=data.source,
            n_rows=len(data.y),
            n_classes=data.n_classes,
            n_clusters=data.n_classes + cell.k_shift,
            settings=method.settings,
            code=code_of(method),
        )
        started, cpu_started = time.perf_counter(), time.thread_time()
        deadline = None if time_limit is None else cpu_started + time_limit
        fold = Fold(row, data, deadline, oracles)
        with threadpool_limits(1), cut_off(time_limit):
            if budgets:
                scores = _budget_scores(method, fold, budgets)
            elif cell.experiment == "anytime":
                scores = _curve_scores(method, fold)
            else:
                scores = fold.scores(method.run(fold.trial(allowed)))
        row = replace(row, **scores)
    except CellTimeoutError:
        row = replace(row, status="capped", error="cut off: no clustering in twice the time limit")
    except Exception as error:
        row = replace(row, status="failed", error=f"{type(error).__name__}: {error}"[:500])
    if oracles:
        row = replace(row, **_asked(oracles[-1], row))
    return replace(
        row,
        seconds=round(time.perf_counter() - started, 4),
        cpu_seconds=round(time.thread_time() - cpu_started, 4),
        peak_mb=round(peak_memory_mb(), 1),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


@dataclass(frozen=True)
class Fold:
    """One fold of a task: makes trials, and scores clusterings."""

    row: Row
    data: Dataset
    deadline: float | None  # when questions end
    oracles: list[GuardedOracle]  # of all trials, in order

    def trial(self, budget: int | None) -> Trial:
        """Return the trial of a method for a number of questions."""
        train, _ = split(self.row, self.data)
        person = person_of(self.row, self.data)
        oracle = GuardedOracle(self.data.y, train, budget, self.deadline, **person)
        self.oracles.append(oracle)
        return Trial(
            self.data.X,
            oracle,
            train,
            budget,
            self.row.n_clusters,
            self.row.n_super_instances,
            self.row.seed,
            self.data.aspects,
        )

    def on_test(self, labels: ArrayLike) -> dict[str, float]:
        """Return all measures on the test part."""
        clusters, y = np.asarray(labels), self.data.y
        if clusters.shape != (len(y),):
            raise InputError(
                f"a method returns one label per row, {len(y)} here; got {clusters.shape}"
            )
        _, test = split(self.row, self.data)
        return {name: _score(name, y[test], clusters[test]) for name in MEASURES}

    def scores(self, labels: ArrayLike) -> dict[str, Any]:
        """Return the columns that follow from a clustering."""
        return {
            **{f"{name}_test": score for name, score in self.on_test(labels).items()},
            "ari_all": _score("ari", self.data.y, labels),
            "groups": len(np.unique(np.asarray(labels))),
        }


def _score(measure: str, truth: ArrayLike, labels: ArrayLike) -> float:
    return round(float(MEASURES[measure](truth, labels)), 12)


def split(cell: Cell, data: Dataset) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the training and the test rows; in Table 1 all rows are asked about."""
    everything = np.arange(len(data.y))
    if cell.experiment == "strategies":
        return everything, everything
    test = folds(cell.task, len(data.y))[cell.fold]
    return np.setdiff1d(everything, test), test


def person_of(cell: Cell, data: Dataset) -> dict[str, Any]:
    """Return how somebody errs who answers in a cell: the same for all methods."""
    seed = seed_of(cell.task, cell.fold, cell.experiment)
    share = NOISE.get(cell.experiment, 0.0)
    kind, share = PEOPLE.get(cell.experiment, ("independent" if share else "", share))
    person: dict[str, Any] = {"is_by_first": True} if cell.experiment in PEOPLE else {}
    match kind:
        case "independent" | "careless":
            person["slips"] = Slips(share, seed, is_one_of_three=kind == "careless")
        case "consistent":
            person["seen"] = wrong_rows(data.y, share, seed)
        case "border":
            person["seen"] = wrong_near_borders(data.X, data.y, share, seed)
        case "unsure":
            person |= {"unsure": share, "seed": seed}
        case "overlooked":
            person |= {"overlooked": share, "seed": seed}
    return person


def _curve_scores(method: Method, fold: Fold) -> dict[str, Any]:
    """Return the columns of a clustering that is scored after every answer."""
    curve: list[tuple[int, float]] = []
    labels: Any = None
    for n_answers, state in method.anytime(fold.trial(fold.row.allowed)):
        labels = state() if callable(state) else state
        curve.append((n_answers, round(fold.on_test(labels)["ari"], 6)))
    return {**fold.scores(labels), "curve": json.dumps(curve)}


def _budget_scores(method: Method, fold: Fold, budgets: Sequence[int]) -> dict[str, Any]:
    """Return the columns of clusterings at several budgets; those of the last one count."""
    curve: list[tuple[float, ...]] = []
    for point in clusterings(method, fold.trial, budgets):
        scores = fold.on_test(point.labels).values()
        curve.append((point.budget, point.asked, *scores, point.rows_read))
        last = point
        if point.oracle.forbidden is not None:
            break
    columns = {**fold.scores(last.labels), "curve": json.dumps(sorted(curve))}
    if last.oracle.waits:
        median, p95 = np.percentile(last.oracle.waits, [50, 95]) * 1000
        columns |= {"ms_median": round(float(median), 3), "ms_p95": round(float(p95), 3)}
    return columns


def _asked(oracle: GuardedOracle, row: Row) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "queries": oracle.n_queries,
        "must_links": oracle.answers.count(Answer.SAME),
        "cannot_links": oracle.answers.count(Answer.DIFFERENT),
        "rows_read": sum(oracle.reads),
        "rows_small": sum(oracle.glances),
    }
    if row.experiment in (*NOISE, *PEOPLE):
        n_slips = 0 if oracle.slips is None else oracle.slips.n_wrong
        columns["wrong_answers"] = n_slips + oracle.n_misseen
    if oracle.forbidden is not None:
        left, right = oracle.forbidden
        columns["status"] = "failed"
        columns["error"] = row.error or (
            f"{ForbiddenQueryError.__name__}: rows {left} and {right} were asked about, "
            "not both of which are training rows"
        )
        columns |= dict.fromkeys(("ari_all", *(f"{name}_test" for name in MEASURES)))
    elif oracle.is_late and row.status == "ok":
        columns["status"] = "capped"
        columns["error"] = f"no questions after the time limit: {oracle.n_queries} asked"
    return columns
