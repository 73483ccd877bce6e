"""Random orders, to measure the gain from asking about the closest pairs first (Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from likewise.core.answers import Answer, Groups, ordered
from likewise.core.partition import SuperInstances
from likewise.errors import InputError
from likewise.strategies.representatives import RepresentativeStrategy

_TRIES = 64
"""How many pairs are drawn before all open pairs are listed."""


class RandomOrder(RepresentativeStrategy):
    """Ask about a random pair whose relation is not settled."""

    name: ClassVar[str] = "random-order"

    def __init__(
        self,
        partition: SuperInstances,
        *,
        over: Literal["groups", "rows"] = "groups",
        seed: int = 0,
    ) -> None:
        if over not in ("groups", "rows"):
            raise InputError(f'over must be "groups" or "rows", got {over!r}')
        super().__init__(partition)
        self.over = over
        self.seed = seed
        self._log: list[tuple[int, int, Answer]] = []
        self._unsure: set[tuple[int, int]] = set()

    def next_question(self) -> tuple[int, Groups] | None:
        """Return the two rows to ask about now, or None when nothing is left to ask."""
        return None if self._pair is None else (self._pair[0], ((self._pair[1],),))

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:  # noqa: ARG002
        """Take in an answer about two rows."""
        if answer.is_link:
            self.links.add(left, right, answer)
        else:
            self._unsure.add(ordered(left, right))
        self._log.append((left, right, answer))
        vars(self).pop("_pair", None)

    def fresh(self) -> Self:
        """Return the same strategy before its first record."""
        return type(self)(self.partition, over=self.over, seed=self.seed)

    def remaining(self) -> tuple[int, int]:
        """Return the number of undecided pairs of groups, twice: there is no better estimate."""
        n_undecided = len(self.open_pairs())
        return n_undecided, n_undecided

    def open_pairs(self) -> list[tuple[int, int]]:
        """Return the first rows of every two undecided groups."""
        reps = self.partition.representatives
        _, first = np.unique(self.group_of_representatives(), return_index=True)
        rows = np.sort(reps[first]).tolist()
        return [
            (left, right)
            for k, left in enumerate(rows)
            for right in rows[k + 1 :]
            if self.links.implied(left, right) is None
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the partition and the parameters as plain values."""
        return {**super().to_dict(), "over": self.over, "seed": self.seed}

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        partition = SuperInstances.from_dict(plain["partition"])
        return cls(partition, over=plain["over"], seed=plain["seed"])

    @cached_property
    def _pair(self) -> tuple[int, int] | None:
        # The draw depends only on the state, so that asking twice, undo and loading change nothing.
        rng = np.random.default_rng([self.seed, len(self._log)])
        candidates = self.partition.representatives
        if self.over == "groups":
            _, first = np.unique(self.group_of_representatives(), return_index=True)
            candidates = candidates[first]
        for _ in range(_TRIES if len(candidates) >= 2 else 0):
            i, j = np.sort(rng.choice(len(candidates), 2, replace=False))
            pair = int(candidates[i]), int(candidates[j])
            if ordered(*pair) not in self._unsure and self.links.implied(*pair) is None:
                return pair
        return self._draw_from_all(rng)

    def _draw_from_all(self, rng: np.random.Generator) -> tuple[int, int] | None:
        """Draw from the list of open pairs, when most pairs are settled and random trials fail."""
        members: dict[int, list[int]] = {}
        for row in self.partition.representatives.tolist():
            members.setdefault(self.links.find(row), []).append(row)
        weights, choices = [], []
        for left, right in self.open_pairs():
            rows, columns = members[self.links.find(left)], members[self.links.find(right)]
            pairs = [ordered(i, j) for i in rows for j in columns]
            free = [pair for pair in pairs if pair not in self._unsure]
            if free:
                choices.append(free)
                weights.append(1 if self.over == "groups" else len(free))
        if not choices:
            return None
        group = choices[int(rng.choice(len(choices), p=np.array(weights) / sum(weights)))]
        return group[int(rng.integers(len(group)))] if self.over == "rows" else group[0]
