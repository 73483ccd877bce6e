"""What the strategies of this room share: they ask about rows, one pair at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_argmin

from likewise.core.answers import Answer, Groups, ordered
from likewise.core.links import LinkGraph
from likewise.core.strategy import Strategy
from likewise.errors import ContradictionError, SessionFileError

Array = NDArray[np.float64]
Ints = NDArray[np.intp]


class RowStrategy(Strategy):
    """Ask about pairs of rows until nothing is left to ask.

    The state depends on the answers and their order alone. After `max_queries` answers nothing is
    computed until it is asked again, and nothing inferred until there is another answer.
    """

    max_queries: int | None = None
    parameters: ClassVar[tuple[str, ...]] = ()
    """What a subclass is told beside the rows; it is written down by `to_dict`."""

    def __init__(self, X: Array, train: Ints, seed: int = 0) -> None:
        self.X = X
        self.train = train
        self.seed = seed
        self.links = LinkGraph(len(X))
        self._log: list[tuple[int, int, Answer]] = []
        self._unsure: set[tuple[int, int]] = set()
        self._pair: tuple[int, int] | None = None
        self._n_asked = 0
        self._prepare()
        self._go_on()

    # -- what subclasses define -------------------------------------------------------------------

    def _prepare(self) -> None:
        """Compute what is needed before the first question."""

    @abstractmethod
    def _advance(self) -> tuple[int, int] | None:
        """Bring the state up to the answers and return the next pair to ask."""

    def _bound(self) -> tuple[int, int]:
        """Return `remaining` while there is a question."""
        bound = n_undecided(self.links, set(self.train.tolist()))
        return bound, bound

    def _inferred(self) -> list[tuple[int, int]]:
        """Return must-links that nobody gave but the number of clusters implies."""
        return []

    # -- what a session needs ---------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return len(self.X)

    def next_question(self) -> tuple[int, Groups] | None:
        """Return the two rows to ask about now, or None when nothing is left to ask."""
        self._catch_up()
        return None if self._pair is None else (self._pair[0], ((self._pair[1],),))

    def fresh(self) -> Self:
        """Return the same strategy before its first record; it keeps what it computed of rows."""
        fresh = copy(self)
        RowStrategy.__init__(fresh, self.X, self.train, self.seed)
        return fresh

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:  # noqa: ARG002
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

    def remaining(self) -> tuple[int, int]:
        """Return how many yes/no questions are left at the most, and an estimate of how many."""
        bound, estimate = (0, 0) if self._pair is None else self._bound()
        return bound, min(bound, estimate)

    def labels(self, *, guess: bool = False) -> Ints:  # noqa: ARG002  (nothing is guessed)
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

    def askable(self) -> Ints:
        """Return the rows that questions may be about."""
        return self.train

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values; the data are not among them."""
        return {
            "train": None if len(self.train) == self.n_rows else self.train.tolist(),
            "seed": self.seed,
            "max_queries": self.max_queries,
            **{name: getattr(self, name) for name in self.parameters},
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:
        """Return the strategy that `to_dict` wrote down."""
        if X is None:
            raise SessionFileError(
                f"a session by the strategy {plain['name']!r} needs its data to go on: pass X"
            )
        rows = np.asarray(X, dtype=np.float64)
        train = np.arange(len(rows)) if plain["train"] is None else np.array(plain["train"])
        parameters = {name: plain[name] for name in cls.parameters}
        strategy = cls(rows, train.astype(np.intp), plain["seed"], **parameters)
        strategy.max_queries = plain["max_queries"]
        return strategy

    # -- what the estimators need -----------------------------------------------------------------

    def known(self) -> LinkGraph:
        """Return the answers together with what the number of clusters implies."""
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

    # -- inside -----------------------------------------------------------------------------------

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


def n_undecided(links: LinkGraph, rows: set[int]) -> int:
    """Return how many pairs of groups of these rows nothing is known about."""
    touched = {links.find(row) for row in mentioned(links) if row in rows}
    n_untouched = len(rows) - sum(row in rows for row in mentioned(links))
    n_groups = n_untouched + len(touched)
    n_apart = sum(len(touched & links.differing(root)) for root in touched) // 2
    return n_groups * (n_groups - 1) // 2 - n_apart
