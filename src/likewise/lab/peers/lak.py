"""LAK (2025): ask about prototypes; add some where a locally adaptive kernel misses them most."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from likewise.core.answers import Answer
from likewise.lab.peers.procedure import Procedure, Questions
from likewise.lab.peers.rows import Array, Ints

N_FIRST = 2
"""Prototypes to begin with, as in the authors' example."""
LEAST_NEIGHBORS, MOST_NEIGHBORS, SHARE = 5, 200, 0.01
"""The bandwidth of a row is the distance to its k-th neighbor, k a share of the rows in limits."""
CLIPPED = (15, 85)
"""Bandwidths beyond these percentiles are cut off."""
TINY = 1e-10


class LocalKernel(Procedure):
    """Put prototypes into groups by asking; every row is in the group of its nearest prototype.

    A prototype is compared with the first member of every group, the group with the nearest mean
    first. Then criticisms are chosen, rows that the prototypes represent worst, one more than
    there are prototypes. The cell with most of them gets as many new prototypes and one.
    """

    name: ClassVar[str] = "lak"

    def _prepare(self) -> None:
        self._kernel = local_kernel(self.X[self.train])

    def _questions(self) -> Questions:
        points = self.X[self.train]
        self._groups: list[list[int]] = []
        prototypes = choose_prototypes(self._kernel, min(N_FIRST, len(points)))
        while True:
            for node in prototypes:
                if not any(node in group for group in self._groups):
                    yield from self._place(node, points)
            if len(prototypes) == len(points):
                return
            cells = cdist(points, points[prototypes]).argmin(axis=1)
            prototypes = sorted({*prototypes, *self._more(prototypes, cells, points)})

    def _place(self, node: int, points: Array) -> Questions:
        means = np.array([points[group].mean(axis=0) for group in self._groups])
        far = cdist(points[[node]], means)[0] if self._groups else np.empty(0)
        for place in np.argsort(far, kind="stable").tolist():
            answer = yield int(self.train[node]), int(self.train[self._groups[place][0]])
            if answer is Answer.SAME:
                self._groups[place].append(node)
                return
        self._groups.append([node])

    def _more(self, prototypes: list[int], cells: Ints, points: Array) -> list[int]:
        """Return prototypes for the cell with most criticisms, or the worst criticism."""
        n_left = len(points) - len(prototypes)
        n_criticisms = len(prototypes) + 1 if len(prototypes) + 1 < n_left else 1
        criticisms = choose_criticisms(self._kernel, prototypes, n_criticisms)
        counts, sizes = np.bincount(cells[criticisms]), np.bincount(cells)
        for cell in np.lexsort((-sizes[: len(counts)], -counts)).tolist():
            members = np.flatnonzero(cells == cell)
            if 0 < counts[cell] < len(members):
                chosen = choose_prototypes(local_kernel(points[members]), int(counts[cell]) + 1)
                additions: list[int] = members[chosen].tolist()
                if not set(additions) <= set(prototypes):
                    return additions
        return criticisms[:1]

    def _method_labels(self) -> Ints:
        placed = [(row, k) for k, group in enumerate(self._groups) for row in group]
        if not placed:
            return np.zeros(self.n_rows, dtype=np.intp)
        rows, groups = (np.array(part) for part in zip(*placed, strict=True))
        nearest = cdist(self.X, self.X[self.train[rows]]).argmin(axis=1)
        return np.asarray(groups[nearest])


def local_kernel(points: Array) -> Array:
    """Return exp(-d²/(2 s t)), with the smoothed distances s and t of two rows to neighbors."""
    n = len(points)
    squared = cdist(points, points, "sqeuclidean")
    k = min(max(LEAST_NEIGHBORS, min(MOST_NEIGHBORS, int(SHARE * n))), n - 1)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, : k + 1]
    widths = np.sqrt(np.take_along_axis(squared, nearest[:, -1:], axis=1))[:, 0] + TINY
    widths = np.median(widths[nearest], axis=1)
    widths = np.clip(widths, *np.percentile(widths, CLIPPED)) + TINY
    values, vectors = eigh(np.exp(-squared / (2 * np.outer(widths, widths) + TINY)))
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def choose_prototypes(kernel: Array, n: int) -> list[int]:
    """Return rows whose mean embedding is nearest to that of all, one after the other."""
    worth, own = 2 * kernel.mean(axis=0), np.diagonal(kernel)
    chosen: list[int] = []
    for _ in range(n):
        score = worth - (2 * kernel[chosen].sum(axis=0) + own) / (len(chosen) + 1)
        score[chosen] = -np.inf
        chosen.append(int(score.argmax()))
    return chosen


def choose_criticisms(kernel: Array, prototypes: list[int], n: int) -> list[int]:
    """Return rows denser among all than among prototypes, far apart by the determinant."""
    witness = kernel.mean(axis=0) - kernel[prototypes].mean(axis=0)
    chosen: list[int] = []
    rest: NDArray[np.float64] = np.diagonal(kernel).copy()
    for k in range(n):
        score = witness + (np.log(np.abs(rest) + np.finfo(float).tiny) if k else 0.0)
        score[[*prototypes, *chosen]] = -np.inf
        chosen.append(int(score.argmax()))
        among = kernel[chosen]
        rest = np.diagonal(kernel) - (np.linalg.pinv(among[:, chosen]) @ among * among).sum(axis=0)
    return chosen
