"""The log of a session: everything that was done, and the only undo there is.

Everything else follows from the log: replaying its entries gives the same state, and undo removes
the last entry.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from likewise.core.answers import Answer, Gesture, Link, as_answer
from likewise.core.journal import (
    FORMAT,
    SCHEMA,
    Checked,
    Entry,
    Marked,
    Named,
    Rebuilt,
    Revised,
    Told,
    as_plain,
    current,
    entry_from_dict,
    entry_to_dict,
)
from likewise.core.links import LinkGraph
from likewise.core.reports import Revision
from likewise.core.revising import mended, revised
from likewise.core.strategy import STRATEGIES, Strategy
from likewise.errors import InputError, SessionFileError
from likewise.inputs import is_whole, refuse_names, refuse_strategy
from likewise.words import plural

T = TypeVar("T")


class Log:
    """What was done about a strategy's rows, in order; see `likewise.Session`."""

    def __init__(
        self,
        strategy: Strategy,
        *,
        sample_ids: Sequence[Hashable] | None = None,
        digest: str | None = None,
        row_numbers: ArrayLike | None = None,
    ) -> None:
        refuse_strategy(strategy)
        self.strategy = strategy
        self.sample_ids = _checked_ids(sample_ids, strategy.n_rows)
        self.digest = digest
        self.row_numbers = None if row_numbers is None else np.asarray(row_numbers, dtype=np.intp)
        self._gestures: list[Gesture] = []
        # Each entry with what is needed to undo it: the gestures before a revision, or the strategy
        # before a rebuild.
        self._done: list[tuple[Entry, Any]] = []
        self._undone: list[Entry] = []
        self._focus: list[tuple[int, int]] = []
        self._derived: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` returns; it is called once for every state of the log."""
        if name not in self._derived:
            self._derived[name] = make()
        found: T = self._derived[name]
        return found

    def undo(self) -> Entry | None:
        """Take back the last thing done; return it, or None if there is none."""
        if not self._done:
            return None
        entry, before = self._done.pop()
        self._undone.append(entry)
        self._derived.clear()
        if before is not None and not isinstance(entry, Rebuilt):
            self._replay(before)
        elif isinstance(entry, Told):
            self._forget_last()
        elif isinstance(entry, Rebuilt):
            self.strategy = before
            self._focus = self._focus[: -1 if entry.ask else None]
        return entry

    def redo(self) -> Entry | None:
        """Do again what `undo` took back last; return it, or None if there is nothing."""
        if not self._undone:
            return None
        self._do(self._undone[-1])
        self._undone.pop()
        return self._done[-1][0]

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
        refuse_strategy(strategy)
        plain = {"name": strategy.name, **strategy.to_dict()}
        self._new(Rebuilt(plain, why, ask, by, at), strategy)

    def name(
        self, names: Mapping[int, str], *, by: str | None = None, at: str | None = None
    ) -> None:
        """Give rows names, which are those of their groups; an empty one takes a name away."""
        refuse_names(names)
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
        if left == right:
            raise InputError(f"a check is about two rows, not about row {left} and itself")
        self._new(Checked(Link(left, right, as_answer(answer)), by, at))

    @property
    def events(self) -> tuple[Gesture, ...]:
        """All gestures that count, in order."""
        return tuple(self._gestures)

    @property
    def log(self) -> tuple[Entry, ...]:
        """All that was done and not undone, in order."""
        return tuple(entry for entry, _ in self._done)

    @property
    def links(self) -> LinkGraph:
        """What the answers imply, over rows. Read it; do not change it."""
        return self.strategy.links

    @property
    def names(self) -> dict[int, str]:
        """The names given to rows, in the order they were given."""
        names: dict[int, str] = {}
        for entry, _ in self._done:
            if isinstance(entry, Named):
                for row, name in entry.names:
                    names.pop(row, None)
                    if name:
                        names[row] = name
        return names

    @property
    def marks(self) -> set[int]:
        """The rows that were said not to fit where they are."""
        marked = {entry.row for entry, _ in self._done if isinstance(entry, Marked)}
        return marked | {left for left, _ in self._focus}

    @property
    def checks(self) -> dict[tuple[int, int], Answer]:
        """The answers to check questions since the last change of the groups."""
        found: dict[tuple[int, int], Answer] = {}
        for entry, _ in reversed(self._done):
            if isinstance(entry, Checked):
                found.setdefault((entry.link.left, entry.link.right), entry.link.answer)
            elif not isinstance(entry, Named | Marked):
                break
        return found

    @property
    def can_undo(self) -> bool:
        """Whether `undo` would do something."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether `redo` would do something."""
        return bool(self._undone)

    def to_dict(self) -> dict[str, Any]:
        """Return the session as plain values that JSON can hold."""
        plain: dict[str, Any] = as_plain(self.state())
        return plain

    def state(self) -> dict[str, Any]:
        """Return what `to_dict` returns, with arrays where that has long lists."""
        befores = [before for entry, before in self._done if isinstance(entry, Rebuilt)]
        first = befores[0] if befores else self.strategy
        of_sample = {} if self.row_numbers is None else {"row_numbers": self.row_numbers}
        return {
            "format": FORMAT,
            "schema": SCHEMA,
            "digest": self.digest,
            "sample_ids": None if self.sample_ids is None else list(self.sample_ids),
            **of_sample,
            "strategy": {"name": first.name, **first.to_dict()},
            "log": [entry_to_dict(entry) for entry, _ in self._done],
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
            line exported has it.
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
            strategy = _loaded_strategy(data["strategy"], data.get("rows") if X is None else X)
            about = {name: data.get(name) for name in ("sample_ids", "digest", "row_numbers")}
            session = cls(strategy, **about)
            for entry in data["log"]:
                session.apply(entry)
            session._undone = [entry_from_dict(entry, 0) for entry in data["undone"]]
        except (KeyError, TypeError, IndexError, AttributeError) as error:
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
            self._new(entry_from_dict(plain, len(self._gestures) + 1))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Undo what was done in the block if it ends with an error, such as a full disk."""
        n_done, undone = len(self._done), list(self._undone)
        try:
            yield
        except BaseException:
            while len(self._done) > n_done:
                self.undo()
            while len(self._done) < n_done:
                self.redo()
            self._undone = undone
            raise

    def _checked_rows(self, *rows: int) -> None:
        n_rows = self.strategy.n_rows
        for row in rows:
            if not is_whole(row):
                raise InputError(f"a row is called by its number, 0 to {n_rows - 1}, not {row!r}")
            if not 0 <= row < n_rows:
                raise InputError(f"there is no row {row}: the data has rows 0 to {n_rows - 1}")

    def _new(self, entry: Entry, made: Strategy | None = None) -> None:
        self._do(entry, made)
        self._undone.clear()

    def _do(self, entry: Entry, made: Strategy | None = None) -> None:
        """Do something and write it into the log; after an error all is as it was.

        `made` is the strategy that a `Rebuilt` writes down, where it is at hand.
        """
        before: Any = None
        self._derived.clear()
        if isinstance(entry, Told):
            # An entry that is redone may have had another number before.
            entry = Told(replace(entry.gesture, number=len(self._gestures) + 1))
            if entry.gesture.source == "mended":
                kept = mended(self._gestures, entry.gesture, self.strategy)
                before = tuple(self._gestures)
                self._replay(kept)
            else:
                self._gestures.append(self._recorded(entry.gesture))
        elif isinstance(entry, Revised):
            before = tuple(self._gestures)
            self._replay(self._revision(entry).kept)
        elif isinstance(entry, Rebuilt):
            before, self.strategy = self.strategy, self._carried_over(entry, made)
            self._focus += [entry.ask] if entry.ask else []
        self._done.append((entry, before))

    def _recorded(self, gesture: Gesture, strategy: Strategy | None = None) -> Gesture:
        """Let the strategy record all links of a gesture, or none."""
        strategy = self.strategy if strategy is None else strategy
        n_done = 0
        try:
            for link in gesture.links:
                is_certain = gesture.source != "asked"
                strategy.record(link.left, link.right, link.answer, is_certain=is_certain)
                n_done += 1
        except BaseException:
            for _ in range(n_done):
                strategy.rewind()
            raise
        return gesture

    def _forget_last(self) -> None:
        for _ in self._gestures.pop().links:
            self.strategy.rewind()

    def _carried_over(self, entry: Rebuilt, made: Strategy | None) -> Strategy:
        strategy = _loaded_strategy(entry.strategy, None) if made is None else made
        strategy.take_worked_out(self.strategy.worked_out())
        for gesture in self._gestures:
            self._recorded(gesture, strategy)
        return strategy

    def _revision(self, entry: Revised) -> Revision:
        return revised(self._gestures, entry, self.strategy)

    def _replay(self, gestures: Sequence[Gesture]) -> None:
        """Make `gestures` the ones that count; rewind only to the first one that differs."""
        n_shared = 0
        for old, new in zip(self._gestures, gestures, strict=False):
            if old != new:
                break
            n_shared += 1
        while len(self._gestures) > n_shared:
            self._forget_last()
        for gesture in gestures[n_shared:]:
            self._gestures.append(self._recorded(gesture))


def _loaded_strategy(plain: Mapping[str, Any], X: Any) -> Strategy:
    name = plain["name"]
    if name not in STRATEGIES:
        raise SessionFileError(
            f"the session asks by the strategy {name!r}, which is not known here; known are "
            f"{', '.join(sorted(STRATEGIES.names))}. If it is one of your own, import its module "
            "first; on the command line, say --strategy package.module:Class."
        )
    return STRATEGIES.find(name).load(plain, X)


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
