"""`likewise export`: the groups of a session as a file."""

from __future__ import annotations

from pathlib import Path

import click

from likewise.datasets.folder import whole_file
from likewise.errors import InputError
from likewise.projects import FORMATS, open_session_file
from likewise.projects import export as export_project


@click.command()
@click.argument("session", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Where to write; its suffix says what: .csv, .parquet, .jsonl, .json or .py.",
)
def export(session: str, output: str) -> None:
    """Write the groups of SESSION, a .likewise file, to a table.

    .csv, .parquet and .jsonl have one row per item with its group; .json is the session itself
    for `likewise.Session.from_dict`, .py a script that loads that.
    """
    path = Path(output)
    format = path.suffix.removeprefix(".").lower()
    if format not in FORMATS:
        raise InputError(f"{path} must end in one of {', '.join('.' + name for name in FORMATS)}")
    opened = open_session_file(session)
    try:
        data = export_project(opened.project, format)
    finally:
        opened.project.close()
    with whole_file(path) as file:
        file.write(data)
    progress = opened.project.session.progress
    click.echo(f"{path}: {len(opened.project.ids)} items in {progress.n_groups} groups")
