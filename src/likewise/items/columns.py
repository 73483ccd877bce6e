"""How the cells of a column are read: as numbers, truth values, dates or times of day."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.items.fields import is_missing

Numbers = NDArray[np.float64]

DATES = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y.%m.%d", "%Y%m%d", "%d %b %Y",
    "%b %d, %Y", "%b %d %Y", "%b-%d-%Y", "%d-%b-%Y", "%d %B %Y", "%B %d, %Y", "%Y-%m", "%m/%Y",
    "%b %Y", "%b-%Y", "%B %Y", "%Y %b", "%Y %B", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%b-%y",
)  # fmt: skip
"""Dates that are not written as ISO 8601, the day first where both readings fit."""
TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
"""Times of day."""
MAIL = ("%a, %d %b %Y %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S GMT")
"""Dates of mails, feeds and servers."""
DATES_AND_TIMES = (*(f"{day} {hour}".strip() for day in DATES for hour in ("", *TIMES)), *MAIL)
COMPACT, QUARTER = "%Y%m%d", "quarter"
IS_COMPACT = re.compile(r"(?:1[89]|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
IN_QUARTERS = re.compile(r"(\d{4})[-\s]?Q([1-4])|Q([1-4])[-/\s]?(\d{4})", re.IGNORECASE)
SPAN = re.compile(r"(\d{1,4}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?")
"""A duration, which may be longer than a day."""
LAST_SHORT_YEAR = 2029
"""A later year of two digits is of the century before, as in spreadsheets."""
SWAPPED = {"%d/%m": "%m/%d", "%m/%d": "%d/%m"}
"""Formats that differ only in whether the day or the month comes first."""

TRUTHS = (
    ("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("on", "off"), ("ja", "nein"),
    ("oui", "non"), ("sí", "no"), ("si", "no"), ("vrai", "faux"), ("wahr", "falsch"),
)  # fmt: skip
"""How people write truth values, in lower case."""

SIGNS = "$€£¥₩₹₽฿₫₪₺₴₦₱"
MONEY = (
    "AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR JPY KRW MXN NOK NZD PLN RON RUB SEK "
    "SGD THB TRY USD ZAR Fr kr zł Kč Ft Rs"
).replace(" ", "|")
SPACES = "\u0020\u00a0\u2009\u202f\u2019'_"
"""What may separate thousands in any language."""
MINUS = "-\u2212\u2013"
MAGNITUDES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "Mio": 1e6, "mn": 1e6, "B": 1e9, "bn": 1e9}
"""What may follow numbers of one column: 900k and 1.2M."""
UNITS: tuple[dict[str, float], ...] = (
    {"mg": 1e-3, "g": 1.0, "kg": 1e3, "t": 1e6, "oz": 28.349523125, "lb": 453.59237,
     "lbs": 453.59237},
    {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "in": 0.0254, "ft": 0.3048, "yd": 0.9144,
     "mi": 1609.344},
    {"ml": 1e-3, "mL": 1e-3, "cl": 1e-2, "dl": 1e-1, "l": 1.0, "L": 1.0},
    {"ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "hr": 3600.0, "hrs": 3600.0},
    {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
)  # fmt: skip
"""Units that may occur in one column, as multiples of each other."""
LONGEST = 60
"""A longer text is not a number."""
FEW = 0.05
"""This share of a column may be something other than its numbers or dates."""
FEWEST = 14
"""With fewer different times than two weeks of days, no part of the calendar is compared."""
DAY = 86_400.0
YEAR = 365.2425 * DAY

Part = Literal["year", "week", "day"]
PARTS: dict[Part, tuple[str, float, float]] = {
    "year": ("the month", YEAR, 0.0),
    # Monday, 5 January 1970, began the first whole week of the epoch.
    "week": ("the weekday", 7 * DAY, 4 * DAY),
    "day": ("the hour", DAY, 0.0),
}
"""Cycles of the calendar: the names of their parts, their lengths, and when one began."""


def _amounts(point: str) -> re.Pattern[str]:
    """Return the form of a number with a unit or a currency, with this decimal point."""
    gaps = ("," if point == "." else r"\.") + SPACES
    end = re.escape(point)
    digits = (
        rf"(?:[1-9]\d{{0,2}}(?P<gap>[{gaps}])\d{{3}}(?:(?P=gap)\d{{3}})*(?:{end}\d*)?"
        rf"|\d+(?:{end}\d*)?|{end}\d+)(?:[eE][-+]?\d+)?"
    )
    money = rf"(?:(?:[A-Z]{{1,3}})?[{SIGNS}]|(?:{MONEY})(?=[{MINUS}\s\d]))\.?"
    unit = r"[^\W\d_]{1,12}[23²³]?|[^\w\s.,;:()+\-\"'][^\s\d,;:()]{0,11}"
    per = rf"(?:{unit})(?:/(?:{unit}))?(?: [^\W\d_]{{1,8}}\.?)?"
    return re.compile(
        rf"(?P<open>\()?(?P<sign>[{MINUS}+])?\s?(?P<before>{money})?\s?(?P<inner>[{MINUS}])?"
        rf"(?P<digits>{digits})\s?(?P<unit>{per})?(?P<close>\))?"
    )


USUAL = re.compile(rf"[%‰]|(?:[A-Z]{{1,3}})?[{SIGNS}]|(?:{MONEY})")
"""Shares and currencies."""
AMOUNTS = {point: _amounts(point) for point in ".,"}


class Reading(NamedTuple):
    """How a column is read, and what that gives.

    Attributes
    ----------
    way : dict
        Plain values, with which `read` reads other columns in the same way: ``as`` is
        ``"number"``, ``"truth"``, ``"date"`` or ``"hour"``.
    values : array
        Numbers; truth values as 0 and 1; dates as seconds since 1970; times as seconds since
        midnight. NaN for what is missing.
    remarks : tuple of str
        What was a guess.
    """

    way: dict[str, Any]
    values: Numbers
    remarks: tuple[str, ...] = ()


def find_reading(values: Sequence[Any], point: str = ".") -> Reading | None:
    """Return how a column is read, None if it is texts or empty.

    Examples
    --------
    >>> from likewise.items.columns import find_reading
    >>> find_reading(["$1,250.00", "$80.50", ""]).values
    array([1250. ,   80.5,    nan])
    >>> find_reading(["12 kg", "7,5 kg"]).way
    {'as': 'number', 'point': ',', 'unit': 'kg'}
    >>> find_reading(["yes", "no"]).values
    array([1., 0.])
    >>> find_reading(["a small dog", "12"]) is None
    True
    """
    return (
        _find_compact(values)
        or find_numbers(values, point)
        or find_truths(values)
        or find_times(values)
    )


def _find_compact(values: Sequence[Any]) -> Reading | None:
    """Return a column of dates such as 20241231, which look like numbers; None if it is not."""
    # Most columns are none by their first cell, which takes no time.
    present = (value for value in values if not is_missing(value))
    if not all(IS_COMPACT.fullmatch(_written(value)) for value in present):
        return None
    with suppress(ValueError):  # such as 20230231
        seconds = _each(values, _seconds, COMPACT)
        if not np.isnan(seconds).all():
            return Reading({"as": "date", "format": COMPACT}, seconds)
    return None


def _written(value: Any) -> str:
    """Return a cell as people write it: a whole number, which pandas may keep as 1.0, as 1."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def find_numbers(values: Sequence[Any], point: str = ".") -> Reading | None:
    """Return a column read as numbers, with units, currencies and thousands; None if it is not.

    `point` is the decimal point that is tried first.
    """
    if point == ".":
        with suppress(TypeError, ValueError, OverflowError):
            plain = np.fromiter(map(float, values), np.float64, len(values))
            return Reading({"as": "number", "point": point}, plain)
    for one in point, "," if point == "." else ".":
        with suppress(TypeError, ValueError):
            return _numbers(values, one)
    return None


