"""`likewise data`: which of the paper's datasets are here, and getting the others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from likewise.errors import DatasetError
from likewise.lab.datasets.catalog import TASKS, find_task
from likewise.lab.datasets.folder import VARIABLE, data_folder
from likewise.words import plural, table_lines

_data_home = click.option(
    "--data-home",
    type=click.Path(file_okay=False, path_type=Path),
    help=f"The folder of the data; without it {VARIABLE}, and without that the user's cache.",
)


@click.group()
def data() -> None:
    """Show and fetch the datasets of the paper."""


@data.command("list")
@_data_home
def list_tasks(data_home: Path | None) -> None:
    """Show the paper's 21 tasks, and which are in the folder of the data."""
    folder = data_folder(data_home)
    lines = [("task", "rows", "features", "classes", "from", "present", "license")]
    for task in TASKS.values():
        rows, features, classes = map(str, task.shape)
        star = "*" if task.kind == "faces" else ""
        present = "yes" if (folder / task.file).is_file() else "no"
        about = (task.origin, present, task.license)
        lines.append((task.name, rows, features + star, classes, *about))
    click.echo("\n".join(table_lines(lines, right=(1, 2, 3))))
    click.echo()
    click.echo("* as pixels; 2048 by inception-v3, 1280 by efficientnet-lite2")
    click.echo(f"folder: {folder}")


@data.command()
@click.argument("names", nargs=-1, metavar="[TASK]...")
@_data_home
def fetch(names: tuple[str, ...], data_home: Path | None) -> None:
    """Fetch tasks from their official places; all of them if none is named.

    What is there already is checked and not fetched again, so a fetch that was stopped goes on
    where it was. A file appears in the folder only when it is whole and checked.
    """
    from likewise.lab.datasets.download import fetch_file

    tasks = [find_task(name) for name in names] or list(TASKS.values())
    folder = data_folder(data_home)
    failures = 0
    files = dict.fromkeys(task.file for task in tasks)
    for file in files:
        click.echo(f"{file} ...", err=True)
        try:
            place, verified = fetch_file(file, folder)
        except DatasetError as error:
            failures += 1
            click.echo(f"{file}: {error}", err=True)
        else:
            click.echo(f"{file}: {place}; verified {verified}")
    if failures:
        raise click.ClickException(
            f"{failures} of {plural(len(files), 'file')} could not be fetched."
        )


def fetch_missing(names: Iterable[str], data_home: str | None) -> None:
    """Fetch those of the paper's tasks that are not in the folder; others are left alone."""
    from likewise.lab.datasets.download import fetch_file

    folder = data_folder(data_home)
    for file in dict.fromkeys(TASKS[name].file for name in names if name in TASKS):
        if not (folder / file).is_file():
            click.echo(f"fetching {file} ...", err=True)
            fetch_file(file, folder)
