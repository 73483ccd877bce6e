"""Tables: columns as texts, numbers and points in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import InputError
from likewise.items.columns import Reading, find_reading
from likewise.items.fields import as_text
from likewise.items.items import check_ids
from likewise.words import did_you_mean


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, by name: texts from CSV, else Python values, None where missing."""

    path: Path
    columns: dict[str, Sequence[Any]]
    n: int
    has_decimal_comma: bool = False
    notes: tuple[str, ...] = ()
    index: Sequence[str] | None = None
    _readings: dict[str, Reading | None] = field(default_factory=dict, repr=False)

    def column(self, name: str) -> Sequence[Any]:
        """Return a column, or raise an error that lists all columns."""
        if not isinstance(name, str) or name not in self.columns:
            raise InputError(
                f"{self.path} has no column {name!r}; it has {', '.join(map(repr, self.columns))}."
                f"{did_you_mean(name, self.columns)}"
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

    def reading(self, name: str) -> Reading | None:
        """Return how a column is read, None if it is texts; see `find_reading`."""
        if name not in self._readings:
            point = "," if self.has_decimal_comma else "."
            self._readings[name] = find_reading(self.column(name), point)
        return self._readings[name]

    def numbers(self, name: str) -> np.ndarray | None:
        """Return a column as numbers, NaN for what is missing, or None if it is not numbers."""
        return self._read_as(name, "number")

    def _read_as(self, name: str, *kinds: str) -> np.ndarray | None:
        reading = self.reading(name)
        return reading.values if reading is not None and reading.way["as"] in kinds else None

    def needed_numbers(self, name: str, remedy: str) -> np.ndarray:
        """Return a column as numbers, or raise `InputError` with a remedy."""
        numbers = self.numbers(name)
        if numbers is None:
            raise InputError(f"column {name!r} of {self.path} is not numbers: {remedy}")
        return numbers

    def times(self, name: str) -> np.ndarray | None:
        """Return dates as seconds since 1970, times as seconds since midnight, None for others."""
        return self._read_as(name, "date", "hour")


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
