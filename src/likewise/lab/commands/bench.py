"""`likewise bench`: run the paper's experiments, and report on them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from likewise.errors import InputError, needs_extra
from likewise.files import write_whole
from likewise.lab.commands.data import fetch_missing
from likewise.lab.experiments.compare import SMALL_TASKS, cells_to_compare, run_duel, verdict
from likewise.lab.experiments.methods import find_method
from likewise.lab.experiments.plan import EXPERIMENTS, PROFILES, needed_first, profile
from likewise.lab.experiments.protocol import N_FOLDS
from likewise.lab.experiments.provenance import CHANGED, restamped, why_stale
from likewise.lab.experiments.runner import (
    STALE,
    changed_groups,
    differences,
    draw,
    make_all_again,
    run_cells,
    stages,
)
from likewise.lab.experiments.store import ResultStore, Row, read_results, write_results
from likewise.lab.experiments.tasks import missing_for, tasks_in
from likewise.words import plural

DEFAULT_STORE = Path("likewise-bench.csv")
MOST_ERRORS = 5
"""So many different reasons of failed cells are named; all are in the store."""


class _Words(click.ParamType):  # type: ignore[type-arg]  # generic in stubs only
    """A list of words or numbers, separated by commas."""

    def __init__(self, kind: type[str] | type[int] = str) -> None:
        self.kind = kind
        self.name = "A,B,..." if kind is str else "N,N,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str | int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(self.kind(word.strip()) for word in value.split(",") if word.strip())
        except ValueError:
            self.fail(f"{value!r} is not a list of whole numbers such as 25,50", param, ctx)


_store = click.option(
    "--store",
    type=click.Path(dir_okay=False, path_type=Path),
    default=DEFAULT_STORE,
    show_default=True,
    help="The file that holds the results.",
)
_data_home = click.option(
    "--data-home",
    type=click.Path(file_okay=False),
    help="The folder of the data (see `likewise data`).",
)
_tasks_from = click.option(
    "--tasks-from",
    type=click.Path(exists=True, file_okay=False),
    help="A folder of tasks of your own: .npz files with X and y, Parquet files with a column y.",
)
_jobs = click.option("--jobs", default=1, show_default=True, help="Processes; -1 for all cores.")


@contextmanager
def _progress(n: int, what: str) -> Iterator[Callable[[], None]]:
    """Show how many of `n` have ended: a bar in a terminal, else a line for every tenth part."""
    if sys.stdout.isatty():
        with click.progressbar(length=n, show_pos=True, label=what) as bar:
            yield lambda: bar.update(1)
        return
    ended = 0

    def step() -> None:
        nonlocal ended
        ended += 1
        if ended * 10 // n > (ended - 1) * 10 // n:
            click.echo(f"{what}: {ended} of {n}", err=True)

    yield step


@click.group()
def bench() -> None:
    """Run the experiments of the COBRA paper, and see what holds."""


@bench.command()
@click.option(
    "--profile",
    "profile_name",
    type=click.Choice(PROFILES),
    default="paper",
    show_default=True,
    help="What to run: all of the paper (hours), 4 tasks and 2 methods of it (minutes), or "
    "Likewise and its peers at many numbers of questions (hours).",
)
@click.option("--tasks", type=_Words(), help="Only these tasks (see `likewise data list`).")
@click.option("--methods", type=_Words(), help="Only these methods.")
@click.option(
    "--method",
    "own_methods",
    multiple=True,
    metavar="PACKAGE.MODULE:NAME",
    help="Also a method of your own. May be given several times.",
)
@click.option("--super-instances", "sizes", type=_Words(int), help="Only these sizes.")
@click.option(
    "--experiments",
    type=_Words(),
    help=f"Only these of {', '.join(EXPERIMENTS)}.",
)
@click.option("--curve-tasks", type=_Words(), help="Those of the experiment `curves`.")
@click.option("--folds", "n_folds", type=int, help="Only so many of the five folds.")
@_store
@_jobs
@click.option("--dask", "scheduler", metavar="ADDRESS", help="Run on a Dask cluster instead.")
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="After so much processor time a method gets no more answers, after twice as much it is "
    "cut off; either is marked as capped.",
)
@click.option(
    "--retry",
    type=click.Choice(["failed", "capped", STALE]),
    multiple=True,
    help="Run cells again that ended like this, or whose code has changed since.",
)
@_data_home
@_tasks_from
def run(
    profile_name: str,
    own_methods: tuple[str, ...],
    store: Path,
    jobs: int,
    scheduler: str | None,
    time_limit: float | None,
    retry: tuple[str, ...],
    data_home: str | None,
    tasks_from: str | None,
    **only: Any,
) -> None:
    """Run experiments. A run that was stopped goes on where it was."""
    from likewise.rows.dask_rows import connect

    if tasks_from is not None:
        only["tasks"] = (*(only["tasks"] or ()), *tasks_in(tasks_from))
    plan = profile(profile_name).only(**only).and_methods(own_methods)
    for task in plan.tasks:
        if missing := missing_for(task):
            click.echo(f"{task} is skipped: it needs {missing}", err=True)
    plan = plan.only(tasks=[task for task in plan.tasks if not missing_for(task)])
    results = ResultStore(store)
    cells = plan.cells()
    others = {before for cell in cells for before in needed_first(cell)} - set(cells)
    first, then = stages(cells, results, retry)
    n_open = len(first) + len(then)
    click.echo(f"{plural(len(cells) + len(others), 'cell')}, {n_open} to run; results in {store}")
    if others:
        click.echo(f"{len(others)} of them are COBRA's, to learn how many questions others may ask")
    # Here, once: every worker would try by itself, and every cell would fail for want of it.
    fetch_missing((cell.task for cell in (*first, *then)), data_home)
    with _progress(n_open, "cells") as step:
        counts: Counter[str] = Counter()
        errors: Counter[str] = Counter()

        def on_row(row: Row) -> None:
            counts[row.status] += 1
            if row.status == "failed":
                errors[row.error.strip().splitlines()[-1]] += 1
            step()

        run_cells(
            cells,
            results,
            n_jobs=jobs,
            client=connect(scheduler),
            time_limit=time_limit,
            data_home=data_home,
            tasks_from=tasks_from,
            retry=retry,
            on_row=on_row,
        )
    ended = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    click.echo(f"done: {ended or 'nothing to do'}")
    for error, count in errors.most_common(MOST_ERRORS):
        click.echo(f"{count} failed by: {error}", err=True)


@bench.command()
@click.argument("method")
@click.option("--against", default="Likewise", show_default=True, help="The method to beat.")
@click.option(
    "--tasks",
    type=_Words(),
    help=f"Instead of ten small ones ({', '.join(SMALL_TASKS)}).",
)
@click.option("--folds", "n_folds", type=click.IntRange(1, N_FOLDS), default=2, show_default=True)
@_jobs
@_data_home
@_tasks_from
def compare(
    method: str,
    against: str,
    tasks: tuple[str, ...] | None,
    n_folds: int,
    jobs: int,
    data_home: str | None,
    tasks_from: str | None,
) -> None:
    """Say within about a minute whether METHOD is better than another one.

    METHOD is one of ours by name, package.module:Name, or a Python file with one method. Every
    number of questions stands beside the difference in ARI with its interval over tasks, and how
    probable it is that METHOD is better, as good in practice, or worse. With fewer than six tasks
    there is only the difference.
    """
    own = () if tasks_from is None else tasks_in(tasks_from)
    names = (*(tasks or ()), *own) or SMALL_TASKS
    cells = cells_to_compare((method, against), names, n_folds)
    fetch_missing(names, data_home)
    with _progress(len(cells), "runs") as step:
        duels = run_duel(
            cells,
            n_jobs=jobs,
            data_home=data_home,
            tasks_from=tasks_from,
            on_row=lambda _: step(),
        )
    method, against = find_method(method).name, find_method(against).name
    click.echo(f"mean ARI, {method} - {against}")
    click.echo(f"questions{'difference':>35}  won:lost  better   same  worse")
    for duel in duels:
        ours, theirs = (f"{mean:.3f}" for mean in duel.means)
        counts = f"{duel.outcome.wins}:{duel.outcome.losses}"
        odds = [f"{p:.0%}" if duel.is_enough else "-" for p in duel.outcome.posterior]
        gain = f"{duel.gain:<23}"
        columns = f"{counts:>10} " + "".join(f"{p:>7}" for p in odds)
        click.echo(f"{duel.questions or 'all':>9}  {ours} - {theirs} = {gain}{columns}")
    click.echo(verdict(duels[-1], method, against))


@bench.command()
@_store
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("report"),
    show_default=True,
    help="The folder to write to.",
)
@click.option(
    "--profile",
    "profile_name",
    type=click.Choice(["paper", "flagship", "rivals", "fourth"]),
    default="paper",
    show_default=True,
    help="Which experiments to report on.",
)
@click.option("--folds", type=int, help="Only rows of so many of the five folds.")
@click.option(
    "--kernels",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Rows made again with OpenBLAS's code for another processor, by `verify --kernel -o`: the "
    "report says how many differ.",
)
@click.option(
    "--seconds",
    "model",
    type=click.Path(dir_okay=False),
    help="How long answers take a person: a file that `likewise bench seconds` made, or one you "
    "wrote. By default from published measurements.",
)
def report(
    store: Path,
    output: Path,
    profile_name: str,
    folds: int | None,
    kernels: Path | None,
    model: str | None,
) -> None:
    """Write tables and figures, and one page with all of them: report.html."""
    from likewise.lab.experiments.seconds import PUBLISHED, read_seconds

    with needs_extra("a report", "plot"):
        from likewise.lab.experiments.report import write_report
    seconds = PUBLISHED if model is None else read_seconds(model)
    rows = [row for row in read_results(store) if folds is None or row.fold < folds]
    others = [] if kernels is None else read_results(kernels)
    page = write_report(rows, output, profile(profile_name), seconds, others)
    click.echo(f"wrote {page}")


@bench.command()
@click.argument(
    "sessions",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="SESSION...",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("seconds.json"),
    show_default=True,
    help="The file to write to.",
)
def seconds(sessions: tuple[str, ...], output: Path) -> None:
    """Learn from a person's sessions how long answers take, for `report --seconds`.

    SESSION is a .likewise file, or the JSON file that `likewise export` makes of it. Answers after
    a pause of more than a minute do not count.
    """
    from likewise.lab.experiments.seconds import as_json, fit_seconds, timed_gestures

    model = fit_seconds(one for path in sessions for one in timed_gestures(path))
    write_whole(output, as_json(model))
    click.echo(f"{model.text.removeprefix('Minutes: ')}\nwrote {output}")


@bench.command()
@_store
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
def export(store: Path, target: Path) -> None:
    """Copy the results to TARGET, a .csv or .csv.gz file: sorted, one row for every cell."""
    rows = read_results(store)
    write_results(rows, target)
    click.echo(f"wrote {plural(len(rows), 'row')} to {target}")


@bench.command()
@_store
@click.option("--sample", "n", default=50, show_default=True, help="How many rows to make again.")
@click.option("--seed", default=0, show_default=True, help="Which rows.")
@click.option("--methods", type=_Words(), default=(), help="Only rows of these methods.")
@click.option("--tasks", type=_Words(), default=(), help="Only rows of these tasks.")
@click.option("--seconds", type=float, help="Only rows that took no longer on the processor.")
@click.option(
    "--restamp",
    is_flag=True,
    help="Make so many rows again of every method whose code has changed. Where all come out the "
    "same, write into all rows of the method that they are of the code of today.",
)
@click.option(
    "--kernel",
    help="Make rows of other processors again with OpenBLAS's code for this one, such as Haswell, "
    "to see how many differ. By default, each is made with the code that it was made with.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the rows made again to this .csv or .csv.gz file, for `report --kernels`.",
)
@_data_home
@_tasks_from
def verify(
    store: Path,
    n: int,
    seed: int,
    methods: tuple[str, ...],
    tasks: tuple[str, ...],
    seconds: float | None,
    restamp: bool,
    kernel: str | None,
    output: Path | None,
    data_home: str | None,
    tasks_from: str | None,
) -> None:
    """Run a random sample of rows again, and say which come out differently.

    Each is made with the code of OpenBLAS that it was made with. It fails if one comes out
    differently whose code has not changed since.
    """

    def check(rows: list[Row]) -> tuple[int, list[Row]]:
        """Make a sample of rows again; return how many, and those that came out differently."""
        sample = draw(rows, n, seed=seed, tasks=tasks, max_seconds=seconds)
        places = {"data_home": data_home, "tasks_from": tasks_from}
        differing = []
        for row, again in make_all_again(sample, under=kernel, **places):
            made.append(again)
            changes = differences(row, again)
            if again.error and not row.error:
                differing.append(row)
                click.echo(f"not made again: {row.cell}: {again.error.strip().splitlines()[-1]}")
                continue
            if changes:
                differing.append(row)
                stale = why_stale(row)
                click.echo(f"differs: {row.cell}{f' (stale: {stale})' if stale else ''}")
            for name, (old, new) in changes.items():
                click.echo(f"    {name}: {_short(old)} -> {_short(new)}")
        return len(sample), differing

    made: list[Row] = []
    rows = read_results(store)
    if restamp and (kernel or output):
        raise InputError("--restamp makes rows under their own kernels and writes to the store")
    if not restamp:
        named = [row for row in rows if not methods or row.method in methods]
        n_made, differing = check([row for row in named if not kernel or row.kernel != kernel])
        if not n_made:
            other = f", or all were made with {kernel}" if kernel else ""
            raise InputError(f"there is no such row to make again{other}")
        n_stale = sum(why_stale(row) == CHANGED for row in differing)
        more = f"; {n_stale} stale did not" if n_stale else ""
        click.echo(f"{n_made - len(differing)} of {plural(n_made, 'row')} came out the same{more}")
        if output is not None:
            write_results(made, output)
            click.echo(f"wrote {plural(len(made), 'row')} to {output}")
        if kernel:
            raise SystemExit(0)  # they need not be the same
        raise SystemExit(len(differing) > n_stale)
    by_cell = {row.cell: row for row in rows}
    n_left = 0
    for group in changed_groups(rows, methods):
        n_made, differing = check(group)
        is_good = n_made > 0 and not differing
        if is_good:
            by_cell |= {row.cell: restamped(row, n_made, len(group)) for row in group}
            write_results(by_cell.values(), store)
        n_left += 0 if is_good else len(group)
        click.echo(
            f"{group[0].method}: {n_made - len(differing)} of {n_made} came out the same; "
            f"{plural(len(group), 'row')} {'stamped' if is_good else 'stay stale'}"
        )
    click.echo(f"{plural(n_left, 'row')} with changed code left")
    raise SystemExit(n_left > 0)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
