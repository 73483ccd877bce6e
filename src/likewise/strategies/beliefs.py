"""What is believed after every answer: which rows are one group, and which answers are wrong.

The state after an answer follows from the state before it, the data and the answer, so taking
answers back leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.learning.learner import Learned, milestone
from likewise.strategies.expecting import Learnt, expected_groups
from likewise.strategies.weighing import Weighing

Model = Callable[[NDArray[np.intp], NDArray[np.intp]], Learned]


CERTAIN = 1000
"""What is certain counts as this many answers."""

FIRST_RATE, N_FIRST, SEEN_PER_CHECK = 0.05, 20, 3
"""Before any check, this share of wrong answers is expected, as if it had been seen in so many
answers. A check bears on the answers from which its pair follows, and on itself."""


@dataclass(frozen=True, eq=False, slots=True)
class State:
    """What follows from the answers so far; rows are those they mention, by first mention."""

    names: NDArray[np.intp]
    """The name of every row's group; names are never used twice."""
    next_name: int
    learnt: Learnt | None
    n_learnt: int
    n_checks: int
    overruled: frozenset[int]
    rate: float


class Beliefs:
    """A log of answers, the rows it mentions, and a state after each answer.

    Parameters
    ----------
    points : ndarray of shape (n_cells, n_features)
        The cells.
    position : mapping of int to int
        The cells by the rows that stand for them.
    cell_of : mapping of int to int
        Those of them that may be asked about, from which is learned.
    model : callable
        Learns from cells and their groups.
    error_rate : float or "estimate"
        The share of wrong answers that is expected.
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        position: Mapping[int, int],
        cell_of: Mapping[int, int],
        model: Model,
        error_rate: float | Literal["estimate"],
    ) -> None:
        self.points = points
        self.error_rate = error_rate
        self.log: list[tuple[int, int, Answer]] = []
        self.certain: list[bool] = []
        self.mentioned: list[int] = []
        self.place: dict[int, int] = {}
        self._position = position
        self._cell_of = cell_of
        self._model = model
        none = np.empty(0, dtype=np.intp)
        self.states = [State(none, 0, None, 0, 0, frozenset(), self._rate(0, 0))]
        self._weighing: Weighing | None = None

    @property
    def now(self) -> State:
        """The state after the last answer."""
        return self.states[-1]

    def add(
        self, left: int, right: int, answer: Answer, *, is_check: bool, is_certain: bool = False
    ) -> None:
        """Take in an answer; a check is one about what other answers imply."""
        self.log.append((left, right, answer))
        self.certain.append(is_certain)
        for row in (left, right):
            if row not in self.place:
                self.place[row] = len(self.mentioned)
                self.mentioned.append(row)
        self.states.append(self._after(self.now, left, right, answer, is_check=is_check))
        self._weighing = None

    def pop(self) -> None:
        """Take back the last answer."""
        self.log.pop()
        self.certain.pop()
        self.states.pop()
        for row in self.mentioned[len(self.now.names) :]:
            del self.place[row]
        del self.mentioned[len(self.now.names) :]
        self._weighing = None

    def weighed(self) -> Weighing:
        """Return the state as a weighing; its groups are numbered in the order of their names."""
        if self._weighing is None:
            self._weighing = self._weigh(self.now.names, self.now.learnt, self.now.rate)[1]
        return self._weighing

    def weighed_freely(self) -> Weighing:
        """Return the state as a weighing where what is expected may outvote answers."""
        state = self.now
        return self._weigh(state.names, state.learnt, state.rate, is_free=True)[1]

    def expected(
        self, rows: list[int], names: NDArray[np.intp], learnt: Learnt | None
    ) -> tuple[NDArray[np.float64], float]:
        """Return how likely rows are in each group, or in a new one, before answers."""
        cells = np.array([self._position.get(row, -1) for row in rows], dtype=np.intp)
        known = np.array([self._position.get(row, -1) for row in self.mentioned], dtype=np.intp)
        return expected_groups(self.points, cells, known, names, learnt)

    def answers(self) -> NDArray[np.intp]:
        """Return yes/no answers as places of mentioned rows and signs."""
        found = []
        for (left, right, answer), is_certain in zip(self.log, self.certain, strict=True):
            if answer.is_link:
                sign = 1 if answer is Answer.SAME else -1
                weight = CERTAIN if is_certain else 1
                found.append((self.place[left], self.place[right], sign * weight))
        return np.array(found, dtype=np.intp).reshape(-1, 3)

    def _rate(self, n_checks: int, n_overruled: int) -> float:
        if self.error_rate != "estimate":
            return self.error_rate
        n_seen = N_FIRST + SEEN_PER_CHECK * n_checks
        return min(0.2, (FIRST_RATE * N_FIRST + n_overruled) / n_seen)

    def _after(
        self, before: State, left: int, right: int, answer: Answer, *, is_check: bool
    ) -> State:
        """Return the state after the last answer of the log."""
        n_new = len(self.mentioned) - len(before.names)
        fresh = np.arange(before.next_name, before.next_name + n_new)
        names, next_name = np.concatenate([before.names, fresh]), before.next_name + n_new
        learnt, n_learnt = before.learnt, before.n_learnt
        answers = self.answers()
        if answer.is_link:
            places = sorted((self.place[left], self.place[right]), reverse=True)
            names, next_name = self._settled_names(names, next_name, before, learnt, places)
            if milestone(len(names)) != n_learnt or self._learnable(names) != (
                () if learnt is None else learnt.names
            ):
                learnt, n_learnt = self._learn(names), milestone(len(names))
                everyone = [k for k in range(len(names)) if k in set(answers[:, :2].ravel())]
                names, next_name = self._settled_names(names, next_name, before, learnt, everyone)
        links = [k for k, entry in enumerate(self.log) if entry[2].is_link]
        is_same = names[answers[:, 0]] == names[answers[:, 1]]
        is_wrong = is_same != (answers[:, 2] > 0)
        if (is_wrong & (np.abs(answers[:, 2]) == CERTAIN)).any():
            names, next_name = _by_force(answers, is_wrong, next_name, len(names))
            is_same = names[answers[:, 0]] == names[answers[:, 1]]
            is_wrong = is_same != (answers[:, 2] > 0)
        overruled = frozenset(links[k] for k in np.flatnonzero(is_wrong))
        return State(
            names,
            next_name,
            learnt,
            n_learnt,
            before.n_checks + is_check,
            overruled,
            self._rate(before.n_checks + is_check, len(overruled)),
        )

    def _settled_names(
        self,
        names: NDArray[np.intp],
        next_name: int,
        before: State,
        learnt: Learnt | None,
        first: list[int],
    ) -> tuple[NDArray[np.intp], int]:
        """Return the groups after weighing, and the next free name."""
        known, weighing = self._weigh(names, learnt, before.rate)
        weighing.settle(first)
        n_new = weighing.n_groups - len(known)
        given = np.concatenate([known, np.arange(next_name, next_name + n_new)])
        return given[weighing.groups], next_name + n_new

    def _weigh(
        self,
        names: NDArray[np.intp],
        learnt: Learnt | None,
        rate: float,
        *,
        is_free: bool = False,
    ) -> tuple[NDArray[np.intp], Weighing]:
        known, groups = np.unique(names, return_inverse=True)
        expected, new = self.expected(self.mentioned, names, learnt)
        # Unless free, what is expected never outvotes an answer that nothing contradicts.
        floor = 1e-6 if is_free else 1.1 * rate / (1.0 - rate)
        weighing = Weighing(
            self.answers(),
            groups.astype(np.intp),
            np.maximum(expected, floor),
            max(new, floor),
            float(np.log((1.0 - rate) / rate)),
        )
        return known, weighing

    def _learnable(self, names: NDArray[np.intp]) -> tuple[int, ...]:
        """Return the groups with two rows or more, if there are two such groups."""
        is_cell = np.array([row in self._cell_of for row in self.mentioned], dtype=bool)
        found, sizes = np.unique(names[is_cell], return_counts=True)
        large = tuple(int(name) for name in found[sizes > 1])
        return large if len(large) > 1 else ()

    def _learn(self, names: NDArray[np.intp]) -> Learnt | None:
        large = self._learnable(names)
        if not large:
            return None
        number = {name: g for g, name in enumerate(large)}
        pairs = [
            (self._cell_of[row], number[int(name)])
            for row, name in zip(self.mentioned, names, strict=True)
            if row in self._cell_of and int(name) in number
        ]
        cells, groups = np.array(pairs, dtype=np.intp).T
        learned = self._model(cells, groups)
        place = {int(c): k for k, c in enumerate(cells)}
        return Learnt(large, place, learned.left_out, learned.chances)


def _by_force(
    answers: NDArray[np.intp], is_wrong: NDArray[np.bool_], next_name: int, n_rows: int
) -> tuple[NDArray[np.intp], int]:
    """Return groups that agree with all that is certain, and with what else fits to it."""
    links = LinkGraph(n_rows)
    is_certain = np.abs(answers[:, 2]) == CERTAIN
    for i, j, sign in [*answers[is_certain].tolist(), *answers[~is_certain & ~is_wrong].tolist()]:
        answer = Answer.SAME if sign > 0 else Answer.DIFFERENT
        if links.implied(i, j) in (None, answer):
            links.add(i, j, answer)
    roots = np.array([links.find(row) for row in range(n_rows)], dtype=np.intp)
    return next_name + np.unique(roots, return_inverse=True)[1].astype(np.intp), next_name + n_rows
