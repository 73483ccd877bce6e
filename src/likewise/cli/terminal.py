"""The session in a terminal: the same questions and the same keys as on the page."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from likewise.cli.inline import is_late_answer, show_side_by_side
from likewise.cli.lines import block, both, cell, cells, clean, fit, one_line
from likewise.core.answers import Question
from likewise.errors import InputError, LikewiseError, StaleQueryError
from likewise.oracles.terminal import QUIT, Prompt
from likewise.project import Project
from likewise.project.formats import file_name_of
from likewise.project.groups import Group, in_short
from likewise.project.lives import key_of
from likewise.project.outlook import outlook
from likewise.words import plural

MOST_LINES = 12
"""How many lines of an item are shown above the groups to choose from."""
PAGE_LINES = 40
"""How many lines more `m` shows."""
N_TYPICAL = 2
"""How many items of a group are listed with it."""
MOST_GROUPS = 20
"""How many groups are listed."""

UNDO = ("z", "\x7f", "\x08")
DONE = "[z] undo  [Z] redo  [g]roups  [?] help  [q]uit "
BESIDES = "[u]nsure   [z] undo  [Z] redo  [m] more  [g]roups  [?] help  [q]uit "
HELP = """\
s or →   the same group
d or ←   different groups
u or ↓   not sure: another pair comes, and nothing is concluded
z        undo, as often as you like        Z   redo
1, 2 ... where groups are shown: it belongs to the one with this key; a group keeps its key,
         and after 9 come letters                           0   to none of these
m        read on in a long text
g        the groups so far: their keys, what they are about, typical items, and how many items
         are there by your answers (said), learned from them, or open
