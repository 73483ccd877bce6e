"""Run many cells: what is in the store is left alone, what ends is written at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed

from likewise.experiments.cells import run_cell
from likewise.experiments.plan import needed_first
from likewise.experiments.protocol import NOISE, NOISE_BUDGETS, budgets_of
from likewise.experiments.provenance import why_stale
from likewise.experiments.store import Cell, ResultStore, Row

OnRow = Callable[[Row], None]
Job = tuple[Cell, dict[str, Any]]
STALE = "stale"
"""Asks in `retry` for rows whose code has changed."""


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
    on_row: OnRow | None = None,
) -> None:
    """Run the cells that have no row yet.

    Cells on which the number of questions of others depends (COBRA's) are run first, also if
    they were not asked for. A killed run loses at most the cells under way.

    Parameters
    ----------
    cells : iterable of Cell
        What to run.
    store : ResultStore
        Only this process writes to it.
    n_jobs : int, default=1
        Processes, by joblib. Never changes a result.
    client : dask.distributed.Client, optional
        Runs the cells instead.
    time_limit : float, optional
        Seconds for every cell, see `run_cell`.
    data_home : str, optional
        The folder of the original data.
    tasks_from : str, optional
        The folder of tasks of one's own.
    retry : sequence of str
        Rows of this status ("failed", "capped"), or rows whose code has changed ("stale"), are
        made anew.
    on_row : callable
        Called with every row as it is written.
    """

    def written(row: Row) -> None:
        store.add(row)
        if on_row is not None:
            on_row(row)

    settings = {"time_limit": time_limit, "data_home": data_home, "tasks_from": tasks_from}
    first, then = stages(cells, store, retry)
    for stage in (first, then):
        # A list: joblib would take from an iterator in another thread than the store is of.
        ready = list(_with_budget(((cell, settings) for cell in stage), store, written))
        finished = _by_dask(ready, client) if client is not None else _by_joblib(ready, n_jobs)
        for row in finished:
            written(row)


def stages(
    cells: Iterable[Cell], store: ResultStore, retry: Sequence[str] = ()
) -> tuple[list[Cell], list[Cell]]:
    """Return the cells to run: those that others wait for, then the others."""

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
    """Fill in how many questions each cell may ask; without a COBRA to follow it fails."""
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
    return {"allowed": asked.get(cell.n_super_instances, cell.budget or None)}


def _by_joblib(jobs: Iterable[Job], n_jobs: int) -> Iterator[Row]:
    parallel = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="2 * n_jobs"
    )
    found: Iterator[Row] = parallel(delayed(run_cell)(cell, **given) for cell, given in jobs)
    yield from found


def _by_dask(jobs: Iterable[Job], client: Any) -> Iterator[Row]:
    from distributed import as_completed

    futures = [client.submit(run_cell, cell, **given, pure=False) for cell, given in jobs]
    for future in as_completed(futures):
        yield future.result()
