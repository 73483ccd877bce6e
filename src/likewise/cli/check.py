"""`likewise check`: test a session file, and save what can be read of a damaged one."""

from __future__ import annotations

import click

from likewise.cli.lines import say
from likewise.project.checking import check_file, repair_file
from likewise.words import plural


@click.command()
@click.argument("session", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--repair", is_flag=True, help="Write what can be read to another file beside SESSION."
)
def check(session: str, *, repair: bool) -> None:
    """Test SESSION, a .likewise file, for damage.

    SESSION itself is never changed, and may be in use. Ends with 0 if all is well, else with 1.
    With --repair, what can be read of a damaged file is written beside it, to a name that ends in
    .repaired.likewise.
    """
    finding = check_file(session)
    if finding.is_good:
        say(f"{session} is good: {plural(finding.n_entries, 'entry')} in its log")
        return
    say(finding.fault, err=True)
    if repair:
        target, n_entries, n_before = repair_file(session)
        say(f"{target} has {n_entries} of {plural(n_before, 'entry')}")
    raise SystemExit(1)
