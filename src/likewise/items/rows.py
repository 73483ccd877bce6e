"""Rows of a table, shown as fields and compared by their numbers, categories and texts."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.items.cache import FeatureCache
from likewise.items.columns import (
    PARTS,
    Reading,
    best_reading,
    cycles,
    different_units,
    find_mostly,
    on_circle,
    read,
)
from likewise.items.encoders import AUTO, WORDS, named, notices
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
from likewise.items.tables import Table
from likewise.items.texts import MEANING, describe_texts, text_aspects
from likewise.words import did_you_mean, plural

HOW = {
    "number": "numbers scaled to [0, 1]",
    "date": "dates as points in time, scaled to [0, 1]",
    "category": "categories one-hot",
}

NUMBERS, CATEGORIES, CALENDAR = "numbers", "categories", "calendar"
ASPECTS = {NUMBERS: ("number", "date"), CATEGORIES: ("category",)}
"""The aspects of rows beside their texts, and the types of columns that each is made from."""

IGNORE = "ignore"
AMOUNTS = ("number", "truth", "span")
"""The ways to read numbers; others are for dates and times of day."""
TYPES = ("number", "category", "date", "text", IGNORE)
"""What a person may call a column."""

BETTER = "Choose other columns with --columns, or bring your own features with --features."

MOST_CATEGORIES = 1_000
"""The most values of a column that a person calls a category; each becomes a column."""
MOST_TEXTS = 10_000
"""With more different texts in a column, networks would take minutes, so words are compared."""
MOSTLY = 0.95
"""The share of cells that makes a column one of codes."""
FEWEST = 10
"""With fewer rows, the values of a column do not decide whether it is an id or free text."""
RADIUS = 12**-0.5
"""The radius of a cycle of the calendar, which then varies as much as evenly spread numbers do. It
is an aspect of its own, since most groups have nothing to do with weekdays, and some only with
hours: among the numbers, it would weaken all others or be ignored with them."""

ID = re.compile(
    r"(?:.*[\W_])?(?:id|ids|identifier|uuid|guid|key|index|nr|no|isbn|ean|sku)", re.IGNORECASE
)
CAMEL_ID = re.compile(r".*[a-z](?:Id|ID|Key|Nr|No)")
"""The name of a column that may have ids; its values decide."""

YEAR = re.compile(r"(?:.*[\W_])?(?:year|years|yr|jahr|ann[ée]e|año|anno|ano|jaar)", re.IGNORECASE)
"""The name of a column of years: times, not ids, even if each year has only one row."""

Columns = Sequence[str] | Mapping[str, str | None]
"""Columns by name, each with a type or without: ``["age", "city:category"]``, or as a mapping."""


class RowItems(TableItems):
    """Rows of a table; their fields are shown."""

    kind = "rows"
    noun = "row"
    options = ("id", "columns", "show", "encoder", *READING)
    fields: Fields

    def __init__(
        self,
        table: Table,
        *,
        id: str | None = None,
        columns: Columns | None = None,
        show: Sequence[str] | None = None,
        encoder: str | Sequence[str] = AUTO,
    ) -> None:
        self._encoder = named(encoder)
        said = notices(self._encoder)
        super().__init__(table, table.ids(id), id, notes=(*table.notes, *said))
        # The id is the heading; as a field it would only say that any two rows differ.
        others = [name for name in table.columns if name != id]
        self.fields = Fields(table, others if show is None else show, id)
        self._types = column_types(table, columns or ())
        # Columns with a type mend what was guessed; those without choose what is compared.
        self._is_chosen = None in self._types.values()
        named_ones = list(self._types) if self._is_chosen else others
        self._used = [name for name in named_ones if self._types.get(name) != IGNORE]
        shown = table.columns if show is None else show
        self._hashed = sorted({*shown, *(self._used if self._is_chosen else table.columns)})

    def leaving_out(self, column: str) -> Self:
        """Return the rows without a column: it is not compared, shown or watched for changes."""
        if column in self._used and (self._is_chosen or column in self._types):
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
        """Return the *numbers*, the *categories*, and the meaning of each column of texts."""
        return self._aspects

    @cached_property
    def _aspects(self) -> list[Aspect]:
        # Not cached on disk: to fit them takes no longer than to hash the table.
        types = {name: self._types.get(name) for name in self._used}
        return fit_rows(
            self._table, types, self._hashed, self._latent, self._encoder, self._is_chosen
        )

    def features(
        self, progress: OnProgress | None = None, *, aspects: Sequence[Aspect] | None = None
    ) -> Features:
        """Return the features; the first rows of a session must have had the same columns."""
        recipe = {"table": self._hashed}
        for aspect in aspects or ():
            recipe |= aspect.recipe
        before, now = set(recipe["table"]), set(self._hashed)
        if before != now:
            raise InputError(
                f"{self.source} has other columns than when the session was begun: "
                f"{', '.join(sorted(now - before)) or 'nothing'} came, and "
                f"{', '.join(sorted(before - now)) or 'nothing'} went. Give it the columns it had, "
                "or begin another session with --session FILE"
            )
        return super().features(progress, aspects=aspects)

    def compute(self, aspect: Aspect, progress: OnProgress | None = None) -> np.ndarray | Features:
        """Return the columns of an aspect, each encoded as in the rows that it was learned from."""
        recipe = aspect.recipe
        if "text" in recipe:
            X = _described(self._table, recipe, self._encoder, self._latent, self._cache, progress)
            return Features(X, notes=self._cache.notes)
        columns = recipe["columns"].items()
        return np.hstack([_encoded(self._table, name, how) for name, how in columns])

    def sum_up(self, members: Sequence[int]) -> str:
        """Return the values that distinguish these rows from the others, such as ``color red``."""
        return self.fields.sum_up(members)


def column_types(table: Table, columns: Columns) -> dict[str, str | None]:
    """Return the types of the columns that a person named, None for those without.

    >>> from pathlib import Path
    >>> table = Table(Path("t.csv"), {"age": ["7"], "a:b": ["x"]}, 1)
    >>> column_types(table, ["age:number", "a:b", "a:b:text"])
    {'age': 'number', 'a:b': 'text'}
    >>> column_types(table, "age:number")
    {'age': 'number'}
    """
    types: dict[str, str | None] = {}
    for entry in [columns] if isinstance(columns, str) else columns:
        name, type = entry, None
        if isinstance(columns, Mapping):
            type = columns[entry]
        elif isinstance(entry, str) and entry not in table.columns and ":" in entry:
            name, _, type = entry.rpartition(":")
        table.column(name)
        if type is not None and type not in TYPES:
            raise InputError(
                f"--columns {name}:{type}: a column is one of {', '.join(TYPES)}, not {type!r}."
                f"{did_you_mean(str(type), TYPES)}"
            )
        types[name] = type
    return types


Encoder = dict[str, Any]
"""What was learned from a column, as plain values: how it is read, the range of its numbers or
dates, the cycles of the calendar, or its categories."""


@dataclass
class Fitted:
    """What became of a column.

    Its type, its encoder (None if it is left out), that of its cycles of the calendar, and remarks.
    """

    how: str
    encoder: Encoder | None = None
    cycles: Encoder | None = None
    remarks: list[str] = field(default_factory=list)


def fit_rows(
    table: Table,
    types: Mapping[str, str | None],
    hashed: Sequence[str],
    latent: LatentTexts,
    encoder: Sequence[str],
    is_chosen: bool,
) -> list[Aspect]:
    """Return the aspects of rows; their recipes have the columns of the table, `hashed`.

    Ids are left out, unless the columns were chosen or there is nothing else.
    """
    fits = {name: _fitted(table, name, type, keeps_ids=is_chosen) for name, type in types.items()}
    encoders = {name: fit.encoder for name, fit in fits.items() if fit.encoder is not None}
    in_cycles = {name: fit.cycles for name, fit in fits.items() if fit.cycles is not None}
    texts = [name for name, fit in fits.items() if fit.how == "text"]
    if not (encoders or in_cycles or texts):  # rather by ids than not at all
        texts = [name for name, fit in fits.items() if fit.how == "code"]
        for name in texts:
            fits[name].remarks.clear()
    if not (encoders or in_cycles or texts):
        if table.n == 1:
            raise InputError(f"{table.path} has only 1 row; to compare rows, at least 2 are needed")
        raise InputError(
            f"no column of {table.path} tells its rows apart: looked at {', '.join(types)}. "
            "Columns whose values are all equal or all missing are of no use."
        )
    if not texts and tuple(encoder) != (AUTO,):
        raise InputError(
            f"--encoder is for texts, and no column of {table.path} is compared as texts. Leave it "
            "out, or name a column of texts, such as --columns notes:text"
        )
    notes = [f"{name}: {'; '.join(fit.remarks)}" for name, fit in fits.items() if fit.remarks]
    aspects, ends = [], np.cumsum([0, *map(_width, encoders.values())])
    places = {name: range(ends[k], ends[k + 1]) for k, name in enumerate(encoders)}
    for aspect, ways in ASPECTS.items():
        columns = {name: one for name, one in encoders.items() if fits[name].how in ways}
        if columns:
            used = {way: [name for name in columns if fits[name].how == way] for way in ways}
            about = "; ".join(
                f"{HOW[way]}: {', '.join(map(_named, names, map(columns.get, names)))}"
                for way, names in used.items()
                if names
            )
            recipe = {"columns": columns, "table": list(hashed)}
            where = tuple(int(place) for name in columns for place in places[name])
            aspects.append(Aspect(aspect, about, recipe, BETTER, tuple(notes), where))
    if in_cycles:
        about = f"cycles of the calendar: {', '.join(map(_named, in_cycles, in_cycles.values()))}"
        recipe = {"columns": in_cycles, "table": list(hashed)}
        aspects.append(Aspect(CALENDAR, about, recipe, BETTER, tuple(notes)))
    taken = {NUMBERS, CATEGORIES, CALENDAR}
    for name in texts:
        for one in _text_aspects(table, name, latent, encoder, tuple(notes)):
            title = one.name
            while title in taken:
                title += "_"
            taken.add(title)
            recipe = {"text": name, **one.recipe, "table": list(hashed)}
            aspects.append(replace(one, name=title, recipe=recipe))
    return aspects


def _named(name: str, encoder: Encoder | None) -> str:
    """Return the name of a column, with its unit and the cycles it is compared by."""
    more = [PARTS[part][0] for part in (encoder or {}).get("parts", ())]
    unit = (encoder or {}).get("way", {}).get("unit", "")
    if unit and unit != "magnitudes":
        more.insert(0, f"in {unit}")
    return f"{name} ({', '.join(more)})" if more else name


def _text_aspects(
    table: Table,
    name: str,
    latent: LatentTexts,
    encoder: Sequence[str],
    notes: tuple[str, ...],
) -> list[Aspect]:
    """Return the aspects of a column of texts, named like the column."""
    texts = _texts(table, name)
    n_lost = texts.count("")
    if n_lost:
        notes += (f"{name}: {plural(n_lost, 'missing text')}, as far from all others",)
    too_many = encoder == (AUTO,) and len(set(texts)) > MOST_TEXTS
    found = text_aspects(texts, (WORDS,) if too_many else encoder, latent)
    better = ""
    if too_many:
        better = f"To see what {name} means, which takes minutes: --encoder minilm"
    aspects = []
    for aspect in found:
        by = "meaning" if aspect.name == MEANING else "words"
        title = name if len(found) == 1 else f"{name} ({by})"
        about = f"texts by their {by}: {name} ({aspect.description})"
        aspects.append(Aspect(title, about, aspect.recipe, better or aspect.better, notes))
    return aspects


def _texts(table: Table, name: str) -> list[str]:
    """Return a column of texts, those that are missing empty."""
    return ["" if is_missing(value) else as_text(value) for value in table.column(name)]


def _described(
    table: Table,
    recipe: Mapping[str, Any],
    encoder: Sequence[str],
    latent: LatentTexts,
    kept: FeatureCache,
    progress: OnProgress | None,
) -> NDArray[Any]:
    """Return what a column of texts means; zeros for a missing text."""
    texts = _texts(table, recipe["text"])
    X = describe_texts(texts, recipe, encoder, latent, kept, progress)
    is_there = np.array([bool(text.strip()) for text in texts])
    return np.where(is_there[:, None], X, np.zeros_like(X))


def _width(encoder: Encoder) -> int:
    """Return how many columns of features a column of the table becomes."""
    return len(encoder.get("names", [0]))


def _encoded(table: Table, name: str, encoder: Mapping[str, Any]) -> NDArray[Any]:
    """Return the features of a column, encoded as the column of that name was at first."""
    # Not by scikit-learn's encoders: importing them takes longer than most tables.
    if "names" in encoder:
        texts = np.array([as_category(value) for value in table.column(name)], dtype=object)
        names = np.array([str(category) for category in encoder["names"]], dtype=object)
        return np.asarray(texts[:, None] == names, dtype=float)
    numbers = _read_as(table, name, encoder)
    if "parts" in encoder:
        return np.hstack([RADIUS * on_circle(numbers, part) for part in encoder["parts"]])
    low, high, fill = (float(encoder[key]) for key in ("low", "high", "fill"))
    numbers = np.where(np.isinf(numbers), np.clip(numbers, low, high), numbers)
    shares = scaled(numbers, low, high)
    return np.where(np.isnan(shares), fill, shares)[:, None]


def _read_as(table: Table, name: str, encoder: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return a column of numbers or dates, read as in the fit."""
    way, cells = encoder["way"], table.column(name)
    reading = table.reading(name)
    if reading is not None and reading.way == way:
        return reading.values
    numbers, lost = read(cells, way)
    if lost and not encoder.get("is_loose", False):
        what = "numbers" if way["as"] in AMOUNTS else "dates"
        written = "" if what == "numbers" else " written"
        raise InputError(
            f"column {name!r} of {table.path} is not {what}{written} as in the fit: row {lost[0]} "
            f"is {shorten(as_text(cells[lost[0]]), 30)!r}"
        )
    return numbers


