"""Tables: cells as text, numbers and points in time, and the fields of an item beside groups."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import InputError
from likewise.items.items import check_ids
from likewise.words import escaped, plural

FIELD_LENGTH = 2_000
"""A cell is cut here for showing, so that one huge value does not stop the page."""

LONG_NUMBER = re.compile(r"-?\d+\.\d{7,}(e[-+]?\d+)?", re.IGNORECASE)
"""A number with more decimals than anybody compares."""

MISSING = frozenset({"", "na", "n/a", "nan", "nat", "null", "none", "nil", "?", "-"})
"""What stands for "no value" in a table, in lower case."""

DATE_FORMATS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y",
    "%d %B %Y", "%B %d, %Y",
)  # fmt: skip
"""Dates that are not written as ISO 8601, the day first where both readings fit."""

TIME_FORMATS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p")

MOST_CELLS = 4_000
"""At most this many cells of each group are looked at, about 60 ms for six groups."""
N_MEMBERS = (10, 60)
"""The fewest and the most members of a group that are looked at."""
N_SHARES = 3
"""How many values of a category are named."""
MOST_VALUES = 30
"""Fields with more different values than this are free text: their first values are named."""
SOFTNESS = 0.1
"""Added to the spread inside groups, as a share of the range of a field. Otherwise single items, or
groups without any spread, would make every field tell everything."""


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
        """Return a column, or an error that lists those there are."""
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

    def fields(self, names: Sequence[str], i: int) -> list[list[str]]:
        """Return the named cells of row `i` as name and text: long ones cut, missing ones empty."""
        shown = []
        for name in names:
            value = self.column(name)[i]
            text = "" if is_missing(value) else as_shown(value)
            if len(text) > FIELD_LENGTH:
                text = f"{text[:FIELD_LENGTH]}… ({len(text)} characters)"
            shown.append([name, text])
        return shown


def numbered(n: int) -> list[str]:
    """Return ids for things without names: numbers from 0."""
    return [str(i) for i in range(n)]


def as_shown(value: Any) -> str:
    """Return a cell as text, numbers with no more digits than a person compares."""
    text = as_text(value)
    if not LONG_NUMBER.fullmatch(text):
        return text
    number = float(text)
    return f"{number:.7g}" if abs(number) < 1e6 else f"{number:.1f}"


def as_text(value: Any) -> str:
    """Return a cell as text for people."""
    if isinstance(value, str):
        text = value
    elif value is None:
        text = ""
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, bytes):
        text = f"({plural(len(value), 'byte')})"
    elif isinstance(value, list | dict):
        text = json.dumps(value, ensure_ascii=False, default=str)
    else:
        text = str(value)
    return escaped(text, in_lines=True)


def is_missing(value: Any) -> bool:
    """Whether a cell stands for no value."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_numbers(values: Sequence[Any], has_decimal_comma: bool = False) -> np.ndarray | None:
    """Return a column as floats with NaN for what is missing, or None if it is not numbers."""
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


def n_looked_at(n_fields: int) -> int:
    """Return how many members of a group are looked at."""
    least, most = N_MEMBERS
    return min(most, max(least, MOST_CELLS // max(1, n_fields)))


def contrast(
    item: Mapping[str, Any], groups: Sequence[Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the fields of an item and their values in groups, the most telling first."""
    members = [[dict(view.get("fields", ())) for view in group] for group in groups]
    scales = [[view.get("scales", {}) for view in group] for group in groups]
    own = item.get("scales", {})
    fields = []
    for name, text in item.get("fields", ()):
        texts = [[cells.get(name) or None for cells in group] for group in members]
        shares = [[scale.get(name, math.nan) for scale in group] for group in scales]
        is_number = name in own or not np.isnan(list(chain(*shares))).all()
        tells, entries = (_numbers if is_number else _categories)(texts, shares)
        for entry, cells in zip(entries, texts, strict=True):
            entry["n_missing"] = sum(cell is None for cell in cells)
        field = {"name": name, "value": text or None, "at": own.get(name)}
        fields.append({**field, "tells": round(tells, 4), "groups": entries})
    return sorted(fields, key=lambda field: -field["tells"])


def _numbers(
    texts: Sequence[Sequence[str | None]], shares: Sequence[Sequence[float]]
) -> tuple[float, list[dict[str, Any]]]:
    """Return how far groups of numbers are apart for their spread, and the spread of each."""
    entries: list[dict[str, Any]] = []
    middles, spreads = [], []
    for cells, places in zip(texts, shares, strict=True):
        known = [k for k, place in enumerate(places) if not math.isnan(place)]
        if not known:
            entries.append({"text": None})
            continue
        values = np.array([places[k] for k in known])
        low, middle, high = (round(float(q), 4) for q in np.quantile(values, [0.1, 0.5, 0.9]))
        typical = cells[known[int(np.abs(values - middle).argmin())]]
        entries.append({"text": typical, "low": low, "middle": middle, "high": high})
        middles.append(middle)
        spreads.append(float(values.std()))
    if len(middles) < 2:
        return 0.0, entries
    return float(np.std(middles)) / (float(np.mean(spreads)) + SOFTNESS), entries


def _categories(
    texts: Sequence[Sequence[str | None]], _: Sequence[Sequence[float]]
) -> tuple[float, list[dict[str, Any]]]:
    """Return how far groups differ in their shares of values, and the largest shares of each."""
    counts = [Counter(cell for cell in cells if cell is not None) for cells in texts]
    values = sorted(set(chain(*counts)))
    if len(values) > MOST_VALUES or any(len(value) > MOST_VALUES for value in values):
        return 0.0, [{"texts": list(counter)[:N_SHARES]} for counter in counts]
    table = np.array([[counter[value] for value in values] for counter in counts], dtype=float)
    table /= np.maximum(1.0, table.sum(axis=1, keepdims=True))
    apart = float(np.sqrt(table.var(axis=0).sum())) if values else 0.0
    within = float(np.sqrt((table * (1 - table)).sum(axis=1)).mean())
    entries: list[dict[str, Any]] = [
        {"shares": [[value, round(n / counter.total(), 3)] for value, n in _first(counter)]}
        for counter in counts
    ]
    return apart / (within + SOFTNESS), entries


def _first(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:N_SHARES]
