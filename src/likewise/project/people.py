"""Who is asked what: several people get different questions, and some questions go to two.

Who a call is made for is a context variable, set by the front that knows it. Everything else
follows from the log: which answers are to be given a second time, by whom they were, and where two
people disagree. Only the questions that people have before them are kept here.

A question is *doubled* by putting it to a second person as the first one saw it, who does not see
the first answer. Both answers are in the log, each signed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.core.answers import MODEL, RULE, Answer, Gesture, Groups, Question
from likewise.core.session import Session
from likewise.errors import InputError
from likewise.words import check_text

if TYPE_CHECKING:
    from likewise.project.model import ModelAtWork
    from likewise.project.rules import Rules

EVERY = 10
"""Every tenth question goes to two people, unless asked otherwise."""
MACHINES = (MODEL, RULE)
"""How names of answerers begin that are not people."""
LONGEST_NAME = 60


@dataclass(frozen=True)
class Person:
    """Who answers, and whether their link lets them change anything."""

    name: str
    can_answer: bool = True


_now: ContextVar[Person | None] = ContextVar("person", default=None)


def who() -> Person | None:
    """Return the person for whom this call is made, or None if it is for nobody in particular."""
    return _now.get()


@contextmanager
def acting(person: Person | None) -> Iterator[None]:
    """Make calls on behalf of a person."""
    token = _now.set(person)
    try:
        yield
    finally:
        _now.reset(token)


def checked_people(names: Sequence[str], option: str = "people") -> list[str]:
    """Return names of people; refuse what cannot be one, and names that occur twice."""
    people = [check_text(name.strip(), f"a name in {option}") for name in names]
    for name in people:
        if not name or len(name) > LONGEST_NAME or name.startswith(MACHINES):
            raise InputError(
                f"a name in {option} has 1 to {LONGEST_NAME} characters and does not begin with "
                f"{' or '.join(MACHINES)}, got {name!r}"
            )
    twice = [name for name, n in Counter(people).items() if n > 1]
    if twice:
        raise InputError(f"{twice[0]!r} occurs twice in {option}; names tell people apart")
    return people


class Team:
    """The people who answer at the same time, and the question that each has before them.

    Parameters
    ----------
    names : sequence of str
        Who answers. None stands for those who have no name; all of them have the same question.
    every : int
        One in this many questions is put to two people; 0 for none.
    """

    def __init__(self, names: Sequence[str] = (), every: int = EVERY) -> None:
        self.names = tuple(names)
        self.every = every
        self._held: dict[str | None, Question] = {}

    @property
    def held(self) -> list[Question]:
        """The questions that people have before them."""
        return list(self._held.values())

    def holds(self, name: str, number: int) -> bool:
        """Return whether a number is that of the question that a person has before them."""
        held = self._held.get(name)
        return held is not None and held.number == number

    def ask(
        self,
        session: Session,
        name: str | None,
        model: ModelAtWork | None = None,
        rules: Rules | None = None,
    ) -> Question | None:
        """Return the question of a person: the one they have, else another one.

        If a model answers, too, they get what is to be checked of it before anything else. Nobody
        gets what rules know.
        """
        held = self._held.get(name)
        if held is not None and not self._is_outdated(session, held, model):
            return held
        self._held.pop(name, None)
        awaited = [] if model is None else model.awaited
        question = None if name is None else self._second(session, name)
        if question is None and model is not None:
            question = model.review({one.row for one in self.held})
        if question is None:
            others = [*self.held, *awaited]
            asked = partial(session.ask_many, 1, besides=others)
            question = next(iter(asked() if rules is None else rules.put(asked)), None)
        if question is None:
            question = self._shared(session, name, awaited)
        if question is not None:
            self._held[name] = question
        return question

    def hold(self, name: str | None, question: Question) -> None:
        """Let a person have a question next."""
        self._held[name] = question

    def done(self, name: str | None) -> None:
        """Take away the question of a person, who has answered it."""
        self._held.pop(name, None)

    def _is_outdated(self, session: Session, held: Question, model: ModelAtWork | None) -> bool:
        rows = {held.row, *(row for group in held.groups for row in group)}
        if not session.is_given_out(held) or not session.removed.isdisjoint(rows):
            return True
        # What a model said settles nothing for people.
        return model is None and not session.is_second(held) and session.is_settled(held)

    def _second(self, session: Session, name: str) -> Question | None:
        """Return a question that somebody else has answered and this person is to answer, too."""
        held = {(question.row, question.groups) for question in self._held.values()}
        for first in to_double(session, self.every):
            if first.by != name and about(first) not in held and first.left not in session.removed:
                return session.put(*about(first), source="sampled")
        return None

    def _shared(
        self, session: Session, name: str | None, awaited: Sequence[Question]
    ) -> Question | None:
        """Return a question that other people, or a model, have before them.

        In the beginning every answer changes what is worth asking, so that there are not as many
        questions as people. Nobody waits: two answer the same one.
        """
        said = {about(gesture) for gesture in _by_people(session) if gesture.by == name}
        sharers = Counter((q.row, q.groups) for q in self._held.values())
        open_ones = [one for one in self._held.values() if (one.row, one.groups) not in said]
        if open_ones:
            one = min(open_ones, key=lambda one: sharers[one.row, one.groups])
            return session.put(one.row, one.groups, source="sampled", names=one.names)
        of_model = next((q for q in awaited if (q.row, q.groups) not in said), None)
        if of_model is None:
            return None
        row, groups = of_model.row, of_model.groups
        return session.put(row, groups, source="asked", names=of_model.names)


def about(gesture: Gesture) -> tuple[int, Groups]:
    """Return the row in question and the groups that were shown, by the answer."""
    return gesture.left, gesture.groups or ((gesture.right,),)


def _is_comparable(gesture: Gesture) -> bool:
    """Return whether all groups that were offered had rows, so that others can be offered them."""
    return () not in gesture.groups and not gesture.is_certain


def _by_people(session: Session) -> list[Gesture]:
    """Return all answers of people in the log, as they were given."""
    gestures = (entry for entry in session.log if isinstance(entry, Gesture))
    return [g for g in gestures if g.by and not g.by.startswith(MACHINES)]


def to_double(session: Session, every: int) -> list[Gesture]:
    """Return the answers, oldest first, whose questions a second person is to answer."""
    if not every:
        return []
    said = [gesture for gesture in _by_people(session) if _is_comparable(gesture)]
    n_people = Counter(place for place, _ in {(about(g), g.by) for g in said})
    first = {about(gesture): gesture for gesture in reversed(said)}
    in_order = [g for g in said if first[about(g)] is g]
    return [g for g in in_order[every - 1 :: every] if n_people[about(g)] < 2]


class Double(NamedTuple):
    """A question that two people answered."""

    first: Gesture
    second: Gesture
    is_decided: bool

    @property
    def agree(self) -> bool | None:
        """Whether both said the same; None if one of them was not sure."""
        if Answer.UNSURE in (self.first.answer, self.second.answer):
            return None
        return frozenset(self.first.links) == frozenset(self.second.links)


def doubles(session: Session) -> list[Double]:
    """Return all questions that two people answered, in order."""
    said = _by_people(session)
    certain = [g for g in said if g.is_certain]
    firsts, found = dict[tuple[int, Groups], Gesture](), list[Double]()
    for gesture in filter(_is_comparable, said):
        first = firsts.setdefault(about(gesture), gesture)
        if first.by == gesture.by:
            continue
        row, groups = about(gesture)
        pairs = {(row, group[0]) for group in groups}
        decided = any({(x.left, x.right) for x in g.links} <= pairs for g in certain)
        found.append(Double(first, gesture, decided))
    return found


class Agreement(NamedTuple):
    """How often two people said the same.

    Attributes
    ----------
    people : tuple of str
        Their names.
    n : int
        The questions that both answered and were sure about.
    n_same : int
        Those on which they agree.
    n_unsure : int
        Those about which one of them was not sure.
    interval : tuple of float
        The 95 % interval of the share on which they agree (Wilson).
    kappa : float or None
        Cohen's kappa: agreement beyond what their habits alone give; None where that is not
        defined.
    kappa_interval : tuple of float or None
        Its 95 % interval: what that of the share means for kappa.
    """

    people: tuple[str, str]
    n: int
    n_same: int
    n_unsure: int
    interval: tuple[float, float]
    kappa: float | None
    kappa_interval: tuple[float, float] | None


def agreements(session: Session) -> list[Agreement]:
    """Return how often every two people agree who answered the same questions."""
    from likewise.project.outlook import wilson_interval

    found = doubles(session)
    people = sorted({str(g.by) for double in found for g in double[:2]})
    result = []
    for one, other in combinations(people, 2):
        both = [d for d in found if {d.first.by, d.second.by} == {one, other}]
        if not both:
            continue
        sure = [d for d in both if d.agree is not None]
        said = [
            sorted((d.first, d.second), key=lambda g: str(g.by)) for d in sure
        ]  # theirs side by side
        kinds = np.array([[_kind(session, g) for g in pair] for pair in said]).reshape(-1, 2)
        n_same = sum(bool(d.agree) for d in sure)
        interval = wilson_interval(n_same, len(sure))
        kappa, around = cohens_kappa(kinds)
        n_unsure = len(both) - len(sure)
        result.append(Agreement((one, other), len(sure), n_same, n_unsure, interval, kappa, around))
    return result


def _kind(session: Session, gesture: Gesture) -> int:
    """Return a number for what somebody said, the same for the same group in every question.

    That is the group that the row they chose is in now; -1 for none of these, or different.
    """
    chosen = [link.right for link in gesture.links if link.answer is Answer.SAME]
    return int(session.labels[chosen[0]]) if chosen else -1


def cohens_kappa(kinds: np.ndarray) -> tuple[float | None, tuple[float, float] | None]:
    """Return Cohen's kappa of two columns of categories, and its 95 % interval.

    That is the interval of the share on which they agree, on the scale of kappa. Where they agree
    on all of a few questions, a bootstrap would say that kappa is certainly 1. It is None where
    both always say the same one thing, so that nothing is beyond chance.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.project.people import cohens_kappa
    >>> cohens_kappa(np.array([[0, 0], [1, 1], [0, 0], [1, 0]]))[0]
    0.5
    """
    from likewise.project.outlook import wilson_interval

    if not len(kinds):
        return None, None
    names, places = np.unique(kinds, return_inverse=True)
    shares = np.array(
        [np.bincount(column, minlength=len(names)) for column in places.reshape(kinds.shape).T]
    ) / len(kinds)
    by_chance = float(shares[0] @ shares[1])
    if by_chance >= 1.0:
        return None, None
    n_same = int((kinds[:, 0] == kinds[:, 1]).sum())
    ends = (n_same / len(kinds), *wilson_interval(n_same, len(kinds)))
    kappa, low, high = (max(-1.0, (share - by_chance) / (1.0 - by_chance)) for share in ends)
    return kappa, (low, high)