def _fitted(table: Table, name: str, type: str | None, *, keeps_ids: bool) -> Fitted:
    """Return what becomes of a column, of a type that a person named or that is guessed."""
    reading = table.reading(name)
    if type in ("number", "date"):
        return _as_said(table, name, type, reading)
    if type is None and reading is not None:
        why = "" if keeps_ids else _why_id(name, reading)
        if why:
            return Fitted("id", remarks=[f"left out, {why}"])
        return _fit_numbers(table.column(name), reading)
    return _fit_texts(table, name, type, keeps_ids=keeps_ids)


def _fit_texts(table: Table, name: str, type: str | None, *, keeps_ids: bool) -> Fitted:
    """Return what becomes of a column that is not all numbers or dates."""
    texts = [as_category(value) for value in table.column(name)]
    if type == "category" or (type is None and not _is_free(texts)):
        return _fit_one_hot(table, name, texts)
    found = None if type == "text" else _nearly_numbers(table, name)
    if found is not None:
        return found
    if type is None and not keeps_ids and _are_codes(texts):
        remedy = f"To compare by it: --columns {name}:text"
        return Fitted("code", remarks=[f"left out, its values are ids or codes. {remedy}"])
    return Fitted("text")


def _nearly_numbers(table: Table, name: str) -> Fitted | None:
    """Return a column of numbers or dates, but for a few cells or units; None if it is not."""
    cells, point = table.column(name), "," if table.has_decimal_comma else "."
    units = different_units(cells, point)
    if units:
        some = ", ".join(units[:5]) + (", …" if units[5:] else "")
        remedy = f"To compare the numbers alone: --columns {name}:number"
        return Fitted("code", remarks=[f"left out, its units differ ({some}). {remedy}"])
    mostly = find_mostly(cells, point)
    return None if mostly is None else _without(cells, *mostly)


