"""How the rows of a table are shown: one row as fields, or a row beside groups."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.words import escaped, plural

if TYPE_CHECKING:
    from likewise.items.tables import Table

FIELD_LENGTH = 2_000
"""A cell is cut here for showing, so that one huge value does not stop the page."""

LONG_NUMBER = re.compile(r"-?\d+\.\d{7,}(e[-+]?\d+)?", re.IGNORECASE)
"""A number with more decimals than a person compares."""

MISSING = frozenset({"", "na", "n/a", "nan", "nat", "null", "none", "nil", "?", "-", "."})
"""What stands for "no value" in a table, in lower case."""

MOST_CELLS = 4_000
"""At most this many cells of each group are looked at."""
N_MEMBERS = (10, 60)
"""The fewest and the most members of a group that are looked at."""
N_SHARES = 3
"""How many values of a category are named."""
MOST_VALUES = 30
"""A column with more different texts than this is free text, not a category, and so is one with a
longer text. A round number: with a lower one more categories count as text, with a higher one more
names as categories."""
SOFTNESS = 0.1
"""Added to the spread inside groups, as a share of the range of a field. Otherwise, with single
items or groups without any spread, every field would seem to separate groups perfectly."""

QUANTILES = (0.1, 0.5, 0.9)
"""The spread of numbers in a group is from the first to the last, and the second is its middle."""

N_TELLING = 3
"""How many values a summary of a group names."""
TELLING = 0.5
"""A category describes a group if its share in the group exceeds that among all rows by at least
this much. A number does if numbers inside of the group are larger than those outside this much more
often than smaller, or the other way round. With a lower limit, a summary has words that describe
other groups as well."""

Entry = dict[str, Any]
"""What a field is in a group: ``text``, ``low``, ``middle`` and ``high`` of numbers, ``shares`` of
categories or the first ``texts``; and ``n_missing``."""


class Fields:
    """The columns of a table that are shown.

    Parameters
    ----------
    table : Table
    names : sequence of str
        The columns that are shown, in order.
    id : str, optional
        The column with the ids, which are no numbers to compare.
    """

    def __init__(self, table: Table, names: Sequence[str], id: str | None = None) -> None:
        self.names = list(names)
        self._table, self._id = table, id
        self._columns = [table.column(name) for name in names]
        self._rows: dict[int, list[list[str]]] = {}
        self._scaled: dict[int, dict[str, float]] = {}

    def row(self, i: int) -> list[list[str]]:
        """Return the fields of row `i` as name and text: long ones cut, missing ones empty."""
        if i not in self._rows:
            cells = zip(self.names, self._columns, strict=True)
            self._rows[i] = [[name, as_shown(column[i])] for name, column in cells]
        return self._rows[i]

    def view(self, i: int) -> dict[str, Any]:
        """Return the fields of row `i`, and its numbers and dates as shares of their ranges."""
        return {"fields": self.row(i), "scales": self._scales(i)}

    def _scales(self, i: int) -> dict[str, float]:
        if i not in self._scaled:
            shares = {name: float(shares[i]) for name, (_, shares) in self._shares.items()}
            finite = {name: share for name, share in shares.items() if math.isfinite(share)}
            self._scaled[i] = {name: round(share, 4) for name, share in finite.items()}
        return self._scaled[i]

    @property
    def n_compared(self) -> int:
        """How many rows of a group are enough to compare with; fewer for many fields."""
        least, most = N_MEMBERS
        return min(most, max(least, MOST_CELLS // max(1, len(self.names))))

    def contrast(self, i: int, groups: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
        """Return the fields of a row and their values in groups, the most telling first."""
        members = [np.array(rows, dtype=np.intp) for rows in groups]
        numbers = self._shares
        own = {n: c for n, c in zip(self.names, self._columns, strict=True) if n in numbers}
        in_range = [numbers[name] for name in own]
        by_group = [_spreads(list(own.values()), in_range, rows) for rows in members]
        spreads = zip(*by_group, strict=True)
        at, fields = self._scales(i), []
        for (name, text), column in zip(self.row(i), self._columns, strict=True):
            if name in numbers:
                tells, entries = _numbers_in(next(spreads))
            else:
                tells, entries = _categories_in(column, members)
            field = {"name": name, "value": text or None, "at": at.get(name)}
            fields.append({**field, "tells": round(tells, 4), "groups": entries})
        return sorted(fields, key=lambda field: -field["tells"])

    def sum_up(self, members: Sequence[int]) -> str:
        """Return the values that distinguish these rows from the others, such as ``color red``."""
        rows, n = np.array(members, dtype=np.intp), self._table.n
        scored: list[tuple[float, str]] = []
        for name, (numbers, ranks) in self._ranks.items():
            is_known = np.isfinite(numbers[rows])
            if is_known.any():
                value = float(np.median(numbers[rows][is_known]))
                # Among all rows are those of the group, of which none is larger on average.
                separation = abs(2 * float(ranks[rows][is_known].mean()) - 1)
                separation /= max(1, n - len(rows)) / n
                scored.append((separation, f"{name} {short_number(value)}"))
        for name, (texts, counts) in self._categories.items():
            text, count = Counter(texts[i] for i in members).most_common(1)[0]
            if text:
                scored.append((count / len(members) - counts[text] / n, f"{name} {text}"))
        scored.sort(key=lambda one: -one[0])
        return ", ".join(words for score, words in scored[:N_TELLING] if score >= TELLING)

    @cached_property
    def _numbers(self) -> dict[str, NDArray[np.float64]]:
        """The columns of numbers that are not all equal."""
        return dict(self._varying(self.names, self._table.numbers))

    @cached_property
    def _ranks(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """The columns of numbers, each with the percentile ranks of its values."""
        ranks = {}
        for name, numbers in self._numbers.items():
            finite = np.sort(numbers[np.isfinite(numbers)])
            # Equal ones count half.
            n_below = np.searchsorted(finite, numbers, "left")
            n_up_to = np.searchsorted(finite, numbers, "right")
            ranks[name] = (numbers, (n_below + n_up_to) / (2 * len(finite)))
        return ranks

    @cached_property
    def _shares(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """The columns of numbers and dates, each with its values as shares of its range."""
        others = [name for name in self.names if name not in self._numbers]
        columns = self._numbers | dict(self._varying(others, self._table.times))
        return {name: (v, scaled(v, *finite_range(v))) for name, v in columns.items()}

    def _varying(
        self, names: Iterable[str], read: Callable[[str], NDArray[np.float64] | None]
    ) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Yield the columns that can be read as numbers or dates and are not all equal."""
        for name in names:
            values = read(name) if name != self._id else None
            if values is not None and len(set(finite_range(values))) > 1:
                yield name, values

    @cached_property
    def _categories(self) -> dict[str, tuple[list[str | None], Counter[str | None]]]:
        """The columns of categories, and how often each value occurs."""
        categories = {}
        for name, column in zip(self.names, self._columns, strict=True):
            texts = [as_category(value) for value in column]
            counts = Counter(texts)
            if name not in self._numbers and 1 < len(counts) <= MOST_VALUES:
                categories[name] = (texts, counts)
        return categories


