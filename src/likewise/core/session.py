"""A session: one question at a time, from outside, with every answer changeable.

The session holds no loop and knows no person. `ask` says what it wants to know, `tell` and `choose`
take the answer; whoever calls them is the web page, the terminal, an estimator's `fit`, or your own
code. What was done, and undoing it, is in `likewise.core.log`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from likewise.core.answers import Answer, Choice, Gesture, Link, Query, Question, as_answer
from likewise.core.journal import Checked, Marked, Named, Rebuilt, Revised, Told
from likewise.core.reports import Revision
from likewise.core.revising import as_choice, said_instead
from likewise.core.standing import Standing
from likewise.core.strategy import Strategy
from likewise.errors import InputError, StaleQueryError

Chosen = int | Sequence[int] | Answer | None


class Session(Standing):
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
    2 answered · 1 settled for free · at most 0 left · 2 groups now
    """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Session):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # sessions change

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
        return self._say(question.links(as_choice(chosen)), question, by=by, at=at)

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
        return self._say(tuple(links), choice, by=by, at=at)

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
        links = tuple(links)
        if not links:
            raise InputError("a gesture has at least one link")
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
        if isinstance(question, Query):
            links = question.links(as_answer(said))
        else:
            links = question.links(as_choice(said))
        self._gestures.append(self._recorded(Gesture(question.number, links)))
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
        """
        entry = Revised(number, said_instead(self._gestures, number, said), by, at)
        revision = self._revision(entry)
        self._new(entry)
        return revision

    def preview(self, number: int, said: Any) -> Revision:
        """Return what `revise` would do, without doing it."""
        return self._revision(Revised(number, said_instead(self._gestures, number, said)))

    # -- other things that are done --------------------------------------------------------------

    def rebuild(
        self,
        strategy: Strategy,
        *,
        why: str = "refine",
        ask: tuple[int, int] | None = None,
        by: str | None = None,
        at: str | None = None,
    ) -> None:
        """Go on with another strategy, into which all answers so far are carried over.

        Parameters
        ----------
        strategy : Strategy
            Without answers; see `Strategy.on`.
        why : {"refine", "misfit"}
            What it is for.
        ask : tuple of (int, int), optional
            Two rows to ask about first.
        by, at : str, optional
            Who does it and when, for the log.
        """
        plain = {"name": strategy.name, **strategy.to_dict()}
        self._new(Rebuilt(plain, why, ask, by, at))

    def name(
        self, names: Mapping[int, str], *, by: str | None = None, at: str | None = None
    ) -> None:
        """Give rows names, which are those of their groups; an empty one takes a name away."""
        self._checked_rows(*names)
        self._new(Named(tuple(names.items()), by, at))

    def mark(self, row: int, *, by: str | None = None, at: str | None = None) -> None:
        """Note that a row does not seem to fit where it is."""
        self._checked_rows(row)
        self._new(Marked(row, by, at))

    def check(
        self, left: int, right: int, answer: Any, *, by: str | None = None, at: str | None = None
    ) -> None:
        """Note the answer to a check question of `audit`; it changes no group."""
        self._checked_rows(left, right)
        self._new(Checked(Link(left, right, as_answer(answer)), by, at))

    # -- inside ----------------------------------------------------------------------------------

    def _open_question(self, query: Question | int | None) -> Question:
        question = self.ask()
        if question is None:
            raise StaleQueryError("there is no open question: everything is settled")
        if query is not None and query not in (question, question.number):
            number = query if isinstance(query, int) else query.number
            raise StaleQueryError(
                f"the answer is for question {number}, but the open one is question "
                f"{question.number} {question.about}. Ask again."
            )
        return question

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