def _why_id(name: str, reading: Reading) -> str:
    """Return why a column of numbers is an id, or an empty text."""
    numbers = reading.values
    if reading.way["as"] != "number" or "unit" in reading.way or len(numbers) < FEWEST:
        return ""
    if not np.isfinite(numbers).all() or (np.floor(numbers) != numbers).any():
        return ""
    if YEAR.fullmatch(name.strip()):
        return ""
    if (np.diff(np.sort(numbers)) == 1).all():
        return "it only counts the rows"
    has_name = ID.fullmatch(name.strip()) or CAMEL_ID.fullmatch(name.strip())
    is_id = has_name and len(np.unique(numbers)) == len(numbers)
    return f"it is an id. To compare by it: --columns {name}:number" if is_id else ""


def _is_free(texts: Sequence[str | None]) -> bool:
    """Whether texts are not categories: many different ones, or sentences that never recur."""
    different = {text for text in texts if text is not None}
    if len(different) > MOST_VALUES:
        return True
    spaced = sum(" " in text for text in different)
    is_all = len(different) == len(texts) - texts.count(None) >= FEWEST
    return is_all and spaced > len(different) / 2


def _are_codes(texts: Sequence[str | None]) -> bool:
    """Whether texts are single words that are all different, or that mostly have digits."""
    present = [text for text in texts if text is not None]
    different = set(present)
    if sum(any(map(str.isspace, text)) for text in different) > (1 - MOSTLY) * len(different):
        return False
    n_digits = sum(any(map(str.isdigit, text)) for text in different)
    # Scripts without spaces write whole sentences so.
    is_short = np.median([len(text) for text in different]) <= 40
    is_ascii = sum(text.isascii() for text in different) >= MOSTLY * len(different)
    is_unique = len(different) >= MOSTLY * len(present) and is_ascii
    return bool(is_short and (is_unique or n_digits > len(different) / 2))


