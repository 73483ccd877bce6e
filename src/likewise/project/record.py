"""A session over items, with its file: every answer is on disk before the next one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from likewise.core.answers import Answer, Gesture, Question, checked_rows, rank_of
from likewise.core.journal import Entry, Grown, entry_to_dict
from likewise.core.partition import SuperInstances
from likewise.core.session import Session
from likewise.errors import InputError, SessionFileError, StaleQueryError
from likewise.items import Features, Items
from likewise.project.matching import ids_of_rows
from likewise.project.people import EVERY, Team, about, who
from likewise.store import SETUP, Store, Stored, now
from likewise.store.packing import readable, unpack, unpack_session
from likewise.store.schema import understood
from likewise.words import check_text, plural

if TYPE_CHECKING:
    from likewise.project.model import ModelAtWork
    from likewise.project.rest import Rest
    from likewise.project.rules import Rules
    from likewise.rows.projection import Layout

INSTRUCTION = "instruction"
"""The setting with what belongs together, in words."""
LONGEST_INSTRUCTION = 300


class Record:
    """A session over items, and its file. The base of `Project`, which has its parameters."""

    def __init__(
        self,
        session: Session,
        items: Items,
        store: Store | None = None,
        *,
        features: Callable[[], Features] | None = None,
        where: Sequence[int | None] | None = None,
        copies: Mapping[int, Sequence[str]] | None = None,
        unshown: Iterable[int] = (),
        path: Path | None = None,
        seed: int = 0,
        by: str | None = None,
        position: int = 0,
        joined: Iterable[str] = (),
    ) -> None:
        if not isinstance(items, Items):
            raise InputError(
                f"items must be opened first, as by likewise.open_items(...), got "
                f"{type(items).__name__}"
            )
        self.session = session
        self.items = items
        self.path = path
        self.seed = seed
        self.by = by
        self.team = Team()
        self._hold(range(len(items)) if where is None else where, copies or {}, unshown)
        self.joined = frozenset(joined)
        self.model: ModelAtWork | None = None
        self.rules: Rules | None = None
        self.lists_only_new = False
        self.rest: Rest | None = None
        self._same_since = position
        self.lock = threading.RLock()
        self.store = Store.in_memory() if store is None else store
        self.describe = items.features if features is None else features
        self._features: Features | None = None
        self._layout: Layout | None = None
        self._layout_lock = threading.Lock()
        self.position = position
        if session.max_queries is None:
            # A person goes on as long as they like.
            session.extend()
        self.refresh()
        _ = self.instruction  # so that damage shows now

    def _hold(
        self,
        where: Sequence[int | None],
        copies: Mapping[int, Sequence[str]],
        unshown: Iterable[int],
    ) -> None:
        """Set which items the rows stand for."""
        n_rows, items = self.session.strategy.n_rows, self.items
        self.where = tuple(where)
        if len(self.where) != n_rows:
            rows, n_items = plural(n_rows, "row"), plural(len(items), "item")
            raise InputError(f"the session is about {rows}, but there are {n_items}")
        ids = self.session.sample_ids or items.ids
        self.ids = tuple(
            str(ids[row]) if place is None else items.ids[place]
            for row, place in enumerate(self.where)
        )
        self.copies = {row: tuple(ids) for row, ids in copies.items()}
        gone = (row for row, place in enumerate(self.where) if place is None)
        self.unshown = frozenset(checked_rows([*unshown], n_rows, "unshown: ")).union(gone)

    def follow_file(self, position: int) -> None:
        """Read from the file which items the rows stand for, once those that waited have joined."""
        settings, place = self.store.settings, {name: k for k, name in enumerate(self.items.ids)}
        ids = ids_of_rows(self.session, settings, self.items.ids)
        where = [*self.where, *(place.get(names[0]) for names in ids[len(self.where) :])]
        copies = {row: names[1:] for row, names in enumerate(ids) if len(names) > 1}
        self._hold(where, copies, settings.get("unshown", ()))
        self.position, self.rest = position, None
        self._features = self._layout = None

    def close(self) -> None:
        """Close the session file."""
        self.store.close()

    # -- what it is about --------------------------------------------------------------------------

    @property
    def instruction(self) -> str:
        """What belongs together, in the words of the person; it stands above every question."""
        words = self.store.setting(INSTRUCTION) or ""
        try:
            return check_text(words, "the instruction")
        except InputError as error:
            raise SessionFileError(f"{self.path} is damaged: {error}") from error

    @instruction.setter
    def instruction(self, words: str) -> None:
        words = check_text(" ".join(words.split()), "an instruction")
        if len(words) > LONGEST_INSTRUCTION:
            raise InputError(f"an instruction has at most {LONGEST_INSTRUCTION} characters")
        with self.lock:
            self.store.set(INSTRUCTION, words)

    @property
    def by(self) -> str | None:
        """Who answers, for the log: the person whom the present call is made for, if any."""
        person = who()
        return self._by if person is None else person.name

    @by.setter
    def by(self, name: str | None) -> None:
        self._by = None if name is None else check_text(name, "by")

    @property
    def partition(self) -> SuperInstances:
        """The super-instances in use."""
        return self.session.strategy.partition

    @property
    def n_of_all(self) -> int | None:
        """How many rows the data has, if only a sample of them is asked about."""
        n, n_items = self.store.settings.get("n_rows"), len(self.items.ids)
        if isinstance(n, int) and n > n_items:
            return n
        is_sample = self.session.row_numbers is not None and len(self.ids) < n_items
        return n_items if is_sample else None

    def check_rows(self, *rows: int) -> None:
        """Refuse numbers of rows that are not there."""
        for row in rows:
            if not 0 <= row < len(self.ids):
                raise InputError(f"there is no item {row}, only 0 to {len(self.ids) - 1}")

    @property
    def features(self) -> Features:
        """The features of the rows; computed, or fetched from the cache, when first needed."""
        with self.lock:
            if self._features is None:
                if self.rest is not None:
                    self._features = self.rest.of_rows(self.where)
                else:
                    self._features = self.describe().aligned(self.where)
            return self._features

    @property
    def has_map(self) -> bool:
        """Whether items can be drawn as points: there are features, or distances of all pairs."""
        return self.partition.metric != "precomputed" or self.partition.distances is not None

    def layout(self) -> Layout:
        """Return the layout of the map; computed once, without keeping answers waiting."""
        if not self.has_map:
            raise InputError("there is no map of candidate pairs: the other pairs have no distance")
        with self._layout_lock:
            if self._layout is None:
                # Not before: it imports scipy, and most people look at questions first.
                from likewise.rows.projection import Layout

                X, metric = self.features.X, self.features.metric
                self._layout = Layout.of(X, are_distances=metric == "precomputed")
            return self._layout

    # -- several people ----------------------------------------------------------------------------

    def gather(self, names: Sequence[str], *, every: int = EVERY) -> None:
        """Let several people answer at the same time; each gets another question.

        Parameters
        ----------
        names : sequence of str
            Who they are.
        every : int
            One in this many questions is put to two people; 0 for none.
        """
        self.team = Team(names, every)

    @property
    def _member(self) -> str | None:
        """The member of the team for whom this call is made."""
        person = who()
        return person.name if person is not None and person.name in self.team.names else None

    # -- asking and answering ----------------------------------------------------------------------

    def ask(self) -> Question | None:
        """Return the open question, or None; in a team, that of the person who asks."""
        with self.lock:
            if self._is_alone:
                return self.session.ask()
            return self.team.ask(self.session, self._member, self.model, self.rules)

    @property
    def _is_alone(self) -> bool:
        """Whether the caller has the question of the session, and not one of their own."""
        return self._member is None and self.model is None and self.rules is None

    def tell(
        self, answer: Answer, *, number: int, position: int, seconds: float | None = None
    ) -> None:
        """Say whether the item belongs to the group of the open question `number`."""
        with self._answering(number, position) as signature:
            self.session.tell(answer, question=number, **signature, seconds=seconds)

    def choose(
        self, chosen: Any, *, number: int, position: int, seconds: float | None = None
    ) -> None:
        """Answer the open question, whose number was `number` when it was put."""
        with self._answering(number, position) as signature:
            self.session.choose(chosen, question=number, **signature, seconds=seconds)

    @contextmanager
    def _answering(self, number: int, position: int) -> Iterator[dict[str, Any]]:
        """Store an answer; a person's answer to their own question is never outdated."""
        with self.lock:
            member = self._member
            if member is not None:
                if not self.team.holds(member, number):
                    raise StaleQueryError(
                        f"question {number} is no longer yours: others have settled it. Look again."
                    )
                self.refresh()
            else:
                self._refuse_outdated(self._position_of(number, position))
            with self._change(None) as signature:
                yield signature
            if member is not None:
                self.team.done(member)

    def answer_for(self, question: Question, chosen: Any, **signed: Any) -> None:
        """Take in the answer of another answerer, such as a model, to a question it was given."""
        with self.lock:
            self._refuse_outdated(self._position_of(question.number, -1))
            with self._change(None):
                self.session.answer(question, chosen, **signed)

    def _position_of(self, number: int, position: int) -> int:
        """Return the position that an answer came after.

        A question that was given out, one of several, may be answered after others were.
        """
        with self.lock:
            if not self.session.is_given_out(number):
                return position
            self.refresh()
            return self.position

    def undo(self, *, position: int) -> None:
        """Undo the last thing the caller did, whatever others have done since."""
        with self.lock:
            self._refuse_after(position, lambda entry: not self._is_mine(entry))
            place = self._last_of_mine(self.session.log)
            if place is None:
                return
            with self._change(None, {"do": "undo", "place": place}):
                entry = self.session.undo(place=place)
            self.team.done(self._member)
            self._ask_again(entry)

    def redo(self, *, position: int) -> None:
        """Redo the last thing the caller has undone."""
        with self.lock:
            self._refuse_after(position, lambda entry: not self._is_mine(entry))
            place = self._last_of_mine(self.session.undone)
            if place is None:
                return
            with self._change(None, {"do": "redo", "place": place}):
                self.session.redo(place=place)
            self.team.done(self._member)

    @property
    def can_undo(self) -> bool:
        """Whether the caller has done something that `undo` would undo."""
        return self._last_of_mine(self.session.log) is not None

    @property
    def can_redo(self) -> bool:
        """Whether the caller has undone something that `redo` would redo."""
        return self._last_of_mine(self.session.undone) is not None

    def _last_of_mine(self, entries: Sequence[Entry]) -> int | None:
        """Return the place of the caller's last entry; growth does not count."""
        for place in range(len(entries) - 1, -1, -1):
            if not isinstance(entries[place], Grown) and self._is_mine(entries[place]):
                return place
        return None

    def _is_mine(self, entry: Entry | Stored) -> bool:
        """Whether an entry is by the caller; without a team, all people are one person."""
        return entry.by == self.by if self.team.names else rank_of(entry.by) == 0

    def _ask_again(self, undone: Entry | None) -> None:
        """Put the question of an undone answer again, if the session would not."""
        if self._is_alone or not isinstance(undone, Gesture) or undone.is_certain:
            return
        row, groups = about(undone)
        question = self.session.put(row, groups, source=undone.source, names=undone.names)
        self.team.hold(self._member, question)

    # -- the file ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what other processes have added to the log."""
        with self.lock:
            if self.store.last == self.position:
                return
            entries = self.store.read(self.position)
            grown = [entry for entry in entries if entry.op.get("do") == "grow"]
            if not all(self._waits_for(entry.op) for entry in grown):
                raise StaleQueryError(
                    f"the items of {self.path} were updated by another process. End this one and "
                    "run the same command again; every answer is saved."
                )
            with self.session.transaction():
                position = apply_entries(self.session, self.store, entries, self.position)
            others = (entry.seq for entry in entries if entry.op.get("do") != "grow")
            self._same_since = max([self._same_since, *others])
            self.position = position
            if grown:
                self.follow_file(position)

    def _waits_for(self, grown: Mapping[str, Any]) -> bool:
        """Whether an entry of another process lets the items join that wait here."""
        if self.rest is None or grown.get("removed") or grown.get("returned"):
            return False
        known, now = self.store.items, self.items.content_hashes()
        return all(name in now and known.get(name) == now[name] for name in grown.get("ids") or ())

    def _refuse_outdated(self, position: int) -> None:
        """Take in what others have added; refuse an answer that was decided before it."""
        self.refresh()
        # What joined by itself since has changed no question and no group.
        if not self._same_since <= position <= self.position:
            self._refuse(position)

    def _refuse_overtaken(self, position: int) -> None:
        """Take in what others have added; refuse a change whose meaning that may have changed.

        Answers of others do not: while a model or a team answers, the log never stands still.
        """
        self._refuse_after(position, self._leaves_alone)

    def _refuse_after(self, position: int, is_allowed: Callable[[Stored], bool]) -> None:
        """Take in what others have added; refuse a change that may not come after some of it."""
        self.refresh()
        if not self._same_since <= position <= self.position:
            since = self.store.read(position) if 0 <= position < self.position else []
            if not since or not all(map(is_allowed, since)):
                self._refuse(position)

    def _leaves_alone(self, entry: Stored) -> bool:
        """Whether an entry is growth, or an answer of somebody else to a question."""
        do, source = entry.op.get("do"), entry.op.get("source", "asked")
        is_answer = do == "tell" and source in ("asked", "extra", "sampled")
        return do == "grow" or (is_answer and not self._is_mine(entry))

    def _refuse(self, position: int) -> NoReturn:
        raise StaleQueryError(
            f"nothing was saved: this came after entry {position} and the log is at "
            f"{self.position}. Somebody answered in another window or process; look again."
        )

    @contextmanager
    def _change(
        self,
        position: int | None,
        op: Mapping[str, Any] | None = None,
        payloads: Mapping[str, bytes] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Store what the caller does; if either fails, session and file stay as they were.

        A caller that has compared the position with the log passes None.
        """
        with self.lock:
            if position is not None:
                self._refuse_overtaken(position)
            with self.session.transaction():
                signature = self._signature()
                yield signature
                done = entry_to_dict(self.session.log[-1]) if op is None else {**signature, **op}
                self.position = self.store.append(done, after=self.position, payloads=payloads)
            self._same_since = self.position

    def _signature(self) -> dict[str, Any]:
        return {"by": self.by, "at": now()}


def apply_entries(session: Session, store: Store, entries: Sequence[Stored], position: int) -> int:
    """Apply entries of a file's log; return the number of the last one, else `position`."""
    for entry, op in understood(entries, lambda name: unpack(store.payload(name))):
        with readable(f"entry {entry.seq} of the log"):
            session.apply(op)
    return entries[-1].seq if entries else position


def session_in(store: Store) -> tuple[Session, int]:
    """Return the session in a file, and the number of the last entry of its log."""
    session = unpack_session(store.payload(SETUP))
    return session, apply_entries(session, store, store.read(), 0)
