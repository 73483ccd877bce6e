"""Rows of a table, shown as fields: numbers scaled to [0, 1], categories one-hot."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from likewise.errors import InputError
from likewise.items.cache import FeatureCache
from likewise.items.items import Features, Items, OnProgress, digest, known_before, shorten
from likewise.items.tablefiles import READING, is_table, read_table
from likewise.items.tables import (
    Table,
    as_shown,
    as_text,
    find_times,
    is_missing,
    read_times,
)
from likewise.items.texts import fit_characters, latent_features
from likewise.words import plural

MOST_CATEGORIES = 30
"""A column with more different texts than this is free text, not a category. A round number: with a
lower one more categories count as text, with a higher one more names as categories."""

HOW = {
    "number": "numbers scaled to [0, 1]",
    "date": "dates as points in time, scaled to [0, 1]",
    "category": "categories one-hot",
    "text": "texts by their letters",
}

N_TELLING = 3
"""How many values a summary of a group names."""
TELLING = 0.5
"""A category describes a group if its share there is larger by at least this much than among all
rows; a number, if it is larger than one outside of the group this much more often than smaller, or
the other way round. With a lower limit a summary has more words, but they
describe other groups as well."""


class RowItems(Items):
    """Rows of a table; their fields are shown."""

    kind = "rows"
    noun = "row"
    options = ("id", "columns", "show", *READING)

    def __init__(
        self,
        table: Table,
        *,
        id: str | None = None,
        columns: Sequence[str] | None = None,
        show: Sequence[str] | None = None,
    ) -> None:
        super().__init__(table.path, table.ids(id), notes=table.notes)
        self._table = table
        self._id = id
        self._columns = None if columns is None else list(columns)
        self._left_out = [] if id is None else [id]
        known = list(table.columns) if show is None else list(show)
        for name in (*(self._columns or ()), *known):
            table.column(name)
        self._hashed = sorted({*known, *(self._columns or table.columns)})
        # The id is the heading; as a field it would only say that any two rows differ.
        self._show = known if show is not None else [name for name in known if name != id]
        self._named = repr(self._hashed)

    @classmethod
    def recognizes(cls, source: Any, options: Mapping[str, Any]) -> bool:
        """Whether this is a table."""
        return is_table(source)

    @classmethod
    def open(
        cls,
        source: Any,
        *,
        cache: FeatureCache,
        id: str | None = None,
        columns: Sequence[str] | None = None,
        show: Sequence[str] | None = None,
        **reading: Any,
    ) -> Self:
        """Read a table."""
        return cls(read_table(source, **reading), id=id, columns=columns, show=show)

    def title(self, i: int) -> str:
        """Return the id where there is an id column, else the first shown fields."""
        if self._id is not None or self._table.index is not None:
            return shorten(self.ids[i])
        cells = [(name, as_shown(self._table.columns[name][i])) for name in self._show[:3]]
        fields = [f"{name} {cell}" for name, cell in cells if cell.strip()]
        return shorten(" · ".join(fields)) or f"row {i}"

    def view(self, i: int) -> dict[str, Any]:
        """Return the shown fields of row `i`, and where its numbers and dates lie among all."""
        return {
            "kind": self.kind,
            "fields": self._table.fields(self._show, i),
            "scales": {
                name: round(float(shares[i]), 4)
                for name, shares in self._shares.items()
                if np.isfinite(shares[i])
            },
        }

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of the table, without the one that has the ids."""
        return {name: v for name, v in self._table.columns.items() if name != self._id}

    def leaving_out(self, column: str) -> Self:
        """Return the rows without a column among features, fields and what counts as a change."""
        if column in (self._columns or ()):
            raise InputError(
                f"the column {column!r} of {self.source} has the groups, so rows are not compared "
                "by it. Leave it out of --columns."
            )
        other = copy.copy(self)
        other._left_out = [*self._left_out, column]
        other._show = [name for name in self._show if name != column]
        other._hashed = [name for name in self._hashed if name != column]
        other._named = repr(other._hashed)
        return other

    def content_hash(self, i: int) -> str:
        """Return a hash of the columns that are shown or used."""
        return self._hash(tuple(self._table.columns[name][i] for name in self._hashed))

    def content_hashes(self) -> dict[str, str]:
        """Return the content hash of every row by its id, a seventh faster than one by one."""
        rows = zip(*(self._table.columns[name] for name in self._hashed), strict=True)
        return dict(zip(self.ids, map(self._hash, rows), strict=True))

    def _hash(self, row: tuple[Any, ...]) -> str:
        return digest(self._named, repr(row))

    def content(self, i: int) -> str:
        """Return a hash of the values, without the id."""
        names = [name for name in self._hashed if name != self._id]
        return digest(repr([self._table.columns[name][i] for name in names]))

    def _make_features(self, progress: OnProgress | None) -> Features:
        # Not cached: to compute them takes no longer than to hash the table.
        return fit_rows(self._table, self._columns, self._left_out)[0]

    @cached_property
    def _encoders(self) -> dict[str, Encoder]:
        return fit_rows(self._table, self._columns, self._left_out)[1]

    def _learned(self) -> dict[str, Any]:
        """Return the range, the categories or the letters of every column."""
        return {"encoders": self._encoders, "columns": self._hashed}

    def features_like(self, learned: Mapping[str, Any] | None) -> Features:
        """Return features made as those of the first rows, which must have had the same columns."""
        before = set(self._hashed if self.has_given_features else known_before(learned)["columns"])
        now = set(self._hashed)
        if before != now:
            raise InputError(
                f"{self.source} has other columns than when the session was begun: "
                f"{', '.join(sorted(now - before)) or 'nothing'} came, and "
                f"{', '.join(sorted(before - now)) or 'nothing'} went. Give it the columns it had, "
                "or begin another session with --session FILE"
            )
        return super().features_like(learned)

    def _make_features_like(self, learned: Mapping[str, Any] | None) -> Features:
        encoders = known_before(learned)["encoders"]
        blocks = [encoded(self._table, name, encoder) for name, encoder in encoders.items()]
        return Features(np.hstack(blocks), "columns, as those of the first rows")

    def sum_up(self, members: Sequence[int]) -> str:
        """Return the values that tell some rows from the others, such as ``color red``."""
        rows = np.array(members, dtype=np.intp)
        scored: list[tuple[float, str]] = []
        for name, (numbers, ranks) in self._numbers.items():
            is_known = np.isfinite(numbers[rows])
            if is_known.any():
                value = float(np.median(numbers[rows][is_known]))
                # Among all rows are those of the group, of which none is larger on average.
                apart = abs(2 * float(ranks[rows][is_known].mean()) - 1)
                apart /= max(1, self.n - len(rows)) / self.n
                scored.append((apart, f"{name} {_short(value)}"))
        for name, (texts, counts) in self._categories.items():
            text, n = Counter(texts[i] for i in members).most_common(1)[0]
            if text:
                scored.append((n / len(members) - counts[text] / self.n, f"{name} {text}"))
        scored.sort(key=lambda one: -one[0])
        return ", ".join(words for score, words in scored[:N_TELLING] if score >= TELLING)

    @cached_property
    def _numbers(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """The columns of numbers that are shown, and which share of the others is smaller."""
        ranks = {}
        for name in self._show:
            numbers = self._table.numbers(name)
            if numbers is not None and name != self._id:
                finite = np.sort(numbers[np.isfinite(numbers)])
                if len(finite) and finite[-1] > finite[0]:
                    # Equal ones count half.
                    n_below = np.searchsorted(finite, numbers, "left")
                    n_up_to = np.searchsorted(finite, numbers, "right")
                    ranks[name] = (numbers, (n_below + n_up_to) / (2 * len(finite)))
        return ranks

    @cached_property
    def _shares(self) -> dict[str, np.ndarray]:
        """Every number and date that is shown as a share of the range of its column."""
        columns = {name: numbers for name, (numbers, _) in self._numbers.items()}
        for name in self._show:
            if name not in columns and name != self._id:
                times = self._table.times(name)
                if times is not None and np.nanmax(times) > np.nanmin(times):
                    columns[name] = times
        scaled = {}
        for name, numbers in columns.items():
            finite = numbers[np.isfinite(numbers)]
            low, high = finite.min() / 2, finite.max() / 2
            scaled[name] = (numbers / 2 - low) / (high - low)
        return scaled

    @cached_property
    def _categories(self) -> dict[str, tuple[list[str | None], Counter[str | None]]]:
        """The categories among the columns that are shown, and how often each value is there."""
        categories = {}
        for name in self._show:
            texts = [_category(value) for value in self._table.columns[name]]
            counts = Counter(texts)
            if name not in self._numbers and 1 < len(counts) <= MOST_CATEGORIES:
                categories[name] = (texts, counts)
        return categories


def _short(number: float) -> str:
    """Return a number with four digits, or all those before the point."""
    return f"{number:.4g}" if abs(number) < 1e4 or abs(number) >= 1e15 else f"{number:.0f}"


def fit_rows(
    table: Table, columns: Sequence[str] | None, leave_out: Sequence[str]
) -> tuple[Features, dict[str, Encoder]]:
    """Return the features of the rows, and by column name what makes them of new rows.

    By default they come from all columns except `leave_out`.
    """
    names = [n for n in table.columns if n not in leave_out] if columns is None else list(columns)
    encoders: dict[str, Encoder] = {}
    used: dict[str, list[str]] = {how: [] for how in HOW}
    notes: list[str] = []
    free: list[str] = []
    for name in names:
        how, encoder, note = _encoder(table, name, keeps_counts=columns is not None)
        if how == "text":
            free.append(name)
            continue
        if note:
            notes.append(f"{name}: {note}")
        if encoder is not None:
            encoders[name] = encoder
            used[how].append(name)
    blocks = [encoded(table, name, encoder) for name, encoder in encoders.items()]
    if free and (columns is not None or not blocks):
        for name in free:
            X, letters = fit_characters([as_text(v) for v in table.column(name)])
            blocks.append(X)
            encoders[name] = {"letters": letters}
        used["text"] = free
    elif free:
        notes.append(
            f"left out as free text: {', '.join(free)}. Name them in --columns to use their "
            "letters, or use --text for one of them."
        )
    if not blocks:
        if table.n == 1:
            raise InputError(f"{table.path} has only 1 row; to compare rows, at least 2 are needed")
        raise InputError(
            f"no column of {table.path} tells its rows apart: looked at {', '.join(names)}. "
            "Columns whose values are all equal or all missing are of no use."
        )
    listed = "; ".join(f"{HOW[how]}: {', '.join(names)}" for how, names in used.items() if names)
    description = (
        f"{len(blocks)} of {plural(len(table.columns), 'column')}; {listed}. Choose others with "
        "--columns, or bring your own with --features."
    )
    return Features(np.hstack(blocks), description, notes=tuple(notes)), encoders


Encoder = dict[str, Any]
"""What was learned from a column, as plain values: the range of its numbers or dates, its
categories, or its letters."""


def encoded(table: Table, name: str, encoder: Mapping[str, Any]) -> np.ndarray:
    """Return the features of a column by what was learned from one of that name."""
    # Not by scikit-learn's encoders: importing them takes longer than most tables.
    if "letters" in encoder:
        return latent_features([as_text(v) for v in table.column(name)], encoder["letters"])
    if "names" in encoder:
        texts = np.array([_category(value) for value in table.column(name)], dtype=object)
        names = np.array([str(category) for category in encoder["names"]], dtype=object)
        return np.asarray(texts[:, None] == names, dtype=float)
    low, high, fill = (float(encoder[key]) for key in ("low", "high", "fill"))
    numbers = _numbers(table, name, encoder.get("dates"))
    numbers = np.where(np.isinf(numbers), np.clip(numbers, low, high), numbers)
    # Halved, because the difference of two doubles may overflow.
    scaled = (numbers / 2 - low / 2) / (high / 2 - low / 2)
    return np.where(np.isnan(scaled), fill, scaled)[:, None]


def _numbers(table: Table, name: str, dates: str | None) -> np.ndarray:
    """Return a column of numbers, or of dates of a format."""
    cells = table.column(name)
    if all(map(is_missing, cells)):
        return np.full(table.n, np.nan)
    if dates is None:
        numbers = table.numbers(name)
        if numbers is None:
            raise InputError(f"column {name!r} of {table.path} is not numbers, as in the fit")
        return numbers
    try:
        return read_times(cells, dates)
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"column {name!r} of {table.path} is not dates written as in the fit: {error}"
        ) from error