def _as_said(table: Table, name: str, type: str, reading: Reading | None) -> Fitted:
    """Return a column that a person calls numbers or dates; other cells count as missing."""
    cells, lost = table.column(name), list[int]()
    kinds = AMOUNTS if type == "number" else ("date", "hour")
    if reading is None or reading.way["as"] not in kinds:
        reading, lost = best_reading(cells, type, "," if table.has_decimal_comma else ".")
    present = [k for k, value in enumerate(cells) if not is_missing(value)]
    if present and len(lost) == len(present):
        cell = shorten(as_text(cells[lost[0]]), 30)
        raise InputError(
            f"--columns {name}:{type}: no cell of column {name!r} of {table.path} can be read as a "
            f"{type}; row {lost[0]} is {cell!r}. Call it a category or text, or leave it out by "
            f"--columns {name}:{IGNORE}"
        )
    return _without(cells, reading, lost)


def _without(cells: Sequence[Any], reading: Reading, lost: Sequence[int]) -> Fitted:
    """Return a column of numbers or dates, of which some cells are neither and count as missing."""
    fit = _fit_numbers(cells, reading)
    if lost:
        also = f" (and {plural(len(lost) - 1, 'other')})" if lost[1:] else ""
        cell = shorten(as_text(cells[lost[0]]), 30)
        what = "number" if reading.way["as"] in AMOUNTS else "date"
        fit.remarks.insert(0, f"row {lost[0]} is {cell!r}{also}, no {what}, counted as missing")
        for encoder in (fit.encoder, fit.cycles):
            if encoder is not None:
                encoder["is_loose"] = True
    return fit