def _numbers(values: Sequence[Any], point: str) -> Reading | None:
    """Read numbers; raise `ValueError` or `TypeError` at the first that is not one."""
    numbers, units, is_grouped = np.full(len(values), np.nan), dict[str, int](), True
    marks: list[str] = []
    for k, value in enumerate(values):
        if is_missing(value):
            marks.append("")
            continue
        numbers[k], mark, has_three = _number(value, point)
        marks.append(mark)
        units[mark] = units.get(mark, 0) + 1
        is_grouped = is_grouped and has_three
    if not units:
        return None
    way = {"as": "number", "point": point}
    present = [unit for unit in units if unit]
    remarks = []
    if len(present) > 1 or (present and "" in units and present[0] in MAGNITUDES):
        if set(units) <= set(MAGNITUDES):
            way["unit"] = "magnitudes"
        elif any(set(units) <= set(alike) for alike in UNITS):
            way["unit"] = max(present, key=lambda unit: units[unit])
            remarks.append(f"units were converted to {way['unit']}")
        else:
            raise ValueError("different units")
        scale = _scale(way)
        numbers *= np.array([scale.get(mark, 1.0) for mark in marks])
    elif present:
        if "" in units and present[0] in "%‰":
            raise ValueError("shares and numbers")
        way["unit"] = present[0]
        if "" in units:
            remarks.append(f"{present[0]!r} is not behind all numbers, and was ignored")
    if is_grouped and point == ".":
        remarks.append(
            "commas were read as thousands; if they are decimal points, write points instead"
        )
    return Reading(way, numbers, tuple(remarks))


