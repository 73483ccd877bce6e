"""The groups of a session as a person looks at them: size, typical members, a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.core.session import Session

DOUBTFUL = 0.8
"""Learned items with less certainty than this are called doubtful. Chosen by eye: with .7 fewer
items are called so, with .9 more; no group changes."""

T = TypeVar("T")


def _once(make: Callable[[Session], T]) -> Callable[[Session], T]:
    """Decorate a function of a session: it runs once for every state of the log."""

    @wraps(make)
    def found(session: Session) -> T:
        return session.once(make.__qualname__, lambda: make(session))

    return found


@dataclass(frozen=True, slots=True)
class Group:
    """One group.

    `standing` has one row for each small group in it: rows of large ones first, rows that cannot be
    shown last. The smallest of these rows is the `id`, which stays the same while the group grows.
    `n_said` items are in it by answers about themselves; about `n_open` items nothing is known; the
    others are learned (see `how_known`). `n_doubtful` is how many have a certainty below
    `DOUBTFUL`.
    """

    id: int
    size: int
    standing: tuple[int, ...]
    name: str
    n_said: int
    n_open: int
    n_doubtful: int


@_once
def groups_of(session: Session) -> list[Group]:
    """Return all groups: those that answers have joined first, then by size.

    If two groups that both have a name are joined, the new group has both names until somebody
    gives it another one.
    """
    strategy = session.strategy
    partition = strategy.partition
    labels = _labels(session)
    standing = _standing(session, labels)
    group = labels[standing]
    # Parts that were asked about come first, since more is known about them. Parts that cannot be
    # shown come last.
    asked = [row for gesture in session.events for row in gesture.rows]
    is_new, is_broken = ~np.isin(standing, asked), ~np.isin(standing, strategy.askable())
    part_sizes = partition.sizes()[partition.assignment[standing]]
    order = np.lexsort((standing, -part_sizes, is_new, is_broken, group))
    parts = np.split(standing[order], np.cumsum(np.bincount(group))[:-1])
    sizes, names = _sizes(session), _names(session)
    n_said, n_open, n_doubtful = _known_counts(session, labels)
    found = [
        Group(
            int(part.min()),
            int(sizes[k]),
            tuple(part.tolist()),
            names.get(k, ""),
            int(n_said[k]),
            int(n_open[k]),
            int(n_doubtful[k]),
        )
        for k, part in enumerate(parts)
    ]
    return sorted(found, key=lambda g: (-(len(g.standing) > 1), -g.size, g.id))


def name_and_size(session: Session, row: int) -> tuple[str, int]:
    """Return the name of the group of a row, and how many items it has.

    That is all that a question shows of a group; `groups_of` takes longer.
    """
    label = int(_labels(session)[row])
    return _names(session).get(label, ""), int(_sizes(session)[label])


def members_of(session: Session, group: Group) -> NDArray[np.intp]:
    """Return the rows of a group: those that stand for its parts first, then in their order."""
    labels = _labels(session)
    standing = np.array(group.standing, dtype=np.intp)
    inside = labels == labels[standing[0]]
    inside[standing] = False
    return np.concatenate([standing, np.flatnonzero(inside)])


@_once
def group_ids(session: Session) -> NDArray[np.intp]:
    """Return the id of the group of every row."""
    labels = _labels(session)
    standing = _standing(session, labels)
    smallest = np.full(int(labels.max()) + 1, len(labels), dtype=np.intp)
    np.minimum.at(smallest, labels[standing], standing)
    return smallest[labels]


@_once
def how_known(session: Session) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
    """Return, for every row, how its group is known and with which certainty.

    *said*: it follows from answers about the row itself. *learned*: it follows from answers about
    other rows, either by the learner or because its small group has a row that was asked about.
    *open*: neither. A row that was only said to differ from other groups, and that the learner put
    into this one, is learned, too. The certainty is 1 for what was said, the learner's probability
    for what was learned, and NaN otherwise.
    """
    strategy = session.strategy
    partition, doubts = strategy.partition, strategy.doubts()
    is_said = np.zeros(partition.n_rows, dtype=bool)
    is_said[said_rows(session)] = True
    if doubts is None:
        is_learned = is_said[partition.representatives][partition.assignment]
        certainty = np.full(partition.n_rows, np.nan)
    else:
        is_learned, certainty = doubts < 1, 1.0 - doubts
    certainty = np.where(is_said, 1.0, np.where(is_learned, certainty, np.nan))
    return np.where(is_said, "said", np.where(is_learned, "learned", "open")), certainty


@_once
def said_rows(session: Session) -> list[int]:
    """Return the rows whose group follows from answers about themselves.

    In every group, these are the largest set of rows that answers joined. The learner put the
    others there.
    """
    labels, links = _labels(session), session.links
    cores: dict[int, dict[int, list[int]]] = {}
    for row in dict.fromkeys(row for link in links for row in (link.left, link.right)):
        cores.setdefault(int(labels[row]), {}).setdefault(links.find(row), []).append(row)
    return [row for core in cores.values() for row in max(core.values(), key=len)]


@_once
def _labels(session: Session) -> NDArray[np.intp]:
    return session.labels


@_once
def _sizes(session: Session) -> NDArray[np.intp]:
    """Return, for every label, how many items have it."""
    labels, partition = _labels(session), session.strategy.partition
    n = int(labels.max()) + 1
    if partition.row_counts is None:
        return np.bincount(labels, minlength=n)
    of_parts = labels[partition.representatives]
    sizes = np.bincount(of_parts, partition.row_counts, n).astype(np.intp)
    # Single rows may have been moved out of the group of their representative.
    inherited = of_parts[partition.assignment]
    moved = labels != inherited
    sizes += np.bincount(labels[moved], minlength=n) - np.bincount(inherited[moved], minlength=n)
    return sizes


@_once
def _names(session: Session) -> dict[int, str]:
    """Return the names of labels: all that were given to rows of a group."""
    labels = _labels(session)
    named: dict[int, list[str]] = {}
    for row, name in session.names.items():
        if name not in named.setdefault(int(labels[row]), []):
            named[int(labels[row])].append(name)
    return {label: " / ".join(names) for label, names in named.items()}


def _known_counts(
    session: Session, labels: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return, for every label, how many rows are said, open, and learned with doubts."""
    how, certainty = how_known(session)
    n = int(labels.max()) + 1
    n_said = np.bincount(labels[how == "said"], minlength=n)
    n_doubtful = np.bincount(labels[certainty < DOUBTFUL], minlength=n)
    partition = session.strategy.partition
    if partition.row_counts is None:
        return n_said, np.bincount(labels[how == "open"], minlength=n), n_doubtful
    # Most rows are not in memory; they count like their representative.
    is_open = how[partition.representatives] == "open"
    open_labels = labels[partition.representatives[is_open]]
    n_open = np.bincount(open_labels, partition.row_counts[is_open], n).astype(np.intp)
    return n_said, n_open, n_doubtful


def _standing(session: Session, labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the representatives, and one row of every group without a representative."""
    reps = session.strategy.partition.representatives
    lonely = np.setdiff1d(np.unique(labels), labels[reps])
    first = [int(np.flatnonzero(labels == group)[0]) for group in lonely]
    return np.concatenate([reps, np.array(first, dtype=np.intp)])
