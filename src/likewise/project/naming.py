"""Names that may be one: candidates on one screen, merged or kept apart several at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from likewise.core.answers import Answer, Link
from likewise.core.candidates import Candidates
from likewise.errors import InputError
from likewise.project.project import Project


@dataclass(frozen=True, slots=True)
class Alike:
    """Names that may be one.

    Attributes
    ----------
    parts : tuple of tuple of int
        The rows of each current group, the most frequent name first.
    likeness : float
        How alike the closest two of different parts are, from 0 to 1.
    """

    parts: tuple[tuple[int, ...], ...]
    likeness: float


def alike_names_of(project: Project, least: float) -> list[Alike]:
    """Return the groups of names that may be one, those with the most alike names first.

    Around each name, the most frequent first, are those that are at least as alike as `least`,
    that nobody kept apart from it, and that are not around a more frequent name.
    """
    X = project.features.X
    if project.items.kind != "names" or not isinstance(X, Candidates):
        raise InputError("only the names of a column are listed with those that they are like")
    labels = project.session.labels
    order = np.argsort(labels, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    gone = project.session.removed
    rows_of = [[int(row) for row in part if int(row) not in gone] for part in members]
    taken: set[int] = set()
    found = []
    for row in range(len(labels)):
        own = int(labels[row])
        if own in taken or not rows_of[own]:
            continue
        likeness = _around(project, X, rows_of, own, least)
        others = [label for label in likeness if label not in taken]
        taken |= {own, *others} if others else set()
        if others:
            parts = tuple(tuple(sorted(rows_of[label])) for label in (own, *others))
            found.append(Alike(parts, max(likeness[label] for label in others)))
    return sorted(found, key=lambda one: (-one.likeness, one.parts))


def _around(
    project: Project, X: Candidates, rows_of: Sequence[Sequence[int]], own: int, least: float
) -> dict[int, float]:
    """Return the labels of groups with a name like one of a group, the most alike first."""
    implied, labels = project.session.links.implied, project.session.labels
    found: dict[int, float] = {}
    for row in rows_of[own]:
        for other in X.neighbors(row).tolist():
            label, likeness = int(labels[other]), 1.0 - float(X[row, other])
            if label == own or likeness < least or not rows_of[label]:
                continue
            if implied(row, other) is not Answer.DIFFERENT:
                found[label] = max(likeness, found.get(label, 0.0))
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def settle_names(
    project: Project, rows: Sequence[int], *, are_one: bool, name: str, position: int
) -> None:
    """Merge names, or keep each apart from the others; a new name for them is undone separately.

    Parameters
    ----------
    project : Project
        The project.
    rows : sequence of int
        One name or more of each group.
    are_one : bool
        Whether they are one.
    name : str
        What the merged names are called, if not as the most frequent of them.
    position : int
        The position of the log that the person saw.
    """
    if len(rows) < 2:
        raise InputError("two names or more can be merged or kept apart")
    pairs: Any = ((rows[0], row) for row in rows[1:]) if are_one else combinations(rows, 2)
    answer = Answer.SAME if are_one else Answer.DIFFERENT
    links = [Link(left, right, answer) for left, right in pairs]
    project.mend(lambda _: links, position=position)
    if are_one and name.strip():
        label = project.session.labels[rows[0]]
        group = next(group for group in project.groups() if group.label == label)
        if name.strip() not in (group.name, project.ids[int(project.members(group).min())]):
            project.name(group.id, name.strip(), position=project.position)
