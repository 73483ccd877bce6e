"""A session: one question at a time, from outside, with every answer changeable.

The session holds no loop and knows no person. `ask` says what it wants to know, `choose` and `tell`
take the answer; whoever calls them is the web page, the terminal, an estimator's `fit`, or your own
code. Its log is the only truth: every other state follows from doing the entries of the log again,
and undo removes the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.core.answers import Answer, Gesture, Link, as_answer, ordered
from likewise.core.audit import settled_for_free
from likewise.core.counting import Counted
from likewise.core.fingerprint import refuse_other_rows
from likewise.core.html import card
from likewise.core.journal import (
    FORMAT,
    SCHEMA,
    Checked,
    Entry,
    Marked,
    Named,
    Rebuilt,
    Revised,
    as_plain,
    current,
    entry_from_dict,
    entry_to_dict,
    rows_of,
)
from likewise.core.links import LinkGraph
from likewise.core.question import Chosen, Question
from likewise.core.reports import Check, Completeness, Progress, Revision, Suspect
from likewise.core.strategy import STRATEGIES, Strategy
from likewise.errors import (
    ContradictionError,
    InputError,
    LikewiseError,
    SessionFileError,
    StaleQueryError,
)
from likewise.inputs import is_whole, refuse_names, refuse_strategy
from likewise.words import plural

T = TypeVar("T")


class Session:
    """Ask and answer.

    Five names suffice: `ask` returns the open question, `choose` answers it (`tell` if it is about
    two rows), `undo` takes an answer back, `labels` is a valid clustering at every moment, and
    `to_dict` saves it all. An estimator's ``start`` makes a session.

    Parameters
    ----------
    strategy : Strategy
        Decides what to ask.
    sample_ids : sequence of hashable, optional
        Names of the rows that outlive slicing and reordering; passed along with every question.
    digest : str, optional
        Fingerprint of the data, so that a saved session is not continued on other data.
    row_numbers : sequence of int, optional
        If the session is about a sample of larger data: for every row its number there.
    max_queries : int, optional
        The budget: `ask` returns None after this many questions. Without one it does when more
        questions would bring little. `extend` changes it.

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
    2 answers · 2 groups · nothing left to ask
    """

    def __init__(
        self,
        strategy: Strategy,
        *,
        sample_ids: Sequence[Hashable] | None = None,
        digest: str | None = None,
        row_numbers: ArrayLike | None = None,
        max_queries: int | None = None,
    ) -> None:
        refuse_strategy(strategy)
        self.strategy = strategy
        self.sample_ids = _checked_ids(sample_ids, strategy.n_rows)
        self.digest = digest
        self.row_numbers = None if row_numbers is None else np.asarray(row_numbers, dtype=np.intp)
        self.max_queries = _checked_budget(max_queries)
        self._is_endless = False
        self._first = strategy
        self._counted = Counted(strategy.n_rows, strategy.weighs_answers)
        self._log: list[Entry] = []
        self._undone: list[Entry] = []
        self._derived: dict[str, Any] = {}

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
        lines = [("rows", self.strategy.n_rows), ("progress", self.progress), ("asks", asked)]
        lines += [] if complete is None else [("groups", complete)]
        return card("Session", [*lines, ("to answer", "session.widget(items=...)")])

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
            The features, for the map; needed by strategies that do not store them.
        height : int
            In pixels.
        """
        # By its name, since the core imports none of the rooms above it.
        front = import_module("likewise.notebook")
        return front.widget(self, items, show=show, html=html, kind=kind, X=X, height=height)

    # -- asking and answering --------------------------------------------------------------------

    def ask(self) -> Question | None:
        """Return the open question, or None.

        It is None when the budget is spent, when nothing is left to ask, or, without a budget, when
        more questions would bring little. Asking again returns the same question.
        """
        return self.once("question", self._next_question)

    def _next_question(self) -> Question | None:
        if not self._is_endless:
            if self.max_queries is not None and self.n_asked >= self.max_queries:
                return None
            if self.max_queries is None and self.strategy.is_enough():
                return None
        return self._question(self.strategy)

    def _question(self, strategy: Strategy) -> Question | None:
        asked = self._open_mark(strategy) or strategy.next_question()
        if asked is None:
            return None
        row, groups = asked
        ids = self.sample_ids
        if ids is None:
            return Question(self.n_asked + 1, row, groups)
        names = tuple(tuple(ids[member] for member in group) for group in groups)
        return Question(self.n_asked + 1, row, groups, ids[row], names)

    @property
    def n_asked(self) -> int:
        """How many questions were answered, *not sure* included."""
        return self.once("asked", lambda: sum(is_asked(entry) for entry in self._log))

    def extend(self, n: int | None = None) -> None:
        """Go on asking: raise the budget.

        Parameters
        ----------
        n : int, optional
            How many more questions to ask. By default all there are.
        """
        if n is None:
            self._is_endless = True
        elif not is_whole(n) or n < 0:
            raise InputError(f"extend takes a number of questions from 0, got {n!r}")
        else:
            self._is_endless = False
            self.max_queries = max(self.n_asked, self.max_queries or 0) + int(n)
        self._derived.clear()

    def choose(
        self,
        chosen: Chosen,
        *,
        question: Question | int | None = None,
        by: str | None = None,
        at: str | None = None,
        seconds: float | None = None,
    ) -> Gesture:
        """Answer the open question.

        Parameters
        ----------
        chosen : int, sequence of int, None or Answer.UNSURE
            The place of the group in ``question.groups``, from 0. Several places say that these
            groups are one, and the row is in it. None says that it is none of these.
        question : Question or int, optional
            The question, or its number, that this answers. If it is not the open one the answer
            is refused.
        by, at : str, optional
            Who says it and when, for the log.
        seconds : float, optional
            How long it took, for the log.

        Returns
        -------
        Gesture
            What was said, as it stands in the log.
        """
        asked = self._open_question(question)
        return self.answer(asked, chosen, by=by, at=at, seconds=seconds)

    def answer(
        self,
        question: Question,
        chosen: Chosen,
        *,
        by: str | None = None,
        at: str | None = None,
        seconds: float | None = None,
    ) -> Gesture:
        """Answer the open question, or a part of it such as ``question.pair()``.

        Parameters
        ----------
        question : Question
            The open question, or one about the same row with fewer groups.
        chosen, by, at, seconds
            As for `choose`.
        """
        asked = self._open_question(question.number)
        if question.row != asked.row or not _is_part(question, asked):
            raise StaleQueryError(f"the open question is {asked.about}, not {question.about}")
        groups = () if question.is_pair else question.groups
        return self._say(question.links(chosen), groups=groups, by=by, at=at, seconds=seconds)

    def tell(
        self,
        answer: Any,
        *,
        question: Question | int | None = None,
        by: str | None = None,
        at: str | None = None,
        seconds: float | None = None,
    ) -> Gesture:
        """Say whether the row belongs to the group, where the open question has one group.

        Parameters
        ----------
        answer : Answer, bool, int, None or str
            An `Answer` or its value, such as "same"; True or 1, False or 0, or None for
            *not sure*.
        question, by, at, seconds
            As for `choose`.
        """
        asked = self._open_question(question)
        same = as_answer(answer)
        chosen = same if same is Answer.UNSURE else asked.place(same)
        return self.choose(chosen, question=question, by=by, at=at, seconds=seconds)

    def skip(self) -> Gesture:
        """Answer the open question with *not sure*."""
        return self.choose(Answer.UNSURE)

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

        They are certain: no answer overrules them.

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
        return self._say(links, source="mended" if overrules else "given", by=by, at=at)

    def peek(self, chosen: Chosen) -> Question | None:
        """Return the question that would follow if `chosen` were the answer to the open one."""
        question = self.ask()
        if question is None:
            return None
        if self.max_queries is not None and self.n_asked + 1 >= self.max_queries:
            return None
        strategy = self.strategy.fresh()
        links = question.links(chosen)
        for gesture in (*self._counted.gestures, Gesture(0, links)):
            _record(strategy, gesture)
        following = self._question(strategy)
        return None if following is None else replace(following, number=question.number + 1)

    # -- changing what was said ------------------------------------------------------------------

    def undo(self) -> Entry | None:
        """Take back the last thing done; return it, or None if there is none."""
        if not self._log:
            return None
        entry = self._log[-1]
        self._follow(self._log[:-1])
        self._undone.append(entry)
        return entry

    def redo(self) -> Entry | None:
        """Do again what `undo` took back last; return it, or None if there is nothing."""
        if not self._undone:
            return None
        self._do(self._undone[-1])
        return self._undone.pop()

    def revise(
        self, number: int, chosen: Any, *, by: str | None = None, at: str | None = None
    ) -> Revision:
        """Change an earlier answer and keep every other one that does not contradict it.

        Parameters
        ----------
        number : int
            The number of the answer in `events`.
        chosen : Answer or what `choose` takes
            What is said instead: an answer about two rows, or the place of a group.
        by, at : str, optional
            Who says it and when, for the log.

        Returns
        -------
        Revision
            The answers kept, and those dropped since they contradict the new one.

        Raises
        ------
        ContradictionError
            If what is said instead contradicts itself or a certain link.
        """
        entry = self._revision(number, chosen, by, at)
        revision = self._foreseen(entry)
        self._new(entry)
        return revision

    def preview(self, number: int, chosen: Any) -> Revision:
        """Return what `revise` would do, without doing it."""
        return self._foreseen(self._revision(number, chosen))

    def _foreseen(self, entry: Revised) -> Revision:
        counted = self._counted_after(self._log)
        dropped = counted.take(entry)
        kept = {link.pair for gesture in counted.gestures for link in gesture.links}
        for link in entry.links:
            if link.pair not in kept:
                raise ContradictionError(link, self.links.explain(link.left, link.right))
        return Revision(tuple(counted.gestures), tuple(dropped))

    def _revision(
        self, number: int, chosen: Any, by: str | None = None, at: str | None = None
    ) -> Revised:
        n = len(self.events)
        if not is_whole(number) or not 1 <= number <= n:
            raise InputError(f"there is no answer {number!r}: the log has {plural(n, 'answer')}")
        gesture = self.events[number - 1]
        if not gesture.groups and len(gesture.links) > 1:
            raise InputError(
                f"answer {number} says {len(gesture.links)} things at once: undo it, or say "
                "otherwise with give_links(..., overrules=True)"
            )
        question = Question(number, gesture.left, gesture.groups or ((gesture.right,),))
        if not gesture.groups or isinstance(chosen, str | Answer):
            chosen = question.place(as_answer(chosen))
        return Revised(int(number), question.links(chosen), by, at)

    def rebuild(
        self,
        strategy: Strategy,
        *,
        why: str = "go on",
        by: str | None = None,
        at: str | None = None,
    ) -> None:
        """Go on with another strategy, into which all answers so far are carried over.

        Parameters
        ----------
        strategy : Strategy
            Without answers.
        why : str
            What it is for.
        by, at : str, optional
            Who does it and when, for the log.
        """
        refuse_strategy(strategy)
        plain = {"name": strategy.name, **strategy.to_dict()}
        self._new(Rebuilt(plain, why, None, by, at), strategy)

    def name(
        self, names: Mapping[int, str], *, by: str | None = None, at: str | None = None
    ) -> None:
        """Give rows names, which are those of their groups; an empty one takes a name away."""
        refuse_names(names)
        self._checked_rows(*names)
        self._new(Named(tuple(names.items()), by, at))

    def mark(
        self,
        row: int,
        beside: int | None = None,
        *,
        by: str | None = None,
        at: str | None = None,
    ) -> None:
        """Note that a row does not seem to fit where it is.

        Parameters
        ----------
        row : int
            The row.
        beside : int, optional
            A row of the group it is in. Whether the two belong together is asked next.
        by, at : str, optional
            Who says it and when, for the log.
        """
        self._checked_rows(row, *(() if beside is None else (beside,)))
        self._new(Marked(int(row), beside, by, at))

    def check(
        self, left: int, right: int, answer: Any, *, by: str | None = None, at: str | None = None
    ) -> None:
        """Note the answer to a check question of `audit`; it changes no group."""
        self._checked_rows(left, right)
        if left == right:
            raise InputError(f"a check is about two rows, not about row {left} and itself")
        self._new(Checked(Link(left, right, as_answer(answer)), by, at))

    # -- what is known ---------------------------------------------------------------------------

    @property
    def events(self) -> tuple[Gesture, ...]:
        """All gestures that count, in order."""
        return self.once("events", lambda: tuple(self._counted.gestures))

    @property
    def log(self) -> tuple[Entry, ...]:
        """All that was done and not undone, in order."""
        return tuple(self._log)

    @property
    def links(self) -> LinkGraph:
        """What the answers imply, over rows. Read it; do not change it."""
        return self.strategy.links

    @property
    def is_done(self) -> bool:
        """Whether `ask` returns None."""
        return self.ask() is None

    @property
    def progress(self) -> Progress:
        """How far the session is."""
        at_most, estimate = (0, 0) if self.is_done else self.strategy.remaining()
        if at_most and self.max_queries is not None and not self._is_endless:
            n_left = self.max_queries - self.n_asked
            estimate = n_left if estimate is None else min(estimate, n_left)
        unsure = sum(gesture.answer is Answer.UNSURE for gesture in self.events)
        return Progress(
            answered=len(self.events) - unsure,
            unsure=unsure,
            settled_for_free=self.links.n_decided - len(self.links) - len(self.overruled_pairs()),
            at_most=at_most,
            estimate=estimate,
            n_groups=self.n_groups,
            has_more=self.is_done and self._question(self.strategy) is not None,
        )

    @property
    def completeness(self) -> Completeness | None:
        """How much of the grouping is right, as an estimate; None where that cannot be said."""
        return self.strategy.completeness()

    @property
    def suspects(self) -> list[Suspect]:
        """Answers that are probably wrong, the least credible first, numbered as in `events`."""
        numbers = [gesture.number for gesture in self.events for _ in gesture.links]
        suspects: dict[int, Suspect] = {}
        for suspect in self.strategy.suspects():
            number = numbers[suspect.number - 1]
            suspects.setdefault(number, suspect._replace(number=number))
        return list(suspects.values())

    @property
    def labels(self) -> NDArray[np.intp]:
        """The group of every row by what is known now.

        COBRA leaves apart what is undecided; `Likewise` puts every row where it learned that it
        belongs.
        """
        return self.once("labels", self.strategy.labels)

    @property
    def labels_guess(self) -> NDArray[np.intp]:
        """The group of every row if what is undecided is guessed from the answers so far.

        A guess: it respects every answer, but nobody confirmed what it adds to them. When nothing
        is left to ask it equals `labels`.
        """
        return self.strategy.labels(guess=True)

    @property
    def n_groups(self) -> int:
        """Number of groups by what is known now."""
        return int(self.labels.max()) + 1

    @property
    def names(self) -> dict[int, str]:
        """The names given to rows, in the order they were given."""
        names: dict[int, str] = {}
        for entry in self._log:
            if isinstance(entry, Named):
                for row, name in entry.names:
                    names.pop(row, None)
                    if name:
                        names[row] = name
        return names

    @property
    def marks(self) -> set[int]:
        """The rows that were said not to fit where they are."""
        return {entry.row for entry in self._log if isinstance(entry, Marked)} | {
            entry.ask[0] for entry in self._log if isinstance(entry, Rebuilt) and entry.ask
        }

    @property
    def checks(self) -> dict[tuple[int, int], Answer]:
        """The answers to check questions since the last change of the groups."""
        checks: dict[tuple[int, int], Answer] = {}
        for entry in reversed(self._log):
            if isinstance(entry, Checked):
                checks.setdefault((entry.link.left, entry.link.right), entry.link.answer)
            elif not isinstance(entry, Named | Marked):
                break
        return checks

    @property
    def can_undo(self) -> bool:
        """Whether `undo` would do something."""
        return bool(self._log)

    @property
    def can_redo(self) -> bool:
        """Whether `redo` would do something."""
        return bool(self._undone)

    @property
    def open_pairs(self) -> list[tuple[int, int]]:
        """One pair of rows for every two groups that stayed undecided by *not sure* answers."""
        pairs: dict[frozenset[int], tuple[int, int]] = {}
        for gesture in self.events:
            for link in gesture.links:
                if link.answer is Answer.UNSURE and self.links.implied(*link.pair) is None:
                    roots = frozenset(map(self.links.find, link.pair))
                    pairs.setdefault(roots, link.pair)
        return sorted(pairs.values())

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
        answered = {link.pair for link in self.links} | self.overruled_pairs()
        return settled_for_free(self.links, self.strategy.askable(), answered, n, random_state)

    def overruled_pairs(self) -> set[tuple[int, int]]:
        """Return pairs that were answered otherwise than other answers decide now."""
        links = [link for g in self.events for link in g.links if link.answer.is_link]
        implied = self.links.implied
        return {x.pair for x in links if implied(x.left, x.right) not in (None, x.answer)}

    def to_frame(self) -> Any:
        """Return the answers as a pandas data frame, one row per link, in order.

        Needs pandas. The columns are the number of the answer, the two rows, their ids where there
        are any, what was said, whether it was asked, given or mended, who said it and when, and how
        many seconds that took.
        """
        pandas = import_module("pandas")
        ids = self.sample_ids
        records = [
            {
                "number": gesture.number,
                "row": link.left,
                "other": link.right,
                **({} if ids is None else {"row_id": ids[link.left], "other_id": ids[link.right]}),
                "answer": link.answer.value,
                "source": gesture.source,
                "by": gesture.by,
                "at": gesture.at,
                "seconds": gesture.seconds,
            }
            for gesture in self.events
            for link in gesture.links
        ]
        return pandas.DataFrame.from_records(records)

    # -- saving ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the session as plain values that JSON can hold."""
        plain: dict[str, Any] = as_plain(self.state())
        return plain

    def state(self) -> dict[str, Any]:
        """Return what `to_dict` returns, with arrays where that has long lists."""
        return {
            "format": FORMAT,
            "schema": SCHEMA,
            "digest": self.digest,
            "sample_ids": None if self.sample_ids is None else list(self.sample_ids),
            **({} if self.row_numbers is None else {"row_numbers": self.row_numbers}),
            "max_queries": self.max_queries,
            "endless": self._is_endless,
            "strategy": {"name": self._first.name, **self._first.to_dict()},
            "log": [entry_to_dict(entry) for entry in self._log],
            "undone": [entry_to_dict(entry) for entry in self._undone],
        }

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, Any], *, X: ArrayLike | None = None, digest: str | None = None
    ) -> Self:
        """Return the session that `to_dict` wrote down.

        Parameters
        ----------
        plain : mapping
            What `to_dict` returned, in this release or an earlier one.
        X : array-like, optional
            The data, for strategies that need it to go on. A session that a page or the command
            line exported has it. Other rows than those it was made from are refused.
        digest : str, optional
            The fingerprint of the data at hand; refused if the session was made from other data.

        Raises
        ------
        SessionFileError
            If the session is cut, of a newer schema, of an unknown kind or made from other data.
        """
        try:
            data = current(plain)
            if digest is not None and data.get("digest") not in (None, digest):
                raise SessionFileError(
                    "the session was made from other data (the fingerprints differ). Open it with "
                    "the data it was made from, or start a new one."
                )
            if X is not None and digest is None:
                refuse_other_rows(data.get("digest"), X)
            strategy = _loaded_strategy(data["strategy"], data.get("rows") if X is None else X)
            names = ("sample_ids", "digest", "row_numbers", "max_queries")
            session = cls(strategy, **{name: data.get(name) for name in names})
            session._is_endless = bool(data.get("endless", False))
            for entry in data["log"]:
                session.apply(entry)
            session._undone = [session._entry(entry, 0) for entry in data["undone"]]
        except LikewiseError:
            raise
        except (
            LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError
        ) as error:  # fmt: skip
            raise SessionFileError(
                f"the saved session is cut or damaged: {type(error).__name__} on {error}"
            ) from error
        return session

    def apply(self, plain: Mapping[str, Any]) -> None:
        """Do what an entry of a saved log says; "undo" and "redo" are such entries, too."""
        if plain.get("do") == "undo":
            self.undo()
        elif plain.get("do") == "redo":
            self.redo()
        else:
            if plain.get("do") == "revise" and "links" not in plain:
                # Earlier releases wrote down another answer to the same links.
                links = self.events[plain["number"] - 1].links
                plain = {**plain, "links": [[x.left, x.right, plain["answer"]] for x in links]}
            self._new(self._entry(plain, len(self._counted.gestures) + 1))

    def _entry(self, plain: Mapping[str, Any], number: int) -> Entry:
        """Return an entry of a saved log; refuse rows that are not there."""
        entry = entry_from_dict(plain, number)
        self._checked_rows(*rows_of(entry))
        return entry

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Undo what was done in the block if it ends with an error, such as a full disk."""
        log, undone, budget = list(self._log), list(self._undone), self.max_queries
        try:
            yield
        except BaseException:
            self.max_queries = budget
            self._follow(log)
            self._undone = undone
            raise

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` returns; it is called once for every state of the log."""
        if name not in self._derived:
            self._derived[name] = make()
        value: T = self._derived[name]
        return value

    # -- inside ----------------------------------------------------------------------------------

    def _new(self, entry: Entry, made: Strategy | None = None) -> None:
        self._do(entry, made)
        self._undone.clear()

    def _do(self, entry: Entry, made: Strategy | None = None) -> None:
        """Do something and write it into the log; after an error all is as it was.

        `made` is the strategy that a `Rebuilt` writes down, where it is at hand.
        """
        if isinstance(entry, Gesture):
            # An entry that is redone may have had another number before.
            entry = replace(entry, number=len(self._counted.gestures) + 1)
        if isinstance(entry, Gesture | Revised | Rebuilt):
            before = list(self._counted.gestures)
            is_longer = isinstance(entry, Gesture) and not self._counted.take(entry)
            try:
                # A gesture can also take away some links of an earlier one, which then counts less.
                if is_longer and self._counted.gestures[:-1] == before:
                    _record(self.strategy, self._counted.gestures[-1])
                else:
                    self._follow([*self._log, entry], made)
                    return
            except BaseException:
                self._follow(self._log)
                raise
        self._log.append(entry)
        self._derived.clear()

    def _follow(self, log: Sequence[Entry], made: Strategy | None = None) -> None:
        """Make `log` the log, and the state what follows from it."""
        rebuilt = [entry for entry in log if isinstance(entry, Rebuilt)]
        if made is not None:
            strategy = made
        elif rebuilt:
            strategy = _loaded_strategy(rebuilt[-1].strategy, getattr(self.strategy, "X", None))
        else:
            strategy = self._first.fresh()
        counted = self._counted_after(log, strategy.weighs_answers)
        for gesture in counted.gestures:
            _record(strategy, gesture)
        self.strategy, self._counted, self._log = strategy, counted, list(log)
        self._derived.clear()

    def _counted_after(self, log: Sequence[Entry], is_weighing: bool | None = None) -> Counted:
        if is_weighing is None:
            is_weighing = self.strategy.weighs_answers
        counted = Counted(self.strategy.n_rows, is_weighing)
        for entry in log:
            counted.take(entry)
        return counted

    def _say(
        self,
        links: tuple[Link, ...],
        *,
        source: str = "asked",
        groups: tuple[tuple[int, ...], ...] = (),
        by: str | None,
        at: str | None,
        seconds: float | None = None,
    ) -> Gesture:
        number = len(self._counted.gestures) + 1
        gesture = Gesture(number, links, source, groups, by, at, seconds)
        if source != "mended":
            self._counted.check(gesture)
        self._new(gesture)
        return self.events[-1]

    def _open_question(self, question: Question | int | None) -> Question:
        asked = self.ask()
        if asked is None:
            raise StaleQueryError(
                "there is no open question: nothing is left to ask, or the budget is spent "
                "(session.extend(10) goes on)"
            )
        if question is not None and question not in (asked, asked.number):
            number = getattr(question, "number", question)
            raise StaleQueryError(
                f"the answer is for question {number}, but the open one is question "
                f"{asked.number} {asked.about}. Ask again."
            )
        return asked

    def _open_mark(self, strategy: Strategy) -> tuple[int, tuple[tuple[int, ...], ...]] | None:
        """Return a row that was said not to fit, and a row of its group, if nobody said more."""
        asked = {link.pair for gesture in self._counted.gestures for link in gesture.links}
        for entry in self._log:
            pair = entry.ask if isinstance(entry, Rebuilt) else None
            if isinstance(entry, Marked) and entry.beside is not None:
                pair = entry.row, entry.beside
            if pair and ordered(*pair) not in asked and strategy.links.implied(*pair) is None:
                return pair[0], ((pair[1],),)
        return None

    def _checked_rows(self, *rows: int) -> None:
        n_rows = self.strategy.n_rows
        for row in rows:
            if not is_whole(row):
                raise InputError(f"a row is called by its number, 0 to {n_rows - 1}, not {row!r}")
            if not 0 <= row < n_rows:
                raise InputError(f"there is no row {row}: the data has rows 0 to {n_rows - 1}")


