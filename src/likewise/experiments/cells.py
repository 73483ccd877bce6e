"""Run one cell: load the task, split it, let the method ask, score it, measure it."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import likewise
from likewise.core.answers import Answer
from likewise.datasets import Dataset, load
from likewise.errors import InputError
from likewise.experiments.budgets import NOISE, clusterings
from likewise.experiments.methods import SAME_SEED, find_method
from likewise.experiments.protocol import ForbiddenQueryError, GuardedOracle, Method, folds, seed_of
from likewise.experiments.slips import Slips
from likewise.experiments.store import Cell, Row

HARD_LIMIT = 2.0
"""A cell is cut off after so many time limits; questions end after one."""


class CellTimeoutError(BaseException):
    """The cell was cut off. Not an `Exception`, so that no method catches it by mistake."""


def run_cell(
    cell: Cell,
    *,
    allowed: int | None = None,
    budgets: Sequence[int] = (),
    time_limit: float | None = None,
    data_home: str | None = None,
    method: Method | None = None,
) -> Row:
    """Run one method on one fold of one task and return its row, whatever happens.

    Parameters
    ----------
    cell : Cell
    allowed : int, optional
        How many questions may be asked.
    budgets : sequence of int
        If there are any, the clustering is scored at each of these numbers of questions.
    time_limit : float, optional
        After so many seconds on the processor (not on the clock, so that a busy machine changes
        nothing) no question is answered any more and the method makes its clustering of what it
        has; after twice as many it is cut off without a score. Both are "capped". In a thread
        other than the main one only the first part works.
    data_home : str, optional
        The folder of the original data.
    method : Method, optional
        By default the one of the cell's name.

    Returns
    -------
    Row
        An error of the method is a row with status "failed".
    """
    seeded_as = SAME_SEED.get(cell.method, cell.method)
    row = Row(
        **asdict(cell),
        seed=seed_of(cell.task, cell.fold, cell.n_super_instances, seeded_as),
        allowed=max(budgets) if budgets else allowed,
        versions=versions(),
        machine=machine(),
    )
    started, cpu_started = time.perf_counter(), time.thread_time()
    reset_peak_memory()
    oracle: GuardedOracle | None = None
    try:
        data = dataset(cell.task, data_home)
        found = find_method(cell.method) if method is None else method
        train, test = split(cell, data)
        row = replace(
            row,
            features=data.source,
            n_rows=len(data.y),
            n_classes=data.n_classes,
            n_clusters=data.n_classes + cell.k_shift,
            settings=str(getattr(found, "settings", "")),
        )
        started = time.perf_counter()
        cpu_started = time.thread_time()
        deadline = None if time_limit is None else cpu_started + time_limit
        fold = Fold(data, train, test, deadline, slips_for(cell))
        oracle = fold.oracle(row.allowed)
        with threadpool_limits(1), cut_off(time_limit):
            if budgets:
                oracle, scores = _budget_scores(found, row, fold, budgets)
            else:
                scores = _scores(found, row, fold, oracle)
        row = replace(row, **scores)
    except CellTimeoutError:
        row = replace(row, status="capped", error="cut off: no clustering in twice the time limit")
    except Exception as error:
        row = replace(row, status="failed", error=f"{type(error).__name__}: {error}"[:500])
    if oracle is not None:
        row = replace(row, **_asked(oracle, row))
    return replace(
        row,
        seconds=round(time.perf_counter() - started, 4),
        cpu_seconds=round(time.thread_time() - cpu_started, 4),
        peak_mb=round(peak_memory_mb(), 1),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def split(cell: Cell, data: Dataset) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the training and the test rows; in Table 1 all rows are asked about."""
    everything = np.arange(len(data.y))
    if cell.experiment == "strategies":
        return everything, everything
    test = folds(cell.task, len(data.y))[cell.fold]
    return np.setdiff1d(everything, test), test


@dataclass(frozen=True)
class Fold:
    """What a method works on, and who answers it.

    Attributes
    ----------
    data : Dataset
    train, test : ndarray of int
    deadline : float or None
        When questions end.
    slips : callable or None
        Makes what decides which answers are wrong.
    """

    data: Dataset
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    deadline: float | None
    slips: Callable[[], Slips] | None

    def oracle(self, budget: int | None) -> GuardedOracle:
        """Return who answers so many questions."""
        slips = None if self.slips is None else self.slips()
        return GuardedOracle(self.data.y, self.train, budget, self.deadline, slips)

    def ari_test(self, labels: NDArray[Any]) -> float:
        """Return the adjusted Rand index on the test part."""
        return ari(self.data.y[self.test], labels[self.test])

    def scores(self, labels: NDArray[Any]) -> dict[str, Any]:
        """Return the columns that a clustering decides."""
        return {
            "groups": len(np.unique(labels)),
            "ari_test": round(self.ari_test(labels), 12),
            "ari_all": round(ari(self.data.y, labels), 12),
        }