def _encoder(table: Table, name: str, *, keeps_counts: bool) -> tuple[str, Encoder | None, str]:
    """Return what a column is, what makes its features if it is of use, and what to say of it."""
    numbers = table.numbers(name)
    if numbers is not None:
        if not keeps_counts and _only_counts(numbers):
            return "number", None, "left out, it only counts the rows"
        finite, beyond = _within_range(table.column(name), numbers)
        scale, note = _fit_scale(finite)
        if beyond:
            note = note.replace("all its values", "all its other values")
        return "number", scale, "; ".join(part for part in (beyond, note) if part)
    times = find_times(table.column(name))
    if times is not None:
        return "date", *_fit_scale(times[1], times[0])
    texts = [_category(value) for value in table.column(name)]
    if len(set(texts)) > MOST_CATEGORIES:
        return "text", None, ""
    return "category", *_fit_one_hot(texts)


def _category(value: Any) -> str | None:
    return None if is_missing(value) else as_text(value).strip()


def _only_counts(numbers: np.ndarray) -> bool:
    """Whether a column only counts the rows, as an index saved with a table does."""
    return len(numbers) >= 10 and bool((np.diff(numbers) == 1).all())


def _within_range(cells: Sequence[Any], numbers: np.ndarray) -> tuple[np.ndarray, str]:
    """Replace infinite numbers by the largest or smallest other one; say which they are."""
    places = np.flatnonzero(np.isinf(numbers))
    if not len(places):
        return numbers, ""
    first = f"row {places[0]} is {shorten(as_text(cells[places[0]]), 30)!r}"
    others = f" (and {plural(len(places) - 1, 'other')})" if len(places) > 1 else ""
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return numbers, f"{first}{others}, which is beyond the range of numbers"
    note = f"{first}{others}: beyond the range of numbers, counted as the largest or smallest other"
    return np.where(np.isinf(numbers), np.clip(numbers, finite.min(), finite.max()), numbers), note


def _fit_scale(numbers: np.ndarray, dates: str | None = None) -> tuple[Encoder | None, str]:
    """Return the scale of numbers to [0, 1], which fills in the median; None if it is of no use."""
    finite = numbers[np.isfinite(numbers)]
    lost = len(numbers) - len(finite)
    if not len(finite):
        return None, "left out, it has no values that can be compared"
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return None, "left out, all its values are equal"
    fill = float(np.median((finite / 2 - low / 2) / (high / 2 - low / 2)))
    note = f"{plural(lost, 'missing value')}, filled with the median" if lost else ""
    written = {} if dates is None else {"dates": dates}
    return {"low": low, "high": high, "fill": fill, **written}, note


def _fit_one_hot(texts: Sequence[str | None]) -> tuple[Encoder | None, str]:
    """Return the categories of a column, None if it is of no use."""
    names = sorted({text for text in texts if text is not None})
    lost = sum(text is None for text in texts)
    if len(names) + (lost > 0) < 2:
        return None, "left out, all its values are equal"
    note = f"{plural(lost, 'missing value')}, in none of the categories" if lost else ""
    return {"names": names}, note
