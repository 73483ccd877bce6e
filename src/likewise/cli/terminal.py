"""The session in a terminal: the same questions and the same keys as on the page."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence

import click

from likewise.cli.inline import Way, is_late_answer, side_by_side
from likewise.cli.lines import block, both, clean, fit, one_line
from likewise.core.answers import Answer
from likewise.core.question import Question
from likewise.errors import InputError, LikewiseError, StaleQueryError
from likewise.project import Project
from likewise.project.groups import Group
from likewise.project.outlook import outlook

ANSWERS = {
    "s": Answer.SAME,
    "\x1b[C": Answer.SAME,
    "d": Answer.DIFFERENT,
    "\x1b[D": Answer.DIFFERENT,
    "u": Answer.UNSURE,
    "\x1b[B": Answer.UNSURE,
}
MOST_LINES = 12
"""How many lines of an item are shown above the groups to choose from."""
MOST_GROUPS = 20
"""How many groups are listed."""

UNDO = ("z", "\x7f", "\x08")
QUIT = ("q", "\x1b", "\x03", "\x04")
PAIR = "[s]ame  [d]ifferent"
BESIDES = "[u]nsure   [z] undo  [Z] redo  [g]roups  [?] help  [q]uit "
HELP = """\
s or →   the same group
d or ←   different groups
u or ↓   not sure: another pair comes, and nothing is concluded
z        undo, as often as you like        Z   redo
1 to 6   where groups are shown: it belongs to this one      0   to none of these
g        the groups so far: how many items of each you said, were learned, or are open
q        stop; the same command goes on from here
Every answer is saved before the next question comes."""


class UnknownKeyError(InputError):
    """Raised for a key that means nothing here."""


def run_terminal(
    project: Project, read: Callable[[], str] | None = None, *, way: Way | None = None
) -> None:
    """Ask until everything is settled or the person quits.

    `read` returns the next key, an empty text at the end of the input: by default single keys where
    the input is a terminal, and the first character of each line where it is not. `way` is how to
    show pictures here; by default only their paths are shown.

    A line that is none of the keys is an error where the input is not a terminal: nobody reads the
    message there, and input such as that of ``yes`` never ends.
    """
    is_piped = read is None and not sys.stdin.isatty()
    read = read or (_read_line if is_piped else _read_key)
    while True:
        project.refresh()
        query = project.ask()
        click.echo()
        _show(project, query, way)
        click.echo(status_line(project))
        click.echo(prompt(query), nl=False)
        key = read()
        click.echo()
        if is_late_answer(key):
            continue
        if key == "" or key in QUIT:
            return
        if query is None and key not in (*UNDO, "Z", "?", "g"):
            return
        try:
            _act(project, query, key)
        except UnknownKeyError as error:
            if is_piped:
                raise
            click.echo(str(error))
        except StaleQueryError:
            click.echo("Somebody answered elsewhere; nothing was saved. Here is where it is now.")
        except LikewiseError as error:
            click.echo(str(error))


def prompt(query: Question | None) -> str:
    """Return the keys that answer a question, and the others."""
    if query is not None and not query.is_pair:
        n = len(query.groups)
        return f"[1{f' to {n}' if n > 1 else ''}]  [0] none of these  {BESIDES}"
    return f"{PAIR}  {BESIDES}"


def _show(project: Project, query: Question | None, way: Way | None) -> None:
    size = shutil.get_terminal_size((80, 24))
    if query is None:
        _show_end(project)
        return
    if not query.is_pair:
        rows = [query.row, *(group[0] for group in query.groups)]
        lines = choice_lines(project, query, size.columns)
    else:
        rows, lines = [query.left, query.right], pair_lines(project, query, size.columns)
    if way is not None:
        _show_pictures(project, rows, size.columns, size.lines, way)
    for line in lines:
        click.echo(line)


def _act(project: Project, query: Question | None, key: str) -> None:
    position = project.position
    n_groups = 0 if query is None or query.is_pair else len(query.groups)
    places = {"0": None, **{str(k + 1): k for k in range(n_groups)}}
    if query is not None and n_groups and key in places:
        project.choose(places[key], number=query.number, position=position)
    elif (
        query is not None and (ANSWERS.get(key) is Answer.UNSURE or not n_groups) and key in ANSWERS
    ):
        project.tell(ANSWERS[key], number=query.number, position=position)
    elif key in UNDO:
        project.undo(position=position)
    elif key == "Z":
        project.redo(position=position)
    elif key == "?":
        click.echo(HELP)
    elif key == "g":
        _show_groups(project)
    else:
        answers = f"0 to {n_groups}" if n_groups else "s d"
        raise UnknownKeyError(f"{key!r} is none of the keys {answers} u z Z g ? q")


def _show_pictures(
    project: Project, rows: Sequence[int], columns: int, lines: int, way: Way
) -> None:
    places = [place for row in rows if (place := project.where[row]) is not None]
    if not project.items.has_pictures or len(places) < len(rows):
        return
    # Not by click.echo, which strips such sequences where the output is no terminal.
    sys.stdout.write(side_by_side(project.items, places, columns, lines, way))
    sys.stdout.flush()


def choice_lines(project: Project, query: Question, width: int) -> Iterator[str]:
    """Return the lines that show a row and the groups to choose from."""
    yield f"{query.number}. To which of these does it belong?"
    place = project.where[query.row]
    gone = [clean(project.ids[query.row])]
    shown = gone if place is None else block(project.items, place, width - 6)
    yield from (f"     {line}".rstrip() for line in shown[:MOST_LINES])
    for place, rows in enumerate(query.groups, start=1):
        for k, row in enumerate(rows):
            yield f"  {place if k == 0 else ' '}  {_line(project, row, width - 6)}"
    yield "  0  none of these"


def _line(project: Project, row: int, width: int) -> str:
    place = project.where[row]
    if place is None:
        return fit(clean(project.ids[row]), width)
    return one_line(project.items, place, width)


def pair_lines(project: Project, query: Question, width: int) -> Iterator[str]:
    """Return the lines that show a question."""
    yield f"{query.number}. Do these two belong together?"
    left, right = project.where[query.left], project.where[query.right]
    if left is None or right is None:
        for row, place in ((query.left, left), (query.right, right)):
            yield f"  {clean(project.ids[row])}{'' if place is not None else ' (gone)'}"
    else:
        yield from both(project.items, left, right, width)


def status_line(project: Project) -> str:
    """Return how good the groups are, what is left to ask, and what was answered."""
    progress = project.session.progress
    return f"{outlook(project.session).line} · {progress.answered} answered, {progress.groups}"


def _show_end(project: Project) -> None:
    click.echo("Nothing is left to ask. These are the groups:")
    _show_groups(project)
    if project.path is not None:
        click.echo(f"likewise export {project.path} -o groups.csv writes them to a file.")


def _show_groups(project: Project) -> None:
    groups = project.groups()
    for group in groups[:MOST_GROUPS]:
        some = ", ".join(clean(project.ids[row]) for row in group.standing[:4])
        name = clean(group.name) or "-"
        click.echo(f"  {group.size:>6}  {name}  ({_known(group)})  {fit(some, 50)}")
    if len(groups) > MOST_GROUPS:
        click.echo(f"  ... and {len(groups) - MOST_GROUPS} more")


def _known(group: Group) -> str:
    """Return how many items of a group are said, learned and open, in words."""
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
    return line if line == "" else line.strip()[:1] or " "
