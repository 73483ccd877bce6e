"""What the strategies of this room share: they ask about rows, one pair at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin

from likewise.core.answers import Answer, Groups, ordered
from likewise.core.links import LinkGraph
from likewise.core.strategy import Strategy
from likewise.errors import ContradictionError, SessionFileError

Array = NDArray[np.float64]
Ints = NDArray[np.intp]


class RowStrategy(Strategy):
    """Ask about pairs of rows until the budget is spent or nothing is left to ask.

    The state changes only in `record`, so it depends on the answers and their order alone.
    """

    def __init__(
        self, X: Array, train: Ints, max_queries: int | None = None, seed: int = 0
    ) -> None:
        self.X = X
        self.train = train
        self.max_queries = max_queries
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
        """Return `remaining`, the budget aside."""
        bound = n_undecided(self.links, set(self.train.tolist()))
        return bound, bound

    def _seeds(self) -> list[int]:
        """Return one row of every group that others may be guessed to belong to."""
        return []

    def _inferred(self) -> list[tuple[int, int]]:
        """Return must-links that nobody gave but the number of clusters implies."""
        return []

    @classmethod
    def _loaded(cls, plain: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG003
        """Return further parameters from what `to_dict` wrote down."""
        return {}

    # -- what a session needs ---------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return len(self.X)

    def next_question(self) -> tuple[int, Groups] | None:
        """Return the two rows to ask about now, or None when nothing is left to ask."""
        return None if self._pair is None else (self._pair[0], ((self._pair[1],),))

    def fresh(self) -> Self:
        """Return the same strategy before its first record; it keeps what it computed of rows."""
        fresh = copy(self)
        RowStrategy.__init__(fresh, self.X, self.train, self.max_queries, self.seed)
        return fresh

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:  # noqa: ARG002
        """Take in an answer about two rows, asked for or not."""
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
        if self._pair is None:
            return 0, 0
        bound, estimate = self._bound()
        if self.max_queries is not None:
            bound = min(bound, self.max_queries - self._n_asked)
        return bound, min(bound, estimate)

    def labels(self, *, guess: bool = False) -> Ints:
        """Return the group of the nearest row with an answer; undecided ones may be guessed."""
        known = self.known()
        rows = mentioned(known)
        is_open = any(self.links.implied(*pair) is None for pair in self._unsure)
        if not guess or (self._bound()[0] == 0 and not is_open):
            # Rows that may not be asked about are not guessed, either.
            return self._spread({row: known.find(row) for row in rows})
        seeds = [known.find(seed) for seed in self._seeds()]
        group_of = {row: known.find(row) for row in rows}
        anchors = [row for row in rows if group_of[row] in seeds]
        undecided = [row for row in rows if group_of[row] not in seeds and group_of[row] == row]
        if anchors and undecided:
            distances = pairwise_distances(self.X[undecided], self.X[anchors])
            for row, near in zip(undecided, np.argsort(distances, axis=1), strict=True):
                for anchor in near:
                    if known.implied(row, anchors[anchor]) is not Answer.DIFFERENT:
                        known.add(row, anchors[anchor], Answer.SAME)
                        break
        return self._spread({row: known.find(row) for row in rows})

    def askable(self) -> Ints:
        """Return the rows that questions may be about."""
        return self.train

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values; the data are not among them."""
        return {
            "train": None if len(self.train) == self.n_rows else self.train.tolist(),
            "max_queries": self.max_queries,
            "seed": self.seed,
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
        budget, seed = plain["max_queries"], plain["seed"]
        return cls(rows, train.astype(np.intp), budget, seed, **cls._loaded(plain))

    # -- what the estimators need -----------------------------------------------------------------

    def known(self) -> LinkGraph:
        """Return the answers together with what the number of clusters implies."""
        known = LinkGraph(self.n_rows)
        for given in self.links:
            known.add(given.left, given.right, given.answer)
        for left, right in self._inferred():
            try:
                known.add(left, right, Answer.SAME)
            except ContradictionError:
                # A later answer contradicts this inference; answers count more.
                continue
        return known

    # -- inside -----------------------------------------------------------------------------------

    def _go_on(self) -> None:
        is_spent = self.max_queries is not None and self._n_asked >= self.max_queries
        self._pair = None if is_spent else self._advance()

    def _rng(self) -> np.random.Generator:
        # The draw depends only on the answers, so that undo and loading change nothing.
        return np.random.default_rng([self.seed, len(self._log)])

    def _spread(self, group_of: dict[int, int]) -> Ints:
        if not group_of:
            return np.zeros(self.n_rows, dtype=np.intp)
        rows = np.array(list(group_of), dtype=np.intp)
        _, first, groups = np.unique(
            list(group_of.values()), return_index=True, return_inverse=True
        )
        # Numbered by the first row of each group.
        number = np.empty(len(first), dtype=np.intp)
        number[np.argsort(first)] = np.arange(len(first))
        groups = number[groups]
        labels = groups[pairwise_distances_argmin(self.X, self.X[rows])]
        labels[rows] = groups
        return np.asarray(labels, dtype=np.intp)


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
