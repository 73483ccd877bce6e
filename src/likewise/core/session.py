"""A session: one question at a time, from outside, with every answer changeable.

A session has no loop of its own. `ask` returns the open question, `choose` and `tell` take the
answer; the caller is the web page, the terminal, an estimator's `fit`, or your own code. All that
was done is in the log (`likewise.core.log`), from which every other state follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from likewise.core.answered import Answers
from likewise.core.answers import (
    Answer,
    Chosen,
    Gesture,
    Groups,
    Link,
    Names,
    Question,
    Signed,
    as_answer,
    checked_count,
    is_whole,
    rank_of,
)
from likewise.core.journal import Repeated, Revised, rows_of
from likewise.core.labels import names_in, names_of, unused
from likewise.core.links import LinkGraph, pairs_for_free
from likewise.core.log import Log
from likewise.core.reports import (
    Agreement,
    Assessment,
    Check,
    Completeness,
    Merge,
    Progress,
    Repeat,
    Revision,
    Suspect,
    grouped_by,
)
from likewise.errors import AnswerError, ContradictionError, InputError, StaleQueryError
from likewise.words import card, plural


class Session(Log):
    """Ask and answer.

    Five names suffice: `ask` returns the open question, `choose` answers it (`tell` if it is about
    two rows), `undo` takes an answer back, `labels` is a valid clustering at every moment, and
    `to_dict` saves it all. An estimator's ``start`` makes a session. Methods that change it take
    `by` and `at`, who did it and when, for the log; those that answer also `seconds`, how long it
    took.

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

    Attributes
    ----------
    removed : frozenset of int
        The rows that are gone: nothing is asked about them, but what was answered still counts.

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

    def __repr__(self) -> str:
        return f"<Session: {self.progress}>"

    def _repr_html_(self) -> str:
        question, complete = self.ask(), self.completeness
        asked = "nothing is left to ask" if question is None else question.about
        lines = [("rows", self.strategy.n_rows), ("progress", self.progress), ("asks", asked)]
        lines += [] if complete is None else [("groups", complete)]
        shown = card("Session", [*lines, ("to answer", "session.widget(items=...)")])
        # By its name, since the core imports none of the rooms above it.
        picture: str = import_module("likewise.plotting").as_html(self)
        return shown + picture

    # -- asking and answering --------------------------------------------------------------------

    def ask(self) -> Question | None:
        """Return the open question, or None.

        It is None when the budget is spent, when nothing is left to ask, or, without a budget, when
        more questions would bring little. Asking again returns the same question.
        """
        return self.once("question", lambda: self._next(self.answers, self.n_asked))

    def _next(self, answers: Answers, n_asked: int) -> Question | None:
        """Return the question after `n_asked` others, if any is worth asking within the budget."""
        return self._question(answers, n_asked) if self._may_ask(answers, n_asked) else None

    def _may_ask(self, answers: Answers, n_asked: int) -> bool:
        """Return whether a question after `n_asked` others is within the budget, or worth it."""
        if self._is_endless:
            return True
        limit = self.max_queries
        return not self.strategy.assess(answers).is_enough() if limit is None else n_asked < limit

    def _question(self, answers: Answers, n_asked: int) -> Question | None:
        marked = self._open_mark(answers)
        asked = marked or self.strategy.next_question(answers)
        if asked is None:
            return None
        row, groups = asked
        named, empty = names_in(self.log, answers), list[str]()
        if marked is None and (wanted := self.group_names):
            empty = unused(wanted, named, answers.removed) or ([] if groups else list(wanted))
        names = (*names_of(groups, named, self.strategy.given_groups(), answers), *empty)
        groups = (*groups, *(() for _ in empty))
        return self._numbered(max(n_asked, self._last_number) + 1, row, groups, names)

    def _numbered(self, number: int, row: int, groups: Groups, names: Names) -> Question:
        ids = self.sample_ids
        if ids is None:
            return Question(number, row, groups, names=names)
        group_ids = tuple(tuple(ids[member] for member in group) for group in groups)
        return Question(number, row, groups, ids[row], group_ids, names)

    def ask_many(self, n: int, *, besides: Iterable[Question] = ()) -> list[Question]:
        """Return different questions that can be answered at the same time, for several answerers.

        Each is chosen as if those before it were about to be answered. Answers come in any order,
        each with its question: ``choose(0, question=question)``. An answer to a question that
        others have settled meanwhile is kept as evidence and costs nothing. Asking again before
        anything was answered returns the same questions.

        Parameters
        ----------
        n : int
            How many; fewer if the budget allows fewer, or nothing else is worth asking now.
        besides : iterable of Question
            Questions that are being answered already. They count in the budget, and none of them is
            returned.

        Examples
        --------
        >>> from likewise import COBRA
        >>> session = COBRA(5).start([[0.0], [0.1], [5.0], [5.2], [9.0]])
        >>> first, second = session.ask_many(2)
        >>> first == session.ask(), first.row == second.row
        (True, False)
        >>> _ = session.choose(0, question=second)
        >>> third, = session.ask_many(1, besides=[first])
        """
        n = checked_count(n, "ask_many takes")
        others = tuple(question for question in besides if not self.is_settled(question))
        many: list[Question] = self.once(("many", others), list)
        while len(many) < n and (question := self._besides([*others, *many])) is not None:
            self._give_out(question)
            many.append(question)
        return many[:n]

    def _besides(self, others: Sequence[Question]) -> Question | None:
        """Return a question that is worth asking while others are being answered."""
        if not others:
            return self.ask()
        n_asked, answers = self.n_asked + len(others), self.answers
        if not self._may_ask(answers, n_asked):
            return None
        pairs = {link.pair for one in others for link in one.links(Answer.UNSURE)}
        rows = {one.row for one in others}
        for _ in range(len(others) + 1):
            question = self._question(answers.awaiting(others), n_asked)
            if question is None:
                return None
            unsure = question.links(Answer.UNSURE)
            is_new = question.is_pair or question.row not in rows
            if is_new and not pairs.issuperset(link.pair for link in unsure):
                return question
            # The strategy takes no notice of what is being answered: let it pass that over.
            answers = answers.plus(Gesture(0, unsure))
        return None

    def put(self, row: int, groups: Groups, *, source: str = "extra") -> Question:
        """Return a question of your own, whatever is known. By default its answer costs nothing.

        Parameters
        ----------
        row : int
            The row in question.
        groups : tuple of tuple of int
            The groups that it may belong to, each by some of its rows.
        source : {"extra", "sampled", "asked"}
            What the answer is: evidence, one of a sample that shows how often others are right, or
            one like any other, which counts in the budget.
        """
        self._checked_rows(row, *(member for group in groups for member in group))
        named = names_in(self.log, self.answers)
        names = names_of(groups, named, self.strategy.given_groups(), self.answers)
        question = self._numbered(max(self.n_asked, self._last_number) + 1, row, groups, names)
        self._give_out(question, None if source == "asked" else source)
        return question

    def is_given_out(self, question: Question | int) -> bool:
        """Return whether `choose` would take an answer to a question by its number.

        A number is that of a question of `ask_many` or `put` which is not answered yet.
        """
        number = question if isinstance(question, int) else question.number
        given_out, _ = self._given_out.get(number, (None, None))
        if isinstance(question, int):
            return given_out is not None
        return question in (given_out, self.ask())

    def is_second(self, question: Question) -> bool:
        """Return whether a question was put to find out how often others are right."""
        return self._given_out.get(question.number, (None, None))[1] == "sampled"

    def _give_out(self, question: Question, source: str | None = None) -> None:
        self._last_number = max(self._last_number, question.number)
        self._given_out[question.number] = question, source

    def is_settled(self, question: Question) -> bool:
        """Return whether the answers so far say where the row of a question belongs."""
        if not any(question.groups):
            return any(gesture.left == question.row for gesture in self.events)
        implied = [self.links.implied(*link.pair) for link in question.links(Answer.UNSURE)]
        return Answer.SAME in implied or None not in implied

    def extend(self, n: int | None = None) -> None:
        """Go on asking: raise the budget.

        Parameters
        ----------
        n : int, optional
            How many more questions to ask. By default all there are.
        """
        if n is not None:
            more = checked_count(n, "extend takes")
            self.max_queries = max(self.n_asked, self.max_queries or 0) + more
        self._is_endless = n is None
        self._derived.clear()

    def choose(
        self, chosen: Chosen, *, question: Question | int | None = None, **timed: Unpack[Signed]
    ) -> Gesture:
        """Answer the open question.

        Parameters
        ----------
        chosen : int, sequence of int, Answer.NONE or Answer.UNSURE
            The place of the group in ``question.groups``, from 0. Several places: these groups are
            one, and the row is in it, even if earlier answers told them apart. `Answer.NONE`: none
            of these; a new group begins. `Answer.UNSURE`: not sure.
        question : Question or int, optional
            The question, or its number, that this answers. If it is not the open one the answer
            is refused.

        Returns
        -------
        Gesture
            The answer as it is in the log.

        Raises
        ------
        ContradictionError
            If several groups are chosen of which two certainly differ; nothing is changed then.
        """
        return self.answer(self._open_question(question), chosen, **timed)

    def answer(self, question: Question, chosen: Chosen, **timed: Unpack[Signed]) -> Gesture:
        """Answer the open question, or a part of it such as ``question.pair()``.

        Parameters
        ----------
        question : Question
            The open question, or one about the same row with fewer groups.
        chosen
            As for `choose`.
        """
        asked = self._open_question(question.number)
        if not question.is_part_of(asked):
            raise StaleQueryError(f"the open question is {asked.about}, not {question.about}")
        # A part says nothing about the groups that it leaves out.
        is_whole = question.groups == asked.groups and not question.is_pair
        groups = question.groups if is_whole else ()
        is_next = asked == self.ask()
        _, source = self._given_out.get(asked.number, (asked, None))
        if source is None:
            source = "extra" if not is_next and self.is_settled(question) else "asked"
        names = question.names if () in groups else ()
        about: Any = {"names": names, "name": question.begun(chosen), **timed}
        gesture = Gesture(0, question.links(chosen), source, groups, **about)
        # Others may have answered since the question was put. Then it counts as far as it can.
        if gesture.answer is Answer.SAME and len(gesture.links) > 1:
            said = self._unite(gesture)
        else:
            said = self._say(gesture, is_strict=is_next and source == "asked")
        self._given_out.pop(asked.number, None)
        return said

    def _unite(self, gesture: Gesture) -> Gesture:
        """Take in that groups are one; answers by which they differ are overruled."""
        links = self.links
        with self.transaction():
            self._new(gesture)
            for link in gesture.links:
                if self.links.implied(*link.pair) is not Answer.SAME:
                    raise ContradictionError(link, links.explain(*link.pair))
        return self.answers.gestures[-1]

    def tell(
        self, answer: Any, *, question: Question | int | None = None, **timed: Unpack[Signed]
    ) -> Gesture:
        """Say whether the row belongs to the group, where the open question has one group.

        Parameters
        ----------
        answer : Answer, bool, int or str
            An `Answer` or its value, such as "same"; True or 1; False or 0.
        question
            As for `choose`.
        """
        asked, said = self._open_question(question), as_answer(answer)
        if said.is_link and len(asked.groups) > 1:
            raise AnswerError(
                f"question {asked.number} has {len(asked.groups)} groups to choose from: "
                "session.choose takes the place of one, Answer.NONE for none of these, or "
                "Answer.UNSURE for not sure"
            )
        return self.answer(asked, asked.place(said), **timed)

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
        return self.give_links([Link(left, right, as_answer(answer))])

    def give_links(
        self, links: Iterable[Link], *, overrules: bool = False, **signed: Unpack[Signed]
    ) -> Gesture:
        """Take in several links as one gesture: all of them or, on an error, none.

        They are certain: no answer overrules them.

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
        source = "mended" if overrules else "given"
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
        return self.give_links([link], overrules=True, **signed)

    def peek(self, chosen: Chosen) -> Question | None:
        """Return the question that would follow if `chosen` were the answer to the open one."""
        question = self.ask()
        if question is None:
            return None
        is_pair = question.is_pair
        groups, name = () if is_pair else question.groups, question.begun(chosen)
        said = Gesture(0, question.links(chosen), groups=groups, name=name)
        answers = self.answers.plus(said)
        return self._next(answers, self.n_asked + 1)

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
                "with give_links(..., overrules=True)"
            )
        groups = gesture.groups or ((gesture.right,),)
        question = Question(number, gesture.left, groups, names=gesture.names)
        if not gesture.groups or isinstance(chosen, str | Answer):
            chosen = question.place(as_answer(chosen))
        name = question.begun(chosen)
        return Revised(int(number), question.links(chosen), name=name, **signed)

    # -- what is known ---------------------------------------------------------------------------

    @property
    def links(self) -> LinkGraph:
        """What the answers imply, over rows. Read it; do not change it."""
        return self.answers.links

    @property
    def assessment(self) -> Assessment:
        """What the strategy makes of the answers so far."""
        return self.strategy.assess(self.answers)

    @property
    def askable(self) -> NDArray[np.intp]:
        """The rows that questions may be about, increasing."""
        return np.setdiff1d(self.strategy.askable(), sorted(self.removed))

    @property
    def is_done(self) -> bool:
        """Whether `ask` returns None."""
        return self.ask() is None

    @property
    def progress(self) -> Progress:
        """How far the session is."""
        at_most, estimate = (0, 0) if self.is_done else self.assessment.remaining()
        if at_most and self.max_queries is not None and not self._is_endless:
            n_left = self.max_queries - self.n_asked
            estimate = n_left if estimate is None else min(estimate, n_left)
        more = self.is_done and self._question(self.answers, self.n_asked)
        unsure = sum(gesture.answer is Answer.UNSURE for gesture in self.events)
        return Progress(
            answered=len(self.events) - unsure,
            unsure=unsure,
            settled_for_free=self.links.n_decided - len(self.links),
            at_most=at_most,
            estimate=estimate,
            n_groups=self.n_groups,
            has_more=bool(more),
        )

    @property
    def completeness(self) -> Completeness | None:
        """How much of the grouping is right, as an estimate; None if there is none."""
        return self.once("completeness", self.assessment.completeness)

    @property
    def aspects(self) -> dict[str, float] | None:
        """How much each aspect of the rows counts, by name; None before anything is known.

        The weights sum to 1; that of an aspect that is switched off is 0. None, too, if the rows
        have no aspects. ``grouped_by`` says it in words.
        """
        aspects = self.once("aspects", self.assessment.aspects)
        weights = {each.name: each.weight for each in aspects if each.weight is not None}
        return weights or None

    @property
    def grouped_by(self) -> str:
        """By which aspects rows are grouped, in words; "" before anything is known."""
        return grouped_by(self.once("aspects", self.assessment.aspects))

    @property
    def suspects(self) -> list[Suspect]:
        """Answers that are probably wrong, the least credible first; certain links never are."""
        return self.assessment.suspects()

    @property
    def merges(self) -> list[Merge]:
        """Pairs of groups that may be one, the likeliest first; `judge` says whether they are.

        Groups that certainly differ are not among them, so what was decided does not come again.
        """
        return self.once("merges", self.assessment.merges)

    @property
    def labels(self) -> NDArray[np.intp]:
        """The group of every row by what is known now.

        COBRA leaves apart what is undecided; `Likewise` puts every row where it learned that it
        belongs. Removed rows have the group that they would be in.
        """
        return self.once("labels", lambda: self.strategy.labels(self.answers))

    @property
    def labels_guess(self) -> NDArray[np.intp]:
        """The group of every row if what is undecided is guessed from the answers so far.

        A guess: it respects every answer, but what it adds is not confirmed. When nothing
        is left to ask it equals `labels`.
        """
        return self.strategy.labels(self.answers, guess=True)

    @property
    def n_groups(self) -> int:
        """Number of groups by what is known now; those of removed rows alone do not count."""
        if not self.removed:
            return int(self.labels.max()) + 1
        return len(np.unique(np.delete(self.labels, sorted(self.removed))))

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
        n = checked_count(n, "audit takes")
        settled = self.links, self.askable, {link.pair for link in self.links}
        rng = np.random.default_rng(random_state)
        same = pairs_for_free(*settled, Answer.SAME, n, rng)
        different = pairs_for_free(*settled, Answer.DIFFERENT, n, rng)
        n_same = min(len(same), max((n + 1) // 2, n - len(different)))
        chosen = [(pair, Answer.SAME) for pair in same[:n_same]]
        chosen += [(pair, Answer.DIFFERENT) for pair in different[: n - n_same]]
        return [Check(*pair, expected, self.links.explain(*pair)) for pair, expected in chosen]

    def repeats(self, n: int, *, by: str | None = None, random_state: int = 0) -> list[Repeat]:
        """Return earlier questions, the other way round, to find out how steady the answers are.

        They are questions that were answered with more than *not sure*, and not by a model or rule.
        The two rows of a pair change sides, and groups stand in the opposite order. `repeat` takes
        the answers.

        Parameters
        ----------
        n : int
            How many questions to return; fewer if fewer were answered.
        by : str, optional
            Only what this person answered.
        random_state : int, default=0
            Which ones to choose.
        """
        n = checked_count(n, "repeats takes")
        askable = set(self.askable.tolist())
        answered = [
            gesture
            for gesture in self.events
            if gesture.source == "asked" and gesture.answer.is_link and rank_of(gesture.by) == 0
            if (by is None or gesture.by == by) and askable.issuperset(rows_of(gesture))
            if any(gesture.groups) or not gesture.groups
        ]
        rng = np.random.default_rng(random_state)
        chosen = rng.permutation(len(answered))[:n].tolist()
        return [self._mirrored(answered[k]) for k in sorted(chosen)]

    def _mirrored(self, gesture: Gesture) -> Repeat:
        """Return the question of a gesture the other way round."""
        # A group that had only a name is none that could be compared with.
        row, groups = gesture.left, tuple(filter(None, gesture.groups[::-1]))
        if not groups:
            row, groups = gesture.right, ((gesture.left,),)
        return Repeat(gesture.number, Question(gesture.number, row, groups), gesture.links)

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

    @property
    def agreement(self) -> Agreement:
        """How often questions that were asked again were answered in the same way."""
        same = [is_same for e in self.repeated if (is_same := self.agrees(e)) is not None]
        return Agreement(len(same), sum(same))

    def agrees(self, repeated: Repeated) -> bool | None:
        """Return whether a repeated answer is the same as before; None for *not sure*.

        Two groups that are one by now are the same answer.
        """
        if any(link.answer is Answer.UNSURE for link in repeated.links):
            return None
        before, now = (
            {link.pair for link in links if link.answer is Answer.SAME}
            for links in (repeated.before, repeated.links)
        )
        if not before or not now:
            return not before and not now
        if before & now:
            return True
        there = {self.links.find(link.right) for link in repeated.before}
        return not there.isdisjoint(self.links.find(link.right) for link in repeated.links)

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

    # -- inside ----------------------------------------------------------------------------------

    def _say(self, gesture: Gesture, *, is_strict: bool) -> Gesture:
        """Take in a gesture; return it as it is in the log."""
        self._new(gesture, is_strict=is_strict)
        # One that others contradict, who count more, does not count.
        return self.answers.newest or gesture

    def _open_question(self, question: Question | int | None) -> Question:
        number: Any = getattr(question, "number", question)
        given_out, _ = self._given_out.get(number if is_whole(number) else 0, (None, None))
        if given_out is not None and question in (given_out, number):
            return given_out
        asked = self.ask()
        if asked is None:
            raise StaleQueryError(
                "there is no open question: nothing is left to ask, or the budget is spent "
                "(session.extend(10) goes on)"
            )
        if question is not None and question not in (asked, asked.number):
            raise StaleQueryError(
                f"the answer is for question {number}, but the open one is question "
                f"{asked.number} {asked.about}. Ask again."
            )
        return asked
