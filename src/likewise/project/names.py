"""A column of names, cleaned: which name stands for which."""

from __future__ import annotations

from likewise.project.formats import Columns, Format, as_csv
from likewise.project.groups import group_ids
from likewise.project.project import Project


def new_names(project: Project) -> Columns:
    """Return the old and the new name of every item, how often the old one is there, and how known.

    The new name is that of the group or, if it has none, its first and so most frequent name.
    """
    with project.lock:
        ids, how = group_ids(project.session), project.known()[0]
        named = {group.id: group.name for group in project.groups()}
        counts = project.items.columns().get("count")
        first: dict[int, str] = {}
        columns: Columns = {"old": [], "new": [], "count": [], "how": []}
        for old, row, place in project.listed():
            group = int(ids[row])
            new = named[group] or first.setdefault(group, old)
            count = 1 if counts is None or place is None else counts[place]
            for column, value in zip(columns.values(), (old, new, count, how[row]), strict=True):
                column.append(str(value) if column is columns["how"] else value)
        return columns


NAMES = Format(
    "Old and new names (CSV)",
    "text/csv; charset=utf-8",
    "names.csv",
    lambda project: as_csv(new_names(project)),
)
