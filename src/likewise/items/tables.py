"""Tables: columns as texts, numbers and points in time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import InputError
from likewise.items.fields import as_text, is_missing
from likewise.items.items import check_ids

DATE_FORMATS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y",
    "%d %B %Y", "%B %d, %Y",
)  # fmt: skip
"""Dates that are not written as ISO 8601, the day first where both readings fit."""

TIME_FORMATS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, by name: texts from CSV, else Python values, None where missing."""

    path: Path
    columns: dict[str, Sequence[Any]]
    n: int
    has_decimal_comma: bool = False
    notes: tuple[str, ...] = ()
    index: Sequence[str] | None = None

    def column(self, name: str) -> Sequence[Any]:
        """Return a column, or raise an error that lists all columns."""
        if not isinstance(name, str) or name not in self.columns:
            raise InputError(
                f"{self.path} has no column {name!r}; it has {', '.join(map(repr, self.columns))}"
            )
        return self.columns[name]

    def only_column(self, name: str | None, option: str) -> str:
        """Return the column that an option names, or the only one there is."""
        if name is None and len(self.columns) > 1:
            raise InputError(
                f"which column of {self.path} is meant? --{option} is one of {list(self.columns)}"
            )
        return next(iter(self.columns)) if name is None else name

    def ids(self, column: str | None) -> list[str]:
        """Return the ids of the rows: a column's values, the index, or numbers from 0."""
        if column is None:
            return numbered(self.n) if self.index is None else list(self.index)
        ids = self.texts(column)
        check_ids(ids, f"{self.path}, column {column!r}")
        return ids

    def texts(self, name: str) -> list[str]:
        """Return the cells of a column as texts without spaces around them."""
        return [as_text(value).strip() for value in self.column(name)]

    def numbers(self, name: str) -> np.ndarray | None:
        """Return a column as numbers, or None; see `as_numbers`."""
        return as_numbers(self.column(name), self.has_decimal_comma)

    def needed_numbers(self, name: str, remedy: str) -> np.ndarray:
        """Return a column as numbers, or raise `InputError` with a remedy."""
        numbers = self.numbers(name)
        if numbers is None:
            raise InputError(f"column {name!r} of {self.path} is not numbers: {remedy}")
        return numbers

    def times(self, name: str) -> np.ndarray | None:
        """Return a column as seconds since 1970, or None if it is not dates."""
        times = find_times(self.column(name))
        return None if times is None else times[1]


def numbered(n: int) -> list[str]:
    """Return ids for things without names, numbered from 0."""
    return [str(i) for i in range(n)]


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_numbers(
    values: Sequence[Any] | np.ndarray, has_decimal_comma: bool = False
) -> np.ndarray | None:
    """Return a column as floats with NaN for what is missing, or None if it is not numbers."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.astype(np.float64)
    try:
        return np.fromiter(map(float, values), np.float64, len(values))
    except (TypeError, ValueError, OverflowError):
        pass
    numbers = np.full(len(values), np.nan)
    has_number = False
    for k, value in enumerate(values):
        if is_missing(value):
            continue
        plain = value
        if has_decimal_comma and isinstance(value, str) and value.count(",") == 1:
            plain = value.replace(",", ".")
        elif isinstance(value, timedelta):
            plain = value.total_seconds()
        try:
            numbers[k] = float(plain)
        except OverflowError:
            numbers[k] = math.inf if plain > 0 else -math.inf
        except (TypeError, ValueError):
            return None
        has_number = True
    return numbers if has_number else None


def find_times(values: Sequence[Any]) -> tuple[str, np.ndarray] | None:
    """Return the format of a column of dates and its `read_times`; None if it is not dates."""
    for format in ("", *(day + hour for day in DATE_FORMATS for hour in TIME_FORMATS)):
        try:
            times = read_times(values, format)
        except (AttributeError, TypeError, ValueError, OverflowError):
            continue
        return None if np.isnan(times).all() else (format, times)
    return None


def read_times(values: Sequence[Any], format: str) -> np.ndarray:
    """Return a column as seconds since 1970, NaN for what is missing.

    The format is empty for ISO 8601, and for dates that are no texts.
    """
    return np.array(
        [math.nan if is_missing(value) else _seconds(value, format) for value in values]
    )


def _seconds(value: Any, format: str) -> float:
    if format:
        value = datetime.strptime(value.strip(), format)
    elif isinstance(value, str):
        value = datetime.fromisoformat(value.strip())
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    elif hasattr(value, "to_timestamp"):  # a month or another period of pandas: its beginning
        value = value.to_timestamp()
    return float((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp())
