"""The session in a terminal: the same questions and the same keys as on the page."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from likewise.cli.inline import is_late_answer, show_side_by_side
from likewise.cli.lines import (
    block,
    both,
    cell,
    cells,
    clean,
    fit,
    for_terminal,
    in_lines,
    one_line,
    say,
    strip,
)
from likewise.core.answers import Answer, Question
from likewise.errors import InputError, LikewiseError, StaleQueryError
from likewise.oracles.terminal import QUIT, Prompt
from likewise.project import Project
from likewise.project.formats import file_name_of
from likewise.project.groups import Group, compare, in_short, sum_up
from likewise.project.lives import key_of, number_of_name, shown_key
from likewise.project.outlook import outlook
from likewise.words import plural

MOST_LINES = 12
"""How many lines of an item are shown above the groups to choose from; of a text in a low window, a
third of it."""
LEAST_LINES = 4
OTHER_LINES = 9
"""How many lines there are beside an item and the groups: the question, where it is, the keys."""
PAGE_LINES = 40
"""How many lines more `m` shows."""
N_TYPICAL = 2
"""How many items of a group are listed with it."""
MOST_GROUPS = 20
"""How many groups are listed."""
MOST_LARGE = 6
"""How many groups to choose are shown with items; the others are listed with their keys."""
LEAST_COLUMN = 16
"""How wide a column of a table has to be, so that a number fits beside its strip."""
LEAST_STRIP = 5
NUMBER_WIDTH = 7
LONGEST_CALLED = 24
"""The most characters by which a group is listed."""

UNDO = ("z", "\x7f", "\x08")
DONE = ("[z] undo", "[Z] redo", "[g]roups", "[c]all a group", "[?] help", "[q]uit")
MORE = "[m] more"
BESIDES = ("[u]nsure", "[z] undo", "[Z] redo", MORE, *DONE[2:])
HELP = """\
s or →   the same group
d or ←   different groups
u or ↓   not sure: another pair comes, and nothing is concluded
z        undo, as often as you like        Z   redo
1, 2 ... where groups are shown: it belongs to the one with this key; a group keeps its key,
         and after 9 come letters                           0   to none of these
/        find a group by its name: type some of it, then Enter; the only one that fits is chosen
c        call a group by a name: its key, a space, the name, then Enter
+, -     merge the two groups that are said to be one, perhaps, or keep them apart for good
m        read on in a long text
g        the groups so far: their keys, what they are about, typical items, and how many items
         are there by your answers (said), learned from them, or open
