"""Read known links from tables of pairs, or of items and their groups."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from likewise.core.answers import Answer, Link, as_answer
from likewise.core.candidates import Candidates
from likewise.core.links import LinkGraph
from likewise.errors import AnswerError, InputError
from likewise.items.tablefiles import CSV_SUFFIXES, read_table
from likewise.items.tables import Table
from likewise.project.groups import group_ids
from likewise.project.project import Project
from likewise.words import plural

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
    reader = table_reader(path, ids)
    if {"left", "right", "answer"} <= set(reader.table.columns):
        return KnownItems(tuple(reader.pairs()), {})
    if reader.has_groups:
        return reader.groups()
    if {"old", "new"} <= set(reader.table.columns):
        return replace(reader, table=_renamed(reader.table, reader.place)).groups(candidates)
    raise InputError(
        f"{path} has the columns {', '.join(reader.table.columns)}. What is known needs id and "
        "group, old and new, or left, right and answer."
    )


def table_reader(
    path: str | os.PathLike[str], ids: Sequence[str] | Mapping[str, int]
) -> TableReader:
    """Return the table in a file, with the row of every id."""
    file = Path(path)
    is_csv = file.suffix.lower() in CSV_SUFFIXES
    table = read_table(file, header=True) if is_csv else read_table(file)
    row = ids if isinstance(ids, Mapping) else {name: k for k, name in enumerate(ids)}
    return TableReader(table, row, 2 if is_csv else 1)


def _renamed(table: Table, place: Mapping[str, int]) -> Table:
    """Return a table of old and new names as one of id and group, "" for names not in `place`."""
    # A CSV file has an apostrophe before names that a spreadsheet would take for formulas.
    old = [name if name in place else name.removeprefix("'") for name in table.texts("old")]
    renamed = zip(old, table.texts("new"), strict=True)
    new = [group if name in place else "" for name, group in renamed]
    how = table.texts("how") if "how" in table.columns else ["said"] * table.n
    return Table(table.path, {"id": old, "group": new, "how": how}, table.n)


def add_known(project: Project, path: str | os.PathLike[str]) -> int:
    """Add the links of a file to a project, as one gesture; return how many were new.

    Groups get the names that the file has for them. Links that follow from earlier answers are
    skipped, so that the same file can be read again.
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
                    f"they are {implied.value}. Change one of them; nothing was imported."
                )
        new = [link for link, known_so in zip(known.links, before, strict=True) if known_so is None]
        if new:
            project.add_links(new, position=project.position)
            if known.names:
                ids = group_ids(session)
                names = {int(ids[row]): name for row, name in known.names.items()}
                project.name_all(names, position=project.position)
        return len(new)


@dataclass(frozen=True)
class TableReader:
    """A table of pairs or of items and groups: `place` has the row of every id.

    `first_line` is the line of the table's first row, for messages.
    """

    table: Table
    place: Mapping[str, int]
    first_line: int

    def row(self, name: str, line: int) -> int:
        """Return the row of an id; an unknown id is refused with its line."""
        if name not in self.place:
            raise InputError(
                f"{self.table.path}, line {line}: there is no item {name!r}. Items are called "
                f"{', '.join(map(repr, list(self.place)[:3]))}, ..."
            )
        return self.place[name]

    def pairs(self) -> Iterator[Link]:
        """Return the links of a table of left, right and answer, without those that follow."""
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
        """Whether the table has a column of groups and one of ids."""
        return "group" in self.table.columns and len(self.table.columns) > 1

    def assigned(self, *, is_said: bool) -> tuple[dict[int, str], dict[str, str]]:
        """Return the group of every row, or only of rows that were said, and the groups' names."""
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
        """Return the links and names of a table of items and groups."""
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
        different = [Link(a, b, Answer.DIFFERENT) for a, b in differing]
        return KnownItems(
            (*same, *different), {heads[g]: name for g, name in titles.items() if name}
        )

    def refuse(self, clashes: Sequence[str]) -> None:
        """Refuse a table that contradicts itself, and name the first contradictions."""
        if clashes:
            more = len(clashes) - MOST_NAMED
            also = [f"and {plural(more, 'further contradiction')}"] if more > 0 else []
            shown = "; ".join([*clashes[:MOST_NAMED], *also])
            raise InputError(
                f"{self.table.path} contradicts itself: {shown}. Nothing was imported."
            )