def _scale(way: dict[str, Any]) -> dict[str, float]:
    """Return what numbers with other units are multiplied by, to have that of the column."""
    unit = way.get("unit")
    if unit == "magnitudes":
        return MAGNITUDES
    alike = next((alike for alike in UNITS if unit in alike), {})
    return {one: size / alike[unit] for one, size in alike.items()} if unit else {}


def different_units(values: Sequence[Any], point: str) -> list[str]:
    """Return the usual units of a column of numbers that have several; none if it is another."""
    units: dict[str, None] = {}
    for value in values:
        if not is_missing(value):
            try:
                unit = _number(value, point)[1]
            except (TypeError, ValueError):
                return []
            if unit and not USUAL.fullmatch(unit) and not any(unit in alike for alike in UNITS):
                return []
            units[unit] = None
    return [unit or "none" for unit in units] if len(units) > 1 else []


def _number(value: Any, point: str) -> tuple[float, str, bool]:
    """Return a number, its unit or currency, and whether commas in it may be decimal points."""
    if isinstance(value, timedelta):
        return value.total_seconds(), "", False
    if not isinstance(value, str):
        try:
            return float(value), "", False
        except OverflowError:
            return (math.inf if value > 0 else -math.inf), "", False
    text = value.strip()
    match = AMOUNTS[point].fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        if point == "," and "." in text:
            raise ValueError(value)
        return float(text), "", False
    found = match.groupdict()
    signs = bool(found["open"]) + bool(found["sign"]) + bool(found["inner"])
    if signs > 1 or bool(found["open"]) != bool(found["close"]):
        raise ValueError(value)
    if found["before"] and found["unit"]:
        raise ValueError(value)
    digits = found["digits"]
    gap = found["gap"]
    if gap:
        digits = digits.replace(gap, "")
    number = float(digits.replace(",", "."))
    is_negative = bool(found["open"] or found["inner"] or (found["sign"] or "+") in MINUS)
    may_be_decimal = gap == "," and found["digits"].count(",") == 1 and "." not in digits
    mark = (found["before"] or found["unit"] or "").strip()
    return (-number if is_negative else number), mark, may_be_decimal


def find_truths(values: Sequence[Any]) -> Reading | None:
    """Return a column of two words such as *yes* and *no*, read as 1 and 0; None if it is not."""
    words = set[str]()
    for value in values:
        if is_missing(value):
            continue
        if not isinstance(value, str) or len(value) > LONGEST:
            return None
        words.add(value.strip().lower())
        if len(words) > 2:
            return None
    for true, false in TRUTHS:
        if words == {true, false}:
            way = {"as": "truth", "true": true, "false": false}
            return Reading(way, _each(values, _truth, true, false))
    return None


