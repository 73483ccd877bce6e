"""Rows of a table, shown as fields and compared by their numbers, categories and texts."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from likewise.errors import InputError
from likewise.items.features import Aspect, Features
from likewise.items.fields import (
    MOST_VALUES,
    Fields,
    as_category,
    as_text,
    finite_range,
    is_missing,
    scaled,
)
from likewise.items.items import OnProgress, digest, shorten
from likewise.items.latent import LatentTexts
from likewise.items.tablefiles import READING, TableItems
from likewise.items.tables import Table, find_times, read_times
from likewise.words import plural

HOW = {
    "number": "numbers scaled to [0, 1]",
    "date": "dates as points in time, scaled to [0, 1]",
    "category": "categories one-hot",
    "text": "texts by their letters",
}

ASPECTS = {"numbers": ("number", "date"), "categories": ("category",), "texts": ("text",)}
"""The aspects of rows, and the types of columns that each is made from."""

BETTER = "Choose other columns with --columns, or bring your own features with --features."


class RowItems(TableItems):
    """Rows of a table; their fields are shown."""

    kind = "rows"
    noun = "row"
    options = ("id", "columns", "show", *READING)
    fields: Fields

    def __init__(
        self,
        table: Table,
        *,
        id: str | None = None,
        columns: Sequence[str] | None = None,
        show: Sequence[str] | None = None,
    ) -> None:
        super().__init__(table, table.ids(id), id, notes=table.notes)
        # The id is the heading; as a field it would only say that any two rows differ.
        others = [name for name in table.columns if name != id]
        self.fields = Fields(table, others if show is None else show, id)
        self._used = others if columns is None else list(columns)
        self._is_chosen = columns is not None
        for name in self._used:
            table.column(name)
        known = table.columns if show is None else show
        self._hashed = sorted({*known, *(columns or table.columns)})

    def leaving_out(self, column: str) -> Self:
        """Return the rows without a column: it is not compared, shown or watched for changes."""
        if self._is_chosen and column in self._used:
            raise InputError(
                f"the column {column!r} of {self.source} has the groups, so rows are not compared "
                "by it. Leave it out of --columns."
            )
        other = copy.copy(self)
        show, other._used, other._hashed = (
            [name for name in names if name != column]
            for names in (self.fields.names, self._used, self._hashed)
        )
        other.fields, other._searched = Fields(self._table, show, self._id), {}
        vars(other).pop("_aspects", None)
        return other

    def content_hash(self, i: int) -> str:
        """Return a hash of the columns that are shown or used."""
        row = tuple(self._table.columns[name][i] for name in self._hashed)
        return digest(repr(self._hashed), repr(row))

    def content(self, i: int) -> str:
        """Return a hash of the values, without the id."""
        names = [name for name in self._hashed if name != self._id]
        return digest(repr([self._table.columns[name][i] for name in names]))

    def aspects(self) -> list[Aspect]:
        """Return the *numbers*, dates among them, the *categories* and the *texts* of the rows."""
        return self._aspects

    @cached_property
    def _aspects(self) -> list[Aspect]:
        # Not cached on disk: to compute them takes no longer than to hash the table.
        return fit_rows(
            self._table, self._used, self._hashed, self._latent, is_chosen=self._is_chosen
        )

    def features(
        self, progress: OnProgress | None = None, *, aspects: Sequence[Aspect] | None = None
    ) -> Features:
        """Return the features; the first rows of a session must have had the same columns."""
        known = {"table": self._hashed}
        for aspect in aspects or ():
            known |= aspect.recipe
        before, now = set(known["table"]), set(self._hashed)
        if before != now:
            raise InputError(
                f"{self.source} has other columns than when the session was begun: "
                f"{', '.join(sorted(now - before)) or 'nothing'} came, and "
                f"{', '.join(sorted(before - now)) or 'nothing'} went. Give it the columns it had, "
                "or begin another session with --session FILE"
            )
        return super().features(progress, aspects=aspects)

    def compute(self, aspect: Aspect, progress: OnProgress | None = None) -> np.ndarray:
        """Return the columns of an aspect, each encoded as in the rows that it was learned from."""
        columns = aspect.recipe["columns"].items()
        return np.hstack([_encoded(self._table, name, how, self._latent) for name, how in columns])

    def sum_up(self, members: Sequence[int]) -> str:
        """Return the values that distinguish these rows from the others, such as ``color red``."""
        return self.fields.sum_up(members)


Encoder = dict[str, Any]
"""What was learned from a column, as plain values: the range of its numbers or dates, its
categories, or its letters."""


def fit_rows(
    table: Table,
    names: Sequence[str],
    hashed: Sequence[str],
    latent: LatentTexts,
    *,
    is_chosen: bool,
) -> list[Aspect]:
    """Return the aspects of rows; their recipes have the columns of the table, `hashed`.

    Unless the columns were chosen, free text and columns that count the rows are left out.
    """
    encoders: dict[str, tuple[str, Encoder]] = {}
    texts: list[str] = []
    notes: list[str] = []
    for name in names:
        how, encoder, remarks = _encoder(table, name, keeps_counts=is_chosen)
        if remarks:
            notes.append(f"{name}: {'; '.join(remarks)}")
        if how == "text":
            texts.append(name)
        elif encoder is not None:
            encoders[name] = how, encoder
    if texts and encoders and not is_chosen:
        notes.append(
            f"left out as free text: {', '.join(texts)}. Name them in --columns to use their "
            "letters, or use --text for one of them."
        )
        texts = []
    for name in texts:
        _, letters = latent.fit([as_text(v) for v in table.column(name)], "letters")
        encoders[name] = "text", {"letters": letters}
    if not encoders:
        if table.n == 1:
            raise InputError(f"{table.path} has only 1 row; to compare rows, at least 2 are needed")
        raise InputError(
            f"no column of {table.path} tells its rows apart: looked at {', '.join(names)}. "
            "Columns whose values are all equal or all missing are of no use."
        )
    aspects, ends = [], np.cumsum([0, *(_width(encoder) for _, encoder in encoders.values())])
    places = {name: range(ends[k], ends[k + 1]) for k, name in enumerate(encoders)}
    for aspect, ways in ASPECTS.items():
        columns = {name: encoder for name, (how, encoder) in encoders.items() if how in ways}
        if columns:
            used = {way: [name for name in columns if encoders[name][0] == way] for way in ways}
            about = "; ".join(
                f"{HOW[way]}: {', '.join(names)}" for way, names in used.items() if names
            )
            recipe = {"columns": columns, "table": list(hashed)}
            where = tuple(int(place) for name in columns for place in places[name])
            aspects.append(Aspect(aspect, about, recipe, BETTER, tuple(notes), where))
    return aspects


def _width(encoder: Encoder) -> int:
    """Return how many columns of features a column of the table becomes."""
    if "letters" in encoder:
        return len(encoder["letters"].get("components", [0]))
    return len(encoder["names"]) if "names" in encoder else 1


def _encoded(
    table: Table, name: str, encoder: Mapping[str, Any], latent: LatentTexts
) -> np.ndarray:
    """Return the features of a column, encoded as the column of that name was at first."""
    # Not by scikit-learn's encoders: importing them takes longer than most tables.
    if "letters" in encoder:
        return latent.describe([as_text(v) for v in table.column(name)], encoder["letters"])
    if "names" in encoder:
        texts = np.array([as_category(value) for value in table.column(name)], dtype=object)
        names = np.array([str(category) for category in encoder["names"]], dtype=object)
        return np.asarray(texts[:, None] == names, dtype=float)
    low, high, fill = (float(encoder[key]) for key in ("low", "high", "fill"))
    numbers = _numbers(table, name, encoder.get("dates"))
    numbers = np.where(np.isinf(numbers), np.clip(numbers, low, high), numbers)
    shares = scaled(numbers, low, high)
    return np.where(np.isnan(shares), fill, shares)[:, None]


def _numbers(table: Table, name: str, dates: str | None) -> np.ndarray:
    """Return a column of numbers, or of dates in a format."""
    cells = table.column(name)
    if all(map(is_missing, cells)):
        return np.full(table.n, np.nan)
    if dates is None:
        return table.needed_numbers(name, "it was in the fit")
    try:
        return read_times(cells, dates)
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"column {name!r} of {table.path} is not dates written as in the fit: {error}"
        ) from error


def _encoder(
    table: Table, name: str, *, keeps_counts: bool
) -> tuple[str, Encoder | None, list[str]]:
    """Return the type of a column, its encoder (None if it is of no use), and remarks."""
    cells, numbers = table.column(name), table.numbers(name)
    if numbers is not None:
        if not keeps_counts and _only_counts(numbers):
            return "number", None, ["left out, it only counts the rows"]
        return "number", *_fit_scale(cells, numbers)
    times = find_times(cells)
    if times is not None:
        encoder, remarks = _fit_scale(cells, times[1])
        return "date", None if encoder is None else {**encoder, "dates": times[0]}, remarks
    texts = [as_category(value) for value in cells]
    if len(set(texts)) > MOST_VALUES:
        return "text", None, []
    return "category", *_fit_one_hot(texts)


def _only_counts(numbers: np.ndarray) -> bool:
    """Whether a column only counts the rows, like an index that was saved with a table."""
    return len(numbers) >= 10 and bool((np.diff(numbers) == 1).all())


def _fit_scale(cells: Sequence[Any], numbers: np.ndarray) -> tuple[Encoder | None, list[str]]:
    """Return the scale of numbers to [0, 1] with their median, None if of no use, and remarks."""
    is_beyond, is_lost = np.isinf(numbers), np.isnan(numbers)
    low, high = finite_range(numbers)
    remarks = []
    if is_beyond.any():
        first, *others = np.flatnonzero(is_beyond).tolist()
        also = f" (and {plural(len(others), 'other')})" if others else ""
        cell = shorten(as_text(cells[first]), 30)
        remarks.append(f"row {first} is {cell!r}{also}: beyond the range of numbers")
    if (is_beyond | is_lost).all():
        return None, [*remarks, "left out, it has no values that can be compared"]
    if low == high:
        which = "all its other values" if remarks else "all its values"
        return None, [*remarks, f"left out, {which} are equal"]
    if remarks:
        remarks[0] += ", counted as the largest or smallest other"
    if is_lost.any():
        remarks.append(f"{plural(int(is_lost.sum()), 'missing value')}, filled with the median")
    fill = float(np.median(scaled(np.clip(numbers[~is_lost], low, high), low, high)))
    return {"low": low, "high": high, "fill": fill}, remarks


def _fit_one_hot(texts: Sequence[str | None]) -> tuple[Encoder | None, list[str]]:
    """Return the categories of a column, None if it is of no use, and remarks."""
    names = sorted({text for text in texts if text is not None})
    lost = sum(text is None for text in texts)
    if len(names) + (lost > 0) < 2:
        return None, ["left out, all its values are equal"]
    remark = f"{plural(lost, 'missing value')}, in none of the categories"
    return {"names": names}, [remark] if lost else []
