"""What there is before the first question: what is known, and groups to be mended."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path, PurePath

from likewise.core.answers import Answer, Link, as_answer
from likewise.core.candidates import Candidates
from likewise.core.links import LinkGraph
from likewise.errors import AnswerError, InputError
from likewise.items import Items
from likewise.items.fields import as_text
from likewise.items.tablefiles import CSV_SUFFIXES, read_table
from likewise.items.tables import Table
from likewise.learning.given import is_no_group
from likewise.project.groups import group_ids
from likewise.project.project import Project
from likewise.rows.sample import SAMPLE_ROWS
from likewise.words import plural

FOLDERS = "folders"
"""The word for: an item belongs to the group of its folder."""
MOST_NAMED = 5
"""How many contradictions a message names."""


@dataclass(frozen=True, slots=True)
class KnownItems:
    """What a file says about some items: the links, and the name of groups by a row of each."""

    links: tuple[Link, ...]
    names: dict[int, str]


def read_known(
    path: str | os.PathLike[str],
    ids: Sequence[str] | Mapping[str, int],
    candidates: Candidates | None = None,
) -> KnownItems:
    r"""Read what is known about items from a table.

    A table with the columns ``left``, ``right`` and ``answer`` (*same* or *different*) has pairs.
    One with the column ``group`` has items, by the column ``id`` or else the first one: those with
    the same value belong together, those with other values do not, and nothing is known about
    those without a value. In a file of `likewise export` only what was *said* counts. A table with
    the columns ``old`` and ``new`` has names of an earlier file: those that are not in this one are
    left out, and those with other new names are different where they are candidates.

    Parameters
    ----------
    path : path
        A CSV, JSON lines or Parquet file.
    ids : sequence of str, or mapping of str to int
        The ids of the items, ``"0"``, ``"1"``, ... where there is no column of ids; or the row of
        every id.
    candidates : Candidates, optional
        The pairs of names that may be asked about.

    Raises
    ------
    InputError
        With the lines, where the file contradicts itself or names items that are not there.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "known.csv"
    >>> _ = file.write_text("id,group\na,cat\nb,cat\nc,dog\n")
    >>> known = read_known(file, ["a", "b", "c", "d"])
    >>> [(link.left, link.right, link.answer.value) for link in known.links]
    [(0, 1, 'same'), (0, 2, 'different')]
    >>> known.names
    {0: 'cat', 2: 'dog'}
    """
    reader = _reader(path, ids)
    if {"left", "right", "answer"} <= set(reader.table.columns):
        return KnownItems(tuple(reader.pairs()), {})
    if reader.has_groups:
        return reader.groups()
    if {"old", "new"} <= set(reader.table.columns):
        return replace(reader, table=_here(reader.table, reader.place)).groups(candidates)
    raise InputError(
        f"{path} has the columns {', '.join(reader.table.columns)}. What is known needs id and "
        "group, old and new, or left, right and answer."
    )


def _reader(path: str | os.PathLike[str], ids: Sequence[str] | Mapping[str, int]) -> _Reader:
    file = Path(path)
    is_csv = file.suffix.lower() in CSV_SUFFIXES
    table = read_table(file, header=True) if is_csv else read_table(file)
    row = ids if isinstance(ids, Mapping) else {name: k for k, name in enumerate(ids)}
    return _Reader(table, row, 2 if is_csv else 1)


def _here(table: Table, place: Mapping[str, int]) -> Table:
    """Return a table of old and new names as one of id and group, "" for names not in `place`."""
    # A CSV file has an apostrophe before names that a spreadsheet would take for formulas.
    old = [name if name in place else name.removeprefix("'") for name in table.texts("old")]
    renamed = zip(old, table.texts("new"), strict=True)
    new = [group if name in place else "" for name, group in renamed]
    how = table.texts("how") if "how" in table.columns else ["said"] * table.n
    return Table(table.path, {"id": old, "group": new, "how": how}, table.n)


def give_known(project: Project, path: str | os.PathLike[str]) -> int:
    """Add what a file says to a project, as one gesture; return how many links were new.

    Groups get the names that the file has for them. What the project knows already is skipped, so
    that the same file can be given again.
    """
    rows = {name: row for name, row, _ in project.listed()}
    known = read_known(path, rows, project.session.strategy.candidates)
    with project.lock:
        project.refresh()
        session = project.session
        before = [session.links.implied(*link.pair) for link in known.links]
        for link, implied in zip(known.links, before, strict=True):
            if implied not in (None, link.answer):
                left, right = (project.ids[row] for row in link.pair)
                raise InputError(
                    f"by {path} {left} and {right} are {link.answer.value}, by the answers so far "
                    f"they are {implied.value}. Change the one or the other; nothing was taken."
                )
        new = [link for link, known_so in zip(known.links, before, strict=True) if known_so is None]
        if new:
            project.give(new, position=project.position)
            if known.names:
                ids = group_ids(session)
                names = {int(ids[row]): name for row, name in known.names.items()}
                project.name_all(names, position=project.position)
        return len(new)


def items_without(items: Items, groups: str | None) -> Items:
    """Return items that are not compared by the column that has their groups, if it is one."""
    if groups is not None and not isinstance(groups, str):
        raise InputError(f"groups are named by a text, such as a column, got {groups!r}")
    if groups is None or groups not in items.columns():
        return items
    return items.leaving_out(groups)


def labels_of(items: Items, groups: str, say: Callable[[str], None]) -> list[str]:
    """Return the group that every item has already, "" for none; say how many there are."""
    if items.n > SAMPLE_ROWS:
        raise InputError(
            f"--groups is for up to {SAMPLE_ROWS} items, and {items.source} has {items.n}. In "
            "Python, Likewise().fit(X, oracle=..., groups=...) asks about a sample of more."
        )
    columns = items.columns()
    if groups in columns:
        labels = [as_text(value) for value in columns[groups]]
    elif groups == FOLDERS:
        folders = [PurePath(name).parent.as_posix() for name in items.ids]
        labels = ["" if folder == "." else folder for folder in folders]
    elif Path(groups).exists():
        labels = read_groups(groups, items.ids)
    else:
        named = f"; its columns are {', '.join(columns)}" if columns else ""
        raise InputError(
            f"--groups {groups}: {items.source} has no such column, and there is no such file"
            f"{named}. Give a column, a table of id and group, or the word {FOLDERS}."
        )
    labels = ["" if is_no_group(label) else label.strip() for label in labels]
    if not any(labels):
        raise InputError(f"--groups {groups}: no {items.noun} of {items.source} has a group there")
    n_groups, n_open = len({*labels} - {""}), labels.count("")
    also = f", and {plural(n_open, items.noun)} in none" if n_open else ""
    say(f"starts from {plural(n_groups, 'group')} by {groups}{also}")
    return labels


def read_groups(path: str | os.PathLike[str], ids: Sequence[str]) -> list[str]:
    """Return the group that a table of id and group has for every item, "" where it has none.

    Groups are called by the column ``name`` where there is one and no two share a name.
    """
    reader = _reader(path, ids)
    if not reader.has_groups:
        raise InputError(
            f"{path} has the columns {', '.join(reader.table.columns)}. Groups need id and group."
        )
    group_of, titles = reader.assigned(is_said=False)
    counts = Counter(titles.values())
    called = {group: name if counts[name] == 1 else group for group, name in titles.items()}
    return [called[group_of[row]] if row in group_of else "" for row in range(len(ids))]


@dataclass(frozen=True)
class _Reader:
    """A table, the row of every id, and the line of the table's first row."""

    table: Table
    place: Mapping[str, int]
    first_line: int

    def row(self, name: str, line: int) -> int:
        if name not in self.place:
            raise InputError(
                f"{self.table.path}, line {line}: there is no item {name!r}. Items are called "
                f"{', '.join(map(repr, list(self.place)[:3]))}, ..."
            )
        return self.place[name]

    def pairs(self) -> Iterator[Link]:
        graph = LinkGraph(len(self.place))
        lines: dict[frozenset[int], int] = {}
        clashes = []
        columns = (self.table.texts(name) for name in ("left", "right", "answer"))
        for line, (a, b, word) in enumerate(zip(*columns, strict=True), self.first_line):
            left, right = self.row(a, line), self.row(b, line)
            try:
                answer = as_answer(word.lower())
            except AnswerError as error:
                raise InputError(f"{self.table.path}, line {line}: {error}") from error
            if left == right or not answer.is_link:
                continue
            before = graph.implied(left, right)
            if before is None:
                graph.add(left, right, answer)
                lines[frozenset((left, right))] = line
            elif before is not answer:
                chain = graph.explain(left, right)
                sources = sorted({lines[frozenset(link.pair)] for link in chain})
                noun = "line" if len(sources) == 1 else "lines"
                clashes.append(
                    f"line {line} says that {a} and {b} are {answer.value}, but by "
                    f"{noun} {', '.join(map(str, sources))} they are {before.value}"
                )
        self.refuse(clashes)
        yield from graph

    @property
    def has_groups(self) -> bool:
        return "group" in self.table.columns and len(self.table.columns) > 1

    def assigned(self, *, is_said: bool) -> tuple[dict[int, str], dict[str, str]]:
        """Return the group of every row, only if it was said or all, and the names of groups."""
        columns = self.table.columns
        id = "id" if "id" in columns else next(name for name in columns if name != "group")
        names = self.table.texts(id)
        # The groups in a file of `likewise export` are keys, not names.
        is_ours = {"name", "how"} <= columns.keys()
        has_how = is_said and "how" in columns
        how = self.table.texts("how") if has_how else ["said"] * self.table.n
        called = self.table.texts("name") if "name" in columns else [""] * self.table.n
        at: dict[int, tuple[str, int]] = {}
        titles: dict[str, str] = {}
        clashes = []
        for k, group in enumerate(self.table.texts("group")):
            line = k + self.first_line
            if not group or how[k] != "said":
                continue
            row = self.row(names[k], line)
            first, where = at.setdefault(row, (group, line))
            titles.setdefault(group, called[k] or ("" if group.isdecimal() or is_ours else group))
            if first != group:
                clashes.append(
                    f"line {line} puts {names[k]} into group {group!r}, line {where} into {first!r}"
                )
        self.refuse(clashes)
        return {row: group for row, (group, _) in at.items()}, titles

    def groups(self, candidates: Candidates | None = None) -> KnownItems:
        group_of, titles = self.assigned(is_said=True)
        members: dict[str, list[int]] = {}
        for row, group in group_of.items():
            members.setdefault(group, []).append(row)
        heads = {group: rows[0] for group, rows in members.items()}
        same = [Link(rows[0], r, Answer.SAME) for rows in members.values() for r in rows[1:]]
        differing: Iterable[tuple[int, int]] = combinations(heads.values(), 2)
        if candidates is not None:
            listed = zip(candidates.left.tolist(), candidates.right.tolist(), strict=True)
            both = (pair for pair in listed if group_of.keys() >= {*pair})
            differing = ((a, b) for a, b in both if group_of[a] != group_of[b])
        apart = [Link(a, b, Answer.DIFFERENT) for a, b in differing]
        return KnownItems((*same, *apart), {heads[g]: name for g, name in titles.items() if name})

    def refuse(self, clashes: Sequence[str]) -> None:
        if clashes:
            more = len(clashes) - MOST_NAMED
            also = [f"and {plural(more, 'further contradiction')}"] if more > 0 else []
            shown = "; ".join([*clashes[:MOST_NAMED], *also])
            raise InputError(f"{self.table.path} contradicts itself: {shown}. Nothing was taken.")