def is_asked(entry: Entry) -> bool:
    """Return whether an entry of a log answers a question."""
    return isinstance(entry, Gesture) and entry.source == "asked"


def _is_part(question: Question, whole: Question) -> bool:
    """Return whether every row of a question's groups is in one of another question's groups."""
    shown = {row for group in whole.groups for row in group}
    return all(row in shown for group in question.groups for row in group)


def _record(strategy: Strategy, gesture: Gesture) -> None:
    """Let a strategy record all links of a gesture."""
    for link in gesture.links:
        is_certain = gesture.source != "asked"
        strategy.record(link.left, link.right, link.answer, is_certain=is_certain)


def _checked_links(links: Any) -> tuple[Link, ...]:
    """Return links as a tuple with at least one, or raise `InputError`."""
    checked = tuple(links) if isinstance(links, Iterable) else (links,)
    if not checked:
        raise InputError("a gesture has at least one link")
    for link in checked:
        if not (isinstance(link, Link) and isinstance(link.answer, Answer)):
            raise InputError(f"a link is likewise.Link(left, right, Answer.SAME), got {link!r}")
    return checked


def _checked_budget(max_queries: Any) -> int | None:
    if max_queries is None:
        return None
    if not is_whole(max_queries) or max_queries < 0:
        raise InputError(f"max_queries must be None or a whole number from 0, got {max_queries!r}")
    return int(max_queries)


