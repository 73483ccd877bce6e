"""A session: one question at a time, from outside, with every answer changeable.

The session holds no loop and knows no person. `ask` says what it wants to know, `tell` takes the
answer; whoever calls them is the web page, the terminal, an estimator's `fit`, or your own code.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.core.answers import Answer, Event, Query
from likewise.core.journal import (
    FORMAT,
    SCHEMA,
    Deed,
    Revised,
    Told,
    current,
    deed_from_dict,
    deed_to_dict,
)
from likewise.core.links import LinkGraph
from likewise.core.reports import Check, Progress, Revision
from likewise.core.strategy import Completeness, Strategy
from likewise.errors import InputError, SessionFileError, StaleQueryError


class Session:
    """Ask and tell.

    Sessions are made by an estimator's ``start``; `labels` is a valid clustering at every moment.

    Parameters
    ----------
    strategy : Strategy
        Decides which pair to ask about.
    sample_ids : sequence of hashable, optional
        Names of the rows that outlive slicing and reordering; passed along with every query.
    digest : str, optional
        Fingerprint of the data, so that a saved session is not continued on other data.

    Examples
    --------
    >>> from likewise import COBRA, Answer
    >>> session = COBRA(n_super_instances=3).start([[0.0], [0.1], [5.0]])
    >>> session.ask()
    Query(number=1, left=0, right=1, left_id=None, right_id=None)
    >>> _ = session.tell(Answer.SAME)
    >>> _ = session.tell(Answer.DIFFERENT)
    >>> session.ask() is None, session.labels.tolist()
    (True, [0, 0, 1])
    >>> print(session.progress)
    2 answered · 1 settled for free · at most 0 left · 2 groups now
    """

    _loaders: ClassVar[dict[str, Callable[[Mapping[str, Any], Any], Strategy]]] = {}

    def __init__(
        self,
        strategy: Strategy,
        *,
        sample_ids: Sequence[Hashable] | None = None,
        digest: str | None = None,
    ) -> None:
        self.strategy = strategy
        self.sample_ids = _checked_ids(sample_ids, strategy.n_rows)
        self.digest = digest
        self._events: list[Event] = []
        self._done: list[tuple[Deed, tuple[Event, ...]]] = []
        self._undone: list[Deed] = []

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Session):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # sessions change

    def __repr__(self) -> str:
        return f"<Session: {self.progress}>"

    # -- asking and telling ----------------------------------------------------------------------

    def ask(self) -> Query | None:
        """Return the open question, or None when there is nothing left to ask.

        Asking again returns the same question.
        """
        pair = self.strategy.next_pair()
        if pair is None:
            return None
        left, right = pair
        ids = self.sample_ids
        return Query(
            len(self._events) + 1,
            left,
            right,
            None if ids is None else ids[left],
            None if ids is None else ids[right],
        )

    def tell(self, answer: Answer, *, query: Query | int | None = None) -> Event:
        """Answer the open question.

        Parameters
        ----------
        answer : Answer
            What is said about the pair.
        query : Query or int, optional
            The question, or its number, that this answers. If it is not the open one the answer
            is refused.

        Returns
        -------
        Event
            The entry made in the log.
        """
        if not isinstance(answer, Answer):
            raise InputError(f"an answer is one of {[a.name for a in Answer]}, got {answer!r}")
        question = self.ask()
        if question is None:
            raise StaleQueryError("there is no open question: everything is settled")
        if query is not None and query not in (question, question.number):
            number = query.number if isinstance(query, Query) else query
            raise StaleQueryError(
                f"the answer is for question {number}, but the open one is question "
                f"{question.number} about rows {question.left} and {question.right}. Ask again."
            )
        event = Event(question.number, question.left, question.right, answer)
        self._do(Told(event))
        self._undone.clear()
        return event

    def skip(self) -> Event:
        """Answer the open question with *not sure*."""
        return self.tell(Answer.UNSURE)

    def give(self, left: int, right: int, answer: Answer) -> Event:
        """Take in an answer that was known without asking.

        Raises
        ------
        ContradictionError
            If it clashes with earlier answers; nothing is changed then.
        """
        n_rows = self.strategy.n_rows
        for row in (left, right):
            if not 0 <= row < n_rows:
                raise InputError(f"row {row} is out of range: the data has {n_rows} rows")
        if left == right:
            raise InputError(f"row {left} was paired with itself; an answer is about two rows")
        event = Event(len(self._events) + 1, int(left), int(right), answer, source="given")
        self._do(Told(event))
        self._undone.clear()
        return event

    def peek(self, answer: Answer) -> Query | None:
        """Return the question that would follow if the open one were answered this way."""
        question = self.ask()
        if question is None:
            return None
        with self._hypothetically(question, answer):
            follow_up = self.ask()
        return None if follow_up is None else _renumbered(follow_up, question.number + 1)

    # -- going back ------------------------------------------------------------------------------

    def undo(self) -> Event | Revision | None:
        """Take back the last answer or revision; return it, or None if there is none."""
        if not self._done:
            return None
        deed, before = self._done.pop()
        self._undone.append(deed)
        if isinstance(deed, Told):
            self.strategy.rewind()
            self._events.pop()
            return deed.event
        return self._restore(before)

    def redo(self) -> Event | Revision | None:
        """Do again what `undo` took back last; return it, or None if there is nothing."""
        if not self._undone:
            return None
        return self._do(self._undone.pop())

    def revise(self, number: int, answer: Answer) -> Revision:
        """Change an earlier answer and keep every later one that still applies.

        Parameters
        ----------
        number : int
            The number of the answer in `events`.
        answer : Answer
            What is said instead.

        Returns
        -------
        Revision
            The answers kept and those dropped, since other answers settle their pairs now.
        """
        self._checked_number(number)
        revision = self._do(Revised(number, answer))
        assert isinstance(revision, Revision)
        self._undone.clear()
        return revision

    def preview(self, number: int, answer: Answer) -> Revision:
        """Return what `revise` would do, without doing it."""
        self._checked_number(number)
        changed = [
            Event(e.number, e.left, e.right, answer if e.number == number else e.answer, e.source)
            for e in self._events
        ]
        if getattr(self.strategy, "weighs_answers", False):
            # What follows from other answers is further evidence there, not settled.
            return Revision(tuple(changed), ())
        links = LinkGraph(self.strategy.n_rows)
        kept: list[Event] = []
        dropped: list[Event] = []
        for event in changed:
            if links.implied(event.left, event.right) is not None:
                dropped.append(event)
                continue
            if event.answer.is_link:
                links.add(event.left, event.right, event.answer)
            kept.append(Event(len(kept) + 1, event.left, event.right, event.answer, event.source))
        return Revision(tuple(kept), tuple(dropped))

    # -- what is known ---------------------------------------------------------------------------

    @property
    def events(self) -> tuple[Event, ...]:
        """The log of answers."""
        return tuple(self._events)

    @property
    def links(self) -> LinkGraph:
        """What the answers imply, over rows. Read it; do not change it."""
        return self.strategy.links

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.strategy.next_pair() is None

    @property
    def can_redo(self) -> bool:
        """Whether `redo` would do something."""
        return bool(self._undone)

    @property
    def progress(self) -> Progress:
        """How far the session is."""
        at_most, estimate = self.strategy.remaining()
        unsure = sum(not e.answer.is_link for e in self._events)
        return Progress(
            answered=len(self._events) - unsure,
            unsure=unsure,
            settled_for_free=self.links.n_decided - len(self.links) - len(self._overruled_pairs()),
            at_most=at_most,
            estimate=estimate,
            n_groups=self.strategy.n_groups,
        )

    @property
    def completeness(self) -> Completeness | None:
        """How complete the groups are, as an estimate; None where the strategy cannot tell.

        A strategy that can has a method ``completeness()`` besides those of `Strategy`.
        """
        tell = getattr(self.strategy, "completeness", None)
        return None if tell is None else tell()

    @property
    def labels(self) -> NDArray[np.intp]:
        """The group of every row by what is known now; what is undecided stays apart."""
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

        No question of a session can contradict an earlier answer, so a wrong answer shows only
        when something settled is asked on purpose. Half of the pairs, where there are enough,
        are expected to be the same and half to differ.

        Parameters
        ----------
        n : int
            How many pairs to return; fewer if fewer are settled.
        random_state : int, default=0
            Which ones to choose.
        """
        rng = np.random.default_rng(random_state)
        same = self._settled_pairs(Answer.SAME, n, rng)
        different = self._settled_pairs(Answer.DIFFERENT, n, rng)
        n_same = min(len(same), max((n + 1) // 2, n - len(different)))
        return [
            Check(left, right, expected, self.links.explain(left, right))
            for expected, pairs in (
                (Answer.SAME, same[:n_same]),
                (Answer.DIFFERENT, different[: n - n_same]),
            )
            for left, right in pairs
        ]

    # -- saving ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the session as plain values that JSON can hold."""
        return {
            "format": FORMAT,
            "schema": SCHEMA,
            "digest": self.digest,
            "sample_ids": None if self.sample_ids is None else list(self.sample_ids),
            "strategy": {"name": self.strategy.name, **self.strategy.to_dict()},
            "done": [deed_to_dict(deed) for deed, _ in self._done],
            "undone": [deed_to_dict(deed) for deed in self._undone],
        }

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, Any], *, X: ArrayLike | None = None, digest: str | None = None
    ) -> Session:
        """Return the session that `to_dict` wrote down.

        Parameters
        ----------
        plain : mapping
            What `to_dict` returned.
        X : array-like, optional
            The data, for strategies that need it to go on.
        digest : str, optional
            The fingerprint of the data at hand; refused if the session was made from other data.

        Raises
        ------
        SessionFileError
            If the session is cut, of a newer schema, of an unknown kind or made from other data.
        """
        data = current(plain)
        if digest is not None and data.get("digest") not in (None, digest):
            raise SessionFileError(
                "the session was made from other data (the fingerprints differ). Open it with the "
                "data it was made from, or start a new one."
            )
        try:
            name = data["strategy"]["name"]
            if name not in cls._loaders:
                raise SessionFileError(
                    f"the session asks by the strategy {name!r}, which this release does not know; "
                    f"it knows {', '.join(sorted(cls._loaders))}"
                )
            strategy = cls._loaders[name](data["strategy"], X)
            session = cls(strategy, sample_ids=data.get("sample_ids"), digest=data.get("digest"))
            for deed in data["done"]:
                session._do(deed_from_dict(deed))
            session._undone = [deed_from_dict(deed) for deed in data["undone"]]
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise SessionFileError(
                f"the saved session is cut or damaged: {type(error).__name__} on {error}"
            ) from error
        return session

    @classmethod
    def register(cls, name: str, load: Callable[[Mapping[str, Any], Any], Strategy]) -> None:
        """Make saved sessions of a strategy loadable: ``load(plain, X)`` returns it."""
        cls._loaders[name] = load

    # -- inside ----------------------------------------------------------------------------------

    def _do(self, deed: Deed) -> Event | Revision:
        before = () if isinstance(deed, Told) else tuple(self._events)
        if isinstance(deed, Told):
            event = deed.event
            self._record(event)
            self._events.append(event)
            self._done.append((deed, before))
            return event
        revision = self.preview(deed.number, deed.answer)
        self._replay(revision.kept)
        self._done.append((deed, before))
        return revision

    def _overruled_pairs(self) -> set[tuple[int, int]]:
        """Return pairs that were answered otherwise than other answers decide now."""
        if not getattr(self.strategy, "weighs_answers", False):
            return set()
        links = self.links
        return {
            event.pair
            for event in self._events
            if event.answer.is_link
            and links.implied(event.left, event.right) not in (None, event.answer)
        }

    def _settled_pairs(
        self, answer: Answer, n: int, rng: np.random.Generator
    ) -> list[tuple[int, int]]:
        """Return up to `n` pairs of askable rows that are implied, not given, to be `answer`."""
        links = self.links
        given = {(min(g.left, g.right), max(g.left, g.right)) for g in links}
        given |= self._overruled_pairs()
        rows = self.strategy.askable()
        roots = np.array([links.find(int(row)) for row in rows])
        found: list[tuple[int, int]] = []
        # One pair per row, and round again while that brings more.
        order = list(rng.permutation(len(rows)))
        n_idle = 0
        while len(found) < n and n_idle < len(order):
            i = order.pop(0)
            order.append(i)
            wanted = [roots[i]] if answer is Answer.SAME else list(links.differing(int(rows[i])))
            partners = rows[np.isin(roots, wanted) & (rows != rows[i])]
            pairs = [(int(min(rows[i], j)), int(max(rows[i], j))) for j in partners]
            fresh = [pair for pair in pairs if pair not in given and pair not in found]
            n_idle = 0 if fresh else n_idle + 1
            if fresh:
                found.append(fresh[int(rng.integers(len(fresh)))])
        return found

    def _restore(self, events: tuple[Event, ...]) -> Revision:
        gone = [e for e in self._events if e not in events]
        self._replay(events)
        return Revision(events, tuple(gone))

    def _replay(self, events: Iterable[Event]) -> None:
        """Make `events` the log, rewinding no further than to where it differs."""
        events = list(events)
        n_shared = 0
        for old, new in zip(self._events, events, strict=False):
            if old != new:
                break
            n_shared += 1
        while len(self._events) > n_shared:
            self.strategy.rewind()
            self._events.pop()
        for event in events[n_shared:]:
            self._record(event)
            self._events.append(event)

    def _record(self, event: Event) -> None:
        record = self.strategy.record
        if event.source == "given":
            # Where answers are weighed, what was known without asking is certain.
            record = getattr(self.strategy, "record_given", record)
        record(event.left, event.right, event.answer)

    def _checked_number(self, number: int) -> None:
        if not 1 <= number <= len(self._events):
            raise InputError(
                f"there is no answer {number}: the log has {len(self._events)} answers"
            )

    @contextmanager
    def _hypothetically(self, question: Query, answer: Answer) -> Iterator[None]:
        self.strategy.record(question.left, question.right, answer)
        try:
            yield
        finally:
            self.strategy.rewind()


def _renumbered(query: Query, number: int) -> Query:
    return Query(number, query.left, query.right, query.left_id, query.right_id)


def _checked_ids(ids: Sequence[Hashable] | None, n_rows: int) -> tuple[Hashable, ...] | None:
    if ids is None:
        return None
    plain = tuple(i.item() if isinstance(i, np.generic) else i for i in ids)
    if len(plain) != n_rows:
        raise InputError(f"sample_ids has {len(plain)} entries, but the data has {n_rows} rows")
    seen: set[Hashable] = set()
    for i in plain:
        if i in seen:
            raise InputError(f"sample_ids must be unique, but {i!r} occurs more than once")
        seen.add(i)
    return plain
