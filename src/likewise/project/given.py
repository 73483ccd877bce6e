"""Given groups, made by another tool or by hand: a belief that answers correct."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath

from likewise.errors import InputError
from likewise.items import Items
from likewise.items.fields import as_text
from likewise.learning.given import is_no_group
from likewise.project.known import table_reader
from likewise.rows.sample import SAMPLE_ROWS
from likewise.words import escaped, plural

FOLDERS = "folders"
"""The word for: an item belongs to the group of its folder."""


def items_without(items: Items, groups: str | None) -> Items:
    """Return items that are compared without the column that has their groups."""
    if groups is not None and not isinstance(groups, str):
        raise InputError(f"groups are named by a text, such as a column, got {groups!r}")
    if groups is None or groups not in items.columns():
        return items
    return items.leaving_out(groups)


def labels_of(items: Items, groups: str, say: Callable[[str], None]) -> list[str]:
    """Return the label of the given group of every item, "" for none; say how many there are."""
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
    labels = ["" if is_no_group(label) else escaped(label.strip()) for label in labels]
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
    reader = table_reader(path, ids)
    if not reader.has_groups:
        raise InputError(
            f"{path} has the columns {', '.join(reader.table.columns)}. Groups need id and group."
        )
    group_of, titles = reader.assigned(is_said=False)
    counts = Counter(titles.values())
    called = {group: name if counts[name] == 1 else group for group, name in titles.items()}
    return [called[group_of[row]] if row in group_of else "" for row in range(len(ids))]
