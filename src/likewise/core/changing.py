"""The part of a session for all other changes: links, revisions, rows, names, notes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from numpy.typing import ArrayLike

from likewise.core.answered import Answers
from likewise.core.answers import (
    Answer,
    Chosen,
    Gesture,
    Link,
    Question,
    Signed,
    as_answer,
    is_whole,
)
from likewise.core.growth import checked_growth, next_ids
from likewise.core.journal import (
    Checked,
    Marked,
    Named,
    Rebuilt,
    Repeated,
    Revised,
    SetAside,
    Switched,
    TakenBack,
)
from likewise.core.log import Log, refuse_strategy
from likewise.core.reports import Repeat, Revision
from likewise.core.strategy import Strategy
from likewise.errors import AnswerError, CannotGrowError, ContradictionError, InputError
from likewise.words import check_text, plural


class Changing(Log):
    """All changes of a session but answers. One of the parts of `Session`."""

    def add_link(self, left: int, right: int, answer: Any) -> Gesture:
        """Add a certain link: an answer that was known without asking.

        Raises
        ------
        ContradictionError
            If it clashes with earlier answers; nothing is changed then.
        """
        return self.add_links([Link(left, right, as_answer(answer))])

    def add_links(
        self, links: Iterable[Link], *, overrules: bool = False, **signed: Unpack[Signed]
    ) -> Gesture:
        """Add several certain links as one gesture: all of them or, on an error, none.

        No answer overrules them.

        Parameters
        ----------
        links : iterable of Link
            The links.
        overrules : bool
            Whether earlier links that contradict these are dropped. By default that is an error.
        """
        checked = []
        for link in links if isinstance(links, Iterable) else (links,):
            if not (isinstance(link, Link) and isinstance(link.answer, Answer)):
                raise InputError(f"a link is likewise.Link(left, right, Answer.SAME), got {link!r}")
            left, right = self._checked_pair(link.left, link.right)
            checked.append(Link(left, right, link.answer))
        if not checked:
            raise InputError("a gesture has at least one link")
        source = "mended" if overrules else "known"
        return self._say(Gesture(0, tuple(checked), source, **signed), is_strict=not overrules)

    def judge(self, left: int, right: int, answer: Any, **signed: Unpack[Signed]) -> Gesture:
        """Say whether the groups of two rows are one, as `merges` suggests; that is certain.

        Parameters
        ----------
        left, right : int
            A row of each group.
        answer : Answer, bool, int or str
            Whether they are the same. Then answers by which they differ are overruled. If they are
            not, they are kept apart for good.
        """
        link = Link(left, right, as_answer(answer))
        if not link.answer.is_link:
            raise AnswerError("whether two groups are one is decided by same or different")
        return self.add_links([link], overrules=True, **signed)

    def revise(self, number: int, chosen: Any, **signed: Unpack[Signed]) -> Revision:
        """Change an earlier answer and keep every other one that does not contradict it.

        Parameters
        ----------
        number : int
            The number of the answer in `events`.
        chosen : Answer or what `choose` takes
            The new answer: about two rows, or the place of a group.

        Returns
        -------
        Revision
            The answers kept, and those dropped since they contradict the new one.

        Raises
        ------
        ContradictionError
            If the new answer contradicts itself or a certain link.
        """
        entry = self._revision(number, chosen, **signed)
        revision = self._foreseen(entry)
        self._new(entry)
        return revision

    def preview(self, number: int, chosen: Any) -> Revision:
        """Return what `revise` would do, without doing it."""
        return self._foreseen(self._revision(number, chosen))

    def _foreseen(self, entry: Revised) -> Revision:
        answers = Answers(self.n_first_rows, self._log)
        dropped = answers.take(entry)
        kept = {(x.pair, x.answer) for gesture in answers.gestures for x in gesture.links}
        for link in entry.links:
            if (link.pair, link.answer) not in kept:
                raise ContradictionError(link, self.links.explain(link.left, link.right))
        return Revision(tuple(answers.gestures), tuple(dropped))

    def _revision(self, number: int, chosen: Any, **signed: Unpack[Signed]) -> Revised:
        n = len(self.events)
        if not is_whole(number) or not 1 <= number <= n:
            raise InputError(f"there is no answer {number!r}: the log has {plural(n, 'answer')}")
        gesture = self.events[number - 1]
        if not gesture.groups and len(gesture.links) > 1:
            raise InputError(
                f"answer {number} consists of {len(gesture.links)} links: undo it, or overrule it "
                "with add_links(..., overrules=True)"
            )
        groups = gesture.groups or ((gesture.right,),)
        question = Question(number, gesture.left, groups, names=gesture.names)
        if not gesture.groups or isinstance(chosen, str | Answer):
            chosen = question.place(as_answer(chosen))
        name = question.begun(chosen)
        return Revised(int(number), question.links(chosen), name=name, **signed)

    # -- rows and strategies -----------------------------------------------------------------------

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
            data frame. If ids are the numbers of the rows, counting continues. The id of a removed
            row may be used again.
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
        refuse_strategy(strategy)
        plain = {"name": strategy.name, **strategy.to_dict()}
        self._new(Rebuilt(plain, **signed), strategy)

    # -- notes -------------------------------------------------------------------------------------

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

    def repeat(self, repeat: Repeat, chosen: Chosen, **signed: Unpack[Signed]) -> None:
        """Note the answer to an earlier question that was asked again; it changes no group.

        Parameters
        ----------
        repeat : Repeat
            One of `repeats`.
        chosen
            As for `choose`, about ``repeat.question``; or an `Answer` about two rows.
        """
        if isinstance(chosen, str | Answer):
            chosen = repeat.question.place(as_answer(chosen))
        links = repeat.question.links(chosen)
        self._checked_rows(*(row for link in links for row in link.pair))
        self._new(Repeated(links, repeat.before, **signed))

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


def _refuse_names(names: Any) -> None:
    if not isinstance(names, Mapping):
        raise InputError(f"names are given by row, as {{7: 'cats'}}, got {names!r}")
    for name in names.values():
        check_text(name, "a name")
