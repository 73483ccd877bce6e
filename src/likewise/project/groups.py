"""The groups of a session as a person looks at them: size, typical members, a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Groups
from likewise.core.journal import Named
from likewise.core.session import Session
from likewise.learning.reliability import SURE
from likewise.project.lives import keys_of, lives_of, once_per_state, shown_key
from likewise.project.record import Record

N_SUMMED_UP = 30
"""How many members of a group its summary is made from."""

HowKnown = tuple[NDArray[np.str_], NDArray[np.float64]]
"""How the group of every row is known, and how certain it is."""


@dataclass(frozen=True, slots=True)
class Group:
    """One group.

    Its `id` is for life (see `Lives`); its `label` is the one its rows have now. `standing` has one
    row for each small group in it: rows of large ones first, rows that cannot be shown last.
    `n_said` items are in it by answers about themselves; about `n_open` items nothing is known; the
    others are learned (see `how_known`). `n_doubtful` is how many have a certainty below
    `SURE`. `number` is that of its key: the id, or None before an answer is about it.
    """

    id: int
    label: int
    number: int | None
    standing: tuple[int, ...]
    name: str
    size: int
    n_said: int
    n_open: int
    n_doubtful: int


def groups_of(
    session: Session, weights: NDArray[np.intp] | None = None, known: HowKnown | None = None
) -> list[Group]:
    """Return all groups, those that answers have joined first; joined names are listed together.

    A row counts by its weight, by default 1; `known` is by default `how_known`.
    """
    strategy = session.strategy
    partition = strategy.partition
    labels = session.labels
    standing = _standing(session, labels)
    group = labels[standing]
    # Parts that were asked about come first, since more is known about them. Parts that cannot be
    # shown come last.
    asked = [row for gesture in session.events for row in gesture.rows]
    is_new, is_broken = ~np.isin(standing, asked), ~np.isin(standing, session.askable)
    part_sizes = partition.sizes()[partition.assignment[standing]]
    order = np.lexsort((standing, -part_sizes, is_new, is_broken, group))
    parts = np.split(standing[order], np.cumsum(np.bincount(group))[:-1])
    names, ids, keys = _names(session), _ids(session), keys_of(session)
    how, certainty = how_known(session) if known is None else known
    weights = np.ones(len(labels), dtype=np.intp) if weights is None else weights
    counts = np.array(
        [
            np.bincount(labels, weights, len(parts)),
            np.bincount(labels, weights * (how == "said"), len(parts)),
            np.bincount(labels, weights * (how == "open"), len(parts)),
            np.bincount(labels, weights * (certainty < SURE), len(parts)),
        ]
    )
    groups = [
        Group(
            ids[label],
            label,
            keys.get(label),
            tuple(part.tolist()),
            names.get(label, ""),
            *map(int, counts[:, label]),
        )
        for label, part in enumerate(parts)
    ]
    return sorted(groups, key=lambda g: (-(len(g.standing) > 1), -g.size, g.id))


def in_short(session: Session, row: int) -> tuple[int | None, str, int]:
    """Return the number, the name and the size of the group of a row, all that a question shows."""
    label = int(session.labels[row])
    number = keys_of(session).get(label)
    return number, _names(session).get(label, ""), int(_sizes(session)[label])


@once_per_state
def titles_of(session: Session) -> dict[int, str]:
    """Return what every label is called in exports: the key of its group, as the page shows it.

    A group that no answer is about yet has no key. It is called *open* and by its first row.
    """
    keys, first = keys_of(session), _first_rows(session)
    return {
        label: shown_key(keys[label]) if label in keys else f"open {row}"
        for label, row in enumerate(first)
    }


@once_per_state
def _ids(session: Session) -> dict[int, int]:
    """Return the id of every label: its number, or a larger one before an answer is about it."""
    keys = keys_of(session)
    first = max(len(session.labels), lives_of(session).n)
    return {k: keys.get(k, first + row) for k, row in enumerate(_first_rows(session))}


@once_per_state
def _first_rows(session: Session) -> list[int]:
    """Return, for every label, the first row that stands for its group."""
    labels = session.labels
    standing = _standing(session, labels)
    smallest = np.full(int(labels.max()) + 1, len(labels), dtype=np.intp)
    np.minimum.at(smallest, labels[standing], standing)
    return smallest.tolist()


def rows_like(session: Session, row: int, most: int) -> list[int]:
    """Return up to `most` rows of the group of a row: itself, rows put there by answers, others."""
    labels = session.labels
    inside = np.flatnonzero(labels == labels[row])
    answered = [other for other in said_rows(session) if labels[other] == labels[row]]
    spread = inside[:: max(1, len(inside) // most)].tolist()
    return list(dict.fromkeys([row, *answered, *spread]))[:most]


def sum_up(project: Record, group: Group) -> str:
    """Return what distinguishes a group from the others, in a few words, or ""."""
    inside = _places_like(project, group.standing[0], N_SUMMED_UP)
    return project.items.sum_up(inside) if inside else ""


def key_words(project: Record, row: int) -> list[str]:
    """Return words that distinguish the group of a row from the others, the best first."""

    def found() -> list[str]:
        inside = _places_like(project, row, N_SUMMED_UP)
        return project.items.key_words(inside) if inside else []

    return project.session.once(f"key words of {row}", found)


def compare(project: Record, row: int, shown: Groups) -> list[dict[str, Any]]:
    """Return the fields of a row beside those of groups; empty for items without fields."""
    place, fields = project.where[row], project.items.fields
    if place is None or fields is None:
        return []
    n = fields.n_compared
    groups = [_places_like(project, rows[0], n) if rows else [] for rows in shown]
    return fields.contrast(place, groups)


def _places_like(project: Record, row: int, most: int) -> list[int]:
    """Return the places of items in the group of a row that still exist; see `rows_like`."""
    rows, where = rows_like(project.session, row, most), project.where
    return [place for other in rows if (place := where[other]) is not None]


@once_per_state
def group_names(session: Session) -> dict[int, str]:
    """Return the name of every label, "" where its group has none."""
    names = _names(session)
    return {label: names.get(label, "") for label in range(int(session.labels.max()) + 1)}


@once_per_state
def group_ids(session: Session) -> NDArray[np.intp]:
    """Return the id of the group of every row."""
    ids = _ids(session)
    return np.array([ids[k] for k in range(len(ids))], dtype=np.intp)[session.labels]


@once_per_state
def how_known(session: Session) -> HowKnown:
    """Return, for every row, how its group is known and with which certainty.

    *said*: it follows from answers about the row itself. *learned*: it follows from answers about
    other rows, either by the learner or because its small group has a row that was asked about.
    *open*: no answer decides it. A row that answers only separate from other groups, and that the
    learner put into this one, is learned, too. The certainty is 1 for *said*, the learner's
    probability for *learned*, and NaN for *open*.
    """
    strategy = session.strategy
    partition, doubts = strategy.partition, session.assessment.doubts()
    is_said = np.zeros(partition.n_rows, dtype=bool)
    is_said[said_rows(session)] = True
    if doubts is None:
        is_learned = is_said[partition.representatives][partition.assignment]
        certainty = np.full(partition.n_rows, np.nan)
    else:
        is_learned, certainty = doubts < 1, 1.0 - doubts
    if strategy.given_groups() is not None:
        # What was given is not known before an answer is about its group.
        labels = session.labels
        is_learned &= np.isin(labels, labels[is_said])
    certainty = np.where(is_said, 1.0, np.where(is_learned, certainty, np.nan))
    return np.where(is_said, "said", np.where(is_learned, "learned", "open")), certainty


@once_per_state
def said_rows(session: Session) -> list[int]:
    """Return the rows whose group follows from answers about themselves, not from the learner."""
    labels, links = session.labels, session.links
    cores: dict[int, dict[int, list[int]]] = {}
    alone = (gesture.left for gesture in session.events if gesture.left == gesture.right)
    linked = (row for link in links for row in link.pair)
    for row in dict.fromkeys((*linked, *(row for row in alone if links.size(row) == 1))):
        cores.setdefault(int(labels[row]), {}).setdefault(links.find(row), []).append(row)
    return [row for core in cores.values() for row in max(core.values(), key=len)]


@once_per_state
def _sizes(session: Session) -> NDArray[np.intp]:
    """Return, for every label, how many items have it."""
    return np.bincount(session.labels).astype(np.intp)


@once_per_state
def _names(session: Session) -> dict[int, str]:
    """Return the names of labels: those of rows in a group, or those of given groups."""
    labels = session.labels
    named: dict[int, list[str]] = {}
    for row, name in session.names.items():
        if name not in named.setdefault(int(labels[row]), []):
            named[int(labels[row])].append(name)
    given = session.strategy.given_groups()
    # A name that was taken away does not come back.
    touched = {int(labels[row]) for e in session.log if isinstance(e, Named) for row, _ in e.names}
    for label, carried in lives_of(session).carried.items():
        if given is not None and label not in touched:
            named[label] = [given[1][k] for k in carried if not given[1][k].isdecimal()]
    return {label: " / ".join(names) for label, names in named.items()}


def _standing(session: Session, labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the representatives, and one row of every group without a representative."""
    reps = session.strategy.partition.representatives
    lonely = np.setdiff1d(np.unique(labels), labels[reps])
    first = [int(np.flatnonzero(labels == group)[0]) for group in lonely]
    return np.concatenate([reps, np.array(first, dtype=np.intp)])
