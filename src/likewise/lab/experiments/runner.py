"""Run many cells, and write each when it ends; run rows again to compare them."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from typing import Any

from joblib import Parallel, delayed

from likewise.errors import InputError
from likewise.lab.experiments.cells import run_cell
from likewise.lab.experiments.machine import KERNEL, kernel
from likewise.lab.experiments.plan import needed_first
from likewise.lab.experiments.protocol import AT_BUDGETS, COUNTS, NOISE, NOISE_BUDGETS, budgets_of
from likewise.lab.experiments.provenance import CHANGED, why_stale
from likewise.lab.experiments.store import LATER, NOT_REPRODUCIBLE, Cell, ResultStore, Row

OnRow = Callable[[Row], None]
Job = tuple[Cell, dict[str, Any]]
STALE = "stale"
"""The value of `retry` for rows whose code has changed."""
TOLERANCE = 1e-9
"""Scores may differ by this much, since machines add in different orders."""


def run_cells(
    cells: Iterable[Cell],
    store: ResultStore,
    *,
    n_jobs: int = 1,
    client: Any = None,
    time_limit: float | None = None,
    data_home: str | None = None,
    tasks_from: str | None = None,
    retry: Sequence[str] = (),
    on_row: OnRow = lambda _: None,
) -> None:
    """Run cells that have no row yet, and those they wait for; write each row as it ends."""

    def written(row: Row) -> None:
        store.add(row)
        on_row(row)

    settings = {"time_limit": time_limit, "data_home": data_home, "tasks_from": tasks_from}
    first, then = stages(cells, store, retry)
    for stage in (first, then):
        # A list, because joblib reads an iterator in another thread, and this one writes rows.
        ready = list(_with_budget(((cell, settings) for cell in stage), store, written))
        finished = _by_dask(ready, client) if client is not None else in_processes(ready, n_jobs)
        for row in finished:
            written(row)


def stages(
    cells: Iterable[Cell], store: ResultStore, retry: Sequence[str] = ()
) -> tuple[list[Cell], list[Cell]]:
    """Return the cells to run: first those that others wait for."""

    def is_open(cell: Cell) -> bool:
        row = store.get(cell)
        if row is None or row.status in retry:
            return True
        return STALE in retry and bool(why_stale(row))

    wanted = dict.fromkeys(cell for cell in cells if is_open(cell))
    needed = dict.fromkeys(
        before for cell in wanted for before in needed_first(cell) if is_open(before)
    )
    return list(needed), [cell for cell in wanted if cell not in needed]


def _with_budget(jobs: Iterable[Job], store: ResultStore, written: OnRow) -> Iterator[Job]:
    """Fill in how many questions each cell may ask; a cell whose COBRA has no row fails."""
    for cell, settings in jobs:
        asked: dict[int, int] = {}
        for before in needed_first(cell):
            row = store.get(before)
            if row is not None and row.status == "ok" and row.queries is not None:
                asked[before.n_super_instances] = row.queries
                continue
            reason = "is missing" if row is None else f"{row.status}: {row.error}"
            error = f"no number of questions: COBRA {reason}"
            written(Row(**vars(cell), status="failed", error=error))
            break
        else:
            yield cell, {**settings, **_questions(cell, asked)}


def _questions(cell: Cell, asked: dict[int, int]) -> dict[str, Any]:
    """Return how many questions a cell may ask, by those of the COBRAs it waited for."""
    if cell.experiment == "budgets":
        return {"budgets": budgets_of(asked)}
    if cell.experiment in NOISE:
        return {"budgets": NOISE_BUDGETS}
    if cell.experiment in AT_BUDGETS:
        return {"budgets": COUNTS}
    return {"allowed": asked.get(cell.n_super_instances, cell.budget or None)}


def in_processes(jobs: Iterable[Job], n_jobs: int) -> Iterator[Row]:
    """Yield the rows of cells as they end."""
    parallel = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="2 * n_jobs"
    )
    yield from parallel(delayed(run_cell)(cell, **given) for cell, given in jobs)


def _by_dask(jobs: Iterable[Job], client: Any) -> Iterator[Row]:
    from distributed import as_completed

    futures = [client.submit(run_cell, cell, **given, pure=False) for cell, given in jobs]
    for future in as_completed(futures):
        yield future.result()


def draw(
    rows: Iterable[Row],
    n: int,
    *,
    seed: int = 0,
    tasks: Collection[str] = (),
    max_seconds: float | None = None,
) -> list[Row]:
    """Return a random sample of `n` rows that ended well, and within `max_seconds`."""
    eligible = [
        row
        for row in sorted(rows, key=lambda row: row.cell)
        if row.status == "ok"
        and (not tasks or row.task in tasks)
        and (max_seconds is None or row.cpu_seconds <= max_seconds)
    ]
    return random.Random(seed).sample(eligible, min(n, len(eligible)))


def changed_groups(rows: Iterable[Row], methods: Collection[str] = ()) -> list[list[Row]]:
    """Return rows whose code has changed, by method and the code that they name."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if (not methods or row.method in methods) and why_stale(row) == CHANGED:
            groups.setdefault((row.method, row.code), []).append(row)
    return [groups[key] for key in sorted(groups)]


