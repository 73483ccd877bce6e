"""One project, used by a front: every change is on disk before the next one."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Groups, Link, Question
from likewise.core.journal import Grown, Rebuilt, Repeated, entry_to_dict
from likewise.core.partition import SuperInstances
from likewise.core.reports import Check, Repeat
from likewise.core.session import Session
from likewise.errors import InputError, SessionFileError, StaleQueryError
from likewise.items import Features, Items
from likewise.learning.aspects import find_columns
from likewise.project.groups import Group, HowKnown, groups_of, how_known, rows_like
from likewise.project.matching import ids_of_rows
from likewise.project.mending import (
    Mending,
    answers_behind,
    changed_rows,
    nearest_fellow,
    parts_of,
)
from likewise.project.people import EVERY, Double, Team, doubles, who
from likewise.store import SETUP, Store, Stored, now
from likewise.store.packing import pack, readable, unpack, unpack_session
from likewise.store.schema import understood
from likewise.strategies.most_doubt import MostDoubt
from likewise.words import check_text, plural

if TYPE_CHECKING:
    from likewise.project.model import ModelAtWork
    from likewise.project.rest import Rest
    from likewise.rows.projection import Layout

N_SUMMED_UP = 30
"""How many members of a group its summary is made from."""
N_CHECKS = 5
"""How many check questions there are in a round."""
INSTRUCTION = "instruction"
"""The setting with what belongs together, in words."""
LONGEST_INSTRUCTION = 300


class _Foreseen(Exception):  # noqa: N818
    """Raised to roll back a trial change."""


class Project:
    """A session over items, with its file.

    All methods may be called from several threads. A caller that changes something passes the
    `position` of the log that it saw. If the log has grown since, nothing is changed and
    `StaleQueryError` is raised.

    Parameters
    ----------
    session : Session
        The session as it was before anything in the file's log.
    items : Items
        What the rows are.
    store : Store, optional
        Where the log is kept. By default in memory.
    features : callable, optional
        Returns the features; called when they are needed for the first time.
    where : sequence of int or None, optional
        For every row of the session its place in `items`, None if it is no longer there.
    copies : mapping of int to sequence of str, optional
        For rows that have them, the ids of items with the same content. They follow their row.
    unshown : iterable of int
        Rows that cannot be shown, such as broken pictures; those that are gone need not be named.
    path : Path, optional
        The session file, for those who want to show it.
    seed : int
        Decides what is random after `rebuild`.
    by : str, optional
        Who answers, for the log.
    position : int
        How many entries of the store's log the session has taken in already.
    joined : iterable of str
        The ids of the items that joined when the project last grew.
    """

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
        self.team: Team | None = None
        self._hold(range(len(items)) if where is None else where, copies or {}, unshown)
        self.joined = frozenset(joined)
        self.model: ModelAtWork | None = None
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
        self.unshown = frozenset(unshown).union(gone)

    # -- looking ---------------------------------------------------------------------------------

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
    def partition(self) -> SuperInstances:
        """The super-instances in use."""
        return self.session.strategy.partition

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

    def follow_file(self, position: int) -> None:
        """Read from the file which items rows stand for, once those that waited have joined."""
        settings, place = self.store.settings, {name: k for k, name in enumerate(self.items.ids)}
        ids = ids_of_rows(self.session, settings, self.items.ids)
        where = [*self.where, *(place.get(names[0]) for names in ids[len(self.where) :])]
        copies = {row: names[1:] for row, names in enumerate(ids) if len(names) > 1}
        self._hold(where, copies, settings.get("unshown", ()))
        self.position, self.rest = position, None
        self._features = self._layout = None

    @property
    def by(self) -> str | None:
        """Who answers, for the log: the person whom the present call is made for, if any."""
        person = who()
        return self._by if person is None else person.name

    @by.setter
    def by(self, name: str | None) -> None:
        self._by = None if name is None else check_text(name, "by")

    def gather(self, names: Sequence[str], *, every: int = EVERY) -> None:
        """Let several people answer at the same time; each gets another question.

        Parameters
        ----------
        names : sequence of str
            Who they are.
        every : int
            Every so many questions, one is put to two people; 0 for none.
        """
        self.team = Team(names, every)

    @property
    def _member(self) -> str | None:
        """The member of the team whom the present call is made for."""
        person = who()
        is_in = person is not None and self.team is not None and person.name in self.team.names
        return person.name if person is not None and is_in else None

    @property
    def n_of_all(self) -> int | None:
        """How many rows the data has, if the items are only a sample of them."""
        n = self.store.settings.get("n_rows")
        return n if isinstance(n, int) and n > len(self.items.ids) else None

    def ask(self) -> Question | None:
        """Return the open question, or None; in a team, that of the person who asks."""
        with self.lock:
            member = self._member
            if self.team is not None and member is not None:
                return self.team.ask(self.session, member)
            return self.session.ask() if self.model is None else self.model.ask()

    def doubles(self) -> list[Double]:
        """Return the questions that two people answered."""
        return doubles(self.session)

    def decide(self, first: int, chosen: Any, *, position: int) -> None:
        """Say who is right where two people disagree; what is decided is certain.

        Parameters
        ----------
        first : int
            The place of the disagreement in `doubles`.
        chosen
            As for `choose`.
        """
        with self._change(position) as signature:
            found = self.doubles()
            if not 0 <= first < len(found):
                raise InputError(f"there is no disagreement {first}: there are {len(found)}")
            said = found[first].second
            links = Question(1, said.left, said.groups or ((said.right,),)).links(chosen)
            self.session.give_links(links, overrules=True, **signature)

    def groups(self) -> list[Group]:
        """Return all groups; they count copies, and what cannot be shown as open."""
        return self.session.once("groups of a project", self._groups)

    def _groups(self) -> list[Group]:
        weights = np.ones(len(self.ids), dtype=np.intp)
        for row, ids in self.copies.items():
            weights[row] += len(ids)
        gone = self.session.removed
        weights[sorted(gone)] = 0
        groups = groups_of(self.session, weights, self.how_known())
        if not gone:
            return groups
        there = [(g, tuple(r for r in g.standing if r not in gone)) for g in groups if g.size]
        return [
            replace(g, standing=rows or tuple(self.members(g)[:1].tolist())) for g, rows in there
        ]

    def how_known(self) -> HowKnown:
        """Return how the group of every row is known and how certain it is; see `how_known`.

        What cannot be shown is open, even if the learner places it, unless answers decide it.
        """
        how, certainty = how_known(self.session)
        rows = [row for row in self.unshown if how[row] == "learned"]
        if not rows:
            return how, certainty
        how, certainty = how.copy(), certainty.copy()
        how[rows], certainty[rows] = "open", np.nan
        return how, certainty

    def group(self, id: int) -> Group:
        """Return one group by its id."""
        for group in self.groups():
            if group.id == id:
                return group
        raise InputError(f"there is no group {id}: the answers have changed since")

    def sum_up(self, group: Group) -> str:
        """Return what distinguishes a group from the others, in a few words, or ""."""
        rows = rows_like(self.session, group.standing[0], N_SUMMED_UP)
        inside = [place for row in rows if (place := self.where[row]) is not None]
        return self.items.sum_up(inside) if inside else ""

    def key_words(self, row: int) -> list[str]:
        """Return words that distinguish the group of a row from the others, the best first."""
        return self.session.once(f"key words of {row}", lambda: self._key_words(row))

    def _key_words(self, row: int) -> list[str]:
        rows = rows_like(self.session, row, N_SUMMED_UP)
        inside = [place for row in rows if (place := self.where[row]) is not None]
        return self.items.key_words(inside) if inside else []

    def compare(self, row: int, shown: Groups) -> list[dict[str, Any]]:
        """Return the fields of a row beside those of groups; empty for items without fields."""
        place, fields = self.where[row], self.items.fields
        if place is None or fields is None:
            return []
        groups = []
        for rows in shown:
            alike = rows_like(self.session, rows[0], fields.n_compared) if rows else []
            places = [self.where[k] for k in alike]
            groups.append([place for place in places if place is not None])
        return fields.contrast(place, groups)

    def listed(self) -> list[tuple[str, int, int | None]]:
        """Return the id, the row and the place of every item, copies too, in their order."""
        gone, has_grown = self.session.removed, len(self.ids) > self.session.n_first_rows
        rows = [(n, row, self.where[row]) for row, n in enumerate(self.ids) if row not in gone]
        if not self.copies and not has_grown:
            return rows
        place = {name: k for k, name in enumerate(self.items.ids)}
        rows += [(name, row, place.get(name)) for row, ids in self.copies.items() for name in ids]
        if self.lists_only_new:
            rows = [one for one in rows if one[0] in self.joined]
        return sorted(rows, key=lambda one: len(place) if one[2] is None else one[2])

    def members(self, group: Group) -> NDArray[np.intp]:
        """Return the rows of a group that are there, typical ones first."""
        inside = self.session.labels == group.label
        inside[[*group.standing, *self.session.removed]] = False
        standing = [row for row in group.standing if row not in self.session.removed]
        return np.concatenate([np.array(standing, dtype=np.intp), np.flatnonzero(inside)])

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
        """Return what a map is made of; computed once, without keeping answers waiting."""
        if not self.has_map:
            raise InputError("there is no map of candidate pairs: the other pairs have no distance")
        with self._layout_lock:
            if self._layout is None:
                # Not before: it imports scipy, and most people look at questions first.
                from likewise.rows.projection import Layout

                X, metric = self.features.X, self.features.metric
                self._layout = Layout.of(X, are_distances=metric == "precomputed")
            return self._layout

    # -- changing --------------------------------------------------------------------------------

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
        """Store an answer; that of a person to their own question is never outdated."""
        with self.lock:
            member = self._member
            if self.team is not None and member is not None:
                if not self.team.holds(member, number):
                    raise StaleQueryError(
                        f"question {number} is no longer yours: others have settled it. Look again."
                    )
                self.refresh()
                position = self.position
            else:
                position = self._position_of(number, position)
            with self._change(position) as signature:
                yield signature
            if self.team is not None and member is not None:
                self.team.done(member)

    def answer_for(self, question: Question, chosen: Any, **signed: Any) -> None:
        """Take in the answer of another answerer, such as a model, to a question it was given."""
        with self.lock, self._change(self._position_of(question.number, -1)):
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

    def give(self, links: Iterable[Link], *, position: int) -> None:
        """Add links that are known, as one gesture."""
        with self._change(position) as signature:
            self.session.give_links(links, **signature)

    def settle(self, left: int, right: int, answer: Answer, *, position: int) -> None:
        """Say something about two rows without being asked."""
        with self._change(position) as signature:
            self.check_rows(left, right)
            if left == right:
                raise InputError("an answer is about two different items")
            implied = self.session.links.implied(left, right)
            if implied is not None:
                raise InputError(f"rows {left} and {right} are settled already: {implied.value}")
            self.session.give_links([Link(left, right, answer)], **signature)

    def judge(self, left: int, right: int, answer: Answer, *, position: int) -> None:
        """Say whether the groups of two rows are one, as `Session.merges` suggests, for good."""
        with self._change(position) as signature:
            self.check_rows(left, right)
            self.session.judge(left, right, answer, **signature)

    def mend(self, say: Callable[[Mending], Iterable[Link]], *, position: int) -> int:
        """Mend the result by one gesture, which overrules earlier answers that contradict it.

        `say` returns the links of the gesture. Returns how many earlier answers were overruled.
        """
        with self._change(position) as signature:
            before = self.session.events
            self.session.give_links(say(Mending(self.session)), overrules=True, **signature)
            left = Counter(gesture.links for gesture in self.session.events)
            # An answer that lost some of its links is another one now.
            return sum((Counter(gesture.links for gesture in before) - left).values())

    def foresee(
        self, say: Callable[[Mending], Iterable[Link]], moved: Sequence[int] = ()
    ) -> NDArray[np.intp]:
        """Return the rows that would be in another group after `mend`, as `changed_rows` does."""
        with self.lock:
            before = self.session.labels
            try:
                with self.session.transaction():
                    self.session.give_links(say(Mending(self.session)), overrules=True)
                    changed = changed_rows(before, self.session.labels, moved)
                    raise _Foreseen
            except _Foreseen:
                return changed

    def parts(self, group: Group) -> list[NDArray[np.intp]]:
        """Return the rows of the two most likely parts of a group."""
        return parts_of(self.session, self.features, self.members(group))

    def undo(self, *, position: int) -> None:
        """Take back the last thing done."""
        with self.lock:
            self._refuse_outdated(position)
            if self.can_undo:
                self._refuse_undoing_others()
                with self._change(position, {"do": "undo"}):
                    self.session.undo(keeps_growth=True)
                if self.team is not None and (member := self._member) is not None:
                    self.team.done(member)

    def _refuse_undoing_others(self) -> None:
        """Refuse that a member of a team undoes what another one said."""
        last = next(e for e in reversed(self.session.log) if not isinstance(e, Grown))
        if self._member is not None and last.by != self._member:
            raise InputError(
                f"{last.by or 'somebody else'} has answered since, and only the last answer of all "
                "can be undone. Change your own answers in History."
            )

    @property
    def can_undo(self) -> bool:
        """Whether something was said that `undo` would take back; what joined stays."""
        return any(not isinstance(entry, Grown) for entry in self.session.log)

    def redo(self, *, position: int) -> None:
        """Do again what was taken back."""
        with self.lock:
            self._refuse_outdated(position)
            if self.session.can_redo:
                with self._change(position, {"do": "redo"}):
                    self.session.redo()

    def set_aside(self, answerer: str, *, position: int) -> None:
        """Ignore all that somebody answered."""
        with self._change(position) as signature:
            self.session.set_aside(answerer, **signature)

    def take_back(self, answerer: str, *, position: int) -> None:
        """Count the answers of somebody again."""
        with self._change(position) as signature:
            self.session.take_back(answerer, **signature)

    def revise(self, number: int, answer: Any, *, position: int) -> None:
        """Change an earlier answer."""
        with self._change(position) as signature:
            self.session.revise(number, answer, **signature)

    def name(self, group: int, name: str, *, position: int) -> None:
        """Name a group, or take its name away."""
        with self.lock:
            self._refuse_outdated(position)
            self.group(group)
            self.name_all({group: name}, position=position)

    def name_all(self, names: Mapping[int, str], *, position: int) -> None:
        """Name groups by their ids, at once."""
        with self._change(position) as signature:
            by_row: dict[int, str] = {}
            for group in self.groups():
                if group.id in names:
                    by_row |= dict.fromkeys(set(group.standing) & self.session.names.keys(), "")
                    by_row[group.standing[0]] = names[group.id].strip()
            self.session.name(by_row, **signature)

    def switch(self, aspect: str, *, is_on: bool, position: int) -> None:
        """Switch an aspect of the items off, so that nothing is learned from it, or on again."""
        with self._change(position) as signature:
            self.session.switch(aspect, is_on=is_on, **signature)

    def misfit(self, row: int, *, position: int) -> list[int]:
        """Ask about an item that does not seem to fit its group.

        If answers put it there, return their numbers instead: one of them would have to change.
        """
        with self._change(position) as signature:
            self.check_rows(row)
            by_answers, fellow = answers_behind(self.session, row), None
            if not by_answers:
                if row not in self.features.askable:
                    raise InputError(
                        f"{self.ids[row]} cannot be shown, so it cannot be asked about"
                    )
                fellow = nearest_fellow(self.session, self.features, row)
            self.session.mark(row, fellow, **signature)
            return by_answers

    def rebuild(self, *, position: int) -> None:
        """Let the strategy of `Likewise` ask when another one has nothing left to ask."""
        with self.lock:
            self._refuse_outdated(position)
            if self.features.metric == "precomputed":
                raise InputError(
                    "nothing is left to ask, and there are only distances to learn from. Begin "
                    "with more super-instances for finer groups."
                )
            train = self.features.askable
            aspects = find_columns(self.features.columns, self.features.X.shape[1])
            made = MostDoubt.from_rows(
                self.features.X, train_indices=train, seed=self.seed, aspects=aspects
            )
            name, signature = f"strategy {self.position + 1}", self._signature()
            op = entry_to_dict(Rebuilt({"payload": name}, **signature))
            plain = {"name": made.name, **made.to_dict()}
            with self._change(position, op, {name: pack(plain)}):
                self.session.rebuild(made, **signature)

    # -- checking --------------------------------------------------------------------------------

    def checks(self) -> list[tuple[Check, Answer | None]]:
        """Return check questions about pairs that nobody was asked about, each with its answer."""
        with self.lock:
            answers = self.session.checks
            questions = self.session.audit(N_CHECKS, random_state=len(self.session.events))
            return [(check, answers.get((check.left, check.right))) for check in questions]

    def tell_check(self, left: int, right: int, answer: Answer, *, position: int) -> None:
        """Answer a check question. It changes no group."""
        with self._change(position) as signature:
            if (left, right) not in {(c.left, c.right) for c, _ in self.checks()}:
                raise StaleQueryError("this is no longer one of the check questions")
            self.session.check(left, right, answer, **signature)

    def repeats(self) -> list[tuple[Repeat, Repeated | None]]:
        """Return earlier questions of whoever answers now, the other way round, with answers."""
        with self.lock:
            answers = {entry.before: entry for entry in self.session.repeated}
            seed = len(self.session.events)
            found = self.session.repeats(N_CHECKS, by=self.by, random_state=seed)
            return [(repeat, answers.get(repeat.before)) for repeat in found]

    def tell_repeat(
        self, number: int, chosen: Any, *, position: int, seconds: float | None = None
    ) -> None:
        """Answer the question of the answer with a `number` again. It changes no group."""
        with self._change(position) as signature:
            repeat = next((one for one, _ in self.repeats() if one.number == number), None)
            if repeat is None:
                raise StaleQueryError(f"answer {number} is not one of those that are asked again")
            self.session.repeat(repeat, chosen, **signature, seconds=seconds)

    def close(self) -> None:
        """Close the session file."""
        self.store.close()

    # -- inside ----------------------------------------------------------------------------------

    def _refuse_outdated(self, position: int) -> None:
        """Take in what others have added; refuse a change that was decided before it."""
        self.refresh()
        # What joined by itself since has changed no question and no group.
        if not self._same_since <= position <= self.position:
            raise StaleQueryError(
                f"nothing was saved: this came after entry {position} and the log is at "
                f"{self.position}. Somebody answered in another window or process; look again."
            )

    @contextmanager
    def _change(
        self,
        position: int,
        op: Mapping[str, Any] | None = None,
        payloads: Mapping[str, bytes] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Store what the caller does; if either fails, session and file stay as they were."""
        with self.lock:
            self._refuse_outdated(position)
            with self.session.transaction():
                signature = self._signature()
                yield signature
                done = entry_to_dict(self.session.log[-1]) if op is None else {**signature, **op}
                self.position = self.store.append(done, after=self.position, payloads=payloads)
            self._same_since = self.position

    def _signature(self) -> dict[str, Any]:
        return {"by": self.by, "at": now()}


def apply_entries(session: Session, store: Store, entries: Sequence[Stored], position: int) -> int:
    """Do what entries of a file's log say; return the number of the last one, else `position`."""
    for entry, op in understood(entries, lambda name: unpack(store.payload(name))):
        with readable(f"entry {entry.seq} of the log"):
            session.apply(op)
    return entries[-1].seq if entries else position


def session_in(store: Store) -> tuple[Session, int]:
    """Return the session in a file, and the number of the last entry of its log."""
    session = unpack_session(store.payload(SETUP))
    return session, apply_entries(session, store, store.read(), 0)
