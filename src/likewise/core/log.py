"""A session's log: what was done, in order. Replaying the log rebuilds all state.

Undo drops the last entry and replays the others; saving writes the entries down; loading replays
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from likewise.core.answered import Answers
from likewise.core.answers import (
    MODEL,
    Gesture,
    Question,
    checked_budget,
    checked_rows,
    is_whole,
    rank_of,
)
from likewise.core.arrays import packed
from likewise.core.fingerprint import refuse_other_rows
from likewise.core.growth import Shape, checked_ids, loaded_strategy
from likewise.core.journal import (
    FORMAT,
    SCHEMA,
    Entry,
    Grown,
    Marked,
    Rebuilt,
    Revised,
    Switched,
    as_plain,
    current,
    entry_from_dict,
    entry_to_dict,
    rows_of,
)
from likewise.core.links import LinkGraph
from likewise.core.strategy import Strategy
from likewise.errors import (
    InputError,
    LikewiseError,
    SessionFileError,
)
from likewise.words import check_text, listed, plural

T = TypeVar("T")


class Log:
    """What was done, undone and saved. The base of `Session`."""

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

    # -- what was done -----------------------------------------------------------------------------

    @property
    def strategy(self) -> Strategy:
        """Decides what to ask."""
        return self._shape.strategy

    @property
    def sample_ids(self) -> tuple[Hashable, ...] | None:
        """The ids of the rows, if they have any."""
        return self._shape.ids

    @property
    def n_first_rows(self) -> int:
        """How many rows the session began with."""
        return self._first.strategy.n_rows

    @property
    def removed(self) -> frozenset[int]:
        """The rows that are gone: nothing is asked about them, but what was answered counts."""
        return self.answers.removed

    @property
    def links(self) -> LinkGraph:
        """What the answers imply, over rows. Read it; do not change it."""
        return self.answers.links

    @property
    def events(self) -> tuple[Gesture, ...]:
        """All gestures that count, in order."""
        return self.once("events", lambda: tuple(self.answers.gestures))

    @property
    def log(self) -> tuple[Entry, ...]:
        """All that was done and not undone, in order."""
        return tuple(self._log)

    @property
    def undone(self) -> tuple[Entry, ...]:
        """What was undone and can be redone, in the order in which it was undone."""
        return tuple(self._undone)

    @property
    def n_asked(self) -> int:
        """How many questions were answered, also with *not sure*; settled ones do not count."""
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
        return self.answers.names

    @property
    def group_names(self) -> tuple[str, ...]:
        """The names of groups that were known beforehand, without rows."""
        return self.strategy.group_names

    @property
    def marks(self) -> set[int]:
        """The rows that were marked as misfits."""
        return {row for row, _ in self._marked()}

    # -- undoing it --------------------------------------------------------------------------------

    @property
    def can_undo(self) -> bool:
        """Whether `undo` would do something."""
        return bool(self._log)

    @property
    def can_redo(self) -> bool:
        """Whether `redo` would do something."""
        return bool(self._undone)

    def undo(self, *, place: int | None = None, keeps_growth: bool = False) -> Entry | None:
        """Undo the last entry and return it; None if the log is empty.

        Parameters
        ----------
        place : int, optional
            The place in `log` of the entry to undo instead of the last.
        keeps_growth : bool
            Whether to pass over growth: the last other entry is undone, and rows that joined
            after it stay.

        Raises
        ------
        InputError
            If an answer was revised later than the entry at `place`: revisions name answers by
            number, and their numbers may change.
        """
        if place is None:
            place = len(self._log) - 1
            while keeps_growth and place >= 0 and isinstance(self._log[place], Grown):
                place -= 1
            if place < 0:
                return None
        entry = _at(self._log, place, "the log")
        if any(isinstance(later, Revised) for later in self._log[place + 1 :]):
            raise InputError(
                "an earlier answer was revised after this, so this cannot be undone before that is"
            )
        self._follow([*self._log[:place], *self._log[place + 1 :]])
        self._undone.append(entry)
        return entry

    def redo(self, *, place: int | None = None) -> Entry | None:
        """Redo the last undone entry, or that at a `place` in `undone`; return it, if any."""
        if not self._undone:
            return None
        place = len(self._undone) - 1 if place is None else place
        entry = _at(self._undone, place, "what was undone")
        self._do(entry)
        del self._undone[place]
        return entry

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

    # -- saving it ---------------------------------------------------------------------------------

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
        if plain.get("do") in ("undo", "redo"):
            try:
                if plain["do"] == "undo":
                    self.undo(place=plain.get("place"), keeps_growth=True)
                else:
                    self.redo(place=plain.get("place"))
            except InputError as error:
                raise SessionFileError(
                    f"the log has an entry that cannot be read: {plain}"
                ) from error
        else:
            if plain.get("do") == "revise":
                number: Any = plain.get("number")
                if not is_whole(number) or not 1 <= number <= len(self.events):
                    raise SessionFileError(f"the log has an entry that cannot be read: {plain}")
            entry = entry_from_dict(plain)
            self._checked_rows(*rows_of(entry))
            self._new(entry)

    # -- inside ------------------------------------------------------------------------------------

    def _new(self, entry: Entry, made: Strategy | None = None, *, is_strict: bool = False) -> None:
        """Do something new: what was undone before cannot be redone, unless only rows joined."""
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
        self._undone = self._still_undone(entry)

    def _still_undone(self, new: Entry) -> list[Entry]:
        """Return what can still be redone after a new entry: nothing of whoever made it."""
        if any(isinstance(undone, Rebuilt | Grown) for undone in self._undone):
            return []
        # Rows that join by themselves take nothing from a person who has just undone an answer.
        if isinstance(new, Grown) and not new.removed and not new.returned:
            return self._undone
        # The number of a revised answer may be that of another one now.
        others = (undone for undone in self._undone if undone.by != new.by)
        return [undone for undone in others if not isinstance(undone, Revised)]

    def _say(self, gesture: Gesture, *, is_strict: bool) -> Gesture:
        """Take in a gesture; return it as it is in the log."""
        self._new(gesture, is_strict=is_strict)
        # One that others contradict, who count more, does not count.
        return self.answers.newest or gesture

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
            which = f"there is {listed(list(is_on))}" if is_on else "these rows have none"
            raise InputError(f"there is no aspect {entry.aspect!r}: {which}")
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


def _at(entries: Sequence[Entry], place: Any, where: str) -> Entry:
    """Return an entry by its place; refuse one that is not there."""
    if not is_whole(place) or not 0 <= place < len(entries):
        raise InputError(f"{where} has {len(entries)} entries, none at {place!r}")
    return entries[int(place)]


def refuse_strategy(strategy: Any) -> None:
    """Raise `InputError` unless this is a strategy."""
    if not hasattr(strategy, "next_question"):
        raise InputError(
            f"a session needs a strategy, got {type(strategy).__name__}. An estimator makes a "
            "session of rows, as Likewise().start(X); Session.from_dict(saved) goes on with one."
        )


def _unpickled(cls: type[Log], state: Any, _: type[Strategy]) -> Log:
    """Return a session that was pickled, after its strategy was imported."""
    return cls.from_dict(state)
