"""The part of a session that asks questions, takes answers and computes labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from likewise.core.answered import Answers
from likewise.core.answers import (
    Answer,
    Chosen,
    Gesture,
    Groups,
    Names,
    Question,
    Signed,
    as_answer,
    checked_count,
    is_whole,
)
from likewise.core.log import Log
from likewise.errors import AnswerError, ContradictionError, StaleQueryError


class Asking(Log):
    """Ask, take answers, and label. One of the parts of `Session`."""

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
        # Groups known by name only are offered until one has a row.
        empty = list[str]()
        if marked is None and (wanted := self.group_names):
            used = {name for row, name in answers.names.items() if row not in answers.removed}
            unused = [name for name in wanted if name not in used]
            empty = unused or ([] if groups else list(wanted))
        names = (*answers.names_of(groups, self.strategy.given_groups()), *empty)
        groups = (*groups, *(() for _ in empty))
        return self._numbered(max(n_asked, self._last_number) + 1, row, groups, names)

    def _numbered(self, number: int, row: int, groups: Groups, names: Names) -> Question:
        ids = self.sample_ids
        if ids is None:
            return Question(number, row, groups, names=names)
        group_ids = tuple(tuple(ids[member] for member in group) for group in groups)
        return Question(number, row, groups, ids[row], group_ids, names)

    def _open_mark(self, answers: Answers) -> tuple[int, Groups] | None:
        """Return a row marked as a misfit and a row of its group, until an answer settles it."""
        for row, other in self._marked():
            if other is None or not self.removed.isdisjoint((row, other)):
                continue
            if answers.is_open(row, other):
                return row, ((other,),)
        return None

    def ask_many(self, n: int, *, besides: Iterable[Question] = ()) -> list[Question]:
        """Return different questions that can be answered at the same time, for several answerers.

        Each is chosen as if those before it were about to be answered. Answers come in any order,
        each with its question: ``choose(0, question=question)``. An answer to a question that
        others have settled meanwhile, or whose row was removed, is kept as evidence and costs
        nothing. Asking again before anything was answered returns the same questions.

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

    def put(
        self, row: int, groups: Groups, *, source: str = "extra", names: Names = ()
    ) -> Question:
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
        names : tuple of str or None, optional
            The name of each group. Only groups without rows need one here.
        """
        self._checked_rows(row, *(member for group in groups for member in group))
        known = self.answers.names_of(groups, self.strategy.given_groups())
        if names:
            known = tuple(a if g else b for g, a, b in zip(groups, known, names, strict=True))
        question = self._numbered(max(self.n_asked, self._last_number) + 1, row, groups, known)
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
        """Raise the budget, to ask more.

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

    # -- answering ---------------------------------------------------------------------------------

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
        if is_whole and () in question.groups:
            question = self._with_begun(question)
        groups = question.groups if is_whole else ()
        is_next = asked == self.ask()
        _, source = self._given_out.get(asked.number, (asked, None))
        if source is None:
            is_needless = question.row in self.removed or self.is_settled(question)
            source = "extra" if is_needless and not is_next else "asked"
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

    def _with_begun(self, question: Question) -> Question:
        """Return a question with a row in the groups that others have begun since it was put."""
        others = self.answers.names.items()
        rows = {n: k for k, n in others if k != question.row and k not in self.removed}
        places = range(len(question.groups))
        known = [(rows[n],) if (n := question.name(k)) in rows else () for k in places]
        groups = tuple(group or known[place] for place, group in enumerate(question.groups))
        return replace(question, groups=groups, group_ids=())

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

    def _open_question(self, question: Question | int | None) -> Question:
        number: Any = getattr(question, "number", question)
        given_out, _ = self._given_out.get(number if is_whole(number) else 0, (None, None))
        if given_out is not None and question in (given_out, number):
            return given_out
        asked = self.ask()
        if asked is None:
            raise StaleQueryError(
                "there is no open question: nothing is left to ask, or the budget is spent "
                "(session.extend(10) asks more)"
            )
        if question is not None and question not in (asked, asked.number):
            raise StaleQueryError(
                f"the answer is for question {number}, but the open one is question "
                f"{asked.number} {asked.about}. Ask again."
            )
        return asked

    # -- what follows ------------------------------------------------------------------------------

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