def _numbers_in(spreads: Sequence[tuple[Entry, float]]) -> tuple[float, list[Entry]]:
    """Return how well a column of numbers separates groups, and its spread in each group."""
    present = [(entry["middle"], width) for entry, width in spreads if entry["text"] is not None]
    entries = [entry for entry, _ in spreads]
    if len(present) < 2:
        return 0.0, entries
    middles, widths = zip(*present, strict=True)
    return float(np.std(middles)) / (float(np.mean(widths)) + SOFTNESS), entries


def _spreads(
    columns: Sequence[Sequence[Any]],
    numbers: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    rows: NDArray[np.intp],
) -> list[tuple[Entry, float]]:
    """Return the spread of each column of numbers in a group, and its standard deviation.

    `numbers` has the values of each column, and the same as shares of its range. All columns are
    summed up at once: a hundred of them, one by one, took half of the time for a question.
    """
    if not numbers or not len(rows):
        return [({"text": None, "n_missing": 0}, 0.0) for _ in numbers]
    n_missing = np.isnan([values[rows] for values, _ in numbers]).sum(axis=1).tolist()
    shares = np.array([share[rows] for _, share in numbers])
    is_present = np.isfinite(shares)
    shares[~is_present] = np.nan
    n_present = is_present.sum(axis=1)
    in_order = np.sort(shares, axis=1)  # what is missing comes last
    low, middle, high = (
        [round(x, 4) for x in _quantiles(in_order, n_present, q)] for q in QUANTILES
    )
    from_middle = np.abs(shares - np.array(middle)[:, None])
    typical = np.where(is_present, from_middle, np.inf).argmin(axis=1).tolist()
    widths = shares.std(axis=1).tolist()
    found: list[tuple[Entry, float]] = []
    for k, column in enumerate(columns):
        entry: Entry = {"text": None}
        if n_present[k]:
            entry = {"text": as_shown(column[rows[typical[k]]])}
            entry |= {"low": low[k], "middle": middle[k], "high": high[k]}
        is_whole = n_present[k] in (0, len(rows))
        width = widths[k] if is_whole else float(shares[k][is_present[k]].std())
        found.append((entry | {"n_missing": n_missing[k]}, width))
    return found