def slips_for(cell: Cell) -> Callable[[], Slips] | None:
    """Return what makes the wrong answers of a cell: for all methods at the same places."""
    if cell.experiment not in NOISE:
        return None
    share = NOISE[cell.experiment]
    seed = seed_of(cell.task, cell.fold, cell.experiment)
    return lambda: Slips(share, seed)


def _given(row: Row, fold: Fold) -> dict[str, Any]:
    return {
        "train_indices": fold.train,
        "n_clusters": row.n_clusters,
        "n_super_instances": row.n_super_instances,
        "seed": row.seed,
    }


def _scores(method: Method, row: Row, fold: Fold, oracle: GuardedOracle) -> dict[str, Any]:
    """Let the method work and return the columns that its clustering decides."""
    given = {**_given(row, fold), "oracle": oracle, "budget": row.allowed}
    X, n_rows = fold.data.X, len(fold.data.y)
    curve: list[tuple[int, float]] = []
    if row.experiment == "anytime":
        labels: Any = None
        for n_answers, found in method.anytime(X, **given):  # type: ignore[attr-defined]
            labels = checked(found() if callable(found) else found, n_rows)
            curve.append((n_answers, round(fold.ari_test(labels), 6)))
    else:
        labels = checked(method.run(X, **given), n_rows)
    return {**fold.scores(labels), "curve": json.dumps(curve) if curve else ""}


def _budget_scores(
    method: Method, row: Row, fold: Fold, budgets: Sequence[int]
) -> tuple[GuardedOracle, dict[str, Any]]:
    """Return who answered the longest run, and the columns that the clusterings decide."""
    curve: list[tuple[int, int, float]] = []
    given = _given(row, fold)
    for oracle, point in clusterings(method, fold.data.X, budgets, fold.oracle, given):
        last, longest = checked(point.labels, len(fold.data.y)), oracle
        curve.append((point.budget, point.asked, round(fold.ari_test(last), 12)))
        if oracle.forbidden is not None:
            break
    columns = {**fold.scores(last), "curve": json.dumps(sorted(curve))}
    if longest.waits:
        median, p95 = np.percentile(longest.waits, [50, 95]) * 1000
        columns |= {"ms_median": round(float(median), 3), "ms_p95": round(float(p95), 3)}
    return longest, columns


def _asked(oracle: GuardedOracle, row: Row) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "queries": oracle.n_queries,
        "must_links": sum(event.answer is Answer.SAME for event in oracle.log),
        "cannot_links": sum(event.answer is Answer.DIFFERENT for event in oracle.log),
    }
    if oracle.slips is not None:
        columns["wrong_answers"] = oracle.slips.n_wrong
    if oracle.forbidden is not None:
        left, right = oracle.forbidden
        columns["status"] = "failed"
        columns["error"] = row.error or (
            f"{ForbiddenQueryError.__name__}: rows {left} and {right} were asked about, "
            "not both of which are training rows"
        )
        columns["ari_test"] = columns["ari_all"] = None
    elif oracle.is_late and row.status == "ok":
        columns["status"] = "capped"
        columns["error"] = f"no questions after the time limit: {oracle.n_queries} asked"
    return columns


def ari(truth: ArrayLike, labels: ArrayLike) -> float:
    """Return the adjusted Rand index: 1 for the same partition, 0 for what chance gives."""
    return float(adjusted_rand_score(truth, labels))


def checked(labels: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return labels as an array with one entry for every row, or raise."""
    found = np.asarray(labels)
    if found.shape != (n_rows,):
        raise InputError(f"a method returns one label per row, {n_rows} here; got {found.shape}")
    return found


@lru_cache(maxsize=2)
def dataset(task: str, data_home: str | None = None) -> Dataset:
    """Return a task, kept for the next cell."""
    return load(task, data_home=data_home)


@contextmanager
def cut_off(time_limit: float | None) -> Iterator[None]:
    """Raise `CellTimeoutError` in what runs too long, where signals allow it."""
    if time_limit is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise CellTimeoutError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, HARD_LIMIT * time_limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def reset_peak_memory() -> None:
    """Forget the largest resident memory so far, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_memory_mb() -> float:
    """Return the largest resident memory since `reset_peak_memory`, else of the whole process.

    It is NaN on systems that tell neither, such as Windows.
    """
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return float("nan")
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (2**20 if sys.platform == "darwin" else 2**10)


@cache
def versions() -> str:
    """Return what decides about results, as JSON."""
    found = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    found["likewise"] = likewise.__version__
    found["python"] = platform.python_version()
    if revision := _revision():
        found["revision"] = revision
    return json.dumps(found, sort_keys=True)


@cache
def machine() -> str:
    """Return the machine in a few words."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def _revision() -> str:
    """Return the commit of a source checkout, with + if files have changed since."""
    folder = Path(likewise.__file__).parent
    if not any((parent / ".git").exists() for parent in folder.parents[:2]):
        return ""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=10"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
