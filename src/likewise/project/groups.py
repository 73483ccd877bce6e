"""The groups of a session as a person looks at them: size, typical members, a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Gesture, Link
from likewise.core.journal import Named
from likewise.core.links import Counted
from likewise.core.session import Session

KEYS = "123456789aefhjknprtv"
"""The keys of the first groups, without letters that do something else or look like a digit."""
PREFIXES = "wxy"
"""Further groups have one of these before a key, so no key is the beginning of another."""

DOUBTFUL = 0.8
"""Learned items less certain than this are called doubtful. Chosen by eye: .7 would mark fewer
items, .9 more; no group changes."""

T = TypeVar("T")
Known = tuple[NDArray[np.str_], NDArray[np.float64]]
"""How the group of every row is known, and how certain it is."""


def _once(make: Callable[[Session], T]) -> Callable[[Session], T]:
    """Decorate a function of a session: it runs once for every state of the log."""

    @wraps(make)
    def remembered(session: Session) -> T:
        return session.once(make.__qualname__, lambda: make(session))

    return remembered


@dataclass(frozen=True, slots=True)
class Group:
    """One group.

    Its `id` is for life (see `Lives`); its `label` is the one its rows have now. `standing` has one
    row for each small group in it: rows of large ones first, rows that cannot be shown last.
    `n_said` items are in it by answers about themselves; about `n_open` items nothing is known; the
    others are learned (see `how_known`). `n_doubtful` is how many have a certainty below
    `DOUBTFUL`. `number` is that of its key: the id, or None before an answer is about it.
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
    session: Session, weights: NDArray[np.intp] | None = None, known: Known | None = None
) -> list[Group]:
    """Return all groups, those that answers have joined first; joined names are listed together.

    A row counts by its weight, 1 if none are given; `known` is `how_known` unless it is given.
    """
    strategy = session.strategy
    partition = strategy.partition
    labels = session.labels
    standing = _standing(session, labels)
    group = labels[standing]
    # Parts that were asked about come first, since more is known about them. Parts that cannot be
    # shown come last.
    asked = [row for gesture in session.events for row in gesture.rows]
    is_new, is_broken = ~np.isin(standing, asked), ~np.isin(standing, strategy.askable())
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
            np.bincount(labels, weights * (certainty < DOUBTFUL), len(parts)),
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


def key_of(number: int | None) -> str:
    """Return the keys to press for the group with a number, counted from 0."""
    if number is None:
        return ""
    if number < len(KEYS):
        return KEYS[number]
    turn, place = divmod(number - len(KEYS), len(KEYS))
    rounds, prefix = divmod(turn, len(PREFIXES))
    return PREFIXES[prefix] + key_of(place + rounds * len(KEYS))


def shown_key(number: int | None) -> str:
    """Return a key as the page shows it; "" for None."""
    return key_of(number).upper()


@_once
def titles_of(session: Session) -> dict[int, str]:
    """Return what every label is called in exports: the key of its group, as the page shows it.

    A group that no answer is about yet has no key. It is called *open* and by its first row.
    """
    keys, first = keys_of(session), _first_rows(session)
    return {
        label: shown_key(keys[label]) if label in keys else f"open {row}"
        for label, row in enumerate(first)
    }


@dataclass(frozen=True, slots=True)
class Lives:
    """The numbers that groups have for life, by label, and what became of others.

    Groups that were given have the first numbers, in the order of their labels; the others are
    numbered in the order in which answers found them. A number goes where most of its rows are, so
    the larger part of a split group keeps it. Of several numbers in one group a given one stays,
    or else that with most rows. `carried` has the given groups whose larger part is in a group, by
    label; `merged` and `split_from` have numbers by the number of a group. `n` were given so far.
    """

    n: int
    numbers: dict[int, int]
    carried: dict[int, list[int]]
    merged: dict[int, list[int]]
    split_from: dict[int, int]