def _quantiles(in_order: NDArray[np.float64], n_present: NDArray[np.intp], q: float) -> list[float]:
    """Return a quantile of the first numbers of each sorted line, as `np.quantile` does."""
    at = np.maximum(0, n_present - 1) * q
    first, lines = at.astype(np.intp), np.arange(len(in_order))
    low = in_order[lines, first]
    high = in_order[lines, np.minimum(first + 1, np.maximum(0, n_present - 1))]
    return list(map(float, low + (high - low) * (at - first)))


def _categories_in(
    column: Sequence[Any], groups: Sequence[NDArray[np.intp]]
) -> tuple[float, list[Entry]]:
    """Return how well categories separate groups, and the most frequent ones in each group."""
    cells = [[column[i] for i in rows.tolist()] for rows in groups]
    # Texts are counted before they are shown: most values occur many times.
    plain = [[v if isinstance(v, str) else as_shown(v) for v in group] for group in cells]
    present = [
        Counter([text for text in group if text.strip().lower() not in MISSING]) for group in plain
    ]
    entries: list[Entry] = [
        {"n_missing": len(group) - counts.total()}
        for group, counts in zip(plain, present, strict=True)
    ]
    values = sorted(set(chain(*present)))
    if len(values) > MOST_VALUES or max(map(len, values), default=0) > MOST_VALUES:
        for entry, counts in zip(entries, present, strict=True):
            entry["texts"] = [as_shown(text) for text in list(counts)[:N_SHARES]]
        return 0.0, entries
    table = np.array([[counts[value] for value in values] for counts in present], dtype=float)
    table /= np.maximum(1.0, table.sum(axis=1, keepdims=True))
    between = float(np.sqrt(table.var(axis=0).sum())) if values else 0.0
    within = float(np.sqrt((table * (1 - table)).sum(axis=1)).mean())
    for entry, shares in zip(entries, table, strict=True):
        # The largest first, and equal ones in order.
        first = [k for k in np.argsort(-shares, kind="stable")[:N_SHARES].tolist() if shares[k]]
        entry["shares"] = [[as_shown(values[k]), round(float(shares[k]), 3)] for k in first]
    return between / (within + SOFTNESS), entries


def as_shown(value: Any) -> str:
    """Return the text of a cell: empty if missing, rounded if a long number, cut if too long."""
    if is_missing(value):
        return ""
    if isinstance(value, np.floating):
        return f"{value:.6g}"
    text = as_text(value)
    if LONG_NUMBER.fullmatch(text):
        number = float(text)
        return f"{number:.7g}" if abs(number) < 1e6 else f"{number:.1f}"
    return text if len(text) <= FIELD_LENGTH else f"{text[:FIELD_LENGTH]}… ({len(text)} characters)"


def as_text(value: Any) -> str:
    """Return a cell as text that people can read."""
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
    return text if text.isprintable() else escaped(text, in_lines=True)


def as_category(value: Any) -> str | None:
    """Return a cell as the name of a category, None if it is missing."""
    return None if is_missing(value) else as_text(value).strip()


def is_missing(value: Any) -> bool:
    """Whether a cell stands for no value."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def one_line(fields: Iterable[Sequence[str]], at_most: int | None = None) -> str:
    """Return the first fields that are not empty on one line."""
    return " · ".join([f"{name} {text}" for name, text in fields if text.strip()][:at_most])


def short_number(number: float) -> str:
    """Return a number with four digits, or all those before the point."""
    return f"{number:.4g}" if abs(number) < 1e4 or abs(number) >= 1e15 else f"{number:.0f}"


def finite_range(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """Return the smallest and the largest finite number, 0 and 0 if there is none."""
    finite = numbers[np.isfinite(numbers)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def scaled(numbers: NDArray[Any], low: float, high: float) -> NDArray[Any]:
    """Return numbers as shares of a range."""
    # Halved, because the difference of two doubles may overflow.
    return (numbers / 2 - low / 2) / (high / 2 - low / 2)
