"""What a session knows at any moment: the open question, the labels, how far it is."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Choice, Query, Question, ordered
from likewise.core.audit import settled_for_free
from likewise.core.html import card
from likewise.core.log import Log
from likewise.core.reports import Check, Completeness, Progress, Suspect
from likewise.errors import InputError


class Standing(Log):
    """What follows from a log; see `likewise.Session`."""

    def __repr__(self) -> str:
        return f"<Session: {self.progress}>"

    def _repr_html_(self) -> str:
        question, complete = self.ask(), self.completeness
        asked = "nothing is left to ask" if question is None else question.about
        told = [("rows", self.strategy.n_rows), ("progress", self.progress), ("asks", asked)]
        told += [] if complete is None else [("groups", complete)]
        return card("Session", [*told, ("to answer", "session.widget(items=...)")])

    def ask(self) -> Question | None:
        """Return the open question, or None when there is nothing left to ask.

        Asking again returns the same question. It is a `Query` about two rows, or a `Choice`
        where the strategy asks to which of some groups a row belongs.
        """
        return self.once("question", self._next_question)

    def _next_question(self) -> Question | None:
        number = len(self._gestures) + 1
        pair = self.open_focus
        choice = self.strategy.next_choice() if pair is None else None
        if choice is not None:
            row, groups = choice
            is_check = any(self.links.implied(row, group[0]) is not None for group in groups)
            shown = tuple(tuple(map(self._id, group)) for group in groups)
            ids = shown if self.sample_ids is not None else ()
            return Choice(number, row, groups, self._id(row), ids, is_check)
        pair = self.strategy.next_pair() if pair is None else pair
        if pair is None:
            return None
        left, right = pair
        is_check = self.links.implied(left, right) is not None
        return Query(number, left, right, self._id(left), self._id(right), is_check)

    @property
    def open_focus(self) -> tuple[int, int] | None:
        """Two rows to ask about first, since one was said not to fit; None if there are none."""
        for left, right in self._focus:
            pair = ordered(left, right)
            is_open = self.links.implied(left, right) is None
            if is_open and all(pair != gesture.pair for gesture in self._gestures):
                return left, right
        return None

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.ask() is None

    @property
    def progress(self) -> Progress:
        """How far the session is."""
        at_most, estimate = (0, 0) if self.is_done else self.strategy.remaining()
        unsure = sum(g.links[0].answer is Answer.UNSURE for g in self._gestures)
        return Progress(
            answered=len(self._gestures) - unsure,
            unsure=unsure,
            settled_for_free=self.links.n_decided - len(self.links) - len(self.overruled_pairs()),
            at_most=at_most,
            estimate=estimate,
            n_groups=self.strategy.n_groups,
        )

    @property
    def completeness(self) -> Completeness | None:
        """How complete the groups are, as an estimate; None where the strategy cannot tell."""
        return self.strategy.completeness()

    @property
    def suspects(self) -> list[Suspect]:
        """Answers that are probably wrong, the least credible first, numbered as in `events`."""
        numbers = [gesture.number for gesture in self._gestures for _ in gesture.links]
        found: dict[int, Suspect] = {}
        for suspect in self.strategy.suspects():
            number = numbers[suspect.number - 1]
            found.setdefault(number, suspect._replace(number=number))
        return list(found.values())

    @property
    def labels(self) -> NDArray[np.intp]:
        """The group of every row by what is known now.

        COBRA leaves apart what is undecided; `Likewise` puts every row where it learned that it
        belongs.
        """
        return self.strategy.labels()

    @property
    def labels_guess(self) -> NDArray[np.intp]:
        """The group of every row if what is undecided is guessed from the answers so far.

        A guess: it respects every answer, but nobody confirmed what it adds to them. When nothing
        is left to ask it equals `labels`.
        """
        return self.strategy.labels_guess()

    @property
    def open_pairs(self) -> list[tuple[int, int]]:
        """One pair of rows for every two groups that stayed undecided by *not sure* answers."""
        return self.strategy.open_pairs() if self.is_done else []

    def audit(self, n: int, *, random_state: int = 0) -> list[Check]:
        """Return pairs that were settled for free, to find out whether that was right.

        Where no question contradicts an earlier answer, a wrong answer shows only when something
        settled is asked on purpose. Half of the pairs, where there are enough, are expected to be
        the same and half to differ.

        Parameters
        ----------
        n : int
            How many pairs to return; fewer if fewer are settled.
        random_state : int, default=0
            Which ones to choose.
        """
        said = {link.pair for link in self.links} | self.overruled_pairs()
        return settled_for_free(self.links, self.strategy.askable(), said, n, random_state)

    def overruled_pairs(self) -> set[tuple[int, int]]:
        """Return pairs that were answered otherwise than other answers decide now."""
        if not self.strategy.weighs_answers:
            return set()
        said = [link for g in self._gestures for link in g.links if link.answer.is_link]
        implied = self.links.implied
        return {x.pair for x in said if implied(x.left, x.right) not in (None, x.answer)}

    def _checked_rows(self, *rows: int) -> None:
        n_rows = self.strategy.n_rows
        for row in rows:
            if not 0 <= row < n_rows:
                raise InputError(f"row {row} is out of range: the data has {n_rows} rows")

    def _id(self, row: int) -> Hashable | None:
        return None if self.sample_ids is None else self.sample_ids[row]