def _truth(value: Any, true: str, false: str) -> float:
    place = (false, true).index(value.strip().lower())
    return float(place)


def find_times(values: Sequence[Any]) -> Reading | None:
    """Return a column read as dates, times of day or durations, None if it is none of them."""
    for kind, formats in FORMATS.items():
        for format in formats:
            try:
                seconds = _each(values, SECONDS[kind], format)
            except (AttributeError, TypeError, ValueError, OverflowError):
                continue
            if np.isnan(seconds).all():
                return None
            return Reading({"as": kind, "format": format}, seconds, _which_first(values, format))
    return None


def _which_first(values: Sequence[Any], format: str) -> tuple[str, ...]:
    """Return a remark if the day and the month of dates could be the other way round."""
    first = format[:5]
    if first not in SWAPPED:
        return ()
    with suppress(ValueError, AttributeError, TypeError):
        _each(values, SECONDS["date"], SWAPPED[first] + format[5:])
        return ("the day was read first, then the month; written as 2024-12-31 they are certain",)
    return ()


def _seconds(value: Any, format: str) -> float:
    """Return a date as seconds since 1970."""
    if format == QUARTER:
        value = _quarter(value)
    elif format:
        value = datetime.strptime(_written(value), format)
        if "%y" in format and value.year > LAST_SHORT_YEAR:
            value = value.replace(year=value.year - 100)
    elif isinstance(value, str):
        value = datetime.fromisoformat(value.strip())
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    elif hasattr(value, "to_timestamp"):  # a month or another period of pandas: its beginning
        value = value.to_timestamp()
    return float((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp())


def _quarter(text: str) -> datetime:
    """Return when a quarter of a year begins, such as 1974Q1."""
    match = IN_QUARTERS.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    year, quarter = match[1] or match[4], match[2] or match[3]
    return datetime(int(year), 3 * int(quarter) - 2, 1)


def _span(text: str, format: str) -> float:
    """Return a duration in its smallest part; `format` says how many parts it has."""
    match = SPAN.fullmatch(text.strip())
    if match is None or (match[3] is not None) != (format == "h:m:s"):
        raise ValueError(text)
    passed = 60.0 * float(match[1]) + float(match[2])
    return passed if match[3] is None else 60.0 * passed + float(match[3])


def _of_the_day(value: Any, format: str) -> float:
    """Return a time as seconds since midnight."""
    if isinstance(value, str):
        value = datetime.strptime(value.strip(), format or "%H:%M").time()
    if not isinstance(value, time):
        raise TypeError
    passed = timedelta(0, value.second, value.microsecond, 0, value.minute, value.hour)
    return passed.total_seconds()


SECONDS: dict[str, Callable[[Any, str], float]] = {
    "date": _seconds,
    "hour": _of_the_day,
    "span": _span,
}
FORMATS = {
    "date": ("", *DATES_AND_TIMES, QUARTER),
    "hour": ("", *TIMES),
    "span": ("h:m:s", "h:m"),
}
"""How dates, times of day and durations are written, in the order in which it is tried."""


def _each(values: Sequence[Any], read: Callable[..., float], *more: Any) -> Numbers:
    """Return each value as a number, NaN if it is missing."""
    return np.array([math.nan if is_missing(value) else read(value, *more) for value in values])


def read(values: Sequence[Any], way: dict[str, Any]) -> tuple[Numbers, list[int]]:
    """Return a column read in a known way, NaN for what is missing, and what cannot be read."""
    if way["as"] == "number":
        point, unit, scale = way["point"], way.get("unit"), _scale(way)

        def one(value: Any) -> float:
            number, mark, _ = _number(value, point)
            if mark and unit and mark != unit and mark not in scale:
                raise ValueError(value)
            return number * scale.get(mark, 1.0)

    elif way["as"] == "truth":

        def one(value: Any) -> float:
            return _truth(value, way["true"], way["false"])

    else:

        def one(value: Any) -> float:
            return SECONDS[way["as"]](value, way["format"])

    numbers, lost = np.full(len(values), np.nan), []
    for k, value in enumerate(values):
        if not is_missing(value):
            try:
                numbers[k] = one(value)
            except (AttributeError, TypeError, ValueError, OverflowError):
                lost.append(k)
    return numbers, lost


def best_reading(values: Sequence[Any], kind: str, point: str) -> tuple[Reading, list[int]]:
    """Return how most of a column is read as numbers or dates, and the rows that are not."""
    present = [value for value in values if not is_missing(value)]
    ways: list[dict[str, Any]]
    if kind == "number":
        found = find_truths(values)
        others = "," if point == "." else "."
        ways = [] if found is None else [found.way]
        ways += [{"as": "number", "point": one} for one in (point, others)]
        ways += [{"as": "span", "format": format} for format in FORMATS["span"]]
    else:
        ways = [{"as": k, "format": one} for k in ("date", "hour") for one in FORMATS[k]]
    # Judged by the first ones, since there are many formats.
    sample = present[:200]
    way = min(ways, key=lambda way: len(read(sample, way)[1]))
    numbers, lost = read(values, way)
    return Reading(way, numbers), lost


def find_mostly(values: Sequence[Any], point: str) -> tuple[Reading, list[int]] | None:
    """Return how a column is read but for a few cells, and which these are; None if it is not.

    These are at most one in twenty, or one word that recurs, such as *unknown*.
    """
    present = [k for k, value in enumerate(values) if not is_missing(value)]
    ways = [{"as": "number", "point": one} for one in (point, "," if point == "." else ".")]
    ways += [{"as": kind, "format": one} for kind, formats in FORMATS.items() for one in formats]
    for way in ways:
        lost = _lost(values, present, way)
        if lost and 2 * len(lost) < len(present):
            rest = list(values)
            for k in lost:
                rest[k] = None
            reading = find_reading(rest, point)
            if reading is not None:
                return reading, lost
    return None


def _lost(values: Sequence[Any], present: Sequence[int], way: dict[str, Any]) -> list[int]:
    """Return the cells that cannot be read in a way, none if they are too many."""
    lost: list[int] = []
    words = set[str]()
    for k in present:
        if read([values[k]], way)[1]:
            lost.append(k)
            words.add(str(values[k]).strip())
            if len(words) > 1 and len(lost) > FEW * len(present):
                return []
    return lost


def cycles(seconds: Numbers, is_hour: bool) -> list[Part]:
    """Return the parts of the calendar that help to tell these times apart.

    None does if there are few different ones. The month helps if the times span more than a year,
    the weekday if they span two weeks and lie on more than one, the hour if they lie on several.
    """
    present = seconds[np.isfinite(seconds)]
    if is_hour:
        return ["day"]
    if len(np.unique(present)) < FEWEST:
        return []
    span = float(np.ptp(present))
    days = np.floor(present / DAY)
    parts: list[Part] = []
    if span > YEAR and len(np.unique(_months(present))) > 1:
        parts.append("year")
    first_of_month = bool((_days_of_month(days) == 1).all())
    if span >= 14 * DAY and not first_of_month and len(np.unique((days + 3) % 7)) > 1:
        parts.append("week")
    if span >= 2 * DAY and len(np.unique(np.mod(present, DAY) // 3600)) > 1:
        parts.append("day")
    return parts


def _months(seconds: Numbers) -> NDArray[Any]:
    dates = np.floor(seconds / DAY).astype("datetime64[D]")
    return np.asarray(dates.astype("datetime64[M]").astype(int) % 12)


def _days_of_month(days: Numbers) -> NDArray[Any]:
    dates = days.astype("datetime64[D]")
    return np.asarray((dates - dates.astype("datetime64[M]")).astype(int) + 1)


def on_circle(seconds: Numbers, part: Part) -> Numbers:
    """Return where times are in a cycle: points on a circle, its center for what is missing."""
    _, length, start = PARTS[part]
    angle = 2 * np.pi * np.mod(seconds - start, length) / length
    points: Numbers = np.nan_to_num(np.column_stack([np.sin(angle), np.cos(angle)]))
    return points
