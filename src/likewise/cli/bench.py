"""`likewise bench`: run the paper's experiments, and report on them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import click

from likewise.experiments.plan import EXPERIMENTS, PROFILES, profile
from likewise.experiments.runner import run_cells, stages
from likewise.experiments.store import ResultStore, Row, read_results, write_csv

DEFAULT_STORE = Path("likewise-bench.sqlite")


class _Words(click.ParamType):  # type: ignore[type-arg]  # generic in stubs only
    """A list of words, or of numbers, with commas between them."""

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
@click.option("--curve-tasks", type=_Words(), help="The tasks of the experiment `curves`.")
@click.option("--folds", "n_folds", type=int, help="Only so many of the five folds.")
@_store
@click.option("--jobs", default=1, show_default=True, help="Processes; -1 for all cores.")
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
    type=click.Choice(["failed", "capped"]),
    multiple=True,
    help="Run cells again that ended like this.",
)
@click.option(
    "--data-home",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the data (see `likewise data`).",
)
def run(
    profile_name: str,
    tasks: tuple[str, ...] | None,
    methods: tuple[str, ...] | None,
    own_methods: tuple[str, ...],
    sizes: tuple[int, ...] | None,
    experiments: tuple[str, ...] | None,
    curve_tasks: tuple[str, ...] | None,
    n_folds: int | None,
    store: Path,
    jobs: int,
    scheduler: str | None,
    time_limit: float | None,
    retry: tuple[str, ...],
    data_home: Path | None,
) -> None:
    """Run experiments. A run that was stopped goes on where it was."""
    plan = profile(profile_name).only(
        tasks=tasks,
        methods=methods,
        sizes=sizes,
        experiments=experiments,
        curve_tasks=curve_tasks,
        n_folds=n_folds,
    )
    plan = plan.only(methods=[*plan.methods, *own_methods])
    results = ResultStore(store)
    with closing(results):
        cells = plan.cells()
        first, then = stages(cells, results, retry)
        n_open = len(first) + len(then)
        click.echo(f"{len(cells)} cells, {n_open} to run; results in {store}")
        with click.progressbar(length=n_open, show_pos=True, label="cells") as bar:
            counts: dict[str, int] = {}

            def on_row(row: Row) -> None:
                counts[row.status] = counts.get(row.status, 0) + 1
                bar.update(1)

            run_cells(
                cells,
                results,
                n_jobs=jobs,
                client=_client(scheduler),
                time_limit=time_limit,
                data_home=None if data_home is None else str(data_home),
                retry=retry,
                on_row=on_row,
            )
        ended = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        click.echo(f"done: {ended or 'nothing to do'}")


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
    type=click.Choice(["paper", "flagship"]),
    default="paper",
    show_default=True,
    help="Which experiments to report on.",
)
def report(store: Path, output: Path, profile_name: str) -> None:
    """Write tables and figures, and one page with all of them: report.html."""
    from likewise.experiments.report import write_report

    page = write_report(read_results(store), output, profile=profile_name)
    click.echo(f"wrote {page}")


@bench.command()
@_store
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
def export(store: Path, target: Path) -> None:
    """Write the results as CSV to TARGET, compressed if its name ends in .gz."""
    rows = read_results(store)
    write_csv(rows, target)
    click.echo(f"wrote {len(rows)} rows to {target}")


def _client(scheduler: str | None) -> Any:
    if scheduler is None:
        return None
    try:
        from distributed import Client
    except ImportError as error:
        from likewise.errors import MissingExtraError

        raise MissingExtraError("--dask", "dask") from error
    return Client(scheduler)
