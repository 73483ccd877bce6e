"""Random pairs: the baseline that every selection has to beat."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from likewise.core.answers import ordered
from likewise.lab.peers.rows import RowStrategy

_TRIES = 1000
"""How many pairs are drawn before all open pairs are listed."""


class RandomPairs(RowStrategy):
    """Ask about two rows drawn uniformly from all pairs that are not settled."""

    name: ClassVar[str] = "random-pairs"

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
        open_pairs = []
        for place, root in enumerate(roots):
            apart = self.links.differing(root)
            for other in roots[place + 1 :]:
                if other not in apart:
                    pairs = [ordered(i, j) for i in members[root] for j in members[other]]
                    open_pairs += [pair for pair in pairs if pair not in self._unsure]
        return open_pairs
