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
        partition = split_further(partition, features.X, wanted, askable=askable, seed=seed)
        if partition.n_super_instances == n_cells:
            raise InputError("nothing is left to split: every super-instance is a single item")
    return strategy.on(partition, askable=askable, n_parts=wanted)


def one_apart(session: Session, features: Features, row: int) -> tuple[Strategy, int]:
    """Return a strategy in which a row is its own small group, and the row to compare it with."""
    partition, askable = session.strategy.partition, features.askable
    if np.count_nonzero(partition.assignment == partition.assignment[row]) == 1:
        stands = _nearest_fellow(session, features, row)
    else:
        partition, stands = set_apart(partition, features.X, row, askable=askable)
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
    partition: SuperInstances,
    X: NDArray[Any],
    n_super_instances: int,
    *,
    askable: NDArray[np.intp] | None = None,
    seed: int = 0,
) -> SuperInstances:
    """Halve the widest super-instance until there are `n_super_instances`.

    There are fewer where rows cannot be told apart. `X` has the rows, or the distances between them
    if the partition's metric is "precomputed". By default all rows are `askable`.
    """
    if n_super_instances <= partition.n_super_instances:
        raise InputError(
            f"there are {partition.n_super_instances} super-instances already; "
            f"refining needs more than that, got {n_super_instances}"
        )
    may_stand = _mask(askable, len(X))
    groups = _members(partition)
    standing = [int(row) for row in partition.representatives]
    queue = [
        (-_spread(X, rows, rep, partition.metric), k)
        for k, (rows, rep) in enumerate(zip(groups, standing, strict=True))
    ]
    heapq.heapify(queue)
    while queue and len(groups) < n_super_instances:
        spread, k = heapq.heappop(queue)
        if spread == 0:
            break
        halves = _halve(X, groups[k], standing[k], may_stand, partition.metric, seed)
        if halves is None:
            continue
        stays, leaves, stands = halves
        groups[k] = stays
        groups.append(leaves)
        standing.append(stands)
        for part in (k, len(groups) - 1):
            width = _spread(X, groups[part], standing[part], partition.metric)
            heapq.heappush(queue, (-width, part))
    return _partition(X, groups, standing, partition.metric)


def set_apart(
    partition: SuperInstances,
    X: NDArray[Any],
    row: int,
    *,
    askable: NDArray[np.intp] | None = None,
) -> tuple[SuperInstances, int]:
    """Make one row its own super-instance; also return the representative of its old one."""
    may_stand = _mask(askable, len(X))
    groups = _members(partition)
    standing = [int(rep) for rep in partition.representatives]
    k = int(partition.assignment[row])
    rest = groups[k][groups[k] != row]
    if len(rest) == 0:
        raise InputError(f"row {row} stands alone already")
    groups[k] = rest
    if standing[k] == row:
        able = rest[may_stand[rest]]
        if len(able) == 0:
            raise InputError(f"none of the items beside row {row} can be shown in a question")
        standing[k] = int(able[_medoid(X, able, partition.metric)])
    groups.append(np.array([row], dtype=np.intp))
    standing.append(row)
    return _partition(X, groups, standing, partition.metric), standing[k]


def _nearest_fellow(session: Session, features: Features, row: int) -> int:
    """Return the nearest row of the same group that can be asked about."""
    labels, askable = session.labels, session.strategy.askable()
    fellows = askable[(labels[askable] == labels[row]) & (askable != row)]
    if len(fellows) == 0:
        raise InputError(f"row {row} stands alone already")
    X = features.X
    if features.metric == "precomputed":
        return int(fellows[np.argmin(X[row, fellows])])
    return int(fellows[np.argmin(np.linalg.norm(X[fellows] - X[row], axis=1))])


def _mask(askable: NDArray[np.intp] | None, n_rows: int) -> NDArray[np.bool_]:
    mask = np.ones(n_rows, dtype=bool)
    if askable is not None:
        mask[:] = False
        mask[askable] = True
    return mask


def _members(partition: SuperInstances) -> list[NDArray[np.intp]]:
    if partition.row_counts is not None:
        raise InputError(
            "this session shows some rows of data that is not held, so its small groups cannot be "
            "split further. Begin another session with more --super-instances."
        )
    order = np.argsort(partition.assignment, kind="stable")
    return list(np.split(order, np.cumsum(partition.sizes())[:-1]))


def _block(X: NDArray[Any], rows: NDArray[np.intp], metric: str) -> NDArray[Any]:
    return X[np.ix_(rows, rows)] if metric == "precomputed" else X[rows]


def _medoid(X: NDArray[Any], rows: NDArray[np.intp], metric: str) -> int:
    block = _block(X, rows, metric)
    return int(np.argmin(block.sum(axis=1))) if metric == "precomputed" else medoid(block)


def _spread(X: NDArray[Any], rows: NDArray[np.intp], rep: int, metric: str) -> float:
    """Return the sum of the distances of the rows of a super-instance to its representative."""
    if metric == "precomputed":
        return float(X[rep, rows].sum())
    return float(np.linalg.norm(X[rows] - X[rep], axis=1).sum())


def _halve(
    X: NDArray[Any],
    rows: NDArray[np.intp],
    rep: int,
    may_stand: NDArray[np.bool_],
    metric: str,
    seed: int,
) -> tuple[NDArray[np.intp], NDArray[np.intp], int] | None:
    """Return the half with the old representative, the other half, and its representative."""
    able = np.flatnonzero(may_stand[rows])
    if len(able) < 2:
        return None
    halves = build_super_instances(
        _block(X, rows, metric), 2, train_indices=able, metric=metric, seed=seed
    )
    if halves.n_super_instances < 2:
        return None
    keeper = int(halves.assignment[np.flatnonzero(rows == rep)[0]])
    stays = rows[halves.assignment == keeper]
    leaves = rows[halves.assignment != keeper]
    return stays, leaves, int(rows[halves.representatives[1 - keeper]])


def _partition(
    X: NDArray[Any], groups: list[NDArray[np.intp]], standing: list[int], metric: str
) -> SuperInstances:
    order = np.argsort(standing)
    reps = np.array(standing, dtype=np.intp)[order]
    assignment = np.empty(len(X), dtype=np.intp)
    for number, k in enumerate(order):
        assignment[groups[k]] = number
    if metric == "precomputed":
        between = np.ascontiguousarray(X[np.ix_(reps, reps)], dtype=np.float64)
        return SuperInstances(assignment, reps, distances=between, metric=metric)
    return SuperInstances(assignment, reps, points=X[reps].copy(), metric=metric)
