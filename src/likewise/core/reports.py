"""What a session reports about itself, as immutable values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Gesture, Link, Question
from likewise.words import card, listed, plural


@dataclass(frozen=True, slots=True)
class Progress:
    """How far along a session is.

    Attributes
    ----------
    answered : int
        Yes/no answers so far, including links known beforehand.
    unsure : int
        Answers that were *not sure*.
    settled_for_free : int
        Pairs of representatives settled without a question.
    at_most : int
        No more than this many yes/no questions will follow. Never grows on a yes or no.
    estimate : int or None
        An estimate of how many will follow, if there is one.
    n_groups : int
        Number of groups now.
    has_more : bool
        Whether the session ended before everything was asked: the budget is spent, or more
        questions would bring little. `Session.extend` asks more.
    """

    answered: int
    unsure: int
    settled_for_free: int
    at_most: int
    estimate: int | None
    n_groups: int
    has_more: bool = False

    @property
    def groups(self) -> str:
        """The number of groups in words; before any answer they are guessed or given."""
        return f"{plural(self.n_groups, 'group')}{'' if self.answered else ' before any answer'}"

    @property
    def to_go(self) -> str:
        """The number of remaining questions in words."""
        if self.has_more:
            return "done; more questions available"
        if not self.at_most:
            return "nothing left to ask"
        return "" if self.estimate is None else f"about {max(1, self.estimate)} to go"

    def __str__(self) -> str:
        unsure = f" and {self.unsure} not sure" if self.unsure else ""
        parts = [plural(self.answered, "answer") + unsure, self.groups, self.to_go]
        return " · ".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        lines = [("answers", self.answered), ("not sure", self.unsure), ("groups", self.n_groups)]
        return card("Progress", [*lines, ("to go", self.to_go or "as many as you like")])


@dataclass(frozen=True, slots=True)
class Revision:
    """What a change of an earlier answer does to the later ones.

    Attributes
    ----------
    kept : tuple of Gesture
        Answers that stay in the log, as they are numbered now.
    dropped : tuple of Gesture
        Answers that contradict the new one.
    """

    kept: tuple[Gesture, ...]
    dropped: tuple[Gesture, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A pair that was settled without a question, to be asked as a check.

    Attributes
    ----------
    left, right : int
        The rows.
    expected : Answer
        What the answers so far imply.
    chain : tuple of Link
        The shortest chain of answers that implies it.
    """

    left: int
    right: int
    expected: Answer
    chain: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """An earlier question, to be asked again the other way round.

    Attributes
    ----------
    number : int
        The number of its answer in the log, from 1.
    question : Question
        The question with its two rows, or its groups, in the opposite order.
    before : tuple of Link
        What was answered.
    """

    number: int
    question: Question
    before: tuple[Link, ...]


class Agreement(NamedTuple):
    """How often people answered a question again as they did before.

    Attributes
    ----------
    n : int
        How many questions were answered again; *not sure* does not count.
    n_same : int
        How many of them in the same way.
    """

    n: int
    n_same: int

    def __str__(self) -> str:
        return f"{self.n_same} of {self.n} the same" if self.n else "nothing was asked again"


class Suspect(NamedTuple):
    """An answer that is probably wrong.

    Attributes
    ----------
    number : int
        Its number in the log, from 1: what `Session.revise` takes.
    left, right : int
        The rows it is about.
    answer : Answer
        The answer.
    credibility : float
        The probability that it is right, by all that is known without it.
    """

    number: int
    left: int
    right: int
    answer: Answer
    credibility: float


class Merge(NamedTuple):
    """Two groups that may be one.

    Attributes
    ----------
    left, right : int
        Rows that stand for the groups.
    proba : float
        The probability that they are one, by how often the learner confuses their rows; good for
        sorting.
    """

    left: int
    right: int
    proba: float


EARLY = 30
"""With fewer rows asked about, reports say how much was foreseen instead of how much is right."""

FEW_SEEN = 3
"""With fewer answers than this, reports do not say how many were foreseen."""

HIGH = 0.86
"""An estimate below this is too often off by more than .10, so only the bound is reported. Chosen
by the statements of `benchmarks.practice`: above it, nine in ten are within .10 on sets that the
estimate was not fitted to, for few and many answers, and for people who are wrong in one of ten."""

CONTRADICTED = 0.05
"""A row is suspected if its own group is at most this many times as likely as the likeliest other.
On 20 practice sets with 100 choices, 1.4 are suspected where no answer is wrong. Where one in ten
is, 80% of the suspects are wrong, but only 39% of the wrong answers are suspected."""


