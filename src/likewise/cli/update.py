"""`likewise update`: label what is new in a folder or a table, without asking."""

from __future__ import annotations

from contextlib import closing
from functools import partial

import click

from likewise.cli.bar import bar
from likewise.cli.label import encoder_option, session_option
from likewise.cli.lines import say
from likewise.errors import CannotGrowError, InputError
from likewise.project import open_project
from likewise.project.growing import rows_in_doubt
from likewise.project.paths import place_of_session

NEEDS_A_PERSON = 3
"""The exit code if items are in doubt. 1 stands for errors, and 2 for wrong usage."""


@click.command()
@click.argument("path", type=click.Path(exists=True))
@session_option
@encoder_option
@click.pass_context
def update(
    context: click.Context, path: str, *, session: str | None, encoder: str | list[str] | None
) -> None:
    """Label what is new at PATH, without asking.

    Takes in what joined, left or changed since the last time, as `likewise label` does. The exit
    code is 0 if no item that joined since the session was begun is in doubt, and 3 if some are:
    then `likewise label PATH` asks about them. An item is in doubt if no answer is about it, and
    the certainty of its group is below .8 or unknown.
    """
    tell = partial(say, err=True)
    where = place_of_session(path, session, tell)
    if not where.exists():
        raise InputError(f"there is no session {where}: begin one with likewise label {path}")
    options = {"encoder": encoder}
    with bar() as progress:
        opened = open_project(path, session=where, options=options, say=tell, progress=progress)
    with closing(opened.project) as project:
        if "paths" in project.store.settings:
            raise InputError(
                f"{path} is read in batches, and a sample of it is asked about: likewise export "
                "predicts the groups of all rows, also of those that were added behind the others"
            )
        if opened.refused:
            raise CannotGrowError(opened.refused)
        if project.rest is not None:
            with bar() as progress:
                project.rest.finish(progress)
        n_doubtful = len(rows_in_doubt(project))
    n_new = len(opened.changes.added) + len(opened.changes.changed)
    then = f": likewise label {path} asks about them" if n_doubtful else ""
    say(f"{n_new} new, {n_doubtful} in doubt{then}")
    context.exit(NEEDS_A_PERSON if n_doubtful else 0)