def _loaded_strategy(plain: Mapping[str, Any], X: Any) -> Strategy:
    name = plain["name"]
    if name not in STRATEGIES:
        raise SessionFileError(
            f"the session asks by the strategy {name!r}, which is not known here; known are "
            f"{', '.join(sorted(STRATEGIES.names))}. If it is one of your own, import its module "
            "first; on the command line, say --strategy package.module:Class."
        )
    return STRATEGIES.known(name).load(plain, X)


def _checked_ids(ids: Sequence[Hashable] | None, n_rows: int) -> tuple[Hashable, ...] | None:
    if ids is None:
        return None
    try:
        plain = tuple(i.item() if isinstance(i, np.generic) else i for i in ids)
    except TypeError:
        raise InputError(f"sample_ids must be a list of one id per row, got {ids!r}") from None
    if len(plain) != n_rows:
        n_ids = plural(len(plain), "entry")
        raise InputError(f"sample_ids has {n_ids}, but the data has {plural(n_rows, 'row')}")
    seen: set[Hashable] = set()
    for i in plain:
        if not isinstance(i, Hashable):
            raise InputError(f"sample_ids must be numbers, texts or tuples, got {i!r}")
        if i in seen:
            raise InputError(f"sample_ids must be unique, but {i!r} occurs more than once")
        seen.add(i)
    return plain