@dataclass(frozen=True, slots=True)
class Completeness:
    """How much of a grouping is right, estimated from what is known now.

    Attributes
    ----------
    estimate : float
        The share of rows that are in the right group.
    at_least : float
        The share is at least this, meant to be true in 95% of cases.
    one_group : float
        The share that would be right if all rows were one big group.
    unmet : int
        How many of the groups are guesses: parts of the data that no question was about yet and
        that are likely groups of their own.
    changing : float
        The share of rows that the last twenty rows asked about moved to another group; the last
        half of fewer than forty.
    curve : tuple of (int, float)
        How the estimate grew: after some numbers of rows asked about.
    foreseen : tuple of int
        How many rows were predicted, from what was known ten rows before, to be where answers then
        put them; and of how many. Rows in doubt are asked about, so this share is smaller than
        that of the rows that are right.
    """

    estimate: float
    at_least: float
    one_group: float = 0.0
    unmet: int = 0
    changing: float = 1.0
    curve: tuple[tuple[int, float], ...] = ()
    foreseen: tuple[int, int] = (0, 0)

    @property
    def is_better_than_one_group(self) -> bool:
        """Whether the grouping is surely better than one big group."""
        return self.at_least > self.one_group

    @property
    def n_known(self) -> int:
        """The number of rows asked about when it was estimated."""
        return self.curve[-1][0] if self.curve else EARLY

    @property
    def is_said(self) -> bool:
        """Whether the estimate is good enough to be said, not only its bound."""
        is_known = self.n_known >= EARLY and self.is_better_than_one_group
        return is_known and self.estimate >= HIGH

    def __str__(self) -> str:
        if self.n_known < EARLY:
            hits, n = self.foreseen
            seen = f"; {hits} of the last {n} answers were foreseen" if n >= FEW_SEEN else ""
            return f"too early to say how much is right{seen}"
        if not self.is_better_than_one_group:
            return "not surely better than one big group yet"
        if not self.is_said:
            return f"at least {self.at_least:.0%} right"
        return f"about {self.estimate:.0%} right, at least {self.at_least:.0%}"

    def _repr_html_(self) -> str:
        return card("Completeness (estimate)", [("groups", self)])


class Aspect(NamedTuple):
    """One respect in which rows are alike, and how much it counts.

    Attributes
    ----------
    name : str
        Its name.
    weight : float or None
        Its share of what is learned; 0 if it is switched off, None before anything is known. The
        weights of all aspects sum to 1.
    is_on : bool
        Whether it is not switched off.
    """

    name: str
    weight: float | None
    is_on: bool


MOSTLY, PARTLY, A_LITTLE = 2 / 3, 0.2, 0.05
"""The least weights with which rows are grouped *mostly* by an aspect, by several aspects, and
*a little* by one more."""


def grouped_by(aspects: Sequence[Aspect]) -> str:
    """Return in words by which of several aspects rows are grouped, "" before that is known.

    Examples
    --------
    >>> from likewise.core.reports import Aspect, grouped_by
    >>> grouped_by([Aspect("layout", 0.2, True), Aspect("content", 0.8, True)])
    'grouped mostly by content, a little by layout'
    """
    weights = {each.name: each.weight for each in aspects if each.weight is not None}
    if len(aspects) < 2 or not weights:
        return ""
    names = sorted(weights, key=lambda name: -weights[name])
    least = MOSTLY if weights[names[0]] >= MOSTLY else PARTLY
    most = [name for name in names if weights[name] >= least]
    little = [name for name in names[len(most) :] if weights[name] >= A_LITTLE]
    if not little:
        return f"grouped by {listed(most)}"
    return f"grouped {'mostly ' * (len(most) == 1)}by {listed(most)}, a little by {listed(little)}"


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a strategy makes of the answers so far, as functions that compute it when called.

    Attributes
    ----------
    remaining : callable
        Returns how many yes/no questions are left at most, and an estimate if there is one. The
        first number never grows on a yes or no.
    is_enough : callable
        Returns whether more questions would bring little, so that `fit` without a budget ends.
    doubts : callable
        Returns, for every row, the probability that its label is wrong, or None.
    completeness : callable
        Returns how much of the grouping is right, or None if there is no estimate.
    suspects : callable
        Called with a number. Returns answers that other answers contradict, the least credible
        first: those whose group is at most this many times as likely as the likeliest other one.
    aspects : callable
        Returns the aspects of the rows and how much each counts; none if the rows have none.
    merges : callable
        Returns pairs of groups that may be one, the likeliest first.
    learned : callable or None
        Returns what was learned from the answers, which predicts other rows, or None before there
        are two groups. Called with True, it may learn from groups that are a guess. None if the
        strategy learns nothing.
    """

    remaining: Callable[[], tuple[int, int | None]]
    is_enough: Callable[[], bool] = bool
    doubts: Callable[[], NDArray[np.float64] | None] = lambda: None
    completeness: Callable[[], Completeness | None] = lambda: None
    suspects: Callable[[float], list[Suspect]] = lambda _: []
    aspects: Callable[[], list[Aspect]] = list
    merges: Callable[[], list[Merge]] = list
    learned: Callable[[bool], Any] | None = None