def _fit_numbers(cells: Sequence[Any], reading: Reading) -> Fitted:
    """Return the scale of numbers or dates and the cycles that they are compared by."""
    way = reading.way
    how = "number" if way["as"] in AMOUNTS else "date"
    encoder, remarks = _fit_scale(cells, reading.values)
    if encoder is None:
        return Fitted(how, remarks=remarks)
    encoder["way"] = way
    fit = Fitted(how, encoder, remarks=[*remarks, *reading.remarks])
    parts = cycles(reading.values, is_hour=way["as"] == "hour") if how == "date" else []
    if parts:
        fit.cycles = {"way": way, "parts": list(parts)}
    if way["as"] == "hour":
        fit.encoder = None  # 23:59 is near to 0:00
    return fit


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


def _fit_one_hot(table: Table, name: str, texts: Sequence[str | None]) -> Fitted:
    """Return the categories of a column."""
    names = sorted({text for text in texts if text is not None})
    lost = sum(text is None for text in texts)
    if len(names) > MOST_CATEGORIES:
        raise InputError(
            f"--columns {name}:category: column {name!r} of {table.path} has {len(names)} "
            f"different values, and a category has at most {MOST_CATEGORIES}. Call it a text: "
            f"--columns {name}:text"
        )
    if not names:
        return Fitted("category", remarks=["left out, it is empty"])
    if len(names) + (lost > 0) < 2:
        return Fitted("category", remarks=["left out, all its values are equal"])
    remark = f"{plural(lost, 'missing value')}, in none of the categories"
    return Fitted("category", {"names": names}, remarks=[remark] if lost else [])