@_once
def lives_of(session: Session) -> Lives:
    """Return the number of every group that was given or that answers are about."""
    labels = session.labels
    question = session.ask()
    shown = () if question is None or question.is_pair else question.groups
    given = session.strategy.given_groups()
    before = np.full(len(labels), -1) if given is None else given[0]
    n_given = int(before.max(initial=-1)) + 1
    book = _history(session, n_given)
    for group in shown:
        book.number(group[0])
    n_rows = Counter((book.last(number), int(labels[row])) for row, number in book.numbers.items())
    n_rows.update(zip(before[before >= 0].tolist(), labels[before >= 0].tolist(), strict=True))
    owner: dict[int, int] = {}
    for (number, label), n in n_rows.items():
        if number not in owner or n > n_rows[number, owner[number]]:
            owner[number] = label
    of_label: dict[int, list[int]] = {}
    for number, label in sorted(owner.items(), key=lambda o: (o[0] >= n_given, -n_rows[o], o)):
        of_label.setdefault(label, []).append(number)
    numbers = {label: held[0] for label, held in of_label.items()}
    carried = {label: sorted(k for k in held if k < n_given) for label, held in of_label.items()}
    merged: dict[int, list[int]] = {}
    for number, *others in of_label.values():
        merged[number] = [k for k in others if k < n_given]
    for lost, kept in book.merged.items():
        home = owner.get(book.last(kept))
        rows = [row for row, number in book.numbers.items() if number == lost]
        # A given group that is merged is named by its own number.
        if home is not None and not any(before[row] in carried[home] for row in rows):
            merged[numbers[home]].append(lost)
    split_from: dict[int, int] = {}
    for label, number in numbers.items():
        had = Counter(before[(labels == label) & (before >= 0)].tolist())
        if number >= n_given and had:
            split_from[number] = had.most_common(1)[0][0]
        elif number in book.split_from:
            whole = owner.get(book.split_from[number])
            split_from[number] = book.split_from[number] if whole is None else numbers[whole]
    merged = {number: sorted(others) for number, others in merged.items() if others}
    return Lives(book.n, numbers, carried, merged, split_from)


def keys_of(session: Session) -> dict[int, int]:
    """Return the number of every group that has one, by label."""
    return lives_of(session).numbers


@_once
def _ids(session: Session) -> dict[int, int]:
    """Return the id of every label: its number, or a larger one before an answer is about it."""
    keys = keys_of(session)
    first = max(len(session.labels), lives_of(session).n)
    return {k: keys.get(k, first + row) for k, row in enumerate(_first_rows(session))}


@_once
def _first_rows(session: Session) -> list[int]:
    """Return, for every label, the first row that stands for its group."""
    labels = session.labels
    standing = _standing(session, labels)
    smallest = np.full(int(labels.max()) + 1, len(labels), dtype=np.intp)
    np.minimum.at(smallest, labels[standing], standing)
    return smallest.tolist()


def _history(session: Session, first: int) -> Founding:
    """Return the numbers of groups at the end of a log.

    What is mended changes groups as they were then, whatever answers it overrules. Where an answer
    is changed or overruled by another one, the groups are those of the answers that are left.
    """
    if not any(isinstance(e, Gesture) and e.source == "mended" for e in session.log):
        return Founding(first, session.events)
    counted = Counted(session.strategy.n_rows, session.strategy.weighs_answers)
    book = Founding(first)
    for entry in session.log:
        before = counted.gestures[:]
        counted.take(entry)
        if isinstance(entry, Gesture) and (
            entry.source == "mended" or counted.gestures[:-1] == before
        ):
            book.take(entry)
        elif counted.gestures != before:
            book = Founding(first, counted.gestures)
    return book


class Founding:
    """The numbers of groups while gestures are followed; `n` is the next one.

    A row that is the same as none before it founds a group, which gets the next number. Of two
    groups that are joined the number with more rows stays, else the older one; `merged` has by
    which a number was replaced. Where a group is mended, the rows that leave it (the left ones of
    links) found a new one together.
    """

    def __init__(self, first: int, gestures: Iterable[Gesture] = ()) -> None:
        self.numbers: dict[int, int] = {}
        self.merged: dict[int, int] = {}
        self.split_from: dict[int, int] = {}
        self._joined: dict[int, int] = {}
        self.n = first
        for gesture in gestures:
            self.take(gesture)

    def take(self, gesture: Gesture) -> None:
        """Follow one gesture."""
        for group in gesture.groups:
            self.number(group[0])
        same = [link for link in gesture.links if link.answer is Answer.SAME]
        differing = [link for link in gesture.links if link.answer is Answer.DIFFERENT]
        is_mended = gesture.source == "mended"
        if is_mended and differing:
            self._part(same, differing)
        else:
            for link in same:
                self._join(link.left, link.right, is_mended=is_mended)
        for link in differing:
            self.number(link.left)
            self.number(link.right)

    def _part(self, same: Sequence[Link], differing: Sequence[Link]) -> None:
        """Follow a gesture that moves rows: what leaves a group founds a new one."""
        part_of = _parts(same, differing)
        numbers: dict[int, int | None] = {}
        for part in part_of.values():
            # Rows are moved to the right row of a link.
            anchors = [link.right for link in same if link.right in part]
            had = self._most_common(anchors)
            numbers[part[0]] = self._most_common(part) if had is None else had
        apart = [(part_of[link.left][0], part_of[link.right][0]) for link in differing]
        founded: dict[int, int] = {}
        for left, right in apart:
            if left in founded or numbers[left] not in (None, numbers[right]):
                continue
            fellows = [k for k in founded if (left, k) not in apart and (k, left) not in apart]
            founded[left] = founded[fellows[0]] if fellows else self.n
            if not fellows:
                if (whole := numbers[left]) is not None:
                    self.split_from[self.n] = whole
                self.n += 1
        for part in part_of.values():
            number = founded.get(part[0], numbers[part[0]])
            if number is None:
                number = numbers[part[0]] = self.n
                self.n += 1
            self.numbers.update(dict.fromkeys(part, number))

    def _most_common(self, rows: Iterable[int]) -> int | None:
        had = Counter(number for row in rows if (number := self.now(row)) is not None)
        return had.most_common(1)[0][0] if had else None

    def number(self, *rows: int) -> None:
        """Let rows found a group together if none of them has one."""
        if self.numbers.keys().isdisjoint(rows):
            self.numbers.update(dict.fromkeys(rows, self.n))
            self.n += 1

    def _join(self, left: int, right: int, *, is_mended: bool) -> None:
        self.number(left, right)
        both = sorted(k for k in {self.now(left), self.now(right)} if k is not None)
        if len(both) == 2:
            n_rows = Counter(map(self.now, self.numbers))
            kept, lost = sorted(both, key=lambda number: (-n_rows[number], number))
            self._joined[lost] = kept
            # A row that differed from some groups before it joined another was no group.
            if is_mended or n_rows[lost] > 1:
                self.merged[lost] = kept
            both = [kept]
        for row in (left, right):
            self.numbers.setdefault(row, both[0])

    def now(self, row: int) -> int | None:
        """Return the number that the group of a row has by now."""
        number = self.numbers.get(row)
        return None if number is None else self.last(number)

    def last(self, number: int) -> int:
        """Return the number that took in a number, or the number itself."""
        while number in self._joined:
            number = self._joined[number]
        return number