q        stop; the same command goes on from here
Every answer is saved before the next question comes."""


class UnknownKeyError(InputError):
    """Raised for a key that means nothing here."""


def run_terminal(
    project: Project, read: Callable[[], str] | None = None, *, way: str | None = None
) -> None:
    """Ask until everything is settled or the person quits; `read` returns the next key."""
    is_piped = read is None and not sys.stdin.isatty()
    read = read or (_read_line if is_piped else _read_key)
    n_read = MOST_LINES
    position, shown_at = -1, 0.0
    while True:
        project.refresh()
        query = project.ask()
        prompt = None if query is None else Prompt(query, group_keys(project, query))
        click.echo()
        _show(project, query, prompt, way, n_read)
        done = project.session.progress
        line = outlook(project.session).line
        click.echo(f"{line} · {done.answered} answered, {done.groups}")
        if project.rest is not None:
            click.echo(project.rest.line)
        click.echo(f"{prompt.ways}  {BESIDES}" if prompt else DONE, nl=False)
        if project.position != position:  # reading on, or a wrong key, is part of the same answer
            position, shown_at = project.position, time.monotonic()
        key = prompt.read(read) if prompt else read()
        seconds = None if is_piped else round(time.monotonic() - shown_at, 2)
        click.echo()
        n_read = n_read + PAGE_LINES if key == "m" else MOST_LINES
        if key == "m" or is_late_answer(key):
            continue
        if key in QUIT or (query is None and key not in (*UNDO, "Z", "?", "g")):
            return
        try:
            _act(project, query, prompt, key, seconds)
        except UnknownKeyError as error:
            if is_piped:  # nobody reads the message, and input such as that of `yes` never ends
                raise
            click.echo(str(error))
        except StaleQueryError:
            click.echo("Somebody answered elsewhere; nothing was saved. Here is where it is now.")
        except LikewiseError as error:
            click.echo(str(error))


def group_keys(project: Project, query: Question | None) -> dict[str, int]:
    """Return the keys of the groups of a question in their order, and the place of each."""
    if query is None or query.is_pair:
        return {}
    numbers = [in_short(project.session, rows[0])[0] for rows in query.groups]
    order = sorted(range(len(numbers)), key=lambda place: numbers[place] or 0)
    return {key_of(numbers[place]): place for place in order}


def _show(
    project: Project, query: Question | None, prompt: Prompt | None, way: str | None, n_read: int
) -> None:
    size = shutil.get_terminal_size((80, 24))
    if query is None or prompt is None:
        click.echo("Nothing is left to ask. These are the groups:")
        _show_groups(project)
        if project.path is not None:
            output = file_name_of(project, "csv")
            click.echo(f"likewise export {project.path} -o {output} writes them to a file.")
        return
    groups = [query.groups[place] for place in prompt.keys.values()] or query.groups
    rows = [query.row, *(group[0] for group in groups)]
    shown = [place for row in rows if (place := project.where[row]) is not None]
    if way is not None and project.items.has_pictures and len(shown) == len(rows):
        sys.stdout.flush()
        show_side_by_side(project.items, shown, size.columns, size.lines, way, sys.stdout)
    if project.instruction:
        click.echo(clean(project.instruction))
    click.echo(prompt.words)
    if prompt.keys:
        lines = _choice_lines(project, query, prompt.keys, size.columns, n_read)
    else:
        lines = _pair_lines(project, query, size.columns)
    for line in lines:
        click.echo(line)


def _act(
    project: Project,
    query: Question | None,
    prompt: Prompt | None,
    key: str,
    seconds: float | None,
) -> None:
    """Do what a key stands for."""
    position = project.position
    if query is not None and prompt is not None and key in prompt.answers:
        chosen = query.place(prompt.answers[key])
        project.choose(chosen, number=query.number, position=position, seconds=seconds)
    elif key in UNDO:
        project.undo(position=position)
    elif key == "Z":
        project.redo(position=position)
    elif key == "?":
        click.echo(HELP)
    elif key == "g":
        _show_groups(project)
    elif prompt is not None:
        raise UnknownKeyError(prompt.unknown(key, "z Z m g ? q"))


def _choice_lines(
    project: Project, query: Question, keys: Mapping[str, int], width: int, n_read: int
) -> Iterator[str]:
    """Return the lines that show a row and the groups to choose from."""
    fields = project.compare(query.row, [rows[0] for rows in query.groups])
    if fields:
        yield from _field_lines(fields, keys, width, n_read)
    else:
        place = project.where[query.row]
        gone = [clean(project.ids[query.row])]
        shown = gone if place is None else block(project.items, place, width - 6, n_read)
        yield from (f"     {line}".rstrip() for line in shown[:n_read])
        if len(shown) > n_read:
            yield f"     … {len(shown) - n_read} more lines: [m]"
    for key, place in keys.items():
        rows = query.groups[place]
        name = clean(in_short(project.session, rows[0])[1])
        lines = [name] if name else []
        lines += [] if fields else [_line(project, row, width - 6) for row in rows]
        for k, line in enumerate(lines):
            yield f"  {key.upper() if k == 0 else '':<2} {fit(line, width - 6)}"
    yield "  0  none of these"


def _field_lines(
    fields: Sequence[Mapping[str, Any]], keys: Mapping[str, int], width: int, most: int
) -> Iterator[str]:
    """Return a table: fields down, the item and the groups across, the most telling first."""
    name_width = min(24, max(cells(clean(field["name"])) for field in fields))
    column = max(6, (width - name_width - 4) // (len(keys) + 1) - 1)
    table = [("", "it", *(key.upper() for key in keys))]
    for field in fields[:most]:
        groups = (_in_a_cell(field["groups"][place]) for place in keys.values())
        table.append((field["name"], field["value"] or "missing", *groups))
    for name, *texts in table:
        line = " ".join(cell(text, column) for text in texts)
        yield f"  {cell(name, name_width)}  {line}".rstrip()
    if len(fields) > most:
        yield f"  … {len(fields) - most} more fields: [m]"


def _in_a_cell(entry: Mapping[str, Any]) -> str:
    """Return what a field is in a group: the middle number, or its most frequent values."""
    if "shares" in entry:
        return ", ".join(f"{value} {share:.0%}" for value, share in entry["shares"]) or "missing"
    return entry.get("text") or " · ".join(entry.get("texts", ())) or "missing"


def _line(project: Project, row: int, width: int) -> str:
    place = project.where[row]
    if place is None:
        return fit(clean(project.ids[row]), width)
    return one_line(project.items, place, width)


def _pair_lines(project: Project, query: Question, width: int) -> Iterator[str]:
    """Return the lines that show two rows."""
    left, right = project.where[query.left], project.where[query.right]
    if left is None or right is None:
        for row, place in ((query.left, left), (query.right, right)):
            yield f"  {clean(project.ids[row])}{'' if place is not None else ' (gone)'}"
    else:
        yield from both(project.items, left, right, width)


def _show_groups(project: Project) -> None:
    groups = project.groups()
    width = shutil.get_terminal_size((80, 24)).columns
    for group in groups[:MOST_GROUPS]:
        about = clean(" · ".join(filter(None, (group.name, project.sum_up(group)))))
        head = f"{key_of(group.number).upper():<3}{plural(group.size, 'item')} ({_known(group)})"
        click.echo(fit(f"  {head}  {about}", width))
        for row in group.standing[:N_TYPICAL]:
            click.echo(f"       {_line(project, row, width - 8)}")
    if len(groups) > MOST_GROUPS:
        click.echo(f"  ... and {len(groups) - MOST_GROUPS} more")


def _known(group: Group) -> str:
    """Return how many items of a group are *said*, *learned* and *open*."""
    n_learned = group.size - group.n_said - group.n_open
    counts = [(group.n_said, "said"), (n_learned, "learned"), (group.n_open, "open")]
    return ", ".join(f"{n} {word}" for n, word in counts if n)


def _read_key() -> str:
    try:
        return click.getchar()
    except (KeyboardInterrupt, EOFError):
        return ""


def _read_line() -> str:
    line = sys.stdin.readline()
    return line if line == "" else line.strip() or " "
