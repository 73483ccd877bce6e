"""One project, used by a front: its groups, and all that changes them besides answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Link, Question
from likewise.core.journal import Rebuilt, Repeated, entry_to_dict
from likewise.core.reports import Check, Repeat
from likewise.errors import InputError, StaleQueryError
from likewise.learning.aspects import find_columns
from likewise.project.groups import Group, HowKnown, groups_of, how_known
from likewise.project.mending import (
    Mending,
    answers_behind,
    changed_rows,
    nearest_fellow,
    parts_of,
)
from likewise.project.people import Double, doubles
from likewise.project.record import Record
from likewise.store.packing import pack
from likewise.strategies.most_doubt import MostDoubt
from likewise.words import plural

N_CHECKS = 5
"""How many check questions there are in a round."""


class _Foreseen(Exception):  # noqa: N818
    """Raised to roll back a trial change."""


class Project(Record):
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

    # -- groups ------------------------------------------------------------------------------------

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
        shown = [(g, tuple(r for r in g.standing if r not in gone)) for g in groups if g.size]
        return [
            replace(g, standing=rows or tuple(self.members(g)[:1].tolist())) for g, rows in shown
        ]

    def group(self, id: int) -> Group:
        """Return one group by its id."""
        for group in self.groups():
            if group.id == id:
                return group
        raise InputError(f"there is no group {id}: the answers have changed since")

    def members(self, group: Group) -> NDArray[np.intp]:
        """Return the rows of a group that still exist, typical ones first."""
        inside = self.session.labels == group.label
        inside[[*group.standing, *self.session.removed]] = False
        standing = [row for row in group.standing if row not in self.session.removed]
        return np.concatenate([np.array(standing, dtype=np.intp), np.flatnonzero(inside)])

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

    @property
    def how_many(self) -> str:
        """How many items there are, in words, which call a sample one."""
        n, of = len(self.listed()), self.n_of_all
        if of is None:
            return plural(n, self.items.noun)
        return f"a sample of {n} of {plural(of, self.items.noun)}"

    def name(self, group: int, name: str, *, position: int) -> None:
        """Name a group, or take its name away."""
        with self.lock:
            self._refuse_overtaken(position)
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

    # -- changing ----------------------------------------------------------------------------------

    def add_links(self, links: Iterable[Link], *, position: int) -> None:
        """Add certain links, as one gesture."""
        with self._change(position) as signature:
            self.session.add_links(links, **signature)

    def settle(self, left: int, right: int, answer: Answer, *, position: int) -> None:
        """Say something about two rows without being asked."""
        with self._change(position) as signature:
            implied = self.session.links.implied(left, right)
            if implied is not None:
                raise InputError(f"rows {left} and {right} are settled already: {implied.value}")
            self.session.add_links([Link(left, right, answer)], **signature)

    def judge(self, left: int, right: int, answer: Answer, *, position: int) -> None:
        """Say whether the groups of two rows are one, as `Session.merges` suggests, for good."""
        with self._change(position) as signature:
            self.session.judge(left, right, answer, **signature)

    def mend(self, say: Callable[[Mending], Iterable[Link]], *, position: int) -> int:
        """Mend the result by one gesture, which overrules earlier answers that contradict it.

        `say` returns the links of the gesture. Returns how many earlier answers were overruled.
        """
        with self._change(position) as signature:
            before = self.session.events
            self.session.add_links(say(Mending(self.session)), overrules=True, **signature)
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
                    self.session.add_links(say(Mending(self.session)), overrules=True)
                    changed = changed_rows(before, self.session.labels, moved)
                    raise _Foreseen
            except _Foreseen:
                return changed

    def parts(self, group: Group) -> list[NDArray[np.intp]]:
        """Return the rows of the two most likely parts of a group."""
        return parts_of(self.session, self.features, self.members(group))

    def revise(
        self, number: int, answer: Any, *, position: int, seen: tuple[int, str | None] | None = None
    ) -> None:
        """Change an earlier answer.

        Parameters
        ----------
        number : int
            Its number. Numbers change when an earlier answer is overruled.
        answer
            As for `Session.revise`.
        seen : tuple of int and str or None, optional
            The row in question and who answered, to make sure that it is still the same answer.
        """
        with self.lock:
            self._refuse_overtaken(position)
            if seen is None:
                self._refuse_outdated(position)
            elif number in range(1, len(self.session.events) + 1):
                now = self.session.events[number - 1]
                if (now.left, now.by) != seen:
                    raise StaleQueryError(f"answer {number} is another one now. Look again.")
            with self._change(position) as signature:
                self.session.revise(number, answer, **signature)

    def set_aside(self, answerer: str, *, position: int) -> None:
        """Ignore all that somebody answered."""
        with self._change(position) as signature:
            self.session.set_aside(answerer, **signature)

    def take_back(self, answerer: str, *, position: int) -> None:
        """Count the answers of somebody again."""
        with self._change(position) as signature:
            self.session.take_back(answerer, **signature)

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
            self._refuse_overtaken(position)
            if self.features.metric == "precomputed":
                raise InputError(
                    "nothing is left to ask, and there are only distances to learn from. Begin "
                    "with more super-instances for finer groups."
                )
            train = self.features.askable
            aspects = find_columns(self.features.columns, self.features.X.shape[1])
            made = MostDoubt.from_rows(
                self.features.X,
                train_indices=train,
                seed=self.seed,
                aspects=aspects,
                main_aspect=self.features.main_aspect,
            )
            name, signature = f"strategy {self.position + 1}", self._signature()
            op = entry_to_dict(Rebuilt({"payload": name}, **signature))
            plain = {"name": made.name, **made.to_dict()}
            with self._change(position, op, {name: pack(plain)}):
                self.session.rebuild(made, **signature)

    # -- checking ----------------------------------------------------------------------------------

    def checks(self) -> list[tuple[Check, Answer | None]]:
        """Return check questions about pairs that nobody was asked about, each with its answer."""
        with self.lock:
            answers = self.session.checks
            questions = self.session.audit(N_CHECKS, random_state=self._n_mine)
            return [(check, answers.get((check.left, check.right))) for check in questions]

    def tell_check(self, left: int, right: int, answer: Answer, *, position: int) -> None:
        """Answer a check question. It changes no group."""
        with self._change(position) as signature:
            if (left, right) not in {(c.left, c.right) for c, _ in self.checks()}:
                raise StaleQueryError("this is no longer one of the check questions")
            self.session.check(left, right, answer, **signature)

    def repeats(self) -> list[tuple[Repeat, Repeated | None]]:
        """Return earlier questions of the caller, the other way round, with the answers."""
        with self.lock:
            answers = {entry.before: entry for entry in self.session.repeated}
            found = self.session.repeats(N_CHECKS, by=self.by, random_state=self._n_mine)
            return [(repeat, answers.get(repeat.before)) for repeat in found]

    @property
    def _n_mine(self) -> int:
        """How many answers are by the caller: a round of checks lasts until they answer again."""
        return sum(self._is_mine(gesture) for gesture in self.session.events)

    def tell_repeat(
        self, number: int, chosen: Any, *, position: int, seconds: float | None = None
    ) -> None:
        """Answer the question of the answer with a `number` again. It changes no group."""
        with self.lock:
            self._refuse_outdated(position)
        with self._change(position) as signature:
            repeat = next((one for one, _ in self.repeats() if one.number == number), None)
            if repeat is None:
                raise StaleQueryError(f"answer {number} is not one of those that are asked again")
            self.session.repeat(repeat, chosen, **signature, seconds=seconds)

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
            self.session.add_links(links, overrules=True, **signature)
