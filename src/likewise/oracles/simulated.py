"""Oracles that need no person: labels, noise, a budget, an earlier session."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.core.answers import Answer, Gesture, Question, checked_count, ordered
from likewise.core.session import Session
from likewise.errors import AnswerError, BudgetExhausted, InputError
from likewise.oracles.oracle import answered, as_oracle, can_choose, chosen_by
from likewise.words import plural


class LabelOracle:
    """Answer by known labels: the same label, the same group.

    A group is judged by its first row, which stands for it in the log. After a wrong answer a group
    may have rows of several labels; the other rows that are shown do not count.

    Parameters
    ----------
    labels : array-like of shape (n_rows,) or mapping
        The label of every row, or, as a mapping, of every sample id. Rows change their number
        when data are sliced, as in cross-validation; ids do not: pass ``sample_ids`` to ``fit``
        and labels by id here. Labels by row are refused for data of another length.
    several : bool
        Whether all groups with the label of the row are the answer, so that they become one, as
        given groups that are really one. By default the first of them is, the likeliest one.

    Examples
    --------
    >>> from likewise import LabelOracle, Question
    >>> LabelOracle(["cat", "dog", "cat"]).answer(Question(1, 0, ((2,),)))
    <Answer.SAME: 'same'>
    >>> LabelOracle(["cat", "dog", "cat", "dog"]).answer(Question(1, 3, ((0, 2), (1,))))
    1
    >>> cats = LabelOracle(["cat", "dog", "cat", "cat"], several=True)
    >>> cats.answer(Question(1, 3, ((0,), (1,), (2,))))
    [0, 2]
    >>> by_id = LabelOracle({"a": "cat", "b": "dog"})
    >>> by_id.answer(Question(1, 0, ((1,),), row_id="a", group_ids=(("b",),)))
    <Answer.DIFFERENT: 'different'>
    """

    can_choose = True

    def __init__(
        self, labels: ArrayLike | Mapping[Hashable, Any], *, several: bool = False
    ) -> None:
        self.labels: Any = labels
        self.several = several
        self.n_rows: int | None = None  # not known where labels are by id
        if not isinstance(labels, Mapping):
            self.labels = array = np.asarray(labels)
            if array.ndim != 1:
                raise InputError(f"labels must have one dimension, got shape {array.shape}")
            self.n_rows = len(array)

    def answer(self, question: Question) -> Any:
        """Return the group whose first row, or else whose name, has the same label."""
        label = self._label(question.row, question.row_id)
        same = [
            place
            for place, group in enumerate(question.groups)
            if group and self._label(group[0], self._id_of(question, place)) == label
        ]
        if not same:
            empty = (place for place, group in enumerate(question.groups) if not group)
            same = [place for place in empty if question.name(place) == str(label)][:1]
        if not same:
            return answered(Answer.NONE, question)
        return answered(same if self.several and len(same) > 1 else same[0], question)

    @staticmethod
    def _id_of(question: Question, place: int) -> Hashable | None:
        """Return the id of the first row of a group."""
        return question.group_ids[place][0] if question.group_ids else None

    def _label(self, row: int, sample_id: Hashable | None) -> Any:
        """Return the label of a row, by its number or its id."""
        if isinstance(self.labels, Mapping):
            if sample_id is None:
                raise AnswerError(
                    "this oracle knows labels by sample id, but the question has none. "
                    "Pass sample_ids to fit or start."
                )
            key, whose, is_there = sample_id, f"sample id {sample_id!r}", sample_id in self.labels
        else:
            key, whose, is_there = row, f"row {row}", row < len(self.labels)
        if not is_there:
            n_labels = plural(len(self.labels), "label")
            raise AnswerError(f"{whose} has no label: the oracle has {n_labels}")
        label = self.labels[key]
        if label is None or (isinstance(label, float) and math.isnan(label)):
            raise AnswerError(
                f"the label of {whose} is {label}, which is equal to no label. Leave out such "
                "rows, as by train_indices, or give them a label."
            )
        return label


class WrappedOracle:
    """An oracle that does something to the answers of another one."""

    def __init__(self, oracle: Any) -> None:
        self.oracle = as_oracle(oracle)
        self.n_rows: int | None = getattr(self.oracle, "n_rows", None)
        self.can_choose = can_choose(self.oracle)


class NoisyOracle(WrappedOracle):
    """Answer wrongly, with some probability.

    Parameters
    ----------
    oracle : Oracle or callable
        Who answers.
    p : float
        The probability that a yes becomes a no or a no a yes. A wrong choice is another group
        than the right one, or none, each with the same probability.
    random_state : int, default=0
        Which answers are wrong. The same question is always answered the same way.
    """

    def __init__(self, oracle: Any, p: float, random_state: int = 0) -> None:
        if not isinstance(p, int | float | np.number) or not 0 <= float(p) <= 1:
            raise InputError(f"p must be a probability from 0 to 1, got {p!r}")
        super().__init__(oracle)
        self.p = p
        self.random_state = random_state

    def answer(self, question: Question) -> Any:
        """Return the other oracle's answer, or a wrong one."""
        right = chosen_by(self.oracle, question)
        shown = [row for group in question.groups for row in group]
        rows = ordered(question.row, shown[0]) if question.is_pair else (question.row, *shown)
        rng = np.random.default_rng([self.random_state, *rows])
        if rng.random() >= self.p or right is Answer.UNSURE:
            return answered(right, question)
        places = (*range(len(question.groups)), Answer.NONE)
        rights = right if isinstance(right, list) else [right]
        wrong = [place for place in places if place not in rights]
        return answered(wrong[int(rng.integers(len(wrong)))], question)


