"""Weigh answers that may be wrong against each other, and against what was expected.

Every answer is right with the same probability, so each one speaks with the same weight: the
logarithm of the odds that it is right. What a row's answers say for a group, and how likely the
group was before them, decides where the row belongs.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

YOUNG = 1
"""A group of so many rows is joined by one answer; larger ones need two."""

N_SWEEPS = 3

_TINY = 1e-9


class Weighing:
    """Rows in groups, moved one at a time to where their answers and expectations put them.

    Parameters
    ----------
    answers : ndarray of shape (n_answers, 3)
        Two rows, counted from 0, and 1 for *same* or -1 for *different*; what is certain counts
        as many answers.
    groups : ndarray of shape (n_rows,)
        A group for each row to start from, numbered from 0 without gaps.
    expected : ndarray of shape (n_rows, n_groups)
        How likely each row is in each group, without any answer about it.
    new : float
        How likely a row is the first of its group.
    weight : float
        The logarithm of the odds that an answer is right.

    Attributes
    ----------
    groups : ndarray of shape (n_rows,)
        The groups now; a number above those of the beginning is a new group.

    Examples
    --------
    Row 2 was called the same as both rows of group 0, and different from group 1.

    >>> import numpy as np
    >>> answers = np.array([[0, 1, 1], [0, 2, 1], [1, 2, 1], [2, 3, -1]])
    >>> weighing = Weighing(answers, np.array([0, 0, 1, 1]), np.full((4, 2), 0.4), 0.2, 2.0)
    >>> weighing.settle([2]), weighing.groups.tolist(), weighing.overruled().tolist()
    (True, [0, 0, 0, 1], [])
    """

    def __init__(
        self,
        answers: NDArray[np.intp],
        groups: NDArray[np.intp],
        expected: NDArray[np.float64],
        new: float,
        weight: float,
    ) -> None:
        n_rows, self.n_groups = expected.shape
        self.answers = answers
        self.groups = groups.copy()
        self.log_new = float(np.log(new))
        self.weight = weight
        # Every row could found a group of its own: there nothing is expected of others.
        self._prior = np.hstack([np.log(expected), np.full((n_rows, n_rows), self.log_new)])
        self._size = np.bincount(groups, minlength=self.n_groups + n_rows)
        self._toward = np.zeros_like(self._prior)
        left, right, sign = answers.T
        np.add.at(self._toward, (left, self.groups[right]), sign)
        np.add.at(self._toward, (right, self.groups[left]), sign)
        self._about: list[list[tuple[int, int]]] = [[] for _ in range(n_rows)]
        for i, j, s in answers.tolist():
            self._about[i].append((j, s))
            self._about[j].append((i, s))

    def toward(self, row: int, group: int) -> int:
        """Return how many answers put a row into a group, less those that keep it out."""
        return int(self._toward[row, group])

    def towards(self, row: int) -> NDArray[np.float64]:
        """Return `toward` for all groups."""
        return np.asarray(self._toward[row, : self.n_groups])

    def n_about(self, row: int) -> int:
        """Return the number of answers about a row."""
        return len(self._about[row])

    def credibility(self, row: int, other: int, sign: int) -> float:
        """Return how likely an answer about two rows is right, by the first one's others."""
        n = self.n_groups
        scores = self._prior[row, :n] + self.weight * self._toward[row, :n]
        scores[self._size[:n] == 0] = -np.inf
        if self._size[self.groups[row]] == 1:
            scores[self.groups[row]] = -np.inf
        group = self.groups[other]
        scores[group] -= self.weight * sign
        scores = np.append(scores, self.log_new)
        powers = np.exp(scores - scores.max())
        same = float(powers[group] / powers.sum())
        says, not_so = (same, 1.0 - same) if sign > 0 else (1.0 - same, same)
        right = float(np.exp(self.weight))
        return says * right / (says * right + not_so)

    def chances(self) -> NDArray[np.float64]:
        """Return how likely each row is in each group, and in the last column, in a new one."""
        n = self.n_groups
        scores = self._prior[:, :n] + self.weight * self._toward[:, :n]
        rows = np.arange(len(scores))
        is_alone = self._size[self.groups] == 1
        scores[rows[is_alone], self.groups[is_alone]] = -np.inf
        scores = np.hstack([scores, np.full((len(scores), 1), self.log_new)])
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def confidence(self) -> NDArray[np.float64]:
        """Return how likely each row is where it is."""
        chances = self.chances()
        own = np.where(self._size[self.groups] == 1, self.n_groups, self.groups)
        return np.asarray(chances[np.arange(len(own)), own])

    def settle(self, first: Iterable[int]) -> bool:
        """Move rows until none wants to go elsewhere; return whether anything moved."""
        several = [row for row, about in enumerate(self._about) if len(about) > 1]
        has_moved = False
        todo = list(first)
        for _ in range(N_SWEEPS):
            moves = [self._decide(row) for row in todo]
            moves.append(self._join())
            has_moved |= any(moves)
            if todo is several and not any(moves):
                break
            todo = several
        return has_moved

    def overruled(self) -> NDArray[np.intp]:
        """Return which answers the groups contradict."""
        left, right, sign = self.answers.T
        is_same = self.groups[left] == self.groups[right]
        return np.flatnonzero(is_same != (sign > 0))

    def net(self) -> dict[tuple[int, int], int]:
        """Return, for two groups, answers that join them less answers that tell them apart."""
        return {pair: same - different for pair, (same, different) in self.between().items()}

    def between(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Return, for two groups, how many answers join them, and how many tell them apart."""
        found: dict[tuple[int, int], tuple[int, int]] = {}
        for i, j, s in self.answers.tolist():
            a, b = sorted((int(self.groups[i]), int(self.groups[j])))
            if a != b:
                same, different = found.get((a, b), (0, 0))
                found[a, b] = (same + max(s, 0), different + max(-s, 0))
        return found

    def _decide(self, row: int) -> bool:
        own = int(self.groups[row])
        n = self.n_groups
        scores = self._prior[row, :n] + self.weight * self._toward[row, :n]
        is_alone = self._size[own] == 1
        # What is expected decides between answers, but puts no row where no answer puts it.
        scores[(self._size[:n] == 0) | (self._toward[row, :n] <= 0)] = -np.inf
        stays = self.log_new if is_alone else scores[own]
        if is_alone:
            scores[own] = -np.inf
        best = int(np.argmax(scores))
        if scores[best] > stays + _TINY and scores[best] >= self.log_new:
            self._move(row, best)
            return True
        if not is_alone and self.log_new > stays + _TINY:
            self.n_groups += 1
            self._move(row, n)
            return True
        return False

    def _move(self, row: int, group: int) -> None:
        own = int(self.groups[row])
        for other, sign in self._about[row]:
            self._toward[other, own] -= sign
            self._toward[other, group] += sign
        self._size[own] -= 1
        self._size[group] += 1
        self.groups[row] = group

    def _join(self) -> bool:
        """Join groups for which more speaks than against, the clearest case first."""
        has_joined = False
        while True:
            best = (_TINY, -1, -1)
            for (a, b), (same, different) in sorted(self.between().items()):
                net = same - different
                small, large = sorted((a, b), key=lambda g: (self._size[g], -g))
                # Large groups are not joined by one answer.
                is_enough = self._size[small] <= YOUNG or same > 1
                score = self.weight * (net if is_enough else net - 1)
                if self._size[small] <= YOUNG:
                    members = np.flatnonzero(self.groups == small)
                    score += float(self._prior[members, large].mean()) - self.log_new
                best = max(best, (score, small, large))
            if best[1] < 0:
                return has_joined
            for row in np.flatnonzero(self.groups == best[1]):
                self._move(int(row), best[2])
            has_joined = True
