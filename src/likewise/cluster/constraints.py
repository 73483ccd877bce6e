"""Must-links and cannot-links as callers pass them, checked and closed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.errors import InputError

Pairs = ArrayLike | Iterable[tuple[Any, Any]]


def checked_links(n_samples: int, must_link: Pairs = (), cannot_link: Pairs = ()) -> LinkGraph:
    """Return the closure of two lists of pairs of rows, or raise an error that names the pair."""
    links = LinkGraph(n_samples)
    for left, right in checked_pairs(n_samples, must_link, "must_link").tolist():
        links.add(left, right, Answer.SAME)
    for left, right in checked_pairs(n_samples, cannot_link, "cannot_link").tolist():
        links.add(left, right, Answer.DIFFERENT)
    return links


def checked_pairs(
    n_samples: int, pairs: Pairs, name: str, labels: Sequence[Any] | None = None
) -> NDArray[np.intp]:
    """Return pairs of rows as an array of shape ``(n_pairs, 2)``; `name` is for the error."""
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise InputError(
            f"{name} must be pairs of rows, like [(0, 1), (4, 7)]; got {type(pairs).__name__}. "
            "For no links pass ()"
        )
    listed: Any = pairs if hasattr(pairs, "__array__") else list(pairs)
    rows_of_pairs = listed if labels is None else _by_label(listed, labels, name)
    try:
        array = np.asarray(rows_of_pairs)
    except ValueError as error:
        raise InputError(f"the entries of {name} have different lengths, not two each") from error
    if array.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(
            f"{name} must be pairs of rows, like [(0, 1), (4, 7)] or an array of shape "
            f"(n_pairs, 2); got shape {array.shape}"
        )
    with np.errstate(invalid="ignore"):
        rows = array.astype(np.intp) if array.dtype.kind in "iuf" else None
    if rows is None or not np.array_equal(rows, array):
        raise InputError(f"{name} must hold row numbers (integers); got dtype {array.dtype}")
    outside = (rows < 0) | (rows >= n_samples)
    for place in np.flatnonzero(outside.any(axis=1))[:1]:
        row = rows[place][outside[place]][0]
        raise InputError(
            f"{name}[{place}] = {tuple(rows[place].tolist())} names row {row}, but X has rows 0 "
            f"to {n_samples - 1}"
        )
    for place in np.flatnonzero(rows[:, 0] == rows[:, 1])[:1]:
        raise InputError(
            f"{name}[{place}] = {tuple(rows[place].tolist())} pairs row {rows[place, 0]} with "
            "itself; a link needs two rows. Remove it"
        )
    return rows


def _by_label(pairs: Any, labels: Sequence[Any], name: str) -> Any:
    """Return pairs of row numbers for pairs of labels, such as those of an index."""
    listed: list[Any] = np.asarray(pairs).tolist() if hasattr(pairs, "__array__") else pairs
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in listed):
        return pairs
    # Pairs of numbers are row numbers already, also where the labels are numbers.
    if all(isinstance(row, int | float | np.number) for pair in listed for row in pair):
        return pairs
    places: dict[Any, list[int]] = {}
    for row, label in enumerate(labels):
        places.setdefault(label, []).append(row)
    numbered = []
    for place, pair in enumerate(listed):
        rows = [places.get(label, []) for label in pair]
        for label, of_label in zip(pair, rows, strict=True):
            if len(of_label) != 1:
                why = "is not among" if not of_label else f"occurs {len(of_label)} times in"
                raise InputError(
                    f"{name}[{place}] = {tuple(pair)!r}: {label!r} {why} the labels of the rows. "
                    "Name rows by unique labels of the index, or by their numbers from 0"
                )
        numbered.append((rows[0][0], rows[1][0]))
    return numbered


def checked_train_rows(train_indices: ArrayLike | None, n_rows: int) -> NDArray[np.intp] | None:
    """Return the rows that may be asked about, ascending and once each; None for all."""
    if train_indices is None:
        return None
    rows = np.asarray(train_indices)
    if rows.dtype == bool and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
        raise InputError("train_indices must be a list of row numbers or a mask of all rows")
    if rows.size == 0:
        raise InputError("train_indices is empty: at least one row must be allowed to be shown")
    if rows.min() < 0 or rows.max() >= n_rows:
        wrong = rows[(rows < 0) | (rows >= n_rows)][0]
        raise InputError(f"train_indices has {wrong}, but the data has rows 0 to {n_rows - 1}")
    return np.unique(rows).astype(np.intp)
