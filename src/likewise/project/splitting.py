"""New super-instances from old ones; every answer so far still counts.

Each old representative stays one, since the answers are about them.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.partition import SuperInstances
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import InputError
from likewise.items import Features
from likewise.rows.build import build_super_instances
from likewise.rows.medoids import medoid


def finer(strategy: Strategy, features: Features, n_parts: int | None, seed: int) -> Strategy:
    """Return a strategy about more small groups, by default twice as many, without answers."""
    partition, now = strategy.partition, strategy.n_parts
    wanted = 2 * now if n_parts is None else n_parts
    if wanted <= now:
        raise InputError(
            f"there are {now} small groups already; refining needs more than that, got {wanted}"
        )
    askable, n_cells = features.askable, partition.n_super_instances
    if now == n_cells:
        partition = split_further(partition, features.X, askable, wanted, seed)
        if partition.n_super_instances == n_cells:
            raise InputError("nothing is left to split: every super-instance is a single item")
    return strategy.on(partition, askable=askable, n_parts=wanted)


def one_apart(session: Session, features: Features, row: int) -> tuple[Strategy, int]:
    """Return a strategy in which a row is its own small group, and the row to compare it with."""
    partition, askable = session.strategy.partition, features.askable
    if np.count_nonzero(partition.assignment == partition.assignment[row]) == 1:
        stands = _nearest_fellow(session, features, row)
    else:
        partition, stands = set_apart(partition, features.X, askable, row)
    return session.strategy.on(partition, askable=askable), stands


def answers_behind(session: Session, row: int) -> list[int]:
    """Return the numbers of the answers by which a row is in one group with others."""
    implied = session.links.implied
    return [
        gesture.number
        for gesture in session.events
        for link in gesture.links
        if link.answer is Answer.SAME and row in (link.left, link.right)
        if implied(link.left, link.right) is Answer.SAME
    ]


def split_further(
    partition: SuperInstances, X: NDArray[Any], askable: NDArray[np.intp], n: int, seed: int = 0
) -> SuperInstances:
    """Halve the widest super-instance until there are `n`, or the rows cannot be told apart.

    `X` has the rows, or the distances between them if the partition's metric is "precomputed".
    """
    cells = _Cells(partition, X, askable)
    queue = [(-cells.spread(k), k) for k in range(len(cells.rows))]
    heapq.heapify(queue)
    while queue and len(cells.rows) < n:
        spread, k = heapq.heappop(queue)
        if spread == 0:
            break
        if cells.halve(k, seed):
            for part in (k, len(cells.rows) - 1):
                heapq.heappush(queue, (-cells.spread(part), part))
    return cells.partition()


def set_apart(
    partition: SuperInstances, X: NDArray[Any], askable: NDArray[np.intp], row: int
) -> tuple[SuperInstances, int]:
    """Make one row its own super-instance; also return the representative of its old one."""
    cells = _Cells(partition, X, askable)
    k = int(partition.assignment[row])
    cells.rows[k] = cells.rows[k][cells.rows[k] != row]
    if cells.standing[k] == row:
        cells.choose(k)
    cells.rows.append(np.array([row], dtype=np.intp))
    cells.standing.append(row)
    return cells.partition(), cells.standing[k]


class _Cells:
    """The rows of every super-instance and its representative, to be changed."""

    def __init__(
        self, partition: SuperInstances, X: NDArray[Any], askable: NDArray[np.intp]
    ) -> None:
        if partition.row_counts is not None:
            raise InputError(
                "this session shows some rows of data that is not held, so its small groups cannot "
                "be split further. Begin another session with more --super-instances."
            )
        self.X = X
        self.metric = partition.metric
        self.may_stand = np.zeros(len(X), dtype=bool)
        self.may_stand[askable] = True
        order = np.argsort(partition.assignment, kind="stable")
        self.rows: list[NDArray[np.intp]] = np.split(order, np.cumsum(partition.sizes())[:-1])
        self.standing: list[int] = partition.representatives.tolist()

    def spread(self, k: int) -> float:
        """Return the sum of the distances of a cell's rows to its representative."""
        return float(_distances(self.X, self.standing[k], self.rows[k], self.metric).sum())

    def halve(self, k: int, seed: int) -> bool:
        """Halve a cell; the old representative stays in it. Return whether that was possible."""
        rows, rep = self.rows[k], self.standing[k]
        able = np.flatnonzero(self.may_stand[rows])
        if len(able) < 2:
            return False
        halves = build_super_instances(
            self._block(rows), 2, train_indices=able, metric=self.metric, seed=seed
        )
        if halves.n_super_instances < 2:
            return False
        keeper = int(halves.assignment[np.flatnonzero(rows == rep)[0]])
        self.rows[k] = rows[halves.assignment == keeper]
        self.rows.append(rows[halves.assignment != keeper])
        self.standing.append(int(rows[halves.representatives[1 - keeper]]))
        return True

    def choose(self, k: int) -> None:
        """Let the medoid of the rows that can be shown stand for a cell."""
        able = self.rows[k][self.may_stand[self.rows[k]]]
        if len(able) == 0:
            row = self.standing[k]
            raise InputError(f"none of the items beside row {row} can be shown in a question")
        block = self._block(able)
        is_distances = self.metric == "precomputed"
        place = int(block.sum(axis=1).argmin()) if is_distances else medoid(block)
        self.standing[k] = int(able[place])

    def partition(self) -> SuperInstances:
        """Return the super-instances, in the order of their representatives."""
        order = np.argsort(self.standing)
        reps = np.array(self.standing, dtype=np.intp)[order]
        assignment = np.empty(len(self.X), dtype=np.intp)
        for number, k in enumerate(order):
            assignment[self.rows[k]] = number
        if self.metric == "precomputed":
            between = np.ascontiguousarray(self._block(reps), dtype=np.float64)
            return SuperInstances(assignment, reps, distances=between, metric=self.metric)
        return SuperInstances(assignment, reps, points=self.X[reps].copy(), metric=self.metric)

    def _block(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        return self.X[np.ix_(rows, rows)] if self.metric == "precomputed" else self.X[rows]


def _nearest_fellow(session: Session, features: Features, row: int) -> int:
    """Return the nearest row of the same group that can be asked about."""
    labels, askable = session.labels, session.strategy.askable()
    fellows = askable[(labels[askable] == labels[row]) & (askable != row)]
    if len(fellows) == 0:
        raise InputError(f"row {row} stands alone already")
    return int(fellows[np.argmin(_distances(features.X, row, fellows, features.metric))])


def _distances(
    X: NDArray[Any], row: int, rows: NDArray[np.intp], metric: str
) -> NDArray[np.float64]:
    found = X[row, rows] if metric == "precomputed" else np.linalg.norm(X[rows] - X[row], axis=1)
    return np.asarray(found)
