"""Candidate pairs in order of distance, without a sorted list of all of them.

COBRA asks about the closest two representatives whose relation is not yet settled. Sorting all
pairs would be enough, but ten thousand representatives have fifty million pairs, and most of them
are settled before their turn comes. `ClosestPairs` keeps, for every two *components*, only the
closest pair between them, and for every component the closest of these. A question then reads one
vector, an answer updates one row of the matrix, and both get shorter as components merge.

The order is exact: pairs are compared by float64 distance, then by the smaller index, then by the
larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError

Between = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]
"""Distances between two lists of items, as a float64 matrix; the same for both orders of a pair."""

MAX_ITEMS = 20_000
"""Above this, distances between all representatives would take more than 2.4 GB."""

SETTLED = -1.0
"""In place of a distance: these two components are known to differ."""

_ROWS_PER_BLOCK = 256
"""How many rows of distances are computed at a time. It changes the time and memory only."""


class ClosestPairs:
    """The closest pair of items between every two components that are not settled.

    Pairs of items that are `left_out` are never offered.
    """

    def __init__(self, n_items: int, between: Between, left_out: Sequence[int] = ()) -> None:
        if n_items > MAX_ITEMS:
            gigabytes = 12 * n_items * (n_items - 1) / 2 / 1e9
            raise InputError(
                f"{n_items} representatives are too many: the distances between them would take "
                f"{gigabytes:.1f} GB. Use at most {MAX_ITEMS} super-instances."
            )
        self.n_items = n_items
        self.undecided = n_items * (n_items - 1) // 2
        self._between = between
        self._excluded: set[int] = set()
        self._component = np.arange(n_items, dtype=np.intp)
        self._alive = np.arange(n_items, dtype=np.intp)
        # The pair (i, j), i < j, lies at slot _offset[i] + j of the condensed matrices.
        i = np.arange(n_items, dtype=np.int64)
        self._offset = i * n_items - i * (i + 1) // 2 - i - 1
        self._distance = np.empty(self.undecided, dtype=np.float64)
        self._witness = np.empty(self.undecided, dtype=np.int32)
        self._best_distance = np.full(n_items, np.inf)
        self._best_code = np.full(n_items, n_items * n_items, dtype=np.int64)
        self._fill()
        self._is_offered = np.ones(n_items, dtype=bool)
        self._is_offered[list(left_out)] = False
        for a in left_out:
            self._distance[self._slots(a, np.delete(self._alive, a))] = np.inf
        for a in range(n_items if left_out else 0):
            self._refresh(a)

    @property
    def n_components(self) -> int:
        """Number of components now."""
        return len(self._alive)

    @property
    def component(self) -> NDArray[np.intp]:
        """For every item, the name of its component."""
        return self._component

    def closest(self) -> tuple[int, int] | None:
        """Return the closest pair of items that is neither settled nor excluded, or None."""
        best = self._best_distance[self._alive]
        nearest = best.min() if len(best) else np.inf
        if not np.isfinite(nearest):
            return None
        code = int(self._best_code[self._alive[best == nearest]].min())
        return divmod(code, self.n_items)

    def is_settled(self, a: int, b: int) -> bool:
        """Whether two components are known to differ."""
        return bool(self._distance[self._slot(a, b)] == SETTLED)

    def pairs_of_components(
        self,
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64], NDArray[np.int64]]:
        """Return all pairs of components: names, distance (`SETTLED` if known to differ), items."""
        row, column = np.triu_indices(len(self._alive), 1)
        a, b = self._alive[row], self._alive[column]
        slots = self._offset[a] + b
        return a, b, self._distance[slots], self._witness[slots].astype(np.int64)

    def merge(self, a: int, b: int) -> int:
        """Join two components; return the name of the new one."""
        a, b = (a, b) if a < b else (b, a)
        others = self._alive[(self._alive != a) & (self._alive != b)]
        slots_a, slots_b = self._slots(a, others), self._slots(b, others)
        distance_a, distance_b = self._distance[slots_a], self._distance[slots_b]
        witness_a, witness_b = self._witness[slots_a], self._witness[slots_b]
        settled_a, settled_b = distance_a == SETTLED, distance_b == SETTLED
        settled = settled_a | settled_b
        is_b_closer = (distance_b < distance_a) | (
            (distance_b == distance_a) & (witness_b < witness_a)
        )
        distance = np.where(is_b_closer, distance_b, distance_a)
        distance[settled] = SETTLED
        self._distance[slots_a] = distance
        self._witness[slots_a] = np.where(is_b_closer, witness_b, witness_a)
        # An undecided pair of a or b with a third component becomes one pair of the new component,
        # or is settled.
        n_before = np.count_nonzero(~settled_a) + np.count_nonzero(~settled_b)
        n_before += not self.is_settled(a, b)
        self.undecided += int(np.count_nonzero(~settled)) - int(n_before)

        self._component[self._component == b] = a
        self._alive = self._alive[self._alive != b]
        # A third component loses its best pair only if that pair has just become settled.
        half = settled_a ^ settled_b
        was = np.where(settled_a, witness_b, witness_a)[half]
        for c in others[half][self._best_code[others[half]] == was]:
            self._refresh(int(c))
        self._refresh(a)
        return a

    def separate(self, a: int, b: int) -> None:
        """Settle that two components differ."""
        slot = self._slot(a, b)
        self.undecided -= int(self._distance[slot] != SETTLED)
        self._distance[slot] = SETTLED
        self._refresh_pair(a, b, int(self._witness[slot]))

    def exclude(self, i: int, j: int) -> None:
        """Never offer this pair of items again; what is known about their components stays."""
        i, j = (i, j) if i < j else (j, i)
        a, b = int(self._component[i]), int(self._component[j])
        self._excluded.add(i * self.n_items + j)
        if a == b or self.is_settled(a, b):
            return
        slot = self._slot(a, b)
        old = int(self._witness[slot])
        self._distance[slot], self._witness[slot] = self._closest_between(a, b)
        self._refresh_pair(a, b, old)

    def _fill(self) -> None:
        n = self.n_items
        everything = np.arange(n, dtype=np.intp)
        codes = everything.astype(np.int32)
        for start in range(0, n - 1, _ROWS_PER_BLOCK):
            rows = everything[start : start + _ROWS_PER_BLOCK]
            block = self._between(rows, everything[start:])
            if not np.isfinite(block.max()):
                i, j = np.argwhere(~np.isfinite(block))[0] + start
                raise InputError(f"the distance between representatives {i} and {j} is not finite")
            for i, distances in zip(rows[: n - 1 - start].tolist(), block, strict=False):
                ahead = distances[i - start + 1 :]
                slots = slice(self._offset[i] + i + 1, self._offset[i] + n)
                self._distance[slots] = ahead
                np.add(codes[i + 1 :], np.int32(i * n), out=self._witness[slots])
                # Rows come in increasing order, so a strict comparison keeps the smallest pair.
                j = int(ahead.argmin())
                if ahead[j] < self._best_distance[i]:
                    self._best_distance[i] = ahead[j]
                    self._best_code[i] = i * n + i + 1 + j
                closer = (ahead < self._best_distance[i + 1 :]).nonzero()[0]
                self._best_distance[closer + i + 1] = ahead[closer]
                self._best_code[closer + i + 1] = i * n + i + 1 + closer

    def _slot(self, a: int, b: int) -> int:
        return int(self._offset[a] + b) if a < b else int(self._offset[b] + a)

    def _slots(self, a: int, others: NDArray[np.intp]) -> NDArray[np.int64]:
        return np.where(others < a, self._offset[others] + a, self._offset[a] + others)

    def _refresh_pair(self, a: int, b: int, old_code: int) -> None:
        for c in (a, b):
            if self._best_code[c] == old_code:
                self._refresh(c)

    def _refresh(self, a: int) -> None:
        """Find the closest pair of one component again."""
        slots = self._slots(a, self._alive[self._alive != a])
        distance = self._distance[slots]
        distance = np.where(distance == SETTLED, np.inf, distance)
        nearest = distance.min() if len(distance) else np.inf
        self._best_distance[a] = nearest
        if np.isfinite(nearest):
            self._best_code[a] = self._witness[slots[distance == nearest]].min()
        else:
            self._best_code[a] = self.n_items * self.n_items

    def _closest_between(self, a: int, b: int) -> tuple[float, int]:
        """Return the closest pair of two components that is not excluded."""
        rows = np.flatnonzero((self._component == a) & self._is_offered)
        columns = np.flatnonzero((self._component == b) & self._is_offered)
        best = (np.inf, 0)
        if not len(columns):
            return best
        for start in range(0, len(rows), _ROWS_PER_BLOCK):
            block_rows = rows[start : start + _ROWS_PER_BLOCK]
            block = self._between(block_rows, columns)
            low = np.minimum(block_rows[:, None], columns[None, :])
            codes = low * self.n_items + np.maximum(block_rows[:, None], columns[None, :])
            if self._excluded:
                block = np.where(np.isin(codes, list(self._excluded)), np.inf, block)
            nearest = float(block.min())
            if np.isfinite(nearest):
                best = min(best, (nearest, int(codes[block == nearest].min())))
        return best