def _parts(same: Sequence[Link], differing: Sequence[Link]) -> dict[int, list[int]]:
    """Return, for every row that links are about, the rows that they put together with it."""
    part_of = {row: [row] for link in (*same, *differing) for row in link.pair}
    for link in same:
        left, right = part_of[link.left], part_of[link.right]
        if left is not right:
            left += right
            part_of |= dict.fromkeys(right, left)
    return part_of


def rows_like(session: Session, row: int, most: int) -> list[int]:
    """Return up to `most` rows of the group of a row: itself, rows put there by answers, others."""
    labels = session.labels
    inside = np.flatnonzero(labels == labels[row])
    answered = [other for other in said_rows(session) if labels[other] == labels[row]]
    spread = inside[:: max(1, len(inside) // most)].tolist()
    return list(dict.fromkeys([row, *answered, *spread]))[:most]


@_once
def group_names(session: Session) -> dict[int, str]:
    """Return the name of every label, "" where its group has none."""
    names = _names(session)
    return {label: names.get(label, "") for label in range(int(session.labels.max()) + 1)}


@_once
def group_ids(session: Session) -> NDArray[np.intp]:
    """Return the id of the group of every row."""
    ids = _ids(session)
    return np.array([ids[k] for k in range(len(ids))], dtype=np.intp)[session.labels]


@_once
def how_known(session: Session) -> Known:
    """Return, for every row, how its group is known and with which certainty.

    *said*: it follows from answers about the row itself. *learned*: it follows from answers about
    other rows, either by the learner or because its small group has a row that was asked about.
    *open*: no answer decides it. A row that answers only separate from other groups, and that the
    learner put into this one, is learned, too. The certainty is 1 for *said*, the learner's
    probability for *learned*, and NaN for *open*.
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
    if strategy.given_groups() is not None:
        # What was given is not known before an answer is about its group.
        labels = session.labels
        is_learned &= np.isin(labels, labels[is_said])
    certainty = np.where(is_said, 1.0, np.where(is_learned, certainty, np.nan))
    return np.where(is_said, "said", np.where(is_learned, "learned", "open")), certainty


@_once
def said_rows(session: Session) -> list[int]:
    """Return the rows whose group follows from answers about themselves, not from the learner."""
    labels, links = session.labels, session.links
    cores: dict[int, dict[int, list[int]]] = {}
    for row in dict.fromkeys(row for link in links for row in (link.left, link.right)):
        cores.setdefault(int(labels[row]), {}).setdefault(links.find(row), []).append(row)
    return [row for core in cores.values() for row in max(core.values(), key=len)]


@_once
def _sizes(session: Session) -> NDArray[np.intp]:
    """Return, for every label, how many items have it."""
    return np.bincount(session.labels).astype(np.intp)


@_once
def _names(session: Session) -> dict[int, str]:
    """Return the names of labels: all that were given to rows of a group, or to it beforehand."""
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
