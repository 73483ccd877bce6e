"""How a group keeps its number, and so its key, for life: from the log alone.

The first answer about a row founds a group, which gets the next number, unless the row is the same
as one that has a number. Groups that were given have the first numbers, then those that were known
by name. Four rules follow:

- A number stays with the rows that had it. If they are split, it goes where most of them are.
- If two groups are merged, the number with more rows stays, or else the older one. `Lives.merged`
  has the other.
- Rows that a person takes out of a group found a new one, with a new number. `Lives.split_from` has
  the number they had.
- Undo takes back numbers, too, since all of this is computed from the log.

For example, six rows lie in three places. The first answers tell row 0 from row 2, and row 4 from
both. They found the groups 0, 1 and 2, whose keys are 1, 2 and 3:

>>> from likewise import Answer, COBRA, Link
>>> rows = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]]
>>> session = COBRA(n_super_instances=6, random_state=0).start(rows)
>>> def say(*links, **options):
...     session.add_links([Link(a, b, Answer(word)) for a, b, word in links], **options)
...     lives = lives_of(session)
...     numbers = [lives.numbers.get(label) for label in session.labels.tolist()]
...     print(numbers, "merged", lives.merged, "split from", lives.split_from)
>>> say((0, 2, "different"), (4, 0, "different"), (4, 2, "different"))
[0, None, 1, None, 2, None] merged {} split from {}

Rows that are the same as others take their numbers:

>>> say((1, 0, "same"), (3, 2, "same"))
[0, 0, 1, 1, 2, None] merged {} split from {}

The person merges the groups 1 and 2. Number 1 has more rows, so it stays:

>>> say((2, 4, "same"), overrules=True)
[0, 0, 1, 1, 1, None] merged {1: [2]} split from {}

Then the person splits row 4 off again. It is a group of its own, but not the one it was: that one
was merged, which stays on record.

>>> say((4, 2, "different"), overrules=True)
[0, 0, 1, 1, 3, None] merged {1: [2]} split from {3: 1}
>>> [shown_key(number) for number in (0, 1, 3)]
['1', '2', '4']

After undo and undo, row 4 has its number again:

>>> _ = session.undo(), session.undo()
>>> lives_of(session).numbers[int(session.labels[4])]
2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

import numpy as np

from likewise.core.answered import Answers
from likewise.core.answers import Answer, Gesture, Link
from likewise.core.session import Session

T = TypeVar("T")

KEYS = "123456789aefhjknprtv"
"""The keys of the first groups, without letters that do something else or look like a digit."""
PREFIXES = "wxy"
"""Further groups have one of these before a key, so no key is the beginning of another."""


def once_per_state(make: Callable[[Session], T]) -> Callable[[Session], T]:
    """Decorate a function of a session: it runs once for every state of the log."""

    @wraps(make)
    def remembered(session: Session) -> T:
        return session.once(make.__qualname__, lambda: make(session))

    return remembered


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


@dataclass(frozen=True, slots=True)
class Lives:
    """The numbers that groups have for life, by label, and what became of others.

    Groups that were given have the first numbers, in the order of their labels; the others are
    numbered in the order in which answers found them. A number goes where most of its rows are, so
    the larger part of a split group keeps it. Of several numbers in one group a given one stays,
    or else that with most rows. `carried` has the given groups whose larger part is in a group, by
    label; `merged` and `split_from` have numbers by the number of a group. `n` is the next number.
    """

    n: int
    numbers: dict[int, int]
    carried: dict[int, list[int]]
    merged: dict[int, list[int]]
    split_from: dict[int, int]


@once_per_state
def lives_of(session: Session) -> Lives:
    """Return the number of every group that was given or that answers are about."""
    labels = session.labels
    question = session.ask()
    shown = () if question is None or question.is_pair else question.groups
    given = session.strategy.given_groups()
    before = np.full(len(labels), -1) if given is None else given[0]
    n_given = int(before.max(initial=-1)) + 1
    book = _history(session, n_given).after(())
    for group in shown:
        book.number(*group[:1])
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


def number_of_name(session: Session, name: str | None) -> int | None:
    """Return the number reserved for a group known by its name only; None if there is none."""
    names, given = list(session.group_names), session.strategy.given_groups()
    first = 0 if given is None else int(given[0].max(initial=-1)) + 1
    return first + names.index(name) if name in names else None


def keys_of(session: Session) -> dict[int, int]:
    """Return the number of every group that has one, by label."""
    return lives_of(session).numbers


def _history(session: Session, first: int) -> Founding:
    """Return the numbers of groups at the end of a log, continuing from an earlier state of it.

    What is mended changes groups as they were then, whatever answers it overrules. Where an answer
    is changed or overruled by another one, the groups are those of the answers that are left.
    """

    def advance(book: Founding | None) -> Founding:
        if book is None:
            return _from_the_beginning(session, first)
        return book.after(session.events[book.n_taken :])

    return session.answers.onward("founding", advance)


def _from_the_beginning(session: Session, first: int) -> Founding:
    names = session.group_names
    if not any(isinstance(e, Gesture) and e.source == "mended" for e in session.log):
        return Founding(first, session.events, names)
    counted = Answers(session.n_first_rows)
    book = Founding(first, (), names)
    for entry in session.log:
        before = counted.gestures[:]
        counted.take(entry)
        if counted.gestures == before:
            continue
        if isinstance(entry, Gesture) and (
            entry.source == "mended" or counted.gestures[:-1] == before
        ):
            book.take(entry)
        else:
            book = Founding(first, counted.gestures, names)
    book.n_taken = len(counted.gestures)
    return book


class Founding:
    """The numbers of groups while gestures are followed; `n` is the next one.

    A row that is the same as none before it founds a group, which gets the next number. Of two
    groups that are joined the number with more rows stays, else the older one; `merged` has by
    which a number was replaced. Where a group is mended, the rows that leave it (the left ones of
    links) found a new one together. `n_taken` gestures that count have been followed.
    """

    def __init__(
        self, first: int, gestures: Iterable[Gesture] = (), names: Sequence[str] = ()
    ) -> None:
        self.numbers: dict[int, int] = {}
        self.merged: dict[int, int] = {}
        self.split_from: dict[int, int] = {}
        self._joined: dict[int, int] = {}
        self._reserved: dict[str | None, int] = {name: first + k for k, name in enumerate(names)}
        self.n = first + len(names)
        self.n_taken = 0
        for gesture in gestures:
            self.take(gesture)

    def after(self, gestures: Iterable[Gesture]) -> Founding:
        """Return the numbers after further gestures, without changing these."""
        other = copy(self)
        other.numbers, other.merged = dict(self.numbers), dict(self.merged)
        other.split_from, other._joined = dict(self.split_from), dict(self._joined)
        for gesture in gestures:
            other.take(gesture)
        return other

    def take(self, gesture: Gesture) -> None:
        """Follow one gesture."""
        self.n_taken += 1
        for group in gesture.groups:
            self.number(*group[:1])
        if gesture.name in self._reserved:
            self.numbers.setdefault(gesture.left, self._reserved[gesture.name])
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
        """Follow a gesture that moves rows: those that leave a group found a new one."""
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
        if rows and self.numbers.keys().isdisjoint(rows):
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
