"""Features of table rows: numbers scaled to [0, 1], categories one-hot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.errors import InputError
from likewise.items.items import Features
from likewise.items.lsi import character_lsi
from likewise.items.tables import Table, as_text

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "nil", "?", "-"})
"""What stands for "no value" in a table, in lower case."""

MOST_CATEGORIES = 30
"""A column with more different texts than this is free text, not a category."""


def row_features(table: Table, columns: Sequence[str] | None, leave_out: Sequence[str]) -> Features:
    """Turn the rows of a table into numbers.

    Parameters
    ----------
    table : Table
        The rows.
    columns : sequence of str or None
        The columns to use; None for all that are numbers or categories.
    leave_out : sequence of str
        Columns not to use when `columns` is None, such as the ids.
    """
    names = [n for n in table.columns if n not in leave_out] if columns is None else list(columns)
    blocks: list[np.ndarray] = []
    used: list[str] = []
    notes: list[str] = []
    free: list[str] = []
    for name in names:
        values = table.column(name)
        numbers = as_numbers(values, table.has_decimal_comma)
        if numbers is not None:
            if columns is None and _only_counts(numbers):
                notes.append(f"{name}: left out, it only counts the rows")
                continue
            block, note = _scaled(numbers)
        else:
            texts = [_category(value) for value in values]
            if len(set(texts)) > MOST_CATEGORIES:
                free.append(name)
                continue
            block, note = _one_hot(texts)
        if note:
            notes.append(f"{name}: {note}")
        if block.shape[1]:
            blocks.append(block)
            used.append(name)
    if free and (columns is not None or not blocks):
        for name in free:
            blocks.append(character_lsi([as_text(value) for value in table.column(name)]))
            used.append(f"{name} (as text)")
    elif free:
        notes.append(
            f"left out as free text: {', '.join(free)}. Name them in --columns to use their "
            "letters, or use --text for one of them."
        )
    if not blocks:
        raise InputError(
            f"no column of {table.path} tells its rows apart: looked at {', '.join(names)}"
        )
    description = (
        f"{len(used)} of {len(table.columns)} columns, numbers scaled to [0, 1] and categories "
        f"one-hot: {', '.join(used)}. Choose others with --columns, or bring your own with "
        "--features."
    )
    return Features(np.hstack(blocks), description, notes=tuple(notes))


def as_numbers(values: Sequence[Any], has_decimal_comma: bool = False) -> np.ndarray | None:
    """Return a column as floats with NaN for what is missing, or None if it is not numbers.

    Examples
    --------
    >>> as_numbers(["1", "", "2.5", "NA"])
    array([1. , nan, 2.5, nan])
    >>> as_numbers(["1", "two"]) is None
    True
    """
    try:
        return np.array([float(value) for value in values])
    except (TypeError, ValueError, OverflowError):
        pass
    numbers = np.full(len(values), np.nan)
    found = False
    for k, value in enumerate(values):
        if is_missing(value):
            continue
        plain = value
        if has_decimal_comma and isinstance(value, str) and value.count(",") == 1:
            plain = value.replace(",", ".")
        try:
            numbers[k] = float(plain)
        except (TypeError, ValueError, OverflowError):
            return None
        found = True
    return numbers if found else None


def is_missing(value: Any) -> bool:
    """Whether a cell stands for no value."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return value is None or (isinstance(value, float) and np.isnan(value))


def _category(value: Any) -> str | None:
    return None if is_missing(value) else as_text(value).strip()


def _only_counts(numbers: np.ndarray) -> bool:
    """Whether a column numbers the rows, as an index that was saved along with a table does."""
    return len(numbers) >= 10 and bool((np.diff(numbers) == 1).all())


def _scaled(numbers: np.ndarray) -> tuple[np.ndarray, str]:
    """Scale to [0, 1]; a missing value becomes the median."""
    finite = np.isfinite(numbers)
    lost = int(len(numbers) - finite.sum())
    if lost == len(numbers):
        return np.empty((len(numbers), 0)), "left out, it has no values"
    low, high = numbers[finite].min(), numbers[finite].max()
    if low == high:
        return np.empty((len(numbers), 0)), "left out, all its values are equal"
    # Halved, because the range of doubles is wider than a double.
    scaled = np.where(finite, (numbers / 2 - low / 2) / (high / 2 - low / 2), 0.0)
    if not lost:
        return scaled[:, None], ""
    scaled[~finite] = np.median(scaled[finite])
    return scaled[:, None], f"{lost} missing values, filled with the median"


def _one_hot(texts: Sequence[str | None]) -> tuple[np.ndarray, str]:
    """One column per category, in order of name; a missing value is in none of them."""
    counts = Counter(texts)
    lost = counts.pop(None, 0)
    if len(counts) + (lost > 0) < 2:
        return np.empty((len(texts), 0)), "left out, all its values are equal"
    place = {text: k for k, text in enumerate(sorted(str(text) for text in counts))}
    block = np.zeros((len(texts), len(place)))
    rows = [i for i, text in enumerate(texts) if text is not None]
    block[rows, [place[str(texts[i])] for i in rows]] = 1.0
    return block, f"{lost} missing values, in none of the categories" if lost else ""
