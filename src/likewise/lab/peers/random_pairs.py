"""Random pairs, to measure what any other order is worth."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from likewise.core.answers import ordered
from likewise.errors import InputError
from likewise.lab.peers.rows import Array, Ints, RowStrategy

N_DRAWS = 1000
N_TRIES = 64
"""How many pairs `RandomPairs` and `RandomOrder` draw before all open pairs are listed."""


class RandomPairs(RowStrategy):
    """Ask about two rows drawn uniformly from all pairs that are not settled."""

    name: ClassVar[str] = "random-pairs"

    def _advance(self) -> tuple[int, int] | None:
        if self._pair is not None and self._is_open(*self._pair):
            return self._pair
        rng = self._rng()
        draws = np.sort(self.train[rng.integers(len(self.train), size=(N_DRAWS, 2))], axis=1)
        for left, right in draws.tolist():
            if left != right and self._is_open(left, right):
                return left, right
        rest = [pair for pairs in self._open_pairs() for pair in pairs]
        return rest[int(rng.integers(len(rest)))] if rest else None

    def _is_open(self, left: int, right: int) -> bool:
        return (left, right) not in self._unsure and self.links.implied(left, right) is None

    def _open_pairs(self) -> list[list[tuple[int, int]]]:
        """Return the pairs of rows that are not settled, by every two groups that have any."""
        members: dict[int, list[int]] = {}
        for row in self.train.tolist():
            members.setdefault(self.links.find(row), []).append(row)
        undecided = [
            [ordered(i, j) for i in members[one] for j in members[other]]
            for one, other in combinations(members, 2)
            if other not in self.links.differing(one)
        ]
        rest = [[pair for pair in pairs if pair not in self._unsure] for pairs in undecided]
        return [pairs for pairs in rest if pairs]


class RandomOrder(RandomPairs):
    """The random orders of the paper's Table 1: every two groups, or rows, are as likely."""

    name: ClassVar[str] = "random-order"
    parameters = ("over",)

    def __init__(
        self,
        X: Array,
        train: Ints,
        seed: int = 0,
        *,
        over: Literal["groups", "rows"] = "groups",
    ) -> None:
        if over not in ("groups", "rows"):
            raise InputError(f'over must be "groups" or "rows", got {over!r}')
        self.over = over
        super().__init__(X, train, seed)

    def _advance(self) -> tuple[int, int] | None:
        rng = self._rng()
        rows = self.train
        if self.over == "groups":  # the first row stands for its group
            groups = [self.links.find(row) for row in rows.tolist()]
            rows = rows[np.unique(groups, return_index=True)[1]]
        for _ in range(N_TRIES if len(rows) >= 2 else 0):
            left, right = rows[np.sort(rng.choice(len(rows), 2, replace=False))].tolist()
            if self._is_open(*ordered(left, right)):
                return left, right
        rest = self._open_pairs()
        if not rest:
            return None
        weights = np.array([1 if self.over == "groups" else len(pairs) for pairs in rest])
        pairs = rest[int(rng.choice(len(rest), p=weights / weights.sum()))]
        return pairs[int(rng.integers(len(pairs)))] if self.over == "rows" else pairs[0]
