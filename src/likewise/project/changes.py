"""How answers changed given groups: as a table, as JSON, or as a page to read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import count
from typing import Any

from likewise.core.session import Session
from likewise.errors import InputError
from likewise.project.formats import CSV, Format, as_csv, columns_of
from likewise.project.groups import group_ids, titles_of
from likewise.project.lives import lives_of
from likewise.project.project import Project
from likewise.words import plural

NOTHING = (
    "this session did not begin from given groups, so nothing can have changed in them. One that "
    "does is begun by likewise label PATH --groups ..., or by groups= in Python."
)


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One item: its group before, and the key of its group after.

    `change` is *stayed*, *moved* or *placed* (it had no group). `how` is that of other exports, or
    *given* where no answer is about its group yet.
    """

    id: str
    before: str
    after: str
    name: str
    change: str
    how: str
    certainty: float | None


@dataclass(frozen=True, slots=True)
class GroupChange:
    """What became of a given group, or where a new group came from.

    `change` is *kept*, *renamed*, *merged* (with others in one group), *split* (a part of it is a
    group of its own), *split off* or *new*. Of `n_before` items `n_stayed` are in the group
    `after`, the one with its larger part, which has `n_after` items.
    """

    before: str
    change: str
    after: str
    name: str
    n_before: int
    n_stayed: int
    n_after: int
    merged_with: tuple[str, ...]
    split_into: tuple[str, ...]
    split_from: str


def changes_of(project: Project) -> tuple[list[ItemChange], list[GroupChange]]:
    """Return what changed since the groups were given, item by item and group by group."""
    with project.lock:
        session = project.session
        given = session.strategy.given_groups()
        if given is None:
            raise InputError(NOTHING)
        numbers, titles = given
        called, carried = titles_of(session), lives_of(session).carried
        carrier = {k: called[label] for label, held in carried.items() for k in held}
        columns = columns_of(project)
        before = [int(numbers[row]) for _, row, _ in project.listed()]
    items = []
    named = (columns[key] for key in ("id", "group", "name", "how", "certainty"))
    for had, id, after, name, how, certainty in zip(before, *named, strict=True):
        if had < 0:
            items.append(ItemChange(id, "", after, name, "placed", how, certainty))
        else:
            change = "stayed" if carrier[had] == after else "moved"
            by = "given" if how == "open" else how
            items.append(ItemChange(id, titles[had], after, name, change, by, certainty))
    return items, _groups(items, carrier, titles)


def mended_labels(session: Session) -> list[Any]:
    """Return the group of every row in the labels of the tool that made the given groups.

    A group has the label of the given group whose larger part it carries; of several that were
    merged, the largest. New groups get the next whole numbers, or ``"new 1"``,
    ``"new 2"`` ... where labels are texts.

    Parameters
    ----------
    session : Session
        One that began from groups.

    Returns
    -------
    list of int or of str
        Whole numbers if all given labels were.

    Examples
    --------
    >>> from likewise import Likewise
    >>> session = Likewise(random_state=0).start([[0.0], [0.1], [5.0], [5.1]], groups=[3, 3, 7, -1])
    >>> mended_labels(session)
    [3, 3, 7, 7]
    """
    given = session.strategy.given_groups()
    if given is None:
        raise InputError(NOTHING)
    titles = given[1]
    ids = group_ids(session).tolist()
    is_whole = all(title.isdecimal() for title in titles)
    called: dict[int, Any] = {k: int(t) if is_whole else t for k, t in enumerate(titles)}
    # Labels may come from an earlier call, so they may have new ones already.
    numbers = count(1 + max(called.values(), default=-1) if is_whole else 1)
    unused = (n if is_whole else f"new {n}" for n in numbers if f"new {n}" not in titles)
    called |= dict(zip(sorted({*ids} - called.keys()), unused, strict=False))
    return [called[id] for id in ids]


def _groups(
    items: Sequence[ItemChange],
    carrier: dict[int, str],
    titles: Sequence[str],
) -> list[GroupChange]:
    """Return what became of given groups, in their order, then groups that none of them became."""
    shared = Counter((item.before, item.after) for item in items)
    n_before = Counter(item.before for item in items)
    n_after = Counter(item.after for item in items)
    name = {item.after: item.name for item in items}
    carried: dict[str, list[str]] = {}
    # A group whose items all left is no longer a group.
    carrier = {number: after for number, after in carrier.items() if after in n_after}
    for number, after in carrier.items():
        carried.setdefault(after, []).append(titles[number])
    others = sorted((after for after in n_after if after not in carried), key=lambda k: -n_after[k])
    source = {
        after: max((n, before) for (before, to), n in shared.items() if to == after)[1]
        for after in others
    }
    changes = []
    for number, after in sorted(carrier.items()):
        before = titles[number]
        merged = tuple(sorted({*carried[after]} - {before}))
        parts = tuple(part for part in others if source[part] == before)
        is_named = name[after] == ("" if before.isdecimal() else before)
        change = "kept" if is_named else "renamed"
        change = "merged" if merged else "split" if parts else change
        sizes = (n_before[before], shared[before, after], n_after[after])
        changes.append(GroupChange(before, change, after, name[after], *sizes, merged, parts, ""))
    for after in others:
        change = "split off" if source[after] else "new"
        sizes = (0, 0, n_after[after])
        whole = source[after]
        changes.append(GroupChange("", change, after, name[after], *sizes, (), (), whole))
    return changes


