"""A session's log: what was done, in order. Replaying the log rebuilds all state.

Undo drops the last entry and replays the others; saving writes the entries down; loading replays
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, Self, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from likewise.core.answered import Answers
from likewise.core.answers import (
    MODEL,
    Answer,
    Gesture,
    Groups,
    Link,
    Question,
    Signed,
    as_answer,
    checked_budget,
    checked_rows,
    is_whole,
    rank_of,
)
from likewise.core.arrays import packed
from likewise.core.fingerprint import refuse_other_rows
from likewise.core.growth import Shape, checked_growth, checked_ids, loaded_strategy, next_ids
from likewise.core.journal import (
    FORMAT,
    SCHEMA,
    Checked,
    Entry,
    Grown,
    Marked,
    Named,
    Rebuilt,
    Repeated,
    Revised,
    SetAside,
    Switched,
    TakenBack,
    as_plain,
    current,
    entry_from_dict,
    entry_to_dict,
    rows_of,
)
from likewise.core.labels import names_in
from likewise.core.strategy import Strategy
from likewise.errors import (
    CannotGrowError,
    InputError,
    LikewiseError,
    SessionFileError,
    needs_extra,
)
from likewise.words import check_text, listed, plural

T = TypeVar("T")


class Log:
    """What was done, undone and saved; `Session` adds what is asked and known."""

    def __init__(
        self,
        strategy: Strategy,
        *,
        sample_ids: Sequence[Hashable] | None = None,
        digest: str | None = None,
        row_numbers: ArrayLike | None = None,
        max_queries: int | None = None,
    ) -> None:
        _refuse_strategy(strategy)
        n_rows = strategy.n_rows
        why = f"the data has {plural(n_rows, 'row')}"
        ids = None if sample_ids is None else checked_ids(sample_ids, n_rows, why)
        self._first = self._shape = Shape(strategy, ids)
        self.answers = Answers(n_rows)
        self.digest = digest
        # An array of numbers, or None. It is typed Any to spare callers a cast.
        self.row_numbers: Any = None if row_numbers is None else np.asarray(row_numbers, np.intp)
        self.max_queries = checked_budget(max_queries)
        self._is_endless = False
        self._log: list[Entry] = []
        self._undone: list[Entry] = []
        self._derived: dict[Hashable, Any] = {}
        # Questions that were given out, by their numbers, and what answers to them are.
        self._given_out: dict[int, tuple[Question, str | None]] = {}
        self._last_number = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Log):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # sessions change

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the log and what it is about; all else follows from them."""
        return _unpickled, (type(self), packed(self.state()), type(self.strategy))

    # -- what was done ---------------------------------------------------------------------------

    @property
    def strategy(self) -> Strategy:
        """Decides what to ask."""
        return self._shape.strategy

    @property
    def sample_ids(self) -> tuple[Hashable, ...] | None:
        """The ids of the rows, if they have any."""
        return self._shape.ids

    @property
    def removed(self) -> frozenset[int]:
        """The rows that are gone: nothing is asked about them, but what was answered counts."""
        return self.answers.removed

    @property
    def n_first_rows(self) -> int:
        """How many rows the session began with."""
        return self._first.strategy.n_rows

    @property
    def events(self) -> tuple[Gesture, ...]:
        """All gestures that count, in order."""
        return self.once("events", lambda: tuple(self.answers.gestures))

    @property
    def log(self) -> tuple[Entry, ...]:
        """All that was done and not undone, in order."""
        return tuple(self._log)

    @property
    def n_asked(self) -> int:
        """How many questions were answered, *not sure* included, and others had not settled."""
        is_asked = (isinstance(e, Gesture) and e.source == "asked" for e in self._log)
        return self.once("asked", lambda: sum(is_asked))

    @property
    def answerers(self) -> dict[str | None, int]:
        """Who answered, in their order, and how often; those set aside are among them."""
        said = (entry.by for entry in self._log if isinstance(entry, Gesture))
        return self.once("answerers", lambda: dict(Counter(said)))

    @property
    def aside(self) -> frozenset[str]:
        """Those whose answers were set aside."""
        return self.answers.aside

    @property
    def names(self) -> dict[int, str]:
        """The names of rows, each that of its group: given by answers, then as they were named."""
        return names_in(self._log, self.answers)

    @property
    def group_names(self) -> tuple[str, ...]:
        """The names of groups that were known beforehand, without rows."""
        return self.strategy.group_names

    @property
    def marks(self) -> set[int]:
        """The rows that were marked as misfits."""
        return {row for row, _ in self._marked()}

    @property
    def checks(self) -> dict[tuple[int, int], Answer]:
        """The answers to check questions since the last change of the groups."""
        checks: dict[tuple[int, int], Answer] = {}
        for entry in reversed(self._log):
            if isinstance(entry, Checked):
                for link in entry.links:
                    checks.setdefault((link.left, link.right), link.answer)
            elif not isinstance(entry, Repeated | Named | Marked | Grown):
                break
        return checks

    @property
    def repeated(self) -> tuple[Repeated, ...]:
        """The answers to questions that were asked again, in order."""
        return tuple(entry for entry in self._log if isinstance(entry, Repeated))

    @property
    def can_undo(self) -> bool:
        """Whether `undo` would do something."""
        return bool(self._log)

    @property
    def can_redo(self) -> bool:
        """Whether `redo` would do something."""
        return bool(self._undone)

    def to_frame(self) -> Any:
        """Return the answers as a pandas data frame, one row per link, in order.

        Needs pandas. The columns are the number of the answer, the two rows by their numbers in the
        data, their ids where there are any, the answer, its source, who gave it and when, and how
        many seconds it took. Answers that change no group come last. Their source is "check", with
        the number 0, or "repeat", with the number of the answer to the same question.
        """
        with needs_extra("to_frame()", "tables"):
            pandas = import_module("pandas")
        ids = self.sample_ids
        number: Any = range(self.strategy.n_rows)
        if self.row_numbers is not None:
            number = self.row_numbers.tolist()
        numbers = {gesture.links: gesture.number for gesture in self.events}
        told: list[tuple[Gesture | Checked | Repeated, int, str]]
        told = [(e, e.number, e.source) for e in self.events]
        told += [(e, 0, "check") for e in self._log if isinstance(e, Checked)]
        told += [(e, numbers.get(e.before, 0), "repeat") for e in self.repeated]
        records = [
            {
                "number": count,
                "row": number[link.left],
                "other": number[link.right],
                **({} if ids is None else {"row_id": ids[link.left], "other_id": ids[link.right]}),
                "answer": link.answer.value,
                "source": source,
                "by": entry.by,
                "at": entry.at,
                "seconds": entry.seconds,
            }
            for entry, count, source in told
            for link in entry.links
        ]
        return pandas.DataFrame.from_records(records)

    # -- changing it -----------------------------------------------------------------------------

    def undo(self, *, keeps_growth: bool = False) -> Entry | None:
        """Take back the last thing done; return it, or None if there is none.

        Parameters
        ----------
        keeps_growth : bool
            Whether to pass over growth: the last other entry is taken back, and rows that joined
            after it stay.
        """
        last = len(self._log) - 1
        while keeps_growth and last >= 0 and isinstance(self._log[last], Grown):
            last -= 1
        if last < 0:
            return None
        entry = self._log[last]
        self._follow([*self._log[:last], *self._log[last + 1 :]])
        self._undone.append(entry)
        return entry

    def redo(self) -> Entry | None:
        """Redo the last undone entry; return it, or None if there is none."""
        if not self._undone:
            return None
        self._do(self._undone[-1])
        return self._undone.pop()

    def grow(
        self,
        X_new: ArrayLike | None = None,
        *,
        sample_ids: Sequence[Hashable] | None = None,
        train_indices: ArrayLike | None = None,
        removed: ArrayLike = (),
        returned: ArrayLike = (),
        **signed: Unpack[Signed],
    ) -> range:
        """Add rows, and remove some.

        New rows are labeled by what was learned, and asked about where that is in doubt. Growing
        changes no other label: what is computed of rows without answers comes from the rows that
        the session began with.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features), optional
            The rows that join, with features made as those of the first rows were made.
        sample_ids : sequence of hashable, optional
            Their ids, if the rows of the session have ids; by default those of the index of a
            data frame. Ids that are the numbers of the rows go on counting. The id of a removed row
            may be used again.
        train_indices : array-like of int, optional
            Which of the new rows may be asked about, counted from 0. By default all.
        removed : array-like of int
            Rows that are gone. Answers about them still count, so two rows that belong with the
            same removed row stay together; but no question shows them.
        returned : array-like of int
            Removed rows that are back.

        Returns
        -------
        range
            The numbers of the new rows.

        Raises
        ------
        InputError
            If the strategy cannot take further rows, or the rows do not fit; nothing is changed.
        """
        n_rows = self.strategy.n_rows
        if self.row_numbers is not None:
            raise CannotGrowError(
                "this session is about a sample of larger data, which does not grow: new rows get "
                "their groups by predict, like all others that are not in the sample"
            )
        if sample_ids is None and X_new is not None and self.sample_ids is not None:
            sample_ids = next_ids(self.sample_ids, X_new)
        moves: Any = {"removed": removed, "returned": returned, "gone": self.removed}
        entry = checked_growth(X_new, sample_ids, train_indices, n_rows, **moves)
        self._new(replace(entry, **signed))
        return range(n_rows, self.strategy.n_rows)

    def rebuild(self, strategy: Strategy, **signed: Unpack[Signed]) -> None:
        """Continue with another strategy, which takes over all answers so far.

        Parameters
        ----------
        strategy : Strategy
            The other strategy, for the same rows.
        """
        _refuse_strategy(strategy)
        plain = {"name": strategy.name, **strategy.to_dict()}
        self._new(Rebuilt(plain, **signed), strategy)

    def name(self, names: Mapping[int, str], **signed: Unpack[Signed]) -> None:
        """Name groups, each by one of its rows; an empty name removes the name."""
        _refuse_names(names)
        rows = self._checked_rows(*names)
        self._new(Named(tuple(zip(rows, names.values(), strict=True)), **signed))

    def switch(self, aspect: str, *, is_on: bool, **signed: Unpack[Signed]) -> None:
        """Switch an aspect of the rows off, so that nothing is learned from it, or on again.

        Answers stay as they are; what is learned from them changes. Like all that is done, it can
        be undone.

        Parameters
        ----------
        aspect : str
            Its name, one of those in `Session.aspects`.
        is_on : bool
            Whether it is on from now on.
        """
        self._new(Switched(aspect, is_on, **signed))

    def mark(self, row: int, beside: int | None = None, **signed: Unpack[Signed]) -> None:
        """Note that a row does not seem to fit where it is.

        Parameters
        ----------
        row : int
            The row.
        beside : int, optional
            A row of the group it is in. Whether the two belong together is asked next.
        """
        (row,) = self._checked_rows(row)
        if beside is not None:
            (beside,) = self._checked_rows(beside)
        self._new(Marked(row, beside, **signed))

    def check(self, left: int, right: int, answer: Any, **signed: Unpack[Signed]) -> None:
        """Note the answer to a check question of `audit`; it changes no group."""
        left, right = self._checked_pair(left, right)
        self._new(Checked((Link(left, right, as_answer(answer)),), **signed))

    def set_aside(self, answerer: str, **signed: Unpack[Signed]) -> None:
        """Ignore all that somebody answered or will answer, until it is taken back.

        What it had overruled counts again.

        Parameters
        ----------
        answerer : str
            One of `answerers`: a person, ``model:NAME`` or ``rule:NAME``.
        """
        if answerer not in self.answerers or answerer is None:
            known = ", ".join(repr(name) for name in self.answerers if name is not None)
            raise InputError(
                f"nobody who signed as {answerer!r} has answered; "
                f"{f'answers are by {known}' if known else 'no answer is signed'}"
            )
        if answerer in self.aside:
            raise InputError(f"the answers of {answerer!r} are set aside already")
        self._new(SetAside(answerer, **signed))

    def take_back(self, answerer: str, **signed: Unpack[Signed]) -> None:
        """Count the answers of somebody again that were set aside."""
        if answerer not in self.aside:
            known = ", ".join(map(repr, sorted(self.aside))) or "nobody's are"
            raise InputError(f"the answers of {answerer!r} are not set aside, only {known}")
        self._new(TakenBack(answerer, **signed))

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
            "sample_ids": None if self._first.ids is None else list(self._first.ids),
            **({} if self.row_numbers is None else {"row_numbers": self.row_numbers}),
            "max_queries": self.max_queries,
            "endless": self._is_endless,
            "strategy": {"name": self._first.strategy.name, **self._first.strategy.to_dict()},
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
            What `to_dict` returned.
        X : array-like, optional
            The data at hand; refused if the session was made from other rows.
        digest : str, optional
            The fingerprint of the data at hand; refused if the session was made from other data.

        Raises
        ------
        SessionFileError
            If it is truncated, of a newer schema or an unknown kind, or made from other data.
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
            strategy = loaded_strategy(data["strategy"])
            names = ("sample_ids", "digest", "row_numbers", "max_queries")
            session = cls(strategy, **{name: data.get(name) for name in names})
            session._is_endless = bool(data.get("endless", False))
            for entry in data["log"]:
                session.apply(entry)
            undone = list(map(entry_from_dict, data["undone"]))
            # Entries may be about rows that are undone, too.
            n_undone = sum(len(entry.rows) for entry in undone if isinstance(entry, Grown))
            for entry in undone:
                checked_rows(rows_of(entry), session.strategy.n_rows + n_undone)
            session._undone = undone
        except LikewiseError:
            raise
        except (
            LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError
        ) as error:  # fmt: skip
            raise SessionFileError(
                f"the saved session is truncated or damaged: {type(error).__name__} on {error}"
            ) from error
        return session

    def apply(self, plain: Mapping[str, Any]) -> None:
        """Apply an entry of a saved log; "undo" and "redo" are such entries, too."""
        if plain.get("do") == "undo":
            self.undo(keeps_growth=True)
        elif plain.get("do") == "redo":
            self.redo()
        else:
            if plain.get("do") == "revise":
                number: Any = plain.get("number")
                if not is_whole(number) or not 1 <= number <= len(self.events):
                    raise SessionFileError(f"the log has an entry that cannot be read: {plain}")
            entry = entry_from_dict(plain)
            self._checked_rows(*rows_of(entry))
            self._new(entry)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Undo what was done in the block if it ends with an error, such as a full disk."""
        log, undone, given_out = list(self._log), list(self._undone), dict(self._given_out)
        budget = self.max_queries, self._is_endless
        try:
            yield
        except BaseException:
            self.max_queries, self._is_endless = budget
            self._follow(log)
            self._undone, self._given_out = undone, given_out
            raise

    def once(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, which is called once for every state of the log."""
        if name not in self._derived:
            self._derived[name] = make()
        value: T = self._derived[name]
        return value

    # -- inside ----------------------------------------------------------------------------------

    def _new(self, entry: Entry, made: Strategy | None = None, *, is_strict: bool = False) -> None:
        """Do something for the first time: what was undone cannot be redone, unless rows joined."""
        for name in ("by", "at"):
            if (text := getattr(entry, name)) is not None:
                check_text(text, repr(name))
        is_sure = isinstance(entry, Revised) or (isinstance(entry, Gesture) and entry.is_certain)
        if is_sure and rank_of(entry.by) == rank_of(MODEL):
            raise InputError(
                f"{entry.by} is a model: it answers questions, but what it says is never certain "
                "and changes no answer"
            )
        self._do(entry, made, is_strict=is_strict)
        # Rows that join by themselves take nothing from a person who has just undone an answer.
        is_apart = isinstance(entry, Grown) and not entry.removed and not entry.returned
        if not is_apart or any(isinstance(undone, Rebuilt | Grown) for undone in self._undone):
            self._undone.clear()

    def _do(self, entry: Entry, made: Strategy | None = None, *, is_strict: bool = False) -> None:
        """Do something and add it to the log; after an error nothing is changed.

        Parameters
        ----------
        entry : Entry
            What to do.
        made : Strategy, optional
            The strategy that a `Rebuilt` writes down, where it is at hand.
        is_strict : bool
            Whether a gesture that contradicts earlier ones is refused.
        """
        shape = self._shape
        if isinstance(entry, Switched):
            self._check_switch(entry)
        if isinstance(entry, Rebuilt | Grown):
            shape = shape.after(entry, self.removed, made)
        elif isinstance(entry, Gesture):
            # An entry that is redone may have had another number before.
            entry = replace(entry, number=len(self.answers.gestures) + 1)
        self.answers.take(entry, is_strict=is_strict)
        self._shape = shape
        self._log.append(entry)
        self._derived.clear()

    def _check_switch(self, entry: Switched) -> None:
        """Refuse to switch an aspect that is not there, or off when no other is on."""
        aspects = self.strategy.assess(self.answers).aspects()
        is_on = {each.name: each.is_on for each in aspects}
        if not isinstance(entry.is_on, bool):
            raise InputError(f"is_on must be True or False, got {entry.is_on!r}")
        if entry.aspect not in is_on:
            known = f"there is {listed(list(is_on))}" if is_on else "these rows have none"
            raise InputError(f"there is no aspect {entry.aspect!r}: {known}")
        if not entry.is_on and not any(on for name, on in is_on.items() if name != entry.aspect):
            raise InputError(
                f"{entry.aspect!r} is the only aspect that is on: switch another one on first"
            )

    def _follow(self, log: Sequence[Entry]) -> None:
        """Replace the log, and rebuild the state from it."""
        shape, answers = self._shape_after(log), Answers(self.n_first_rows, log)
        self._shape, self.answers, self._log = shape, answers, list(log)
        self._derived.clear()

    def _shape_after(self, log: Sequence[Entry]) -> Shape:
        """Return the shape after replaying the growth and the rebuilds of a log."""
        shaping = [entry for entry in log if isinstance(entry, Rebuilt | Grown)]
        now = [entry for entry in self._log if isinstance(entry, Rebuilt | Grown)]
        if len(now) == len(shaping) and all(a is b for a, b in zip(now, shaping, strict=True)):
            return self._shape
        shape, answers = self._first, Answers(self.n_first_rows)
        for entry in shaping:
            shape = shape.after(entry, answers.removed)
            answers.take(entry)
        return shape

    def _open_mark(self, answers: Answers) -> tuple[int, Groups] | None:
        """Return a row marked as a misfit and a row of its group, until an answer settles it."""
        for row, other in self._marked():
            if other is None or not self.removed.isdisjoint((row, other)):
                continue
            if answers.is_open(row, other):
                return row, ((other,),)
        return None

    def _marked(self) -> Iterator[tuple[int, int | None]]:
        """Yield the rows marked as misfits, each with a row of its group if one was named."""
        for entry in self._log:
            if isinstance(entry, Marked):
                yield entry.row, entry.beside

    def _checked_rows(self, *rows: int) -> list[int]:
        return checked_rows(rows, self.strategy.n_rows)

    def _checked_pair(self, left: int, right: int) -> list[int]:
        """Return the numbers of two rows; refuse a row and itself."""
        rows = self._checked_rows(left, right)
        if rows[0] == rows[1]:
            raise InputError(f"row {left} was paired with itself; an answer is about two rows")
        return rows


def refuse_session(session: Any) -> None:
    """Raise `InputError` unless this is a session."""
    if not hasattr(session, "strategy"):
        raise InputError(
            f"a Session is needed, got {type(session).__name__}. Session.from_dict(saved) makes "
            "one of what session.to_dict() returned."
        )


def _refuse_strategy(strategy: Any) -> None:
    if not hasattr(strategy, "next_question"):
        raise InputError(
            f"a session needs a strategy, got {type(strategy).__name__}. An estimator makes a "
            "session of rows, as Likewise().start(X); Session.from_dict(saved) goes on with one."
        )


def _refuse_names(names: Any) -> None:
    if not isinstance(names, Mapping):
        raise InputError(f"names are given by row, as {{7: 'cats'}}, got {names!r}")
    for name in names.values():
        check_text(name, "a name")


def _unpickled(cls: type[Log], state: Any, _: type[Strategy]) -> Log:
    """Return a session that was pickled, after its strategy was imported."""
    return cls.from_dict(state)


# Python's messages about arguments name methods; the name that users know is Session.
for _name, _method in vars(Log).items():
    if callable(_function := getattr(_method, "__func__", _method)) and not isinstance(
        _function, type
    ):
        _function.__qualname__ = f"Session.{_name}"
