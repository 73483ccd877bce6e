"""A session: one question at a time, from outside, with every answer changeable.

The session holds no loop and knows no person. `ask` says what it wants to know, `tell` and `choose`
take the answer; whoever calls them is the web page, the terminal, an estimator's `fit`, or your own
code. What was done, and undoing it, is in `likewise.core.log`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import (
    Answer,
    Choice,
    Gesture,
    Link,
    Query,
    Question,
    as_answer,
    ordered,
)
from likewise.core.audit import settled_for_free
from likewise.core.html import card
from likewise.core.journal import Revised, Told
from likewise.core.log import Log
from likewise.core.reports import Check, Completeness, Progress, Revision, Suspect
from likewise.core.revising import check_fits
from likewise.errors import InputError, StaleQueryError
from likewise.inputs import is_whole
from likewise.words import plural

Chosen = int | Sequence[int] | Answer | None


class Session(Log):
    """Ask and tell.

    Sessions are made by an estimator's ``start``; `labels` is a valid clustering at every moment.

    Parameters
    ----------
    strategy : Strategy
        Decides what to ask.
    sample_ids : sequence of hashable, optional
        Names of the rows that outlive slicing and reordering; passed along with every query.
    digest : str, optional
        Fingerprint of the data, so that a saved session is not continued on other data.
    row_numbers : sequence of int, optional
        If the session is about a sample of larger data: for every row its number there.

    Examples
    --------
    >>> from likewise import COBRA
    >>> session = COBRA(n_super_instances=3).start([[0.0], [0.1], [5.0]])
    >>> question = session.ask()
    >>> question.left, question.right
    (0, 1)
    >>> _ = session.tell("same")
    >>> _ = session.tell("different")
    >>> session.ask() is None, session.labels.tolist()
    (True, [0, 0, 1])
    >>> print(session.progress)
    2 answered · 2 groups now · nothing left to ask · 1 settled for free
    """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Session):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # sessions change

    def __repr__(self) -> str:
        return f"<Session: {self.progress}>"

    def _repr_html_(self) -> str:
        question, complete = self.ask(), self.completeness
        asked = "nothing is left to ask" if question is None else question.about
        told = [("rows", self.strategy.n_rows), ("progress", self.progress), ("asks", asked)]
        told += [] if complete is None else [("groups", complete)]
        return card("Session", [*told, ("to answer", "session.widget(items=...)")])

    # -- in a notebook ---------------------------------------------------------------------------

    def widget(
        self,
        items: Any = None,
        *,
        show: Callable[[int], Any] | None = None,
        html: bool = False,
        kind: str | None = None,
        X: Any = None,
        height: int = 660,
    ) -> Any:
        """Return a widget for notebooks that asks the questions and shows the groups.

        Needs ``pip install "likewise[notebook]"``. Answers change this session, so `progress`,
        `labels` and all else follow at once.

        Parameters
        ----------
        items : data frame, sequence or Items
            What the rows look like: the rows of a data frame; pictures (paths, PIL images or
            arrays of pixels); texts; series; or what `likewise.open_items` returned.
        show : callable, optional
            Instead of `items`: returns what row `i` looks like, as a text.
        html : bool
            Whether `show` returns HTML. It is then shown in a frame that cannot reach the
            notebook. By default all markup is shown as text.
        kind : {"images", "texts", "series"}, optional
            What `items` are, instead of recognizing it.
        X : array-like, optional
            The features, for the map and for refining. Not needed where each row counts on its
            own, as in `Likewise` up to 6000 rows.
        height : int
            In pixels.
        """
        # By its name, since the core imports none of the rooms above it.
        front = import_module("likewise.notebook")
        return front.widget(self, items, show=show, html=html, kind=kind, X=X, height=height)

    # -- asking and telling ----------------------------------------------------------------------

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

    def tell(
        self,
        answer: Any,
        *,
        query: Query | int | None = None,
        by: str | None = None,
        at: str | None = None,
    ) -> Gesture:
        """Answer the open question about two rows.

        Parameters
        ----------
        answer : Answer, bool, None or str
            What is said about the pair: an `Answer` or its value, such as "same"; True, False, or
            None for *not sure*.
        query : Query or int, optional
            The question, or its number, that this answers. If it is not the open one the answer
            is refused.
        by, at : str, optional
            Who says it and when, for the log.

        Returns
        -------
        Gesture
            What was said, as it stands in the log.
        """
        said = as_answer(answer)
        question = self._open_question(query)
        if isinstance(question, Query):
            return self._say(question.links(said), by=by, at=at)
        if said.is_link and len(question.groups) > 1:
            raise InputError(
                f"question {question.number} has {len(question.groups)} groups to choose from: "
                "answer it with session.choose(place of the group), session.choose(None) or "
                "session.skip()"
            )
        chosen: Any = {Answer.SAME: 0, Answer.DIFFERENT: None}.get(said, said)
        return self._say(question.links(chosen), question, by=by, at=at)

    def choose(
        self,
        chosen: Chosen,
        *,
        query: Choice | int | None = None,
        by: str | None = None,
        at: str | None = None,
    ) -> Gesture:
        """Answer the open question about groups to choose from.

        Parameters
        ----------
        chosen : int, sequence of int, None or Answer.UNSURE
            The place of the group in ``question.groups``, from 0. Several places say that these
            groups are one, and the row is in it. None says that it is none of these.
        query, by, at
            As for `tell`.
        """
        question = self._open_question(query)
        if isinstance(question, Query):
            raise InputError(
                f"question {question.number} is about two rows: answer it with session.tell(...)"
            )
        return self._say(_links(question, chosen), question, by=by, at=at)

    def say(
        self,
        links: Iterable[Link],
        *,
        query: Question | int | None = None,
        by: str | None = None,
        at: str | None = None,
    ) -> Gesture:
        """Answer the open question by links, as when a choice was put as pairs."""
        question = self._open_question(query)
        choice = question if isinstance(question, Choice) else None
        return self._say(_checked_links(links), choice, by=by, at=at)

    def skip(self) -> Gesture:
        """Answer the open question with *not sure*."""
        return self.tell(Answer.UNSURE)

    def give(self, left: int, right: int, answer: Any) -> Gesture:
        """Take in an answer that was known without asking.

        Raises
        ------
        ContradictionError
            If it clashes with earlier answers; nothing is changed then.
        """
        self._checked_rows(left, right)
        return self.give_links([Link(int(left), int(right), as_answer(answer))])

    def give_links(
        self,
        links: Iterable[Link],
        *,
        overrules: bool = False,
        by: str | None = None,
        at: str | None = None,
    ) -> Gesture:
        """Take in several links as one gesture: all of them or, on an error, none.

        Parameters
        ----------
        links : iterable of Link
            What is said.
        overrules : bool
            Whether earlier links that contradict these are dropped. By default that is an error.
        by, at : str, optional
            Who says it and when, for the log.
        """
        links = _checked_links(links)
        for link in links:
            self._checked_rows(link.left, link.right)
            if link.left == link.right:
                raise InputError(
                    f"row {link.left} was paired with itself; an answer is about two rows"
                )
        self._say(links, source="mended" if overrules else "given", by=by, at=at)
        return self._gestures[-1]

    def peek(self, said: Chosen | str | bool) -> Question | None:
        """Return the question that would follow if the open one were answered this way.

        Parameters
        ----------
        said : Answer or what `choose` takes
            The answer to a `Query`, or what is chosen in a `Choice`.
        """
        question = self.ask()
        if question is None:
            return None
        gesture = Gesture(question.number, _links(question, said))
        self._gestures.append(self._recorded(gesture))
        try:
            return self._next_question()
        finally:
            self._forget_last()

    # -- changing an earlier answer --------------------------------------------------------------

    def revise(
        self, number: int, said: Any, *, by: str | None = None, at: str | None = None
    ) -> Revision:
        """Change an earlier answer and keep every later one that still applies.

        Parameters
        ----------
        number : int
            The number of the answer in `events`.
        said : Answer or what `choose` takes
            What is said instead: an answer about two rows, or for a choice the group.
        by, at : str, optional
            Who says it and when, for the log.

        Returns
        -------
        Revision
            The answers kept and those dropped, since other answers settle their pairs now.

        Raises
        ------
        ContradictionError
            If what is said instead contradicts earlier answers, such as two groups chosen at once
            that are known to differ.
        """
        entry = Revised(number, self._instead(number, said), by, at)
        revision = self._foreseen(entry)
        self._new(entry)
        return revision

    def preview(self, number: int, said: Any) -> Revision:
        """Return what `revise` would do, without doing it."""
        return self._foreseen(Revised(number, self._instead(number, said)))

    def _foreseen(self, entry: Revised) -> Revision:
        check_fits(self._gestures, entry, self.strategy)
        return self._revision(entry)

    # -- what is known ---------------------------------------------------------------------------

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
        if not is_whole(n) or n < 0:
            raise InputError(f"audit takes a number of pairs from 0, got {n!r}")
        said = {link.pair for link in self.links} | self.overruled_pairs()
        return settled_for_free(self.links, self.strategy.askable(), said, n, random_state)

    def overruled_pairs(self) -> set[tuple[int, int]]:
        """Return pairs that were answered otherwise than other answers decide now."""
        if not self.strategy.weighs_answers:
            return set()
        said = [link for g in self._gestures for link in g.links if link.answer.is_link]
        implied = self.links.implied
        return {x.pair for x in said if implied(x.left, x.right) not in (None, x.answer)}

    # -- inside ----------------------------------------------------------------------------------

    def _open_question(self, query: Question | int | None) -> Question:
        question = self.ask()
        if question is None:
            raise StaleQueryError("there is no open question: everything is settled")
        if query is not None and query not in (question, question.number):
            number = getattr(query, "number", query)
            raise StaleQueryError(
                f"the answer is for question {number}, but the open one is question "
                f"{question.number} {question.about}. Ask again."
            )
        return question

    def _instead(self, number: int, said: Any) -> Answer | tuple[Link, ...]:
        """Return what a gesture would say instead: an answer about two rows, or links."""
        n = len(self._gestures)
        if not is_whole(number) or not 1 <= number <= n:
            raise InputError(f"there is no answer {number!r}: the log has {plural(n, 'answer')}")
        gesture = self._gestures[number - 1]
        if gesture.groups:
            return _links(Choice(number, gesture.left, gesture.groups), said)
        if len(gesture.links) > 1:
            raise InputError(
                f"answer {number} says {len(gesture.links)} things at once: undo it, or say "
                "otherwise with give_links(..., overrules=True)"
            )
        return as_answer(said)

    def _say(
        self,
        links: tuple[Link, ...],
        question: Choice | None = None,
        *,
        source: str = "asked",
        by: str | None,
        at: str | None,
    ) -> Gesture:
        groups = () if question is None else question.groups
        gesture = Gesture(len(self._gestures) + 1, links, source, groups, by, at)
        self._new(Told(gesture))
        return gesture

    def _id(self, row: int) -> Hashable | None:
        return None if self.sample_ids is None else self.sample_ids[row]


def _checked_links(links: Any) -> tuple[Link, ...]:
    """Return links as a tuple with at least one, or raise `InputError`."""
    found = tuple(links) if isinstance(links, Iterable) else (links,)
    if not found:
        raise InputError("a gesture has at least one link")
    for link in found:
        if not (isinstance(link, Link) and isinstance(link.answer, Answer)):
            raise InputError(f"a link is likewise.Link(left, right, Answer.SAME), got {link!r}")
    return found


def _links(question: Question, said: Any) -> tuple[Link, ...]:
    """Return what an answer to a question says, however it was written."""
    if isinstance(question, Choice) and not isinstance(said, str):
        return question.links(tuple(said) if isinstance(said, list) else said)
    return question.links(as_answer(said))