def to_csv(changes: Sequence[ItemChange] | Sequence[GroupChange]) -> bytes:
    """Return changes as CSV, one row each."""
    rows = [asdict(change) for change in changes]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return as_csv({name: list(map(_cell, values)) for name, values in columns.items()})


def _cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else value


def to_json(project: Project) -> bytes:
    """Return counts, groups and items as one JSON object."""
    items, groups = (list(map(asdict, changes)) for changes in changes_of(project))
    counts = {
        "items": Counter(item["change"] for item in items),
        "groups": Counter(group["change"] for group in groups),
    }
    plain = {"counts": counts, "items": items, "groups": groups}
    return json.dumps(plain, ensure_ascii=False, indent=1).encode("utf-8", "replace")


STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8884; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
"""


def to_html(project: Project) -> bytes:
    """Return a page to read: counts, every group, and the items that moved or were placed."""
    items, groups = changes_of(project)
    n_items = Counter(item.change for item in items)
    n_groups = Counter(group.change for group in groups)
    summary = (
        f"{plural(len(project.session.events), 'answer')}: of {plural(len(items), 'item')} "
        f"{n_items['stayed']} stayed, {n_items['moved']} moved, and {n_items['placed']} had no "
        f"group and got one. Groups: {', '.join(f'{n} {word}' for word, n in n_groups.items())}."
    )
    became = [(g.before or "-", _became(g), g.n_before, g.n_stayed, g.n_after) for g in groups]
    moved = [
        (item.id, item.before or "-", _called(item.after, item.name), item.how, item.certainty)
        for item in items
        if item.change != "stayed"
    ]
    title = f"What changed in {escape(project.items.source.name)}"
    page = (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style>\n<h1>{title}</h1>\n<p>{summary}</p>\n<h2>Groups</h2>\n"
        + _rows(("before", "what became of it", "items before", "stayed", "items now"), became)
        + "<h2>Items that changed groups</h2>\n"
        + (_rows(("item", "before", "now", "how", "certainty"), moved) if moved else "<p>None.</p>")
        + "</html>\n"
    )
    return page.encode("utf-8", "replace")


def _called(key: str, name: str) -> str:
    return f"{name} ({key})" if name else f"group {key}"


def _became(group: GroupChange) -> str:
    """Return what became of a group, in words."""
    called, words = _called(group.after, group.name), group.change
    if not group.before:
        came = f" from {group.split_from}" if group.split_from else ""
        return f"{called}: {words}{came}"
    if words in ("merged", "renamed"):
        words += f" into {called}"
    if group.merged_with:
        words += f" with {', '.join(group.merged_with)}"
    if group.split_into:
        words += f"; groups of their own: {', '.join(map(str, group.split_into))}"
    return words


def _rows(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    cells = "".join(f'<th scope="col">{escape(word)}</th>' for word in head)
    lines = [f"<table><thead><tr>{cells}</tr></thead><tbody>\n"]
    for row in rows:
        tags = ('<td class="n">' if isinstance(cell, int | float) else "<td>" for cell in row)
        texts = ("" if cell is None else escape(str(cell)) for cell in row)
        line = "".join(f"{tag}{text}</td>" for tag, text in zip(tags, texts, strict=True))
        lines.append(f"<tr>{line}</tr>\n")
    return "".join(lines) + "</tbody></table>\n"


def _format(
    title: str, media_type: str, file_name: str, write: Callable[[Project], bytes]
) -> Format:
    return Format(f"What changed{title}", media_type, file_name, write, needs_before=True)


ITEMS = _format(", by item (CSV)", CSV, "changes.csv", lambda p: to_csv(changes_of(p)[0]))
GROUPS = _format(", by group (CSV)", CSV, "changed-groups.csv", lambda p: to_csv(changes_of(p)[1]))
JSON = _format(" (JSON)", "application/json", "changes.json", to_json)
PAGE = _format(", to read", "text/html; charset=utf-8", "changes.html", to_html)
