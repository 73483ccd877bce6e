"""What the strategies of this package share: they ask about rows, one pair at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_argmin

from likewise.core.answered import Answers
from likewise.core.answers import Answer, Groups, ordered
from likewise.core.links import LinkGraph
from likewise.core.partition import SuperInstances
from likewise.core.reports import Assessment
from likewise.core.strategy import Strategy
from likewise.errors import ContradictionError, InputError

Array = NDArray[np.float64]
Ints = NDArray[np.intp]


class RowStrategy(Strategy):
    """Ask about pairs of rows until nothing is left to ask.

    Most methods of this room are told one answer after another, and what they do next depends on
    the order. So a copy of the strategy, a *run*, is told the answers of the session, and goes on
    while they only grow. After `max_queries` answers nothing is computed until it is asked again,
    and nothing inferred until there is another answer.
    """

    max_queries: int | None = None
    parameters: ClassVar[tuple[str, ...]] = ()
    """What a subclass is told beside the rows; it is written down by `to_dict`."""

    _run: Self | None = None

    # The state of a run.
    links: LinkGraph
    _log: list[tuple[int, int, Answer]]
    _unsure: set[tuple[int, int]]
    _pair: tuple[int, int] | None
    _n_asked: int
    _inferred_in_budget: list[tuple[int, int]] | None
    _running: Generator[tuple[int, int], Answer, None] | None

    def __init__(self, X: Array, train: Ints, seed: int = 0) -> None:
        rows = np.arange(len(X), dtype=np.intp)
        super().__init__(SuperInstances(rows, rows))
        self.X = X
        self.train = train
        self.seed = seed

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_run": None}

    # -- what subclasses define -------------------------------------------------------------------

    def _prepare(self) -> None:
        """Compute what is needed before the first question."""

    @abstractmethod
    def _advance(self) -> tuple[int, int] | None:
        """Bring the state up to the answers and return the next pair to ask."""

    def _bound(self) -> tuple[int, int]:
        """Return `remaining` while there is a question."""
        bound = self.links.n_undecided(self.train.tolist())
        return bound, bound

    def _inferred(self) -> list[tuple[int, int]]:
        """Return must-links that nobody gave but the number of clusters implies."""
        return []

    # -- what a session needs ---------------------------------------------------------------------

    def next_question(self, answers: Answers) -> tuple[int, Groups] | None:
        """Return the two rows to ask about now, or None when nothing is left to ask."""
        run = self.run(answers)
        run._catch_up()
        return None if run._pair is None else (run._pair[0], ((run._pair[1],),))

    def assess(self, answers: Answers) -> Assessment:
        """Return how many yes/no questions are left at the most, and an estimate of how many."""
        return Assessment(remaining=lambda: self.run(answers)._remaining())

    def labels(self, answers: Answers, *, guess: bool = False) -> Ints:  # noqa: ARG002
        """Return the group of every row; nothing is guessed."""
        return self.run(answers)._labels_now()

    def askable(self) -> Ints:
        """Return the rows that questions may be about."""
        return self.train

    def to_dict(self) -> dict[str, Any]:
        """Return the rows and the parameters."""
        return {
            "X": self.X,
            "train": None if len(self.train) == self.n_rows else self.train.tolist(),
            "seed": self.seed,
            "max_queries": self.max_queries,
            **{name: getattr(self, name) for name in self.parameters},
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any]) -> Self:
        """Return the strategy that `to_dict` wrote down."""
        rows = np.asarray(plain["X"], dtype=np.float64)
        train = np.arange(len(rows)) if plain["train"] is None else np.array(plain["train"])
        parameters = {name: plain[name] for name in cls.parameters}
        strategy = cls(rows, train.astype(np.intp), plain["seed"], **parameters)
        strategy.max_queries = plain["max_queries"]
        return strategy

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],  # noqa: ARG003
        *,
        train_indices: Ints | None = None,  # noqa: ARG003
        seed: int = 0,  # noqa: ARG003
        n_jobs: int | None = None,  # noqa: ARG003
    ) -> Self:
        """Refuse: the laboratory makes these strategies, with parameters of their own."""
        raise InputError(
            f"the strategy {cls.name!r} cannot be made from rows alone; choose another one, such "
            "as 'most-doubt' or 'closest-first'"
        )

    # -- what the estimators need -----------------------------------------------------------------

    def run(self, answers: Answers) -> Self:
        """Return a run of the method that was told these answers."""
        log = [(x.left, x.right, x.answer) for g in answers.gestures for x in g.links]
        if self._run is None or self._run._log != log[: len(self._run._log)]:
            self._run = self._begun()
        for entry in log[len(self._run._log) :]:
            self._run._record(*entry)
        return self._run

    def known(self) -> LinkGraph:
        """Return the answers of a run together with what the number of clusters implies."""
        known = LinkGraph(self.n_rows)
        for given in self.links:
            known.add(given.left, given.right, given.answer)
        inferred = self._inferred_in_budget
        for left, right in self._inferred() if inferred is None else inferred:
            try:
                known.add(left, right, Answer.SAME)
            except ContradictionError:
                # A later answer contradicts this inference; answers count more.
                continue
        return known

    # -- a run ------------------------------------------------------------------------------------

    def _begun(self) -> Self:
        """Return a run before its first answer; what was computed of rows is shared."""
        run = copy(self._run or self)
        run._run = run._running = None
        run.links = LinkGraph(len(self.X))
        run._log = []
        run._unsure = set()
        run._pair = None
        run._n_asked = 0
        run._prepare()
        run._go_on()
        return run

    def _record(self, left: int, right: int, answer: Answer) -> None:
        """Take in an answer about two rows, asked for or not."""
        self._catch_up()
        pair = ordered(left, right)
        if answer.is_link:
            self.links.add(left, right, answer)
        else:
            self._unsure.add(pair)
        self._log.append((left, right, answer))
        self._n_asked += self._pair is not None and pair == ordered(*self._pair)
        self._go_on()

    def _remaining(self) -> tuple[int, int]:
        bound, estimate = (0, 0) if self._pair is None else self._bound()
        return bound, min(bound, estimate)

    def _labels_now(self) -> Ints:
        """Return the group of the nearest row with an answer, numbered by their first rows."""
        known = self.known()
        rows = mentioned(known)
        if not rows:
            return np.zeros(self.n_rows, dtype=np.intp)
        _, first, groups = np.unique(
            [known.find(row) for row in rows], return_index=True, return_inverse=True
        )
        groups = np.argsort(np.argsort(first))[groups]
        labels = groups[pairwise_distances_argmin(self.X, self.X[rows])]
        labels[rows] = groups
        return np.asarray(labels, dtype=np.intp)

    def _go_on(self) -> None:
        is_spent = self._n_asked == self.max_queries
        self._inferred_in_budget = self._inferred() if is_spent else None
        self._pair = None if is_spent else self._advance()

    def _catch_up(self) -> None:
        if self._inferred_in_budget is not None and self._pair is None:
            self._pair = self._advance()

    def _rng(self) -> np.random.Generator:
        # The draw depends only on the answers, so that undo and loading change nothing.
        return np.random.default_rng([self.seed, len(self._log)])


def mentioned(links: LinkGraph) -> list[int]:
    """Return the rows that answers are about, ascending."""
    return sorted({row for given in links for row in (given.left, given.right)})
