"""Neighborhoods: rows known to belong together, each known to differ from the others.

MinMax and NPU both choose a row, ask about it and one member of each neighborhood until one says
*same*, and make it a neighborhood of its own if none does. They differ in which row comes next.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likewise.core.answers import Answer, ordered
from likewise.lab.peers.rows import Array, Ints, RowStrategy, mentioned

Log = tuple[int, int, Answer]

MAX_SUBSTITUTES = 3
"""After an unsure answer a row is compared with at most this many other members of the
neighborhood."""


@dataclass(frozen=True)
class Choice:
    """A row to place, and the rows to compare it with."""

    row: int
    ranking: tuple[tuple[int, tuple[int, ...]], ...]


class NeighborhoodStrategy(RowStrategy):
    """Place rows into neighborhoods, one by one."""

    parameters: ClassVar[tuple[str, ...]] = ("n_clusters", "infer_last")

    def __init__(
        self,
        X: Array,
        train: Ints,
        seed: int,
        *,
        n_clusters: int,
        infer_last: bool,
    ) -> None:
        self.n_clusters = n_clusters
        self.infer_last = infer_last
        self._choices: dict[tuple[int, tuple[Log, ...]], Choice | None] = {}
        super().__init__(X, train, seed)

    def _prepare(self) -> None:
        first = int(self.train[self._rng().integers(len(self.train))])
        # The members placed by answers, and rows placed by inference with their neighborhood.
        self._members: list[tuple[int, ...]] = [(first,)]
        self._supposed: list[tuple[int, int]] = []
        self._settled = {first}  # rows that will not be chosen again: placed, or given up
        self._choice: Choice | None = None

    @abstractmethod
    def _choose(self) -> Choice | None:
        """Return the row to place next, or None if there is none."""

    @abstractmethod
    def _opens_neighborhood(self) -> bool:
        """Return whether a row that differs from all neighborhoods becomes one."""

    @property
    def neighborhoods(self) -> list[list[int]]:
        """The rows placed so far, by neighborhood."""
        neighborhoods = [list(rows) for rows in self._members]
        for row, place in self._supposed:
            neighborhoods[place].append(row)
        return neighborhoods

    def free_rows(self) -> Ints:
        """Return the rows that may still be chosen."""
        free = np.ones(self.n_rows, dtype=bool)
        free[list(self._settled)] = False
        return self.train[free[self.train]]

    def _advance(self) -> tuple[int, int] | None:
        while True:
            if self._choice is None:
                # Peeking and undoing come here again and again, and choosing may be expensive.
                key = (len(self._settled), tuple(self._log))
                if key not in self._choices:
                    self._choices[key] = self._choose()
                self._choice = self._choices[key]
            if self._choice is None:
                return None
            if (pair := self._question(self._choice)) is not None:
                return pair
            self._choice = None

    def _question(self, choice: Choice) -> tuple[int, int] | None:
        """Return the row to compare with the chosen one, or settle it and return None."""
        members, row = self._members, choice.row
        relation = {
            place: self.links.implied(row, members[place][0]) for place, _ in choice.ranking
        }
        same = [place for place, answer in relation.items() if answer is Answer.SAME]
        unknown = [(place, rows) for place, rows in choice.ranking if relation[place] is None]
        if same:
            members[same[0]] += (row,)
        elif not unknown and self._opens_neighborhood():
            members.append((row,))
        elif self.infer_last and len(unknown) == 1 and len(members) == self.n_clusters:
            self._supposed.append((row, unknown[0][0]))
        elif unknown:
            others = unknown[0][1]
            fresh = [other for other in others if ordered(row, other) not in self._unsure]
            # After this many unsure answers about one neighborhood the row is given up.
            if fresh and len(others) - len(fresh) <= MAX_SUBSTITUTES:
                return row, fresh[0]
        self._settled.add(row)
        return None

    def _bound(self) -> tuple[int, int]:
        most = self.n_clusters - self.infer_last
        free = self.free_rows()
        seeds = self._seeds()
        spared = 0
        is_free = set(free.tolist())
        for row in mentioned(self.links):
            if row in is_free:
                known = [self.links.implied(row, seed) for seed in seeds]
                n_apart = sum(answer is Answer.DIFFERENT for answer in known)
                spared += most if Answer.SAME in known else min(n_apart, most)
        bound = len(free) * most - spared
        return bound, (bound + 1) // 2

    def _seeds(self) -> list[int]:
        return [rows[0] for rows in self._members]

    def _inferred(self) -> list[tuple[int, int]]:
        return [(row, self._members[place][0]) for row, place in self._supposed]