q        stop; the same command goes on from here
Every answer is saved before the next question comes."""


MERGE = ("[+] merge them", "[-] keep them apart")
MERGES = {"+": Answer.SAME, "-": Answer.DIFFERENT}


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
        has_more = _show(project, query, prompt, way, n_read)
        done = project.session.progress
        width = shutil.get_terminal_size((80, 24)).columns - 1
        line = outlook(project.session).line.split(" · ")
        line += [f"{done.answered} answered, {done.groups}", project.session.grouped_by]
        click.echo(in_lines([part for part in line if part], width, " · "))
        if project.rest is not None:
            click.echo(project.rest.line)
        if pair := _merge(project):
            left, right = (_titled(project, row) for row in pair)
            click.echo(in_lines([f"Perhaps one: {left} and {right}", *MERGE], width))
        find = ("[/] find",) if prompt and prompt.keys else ()
        besides = [one for one in BESIDES if has_more or one != MORE]
        ways = (*prompt.ways.split("  "), *find, *besides) if prompt else DONE
        click.echo(f"{in_lines(ways, width)} ", nl=False)
        if project.position != position:  # reading on, or a wrong key, is part of the same answer
            position, shown_at = project.position, time.monotonic()
        key = prompt.read(read) if prompt else read()
        seconds = None if is_piped else round(time.monotonic() - shown_at, 2)
        click.echo()
        n_read = n_read + PAGE_LINES if key == "m" else MOST_LINES
        if key == "m" or is_late_answer(key):
            continue
        if key in QUIT or (query is None and key not in (*UNDO, *MERGES, "Z", "?", "g", "c")):
            return
        try:
            if key == "c" or (key == "/" and prompt and prompt.keys):
                words = read() if is_piped else _read_words(read, WORDS_FOR[key])
                key = _name_or_find(project, query, prompt, key, words)
            if key:
                _act(project, query, prompt, key, seconds)
        except UnknownKeyError as error:
            if is_piped:  # nobody reads the message, and input such as that of `yes` never ends
                raise
            say(for_terminal(str(error), width))
        except StaleQueryError:
            click.echo("Somebody answered elsewhere; nothing was saved. Here is where it is now.")
        except LikewiseError as error:
            say(for_terminal(str(error), width))


def group_keys(project: Project, query: Question | None) -> dict[str, int]:
    """Return the keys of the groups of a question in their order, and the place of each."""
    if query is None or query.is_pair:
        return {}
    session = project.session
    numbers = [
        in_short(session, rows[0])[0] if rows else number_of_name(session, query.name(place))
        for place, rows in enumerate(query.groups)
    ]
    order = sorted(range(len(numbers)), key=lambda place: numbers[place] or 0)
    return {key_of(numbers[place]): place for place in order}


def _merge(project: Project) -> tuple[int, int] | None:
    """Return rows of the two groups that are most likely one, if any are."""
    labels = project.session.labels
    pairs = ((merge.left, merge.right) for merge in project.session.merges)
    return next((pair for pair in pairs if labels[pair[0]] != labels[pair[1]]), None)


def _show(
    project: Project, query: Question | None, prompt: Prompt | None, way: str | None, n_read: int
) -> bool:
    """Show a question, or the groups at the end; return whether `m` would show more of it."""
    size = shutil.get_terminal_size((80, 24))
    if query is None or prompt is None:
        click.echo("Nothing is left to ask. These are the groups:")
        _show_groups(project)
        if project.path is not None:
            output = file_name_of(project, "csv")
            say(f"likewise export {project.path} -o {output} writes them to a file.")
        return False
    drawn = {k: at for k, at in prompt.keys.items() if at < MOST_LARGE and query.groups[at]}
    keys = list(drawn)
    groups = query.groups if query.is_pair else [query.groups[place] for place in drawn.values()]
    rows = [query.row, *(group[0] for group in groups)]
    shown = [place for row in rows if (place := project.where[row]) is not None]
    is_drawn = way is not None and project.items.has_pictures and len(shown) == len(rows)
    if way is not None and is_drawn:
        sys.stdout.flush()
        names = ["it", *map(str.upper, keys)] if keys else ["left", "right"]
        n_free = size.lines - len(keys)
        show_side_by_side(project.items, shown, size.columns, n_free, way, sys.stdout, names)
    if project.instruction:
        click.echo(clean(project.instruction))
    click.echo(prompt.words)
    if prompt.keys:
        lines = list(_choice_lines(project, query, prompt.keys, size, n_read, is_drawn))
    else:
        lines = list(_pair_lines(project, query, size, n_read))
    for line in lines:
        click.echo(line)
    return any(line.endswith(MORE_BELOW) for line in lines)


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
    elif key in MERGES and (pair := _merge(project)):
        project.judge(*pair, MERGES[key], position=position)
    elif key == "Z":
        project.redo(position=position)
    elif key == "?":
        click.echo(HELP)
    elif key == "g":
        _show_groups(project)
    elif prompt is not None:
        raise UnknownKeyError(prompt.unknown(key, "z Z m g / c ? q"))


WORDS_FOR = {"c": "The key of a group and its name: ", "/": "Find the group: "}


def _name_or_find(
    project: Project, query: Question | None, prompt: Prompt | None, key: str, words: str
) -> str:
    """Name a group, or find one by its name; return the key of the one that was found, else ""."""
    if not words.strip():
        return ""
    if key == "c":
        wanted, _, name = words.strip().partition(" ")
        of = {key_of(group.number): group for group in project.groups() if group.number is not None}
        if wanted.lower() not in of:
            raise InputError(f"there is no group {wanted!r}: [g] lists them with their keys")
        project.name(of[wanted.lower()].id, name, position=project.position)
        return ""
    assert query is not None
    assert prompt is not None
    called = {k: _called(project, query, place) for k, place in prompt.keys.items()}
    found = [k for k, name in called.items() if words.strip().casefold() in name.casefold()]
    if len(found) == 1:
        return found[0]
    listed = "   ".join(f"{k.upper()} {called[k]}" for k in found[:MOST_GROUPS])
    raise InputError(f"several groups fit: {listed}" if found else f"no group fits {words!r}")


def _read_words(read: Callable[[], str], asked: str) -> str:
    """Return what is typed until Enter; nothing after Escape or at the end of the input."""
    words = ""
    while True:
        click.echo(f"\r\033[K{asked}{clean(words)}", nl=False)
        key = read()
        if key in QUIT and key != "q":
            words, key = "", "\r"
        if key in ("\r", "\n"):
            click.echo()
            return words
        words = words[:-1] if key in UNDO[1:] else words + key


def _choice_lines(
    project: Project,
    query: Question,
    keys: Mapping[str, int],
    size: os.terminal_size,
    n_read: int,
    is_drawn: bool,
) -> Iterator[str]:
    """Return the lines that show a row and the groups to choose from, briefer if it is drawn."""
    width = size.columns
    likeliest = sorted(keys, key=keys.__getitem__)[:MOST_LARGE]
    fields = compare(project, query.row, query.groups)
    if fields:
        likeliest = likeliest[: max(2, (width - 30) // LEAST_COLUMN)]
    large = {key: place for key, place in keys.items() if key in likeliest}
    most_rows = 0
    place = project.where[query.row]
    if fields:
        yield from _field_lines(fields, large, width, n_read)
    else:
        shown = [clean(project.ids[query.row])]
        if place is not None:
            shown = block(project.items, place, width - 6, n_read, as_one_line=True)
        if n_read == MOST_LINES:
            n_read = max(LEAST_LINES, min(n_read, size.lines // 3))
        yield from (f"     {line}".rstrip() for line in _beginning(shown, n_read))
        room = size.lines - OTHER_LINES - min(len(shown), n_read)
        most_rows = 1 if is_drawn else max(1, room // max(1, len(large)))
    for key, place in large.items():
        rows = query.groups[place]
        name = clean(in_short(project.session, rows[0])[1] if rows else query.name(place) or "")
        lines = [name] if name else []
        lines += [_line(project, row, width - 6) for row in rows[:most_rows]]
        for k, line in enumerate(lines):
            yield f"  {key.upper() if k == 0 else '':<2} {fit(line, width - 6)}"
    small = [f"{k.upper()} {_called(project, query, p)}" for k, p in keys.items() if k not in large]
    if small:
        yield in_lines(small, width, gap="   ", indent="  ")
    yield "  0  none of these"


def _titled(project: Project, row: int) -> str:
    """Return the group of a row by its key and its name, or what the row is called."""
    number, name, _ = in_short(project.session, row)
    at = project.where[row]
    title = project.ids[row] if at is None else project.items.title(at)
    return f"{shown_key(number)} {fit(clean(name or title), LONGEST_CALLED)}"


def _called(project: Project, query: Question, place: int) -> str:
    """Return a group in a few words: its name, or what its first item is called."""
    if not query.groups[place]:
        return fit(clean(query.name(place) or ""), LONGEST_CALLED)
    row = query.groups[place][0]
    at = project.where[row]
    title = project.ids[row] if at is None else project.items.title(at)
    return fit(clean(in_short(project.session, row)[1] or title), LONGEST_CALLED)


def _field_lines(
    fields: Sequence[Mapping[str, Any]], keys: Mapping[str, int], width: int, most: int
) -> Iterator[str]:
    """Return a table: fields down, the item and the groups across, the most telling first."""
    shown = fields[:most]
    own = ["it", *(clean(field["value"] or "missing") for field in shown)]
    name_width = min(max(12, width // 5), max(cells(clean(field["name"])) for field in shown))
    own_width = min(max(7, width // 8), max(map(cells, own)))
    column = max(6, (width - name_width - own_width - 4) // len(keys) - 2)
    head = "  ".join(cell(key.upper(), column) for key in keys)
    yield f"  {' ' * name_width}  {cell('it', own_width)}  {head}".rstrip()
    for field, value in zip(shown, own[1:], strict=True):
        groups = (field["groups"][place] for place in keys.values())
        line = "  ".join(cell(_in_a_cell(entry, field["at"], column), column) for entry in groups)
        yield f"  {cell(field['name'], name_width)}  {cell(value, own_width)}  {line}".rstrip()
    if len(fields) > most:
        yield f"  … {plural(len(fields) - most, 'more field')}{MORE_BELOW}"
    if any(
        _has_strip(field["groups"][place], column) for field in shown for place in keys.values()
    ):
        yield "  ─── spread of a group   ┼ its middle   ◆ it"


def _has_strip(entry: Mapping[str, Any], width: int) -> bool:
    """Return whether a number has room for a strip beside it."""
    return entry.get("low") is not None and width - NUMBER_WIDTH - 1 >= LEAST_STRIP


def _in_a_cell(entry: Mapping[str, Any], at: float | None, width: int) -> str:
    """Return what a field is in a group: its spread and middle, or its most frequent values."""
    if "shares" in entry:
        return ", ".join(f"{value} {share:.0%}" for value, share in entry["shares"]) or "missing"
    text = entry.get("text") or " · ".join(entry.get("texts", ())) or "missing"
    if not _has_strip(entry, width):
        return text
    room = width - NUMBER_WIDTH - 1
    return f"{strip(entry['low'], entry['middle'], entry['high'], at, room)} {text}"


def _line(project: Project, row: int, width: int) -> str:
    place = project.where[row]
    if place is None:
        return fit(clean(project.ids[row]), width)
    return one_line(project.items, place, width)


MORE_BELOW = ": [m]"


def _beginning(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines, and how many more there are."""
    n_more = len(lines) - most
    if n_more <= 1:  # in place of the line that says so
        return list(lines)
    return [*lines[:most], f"… {n_more} more lines{MORE_BELOW}"]


def _pair_lines(
    project: Project, query: Question, size: os.terminal_size, n_read: int
) -> Iterator[str]:
    """Return the lines that show two rows."""
    left, right = project.where[query.left], project.where[query.right]
    if left is None or right is None:
        for row, place in ((query.left, left), (query.right, right)):
            yield f"  {clean(project.ids[row])}{'' if place is not None else ' (gone)'}"
    else:
        most = max(n_read, size.lines - OTHER_LINES + n_read - MOST_LINES)
        shown = list(both(project.items, left, right, size.columns, most))
        yield from (line if line[:1] == " " else f"  {line}" for line in _beginning(shown, most))


def _show_groups(project: Project) -> None:
    groups = project.groups()
    width = shutil.get_terminal_size((80, 24)).columns
    for group in groups[:MOST_GROUPS]:
        about = clean(" · ".join(filter(None, (group.name, sum_up(project, group)))))
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
