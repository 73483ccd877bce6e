"""Random pairs: the baseline that every selection has to beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise.lab.peers.rows import RowStrategy, n_undecided, train_of

_TRIES = 1000
"""How many pairs are drawn before all open pairs are listed."""


class RandomPairs(RowStrategy):
    """Ask about two rows drawn uniformly from all pairs that are not settled."""

    name: ClassVar[str] = "random-pairs"

    def __init__(
        self,
        X: NDArray[np.float64],
        train: NDArray[np.intp],
        max_queries: int | None,
        seed: int,
    ) -> None:
        super().__init__(X, train, max_queries, seed)
        self._go_on()

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:
        """Return the strategy that `to_dict` wrote down."""
        rows, train = train_of(plain, X)
        return cls(rows, train, plain["max_queries"], plain["seed"])

    def _advance(self) -> tuple[int, int] | None:
        if self._pair is not None and self._is_open(*self._pair):
            return self._pair
        rng = self._rng()
        tries = np.sort(self.train[rng.integers(len(self.train), size=(_TRIES, 2))], axis=1)
        for left, right in tries.tolist():
            if left != right and self._is_open(left, right):
                return left, right
        # Nearly everything is settled, so the rest can be listed.
        rest = self._open_pairs_of_rows()
        return rest[int(rng.integers(len(rest)))] if rest else None

    def _is_open(self, left: int, right: int) -> bool:
        return (left, right) not in self._unsure and self.links.implied(left, right) is None

    def _open_pairs_of_rows(self) -> list[tuple[int, int]]:
        members: dict[int, list[int]] = {}
        for row in self.train.tolist():
            members.setdefault(self.links.find(row), []).append(row)
        roots = list(members)
        found = []
        for place, root in enumerate(roots):
            apart = self.links.differing(root)
            for other in roots[place + 1 :]:
                if other not in apart:
                    pairs = [(min(i, j), max(i, j)) for i in members[root] for j in members[other]]
                    found += [pair for pair in pairs if pair not in self._unsure]
        return found

    def _bound(self) -> tuple[int, int]:
        bound = n_undecided(self.links, set(self.train.tolist()))
        return bound, bound
