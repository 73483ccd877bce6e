"""Groups that the items have already: a column of their table, a file, or their folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePath

from likewise.errors import InputError
from likewise.items import Items
from likewise.items.tables import as_text
from likewise.learning.given import is_no_group
from likewise.project.known import read_groups
from likewise.rows.sample import SAMPLE_ROWS
from likewise.words import plural

FOLDERS = "folders"
"""The word for: an item belongs to the group of its folder."""


def items_without(items: Items, groups: str | None) -> Items:
    """Return items that are not compared by the column that has their groups, if it is one."""
    is_column = groups is not None and groups in items.columns()
    return items.leaving_out(groups) if groups is not None and is_column else items


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
    elif Path(groups).is_file():
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
