"""What a session that grows takes in: rows that join, and rows that leave or come back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.core.journal import Entry, Grown
from likewise.core.strategy import Strategy
from likewise.errors import InputError
from likewise.inputs import is_whole, refuse_rows
from likewise.words import plural


def checked_growth(X_new: Any, ids: Any, train_indices: Any, n_rows: int) -> Grown:
    """Return an entry about rows that join `n_rows` others; refuse rows that cannot be used."""
    rows = np.empty((0, 0)) if X_new is None else _matrix(X_new)
    if ids is not None:
        ids = tuple(i.item() if isinstance(i, np.generic) else i for i in ids)
    asked = range(len(rows)) if train_indices is None else _numbers(train_indices, "train_indices")
    for k in asked:
        if not 0 <= k < len(rows):
            raise InputError(f"train_indices has {k}, but X_new has {plural(len(rows), 'row')}")
    unasked = sorted(set(range(len(rows))).difference(asked))
    return Grown(rows, ids, tuple(n_rows + k for k in unasked))


def row_numbers(rows: Any, name: str) -> tuple[int, ...]:
    """Return row numbers without repetitions, increasing."""
    return tuple(sorted(set(_numbers(rows, name))))


def removed_after(log: Iterable[Entry]) -> frozenset[int]:
    """Return the rows that are gone after some entries of a log."""
    removed: set[int] = set()
    for entry in log:
        if isinstance(entry, Grown):
            removed = (removed - set(entry.returned)) | set(entry.removed)
    return frozenset(removed)


def ids_after(
    first: Sequence[Hashable] | None, log: Iterable[Entry]
) -> tuple[Hashable, ...] | None:
    """Return the ids of all rows after some entries of a log; refuse them if two rows share one."""
    grown = [entry for entry in log if isinstance(entry, Grown)]
    if first is None:
        if any(entry.ids is not None for entry in grown):
            raise InputError("the rows of this session have no ids: leave out sample_ids")
        return None
    if not grown:
        return tuple(first)
    ids = list(first)
    present = dict.fromkeys(ids)
    for k, entry in enumerate(grown, start=1):
        new = () if entry.ids is None else entry.ids
        if len(new) != len(entry.rows):
            raise InputError(
                f"sample_ids has {plural(len(new), 'entry')}, but {plural(len(entry.rows), 'row')} "
                "join"
            )
        removed = removed_after(grown[:k])
        present = {name: None for row, name in enumerate(ids) if row not in removed}
        for name in new:
            if not isinstance(name, Hashable):
                raise InputError(f"sample_ids must be numbers, texts or tuples, got {name!r}")
            if name in present:
                raise InputError(f"sample_ids must be unique, but {name!r} is there already")
            present[name] = None
        ids += new
    return tuple(ids)


def grown_by(strategy: Strategy, entry: Grown, removed: frozenset[int]) -> Strategy:
    """Return a strategy without answers, with the rows of an entry, and without those removed."""
    n_rows = strategy.n_rows
    points = strategy.partition.points
    n_features = None if points is None else points.shape[1]
    if len(entry.rows) and n_features not in (None, entry.rows.shape[1]):
        raise InputError(
            f"X_new has {plural(entry.rows.shape[1], 'column')}, but the rows of the session have "
            f"{n_features}. Make its features as those of the first rows were made."
        )
    grown = strategy.grown(entry.rows, frozenset(entry.unasked), removed)
    assert grown.n_rows == n_rows + len(entry.rows)
    return grown


def _matrix(X: ArrayLike) -> NDArray[Any]:
    refuse_rows(X)
    try:
        rows = np.asarray(X)
        rows = rows if rows.dtype == np.float32 else rows.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X_new must be rows of numbers: {error}") from error
    if rows.ndim != 2:
        raise InputError(f"X_new must have rows and columns, got an array of shape {rows.shape}")
    return rows


def _numbers(rows: Any, name: str) -> list[int]:
    numbers = list(rows)
    for row in numbers:
        if not is_whole(row):
            raise InputError(f"{name} must be row numbers, got {row!r}")
    return [int(row) for row in numbers]
