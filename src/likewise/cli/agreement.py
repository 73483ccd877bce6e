"""`likewise agreement`: how often the people of a session agree, and where they do not."""

from __future__ import annotations

from pathlib import Path

import click

from likewise.project.people import Agreement, agreements, doubles
from likewise.project.record import session_in
from likewise.store import Store
from likewise.words import plural, table_lines

NOTHING = (
    "No question was answered by two people yet. `likewise label PATH --people NAME,NAME` puts "
    "every tenth question to two of them."
)


@click.command()
@click.argument("session", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def agreement(session: Path) -> None:
    """Show how often people who answered SESSION, a .likewise file, agree.

    Every two people are compared by the questions that both answered.

    Each share and each kappa (agreement beyond chance: 1 is perfect, 0 is none) has its 95%
    interval. Disagreements that nobody has decided are listed; History on the page decides them.
    """
    with Store.open(session) as store:
        found, _ = session_in(store)
    lines = agreements(found)
    if not lines:
        click.echo(NOTHING)
        return
    head = ["people", "questions", "agree", "kappa", "not sure"]
    for line in table_lines([head, *map(_cells, lines)], right={1, 4}):
        click.echo(line)
    left = [double for double in doubles(found) if double.agree is False and not double.is_decided]
    if left:
        click.echo(f"\n{plural(len(left), 'disagreement')} to decide:")
    names = found.sample_ids
    for double in left:
        row = double.first.left
        name = row if names is None else names[row]
        click.echo(f"  {name}: {double.first.by} and {double.second.by}")


def _cells(line: Agreement) -> list[str]:
    low, high = line.interval
    share = "-" if not line.n else f"{line.n_same / line.n:.0%} ({low:.0%} to {high:.0%})"
    kappa = "-"
    if line.kappa is not None and line.kappa_interval is not None:
        kappa = f"{line.kappa:.2f} ({line.kappa_interval[0]:.2f} to {line.kappa_interval[1]:.2f})"
    return [" and ".join(line.people), str(line.n), share, kappa, str(line.n_unsure)]