def make_again(row: Row, *, data_home: str | None = None, tasks_from: str | None = None) -> Row:
    """Return the row of the same cell, made with the code of today and as many questions."""
    at_budgets = row.experiment in AT_BUDGETS
    return run_cell(
        row.cell,
        allowed=row.allowed,
        budgets=[budget for budget, *_ in json.loads(row.curve)] if at_budgets else (),
        data_home=data_home,
        tasks_from=tasks_from,
    )


def make_all_again(
    rows: Iterable[Row],
    *,
    under: str | None = None,
    data_home: str | None = None,
    tasks_from: str | None = None,
) -> Iterator[tuple[Row, Row]]:
    """Yield rows and what they are now, each made under the kernel that it was made under.

    Parameters
    ----------
    rows : iterable of Row
        The rows; those that name no kernel are made under that of this process.
    under : str, optional
        The kernel to make all of them under instead.
    data_home, tasks_from
        As for `run_cells`.
    """
    again = partial(make_again, data_home=data_home, tasks_from=tasks_from)
    by_kernel: dict[str, list[Row]] = {}
    for row in rows:
        by_kernel.setdefault(under or row.kernel or kernel(), []).append(row)
    for name, group in by_kernel.items():
        if name == kernel():
            yield from ((row, again(row)) for row in group)
            continue
        # OpenBLAS chooses its code when it is loaded, so another one needs another process.
        with (
            _in_environment(KERNEL, name),
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process,
        ):
            found = process.submit(kernel).result()
            if found != name:
                raise InputError(
                    f"these rows were made with OpenBLAS's code for {name}, which this processor "
                    f"does not run: it took that for {found}. Use a processor that does, or "
                    f"--kernel {kernel()} to see how many rows differ here."
                )
            yield from zip(group, process.map(again, group), strict=True)


@contextmanager
def _in_environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before


def differences(old: Row, new: Row) -> dict[str, tuple[object, object]]:
    """Return the columns in which two rows differ, but for times, versions and later columns."""
    before, after = asdict(old), asdict(new)
    return {
        name: (value, after[name])
        for name, value in before.items()
        if name not in NOT_REPRODUCIBLE
        and not (name in LATER and value is None)
        and not (_near_curve if name == "curve" else _near)(value, after[name])
    }


def _near_curve(old: str, new: str) -> bool:
    before, after = (json.loads(text or "[]") for text in (old, new))
    return len(before) == len(after) and all(
        _near(x, y)
        for point, again in zip(before, after, strict=True)
        for x, y in zip(point, again, strict=False)  # those of earlier versions end with ARI
    )


def _near(old: object, new: object) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return abs(old - new) <= TOLERANCE
    return old == new
