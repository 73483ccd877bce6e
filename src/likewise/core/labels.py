"""Labels that respect the answers, and the names of groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.core.answered import Answers
from likewise.core.answers import Answer, Groups, Names
from likewise.core.journal import Entry, Named
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances

Given = tuple[NDArray[np.intp], Sequence[str]]
"""The number of the group that each row was given, -1 for none, and the labels of these groups."""


def answered_groups(partition: SuperInstances, links: LinkGraph) -> NDArray[np.intp]:
    """Return, for every super-instance, a row that names its group by the answers alone."""
    names = partition.representatives.copy()
    for row in (row for link in links for row in link.pair):
        part = partition.assignment[row]
        if partition.representatives[part] == row:
            names[part] = links.find(row)
    return names


def labels_of_rows(
    partition: SuperInstances, names: NDArray[np.intp], links: LinkGraph
) -> NDArray[np.intp]:
    """Return the group of every row, from 0; `names` has a name for that of each super-instance.

    Rows follow their representatives, unless answers are about them.
    """
    groups = np.unique(names, return_inverse=True)[1].astype(np.intp)
    labels = groups[partition.assignment]
    mentioned = {row for link in links for row in link.pair}
    rows = sorted(mentioned.difference(partition.representatives.tolist()))
    if rows:
        standing = partition.representatives.tolist()
        decided = {links.find(row): int(groups[k]) for k, row in enumerate(standing)}
        proba = np.eye(int(groups.max()) + 1)[labels[rows]]
        place = {row: k for k, row in enumerate(rows)}
        labels[rows] = respecting_groups(proba, links, decided, place)
    return labels


def respecting_groups(
    proba: NDArray[np.float64],
    links: LinkGraph,
    decided: Mapping[int, int],
    position: Mapping[int, int] | None = None,
) -> NDArray[np.intp]:
    """Return, for every row, the likeliest group that respects the answers, else a new group.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_groups)
        How likely each row belongs to each group. Some groups may stay empty.
    links : LinkGraph
        The answers.
    decided : mapping of int to int
        The groups of some components, by the rows that stand for them in `links`.
    position : mapping of int to int, optional
        The place in `proba` of every row that has one. By default all rows, by their numbers.
    """
    n_groups = proba.shape[1]
    labels: NDArray[np.intp] = np.argmax(proba, axis=1).astype(np.intp)
    members: dict[int, list[int]] = {}
    for row in {row: None for link in links for row in (link.left, link.right)}:
        place = row if position is None else position.get(row)
        if place is not None:
            members.setdefault(links.find(row), []).append(place)
    group_of = dict(decided)
    free = [root for root in members if root not in group_of]
    for root in sorted(free, key=lambda root: (-len(members[root]), root)):
        taken = {group_of[other] for other in links.differing(root) if other in group_of}
        means = proba[sorted(members[root])].mean(axis=0)
        allowed = [int(g) for g in np.argsort(-means, kind="stable") if int(g) not in taken]
        if not allowed:
            # A group that was opened for other rows may be allowed; a new one always is.
            allowed = [g for g in range(n_groups, n_groups + len(free) + 1) if g not in taken]
        group_of[root] = allowed[0]
    for root, rows in members.items():
        labels[rows] = group_of[root]
    return labels


# -- names -----------------------------------------------------------------------------------------


def names_in(log: Iterable[Entry], answers: Answers) -> dict[int, str]:
    """Return the names of rows: of those that begin a group that has one, then as they were named.

    Each name stands for the group of its row.
    """
    names = {gesture.left: gesture.name for gesture in answers.gestures if gesture.name}
    for entry in log:
        if isinstance(entry, Named):
            for row, name in entry.names:
                names.pop(row, None)
                if name:
                    names[row] = name
    return names


def unused(wanted: Sequence[str], names: dict[int, str], removed: Collection[int]) -> list[str]:
    """Return the names known beforehand that no group has whose row is there."""
    used = {name for row, name in names.items() if row not in removed}
    return [name for name in wanted if name not in used]


def names_of(groups: Groups, names: dict[int, str], given: Given | None, answers: Answers) -> Names:
    """Return the name of each group of a question that has rows, or None.

    That is what its rows were named, else the label by which it was given, unless that is a number.
    """
    find = answers.links.find
    named: dict[int, list[str]] = {}
    for row, name in names.items():
        if name not in named.setdefault(find(row), []):
            named[find(row)].append(name)
    if given is not None:
        numbers, labels = given
        taken_out = answers.taken_out(numbers)
        rows: dict[int, list[int]] = {find(group[0]): [] for group in groups if group}
        # Of two labels that are as frequent, that of the group that the other row was put into.
        for link in (link for gesture in answers.gestures for link in gesture.links):
            if link.answer is Answer.SAME and find(link.left) in rows:
                rows[find(link.left)] += [link.right, link.left]
        for group in filter(None, groups):
            inside = dict.fromkeys([*rows[find(group[0])], group[0]])
            kept = (row for row in inside if numbers[row] >= 0 and row not in taken_out)
            held = Counter(int(numbers[row]) for row in kept)
            if held and not labels[held.most_common(1)[0][0]].isdecimal():
                named.setdefault(find(group[0]), [labels[held.most_common(1)[0][0]]])
    return tuple(" / ".join(named.get(find(g[0]), ())) or None if g else None for g in groups)