class BudgetedOracle(WrappedOracle):
    """Pass on another oracle's answers, and stop after a number of them.

    Parameters
    ----------
    oracle : Oracle or callable
        Who answers.
    max_queries : int
        After this many answers `BudgetExhausted` is raised, on which ``fit`` ends normally.
    """

    def __init__(self, oracle: Any, max_queries: int) -> None:
        super().__init__(oracle)
        self.max_queries = checked_count(max_queries, "max_queries must be")
        self.n_queries = 0

    def answer(self, question: Question) -> Any:
        """Return the other oracle's answer while the budget lasts."""
        if self.n_queries >= self.max_queries:
            raise BudgetExhausted(f"the budget of {plural(self.max_queries, 'answer')} is spent")
        self.n_queries += 1
        return self.oracle.answer(question)


class ReplayOracle:
    """Answer as somebody did before.

    Parameters
    ----------
    events : Session or iterable of Gesture
        A session, or its `events`. Of a session about a sample, pass the session itself, which
        knows the numbers of its rows in the data.
    otherwise : Oracle or callable, optional
        Who answers what was not asked then. Without one, that is an error.
    """

    can_choose = True

    def __init__(self, events: Session | Iterable[Gesture], otherwise: Any = None) -> None:
        gestures = _checked_events(events)
        self.answers = {link.pair: link.answer for g in gestures for link in g.links}
        self.choices = {(g.left, g.groups): g for g in gestures if g.groups}
        self.otherwise = None if otherwise is None else as_oracle(otherwise)

    def answer(self, question: Question) -> Any:
        """Return what was chosen, or what the recorded answers say about the groups shown."""
        then = self.choices.get((question.row, question.groups))
        if then is not None:
            linked = {link.right: link.answer for link in then.links}
            none = Answer.UNSURE if then.answer is Answer.UNSURE else Answer.DIFFERENT
            answers = [
                linked.get(group[0])
                if group
                else (Answer.SAME if then.name == question.name(place) else none)
                for place, group in enumerate(question.groups)
            ]
        else:
            answers = [self._recorded(question.row, group) for group in question.groups]
        same = [place for place, answer in enumerate(answers) if answer is Answer.SAME]
        if same:
            return answered(same if len(same) > 1 else same[0], question)
        if None in answers:
            return self._otherwise(question)
        return Answer.UNSURE if Answer.UNSURE in answers else answered(Answer.NONE, question)

    def _recorded(self, row: int, group: tuple[int, ...]) -> Answer | None:
        """Return what was recorded about a row and a group: *same* as any of its rows counts."""
        if not group:
            return Answer.DIFFERENT
        answers = [self.answers.get(ordered(row, member)) for member in group]
        return Answer.SAME if Answer.SAME in answers else answers[0]

    def _otherwise(self, question: Question) -> Any:
        if self.otherwise is None:
            raise AnswerError(
                f"the recorded session did not ask {question.about}. Pass otherwise= to say who "
                "answers new questions."
            )
        if can_choose(self.otherwise) or len(question.groups) == 1:
            return answered(chosen_by(self.otherwise, question), question)
        for place in range(len(question.groups)):
            if chosen_by(self.otherwise, question.pair(place)) == 0:
                return place
        return Answer.NONE


def _checked_events(events: Any) -> list[Gesture]:
    remedy = "pass session.events, or events of a saved session by Session.from_dict(saved).events"
    if not isinstance(events, Session | Iterable) or isinstance(events, str | bytes | Mapping):
        raise InputError(f"recorded answers are needed, got {type(events).__name__}: {remedy}")
    if isinstance(events, Session):
        return [_in_data(gesture, events.row_numbers) for gesture in events.events]
    gestures = list(events)
    for k, gesture in enumerate(gestures):
        if not hasattr(gesture, "links"):
            raise InputError(f"entry {k} is {gesture!r}, which is not a recorded answer: {remedy}")
    return gestures


def _in_data(gesture: Gesture, numbers: Any) -> Gesture:
    """Return a gesture about the rows of the data that a session is about a sample of."""
    if numbers is None:
        return gesture
    links = tuple(link.renumbered(numbers) for link in gesture.links)
    groups = tuple(tuple(int(numbers[row]) for row in group) for group in gesture.groups)
    return replace(gesture, links=links, groups=groups)
