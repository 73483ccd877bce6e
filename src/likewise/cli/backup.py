"""`likewise backup`: copy a session file, also while it is in use."""

from __future__ import annotations

import click

from likewise.cli.lines import say
from likewise.store import Store
from likewise.words import plural


@click.command()
@click.argument("session", type=click.Path(exists=True, dir_okay=False))
@click.argument("copy", type=click.Path(dir_okay=False))
def backup(session: str, copy: str) -> None:
    """Copy SESSION, a .likewise file, to COPY while it may be in use.

    COPY is complete and has every answer that was saved. An existing file is never replaced.
    """
    with Store.open(session) as store:
        store.read()
        store.copy_to(copy)
    with Store.open(copy) as store:
        say(f"{copy} has {plural(len(store.read()), 'entry')} of the log")
