"""What has been answered so far: the gestures that count, what they imply, and names of groups.

One rule decides between answers that contradict each other. Certain links come first, whether known
beforehand or made while mending. Then come people, then rules, then models. Within each of these,
the newest gesture comes first, then the others in order. A link that contradicts one before it does
not count. Of two certain links, the newer one counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Gesture, Groups, Link, Names, Question, ordered, rank_of
from likewise.core.journal import Entry, Grown, Named, Revised, SetAside, Switched, TakenBack
from likewise.core.links import LinkGraph
from likewise.errors import ContradictionError

T = TypeVar("T")

Given = tuple[NDArray[np.intp], Sequence[str]]
"""The number of the group that each row was given, -1 for none, and the labels of these groups."""


class Answers:
    """The answers that a strategy is a function of. A session keeps them; strategies read them.

    Parameters
    ----------
    n_rows : int
        The number of rows in the beginning.
    log : iterable of Entry
        What has been done since.

    Attributes
    ----------
    gestures : list of Gesture
        The gestures that count, in order.
    links : LinkGraph
        What their yes/no links imply, over rows.
    unsure : set of tuple of int
        The pairs of rows, smaller one first, that were answered with *not sure*, or that somebody
        is being asked about.
    awaited : frozenset of int
        The rows in question that somebody is being asked about; see `awaiting`.
    base : Answers
        These answers without the questions that are being answered.
    removed : frozenset of int
        The rows that are gone. Answers about them count, but no question shows them.
    aside : frozenset of str
        Those whose gestures do not count, whatever they say.
    off : frozenset of str
        The aspects that were switched off: nothing is learned from them.

    Examples
    --------
    >>> from likewise.core.answers import Answer, Gesture, Link
    >>> from likewise.core.answered import Answers
    >>> answers = Answers(3, [Gesture(1, (Link(0, 1, Answer.SAME),))])
    >>> answers.is_open(0, 1), answers.is_open(0, 2)
    (False, True)
    """

    def __init__(self, n_rows: int, log: Iterable[Entry] = ()) -> None:
        self.gestures: list[Gesture] = []
        self.links = LinkGraph(n_rows)
        self.unsure: set[tuple[int, int]] = set()
        self.removed: frozenset[int] = frozenset()
        self.aside: frozenset[str] = frozenset()
        self.awaited: frozenset[int] = frozenset()
        self._base: Answers | None = None
        self._named: tuple[tuple[int, str], ...] = ()  # as they were named, in order
        # All gestures as they were said and then changed, each with the place of the first of it.
        self._said: list[tuple[int, Gesture]] = []
        self._places: list[int] = []  # of those that count
        self.off: frozenset[str] = frozenset()
        self._once: dict[Hashable, Any] = {}
        self._before: dict[Hashable, Any] = {}
        for entry in log:
            self.take(entry)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_once": {}, "_before": {}}

    @property
    def newest(self) -> Gesture | None:
        """The gesture that was said last; None if it does not count."""
        is_there = bool(self._places) and self._places[-1] == len(self._said) - 1
        return self.gestures[-1] if is_there else None

    @property
    def said(self) -> list[Gesture]:
        """All gestures in the order of the log, each as it was last changed."""
        latest = dict(self._said)
        return [latest[place] for place in sorted(latest)]

    def is_open(self, left: int, right: int) -> bool:
        """Return whether nothing is known about two rows, and nobody was unsure or is asked now."""
        is_unsure = ordered(left, right) in self.unsure
        return not is_unsure and self.links.implied(left, right) is None

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, which is called once for these answers.

        Parameters
        ----------
        key : hashable
            Names the result. A strategy that begins its keys with itself shares none with others.
        make : callable
            Called without arguments.
        """
        if key not in self._once:
            self._once[key] = make()
        value: T = self._once[key]
        return value

    def onward(self, key: Hashable, advance: Callable[[T | None], T]) -> T:
        """Return the result of `advance`, which continues from its result for fewer answers.

        For a search that need not look back while answers are only added. Like `once`, it calls
        `advance` once for these answers. `advance` is passed None if there is no earlier result,
        and must not change what it is passed.
        """

        def make() -> T:
            self._before[key] = advance(self._before.get(key))
            value: T = self._before[key]
            return value

        return self.once(key, make)

    def taken_out(self, given: NDArray[np.intp]) -> set[int]:
        """Return the rows that an answer separates from another row of their given group."""
        links = (link for g in self.gestures for link in g.links)
        apart = (link for link in links if link.answer is Answer.DIFFERENT)
        return {x.left for x in apart if given[x.left] == given[x.right] >= 0}

    @property
    def names(self) -> dict[int, str]:
        """The name of each named row: from the answer that began its group, or given to it later.

        Each name stands for the group of its row.
        """
        names = {gesture.left: gesture.name for gesture in self.gestures if gesture.name}
        for row, name in self._named:
            names.pop(row, None)
            if name:
                names[row] = name
        return names

    def names_of(self, groups: Groups, given: Given | None = None) -> Names:
        """Return the name of each group of a question; None for a group without a name or rows.

        That is what its rows were named or, for a given group, its label, unless that is a number.
        """
        find = self.links.find
        named: dict[int, list[str]] = {}
        for row, name in self.names.items():
            if name not in named.setdefault(find(row), []):
                named[find(row)].append(name)
        if given is not None:
            numbers, labels = given
            taken_out = self.taken_out(numbers)
            rows: dict[int, list[int]] = {find(group[0]): [] for group in groups if group}
            # Of two labels that are as frequent, that of the group the other row was put into.
            for link in (link for gesture in self.gestures for link in gesture.links):
                if link.answer is Answer.SAME and find(link.left) in rows:
                    rows[find(link.left)] += [link.right, link.left]
            for group in filter(None, groups):
                inside = dict.fromkeys([*rows[find(group[0])], group[0]])
                kept = (row for row in inside if numbers[row] >= 0 and row not in taken_out)
                held = Counter(int(numbers[row]) for row in kept)
                if held and not labels[held.most_common(1)[0][0]].isdecimal():
                    named.setdefault(find(group[0]), [labels[held.most_common(1)[0][0]]])
        return tuple(" / ".join(named.get(find(g[0]), ())) or None if g else None for g in groups)

    def plus(self, gesture: Gesture) -> Answers:
        """Return these answers and one more, without changing these."""
        other = Answers(self.links.n_items, self.gestures)
        other.removed, other.aside, other.off = self.removed, self.aside, self.off
        other._named = self._named
        other._before = dict(self._before)
        other.take(gesture)
        return other

    def awaiting(self, questions: Iterable[Question]) -> Answers:
        """Return these answers while some questions are being answered, without changing these.

        A strategy need not know about them: pairs that are being asked about are not open. One
        that can make use of them reads `awaited` and `base`.
        """
        links = [link for question in questions for link in question.links(Answer.UNSURE)]
        other = copy(self)
        other._once, other._before = {}, dict(self._before)
        other._base = self.base
        other.unsure = self.unsure | {link.pair for link in links}
        other.awaited = self.awaited | {link.left for link in links}
        return other

    @property
    def base(self) -> Answers:
        """These answers without the questions that are being answered."""
        return self if self._base is None else self._base

    def take(self, entry: Entry, *, is_strict: bool = False) -> list[Gesture]:
        """Take in one more entry of the log; return the gestures that no longer count.

        Parameters
        ----------
        entry : Entry
            The entry.
        is_strict : bool
            Whether a gesture that contradicts earlier ones is refused with a `ContradictionError`
            instead of overruling them.
        """
        dropped: list[Gesture] = []
        if isinstance(entry, Gesture):
            dropped = self._say(len(self._said), entry, is_strict=is_strict)
            self._once.clear()
        elif isinstance(entry, Revised):
            about: Any = {"by": entry.by, "at": entry.at, "name": entry.name}
            new = replace(self.gestures[entry.number - 1], links=entry.links, **about)
            dropped = self._say(self._places[entry.number - 1], new)
        elif isinstance(entry, SetAside | TakenBack):
            one = {entry.answerer}
            is_aside = isinstance(entry, SetAside)
            self.aside = self.aside | one if is_aside else self.aside - one
            said, self._said = self._said, []
            self.gestures, self._places = [], []
            self._recount()
            for place, gesture in said:
                self._say(place, gesture)
        elif isinstance(entry, Grown):
            self.links.n_items += len(entry.rows)
            self.removed = (self.removed - set(entry.returned)) | set(entry.removed)
        elif isinstance(entry, Named):
            self._named += entry.names
        elif isinstance(entry, Switched):
            self.off = self.off - {entry.aspect} if entry.is_on else self.off | {entry.aspect}
        if not isinstance(entry, Gesture):
            self._forget()
        return dropped

    def _say(self, place: int, gesture: Gesture, *, is_strict: bool = False) -> list[Gesture]:
        """Take in a gesture, new or changed; return the gestures that no longer count."""
        dropped: list[Gesture] = []
        if gesture.by not in self.aside:
            k = bisect_left(self._places, place)
            gesture = replace(gesture, number=k + 1)
            try:
                if k < len(self._places):  # others follow it, so all are counted again
                    raise ContradictionError(gesture.links[0], ())
                self._add(gesture)
                self._places.append(place)
            except ContradictionError:
                if is_strict:
                    raise
                end = k + 1 if place in self._places[k : k + 1] else k
                places = [*self._places[:k], place, *self._places[end:]]
                gestures = [*self.gestures[:k], gesture, *self.gestures[end:]]
                dropped = self._settle(gestures, places, newest=gesture)
        self._said.append((place, gesture))
        return dropped

    def _add(self, gesture: Gesture) -> None:
        """Count a gesture as well, or raise an error and change nothing."""
        try:
            for link in gesture.links:
                self._count(link)
        except BaseException:
            self._recount()  # some of its links may have been added
            raise
        self.gestures.append(gesture)

    def _recount(self) -> None:
        """Count all links again, in the order of the gestures."""
        self.links, self.unsure = LinkGraph(self.links.n_items), set()
        for link in (link for gesture in self.gestures for link in gesture.links):
            self._count(link)

    def _count(self, link: Link) -> None:
        if not link.answer.is_link:
            self.unsure.add(link.pair)
        elif link.left != link.right or link.answer is Answer.DIFFERENT:
            # That a row is in a group of its own implies nothing for others.
            self.links.add(link.left, link.right, link.answer)

    def _settle(
        self, gestures: Sequence[Gesture], places: Sequence[int], newest: Gesture
    ) -> list[Gesture]:
        """Count the links that contradict none of higher rank; return gestures without any left."""

        def rank(k: int) -> tuple[bool, int, bool]:
            one = gestures[k]
            return not one.is_certain, rank_of(one.by), one is not newest

        ranked, kept = Answers(self.links.n_items), dict[int, tuple[Link, ...]]()
        for k in sorted(range(len(gestures)), key=rank):
            kept[k] = tuple(link for link in gestures[k].links if ranked._stays(link))
        counted = [k for k in range(len(gestures)) if kept[k]]
        self.gestures = [
            replace(gestures[k], links=kept[k], number=number)
            for number, k in enumerate(counted, start=1)
        ]
        self._places = [places[k] for k in counted]
        self._recount()
        self._forget()
        return [one for k, one in enumerate(gestures) if not kept[k]]

    def _stays(self, link: Link) -> bool:
        """Count a link unless it contradicts those that count; return whether it counts."""
        if link.answer.is_link and self.links.implied(*link.pair) not in (None, link.answer):
            return False
        self._count(link)
        return True

    def _forget(self) -> None:
        self._once.clear()
        self._before.clear()
