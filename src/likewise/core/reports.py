"""What a session says about itself: frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.core.answers import Answer, Event
from likewise.core.links import Given


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a session is.

    Attributes
    ----------
    answered : int
        Yes/no answers so far, those given beforehand included.
    unsure : int
        Answers that were *not sure*.
    settled_for_free : int
        Pairs of representatives settled without a question.
    at_most : int
        No more than this many yes/no questions will follow. Never grows on a yes or no.
    estimate : int
        About how many will follow; an estimate.
    n_groups : int
        Groups now.
    """

    answered: int
    unsure: int
    settled_for_free: int
    at_most: int
    estimate: int
    n_groups: int

    def __str__(self) -> str:
        return (
            f"{self.answered} answered · {self.settled_for_free} settled for free · "
            f"at most {self.at_most} left · {self.n_groups} groups now"
        )


@dataclass(frozen=True, slots=True)
class Revision:
    """What a change of an earlier answer does to the later ones.

    Attributes
    ----------
    kept : tuple of Event
        Answers that stay in the log, as they are numbered now.
    dropped : tuple of Event
        Answers about pairs that are now settled by others.
    """

    kept: tuple[Event, ...]
    dropped: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A pair that was settled without a question, to be asked as a check.

    Attributes
    ----------
    left, right : int
        The rows.
    expected : Answer
        What the answers so far imply.
    chain : tuple of Given
        The shortest chain of answers that implies it.
    """

    left: int
    right: int
    expected: Answer
    chain: tuple[Given, ...]
