"""Time series: one per row of a table, per file of a folder, or per row of an array.

They are compared by their z-normalized values and by their level, or under dynamic time warping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from likewise.errors import InputError, needs_extra
from likewise.items.cache import FeatureCache, package_versions
from likewise.items.features import Aspect, Features, Problem
from likewise.items.fields import Fields, finite_range, scaled
from likewise.items.items import Items, OnProgress, digest
from likewise.items.limits import files_below, name_in, names_in
from likewise.items.points import ARRAY_SUFFIXES, read_array
from likewise.items.tablefiles import CSV_SUFFIXES, MEMORY, READING, is_table, read_table
from likewise.items.tables import Table, numbered
from likewise.words import plural

RECIPE = "series 1"
"""Change this whenever the distances change, so that old ones are not used."""

LONGEST = 1_024
"""Series are compared at no more than this many moments."""
MOST_WARPED = 5_000
"""Beyond this many series a matrix of all distances no longer fits in memory comfortably."""

BETTER = (
    "Series that are alike but shifted in time compare better with --series-features dtw "
    '(pip install "likewise[series]").'
)

FLAT = 1e-6
"""Levels that differ by less than this share of the largest value are one."""

MOST_POINTS = 2_000
"""A longer series is shown with fewer points; the lowest and highest values stay."""


@dataclass(frozen=True, eq=False)
class SeriesSet:
    """The series of a source, each an array of shape (length, channels) with NaN for gaps."""

    source: Path
    ids: list[str]
    series: list[np.ndarray]
    channels: list[str]
    beside: Fields | None = None
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class SeriesItems(Items):
    """Time series of one or several channels, shown as curves."""

    kind = "series"
    noun = "series"
    options = ("id", "columns", "show", "series_features", *READING)

    def __init__(
        self,
        series: SeriesSet,
        *,
        how: Literal["euclidean", "dtw"] = "euclidean",
        cache: FeatureCache,
    ) -> None:
        if how not in ("euclidean", "dtw"):
            raise InputError(f"series features are euclidean or dtw, not {how!r}")
        self._series, gaps = _without_gaps(series)
        notes = series.notes + gaps
        super().__init__(series.source, series.ids, problems=series.problems, notes=notes)
        self._channels, self._beside = series.channels, series.beside
        self._how = how
        self._cache = cache

    @classmethod
    def require(cls, source: Path, options: Mapping[str, Any]) -> None:
        """Raise the error with the install command where the package for warping is missing."""
        if options.get("series_features") == "dtw":
            with needs_extra("dynamic time warping", "series"):
                import dtaidistance  # noqa: F401

    @classmethod
    def open(
        cls,
        source: Any,
        *,
        cache: FeatureCache,
        id: str | None = None,
        columns: Sequence[str] | None = None,
        show: Sequence[str] | None = None,
        series_features: Literal["euclidean", "dtw"] = "euclidean",
        **reading: Any,
    ) -> Self:
        """Read one series per file of a folder, row of a table or an array, or entry of a list."""
        for_tables = {"id": id, "show": show, **reading}
        if is_table(source):
            for_tables = {}
            series = series_from_table(read_table(source, **reading), id, columns, show or ())
        elif isinstance(source, Path) and source.suffix.lower() not in ARRAY_SUFFIXES:
            series = series_from_folder(source, columns)
        else:
            for_tables["columns"] = columns
            is_list = isinstance(source, list)
            series = series_from_list(source) if is_list else series_from_array(source)
        for name, value in for_tables.items():
            if value is not None:
                raise InputError(f"--{name} is for tables, and {series.source} is not a table")
        return cls(series, how=series_features, cache=cache)

    def view(self, i: int) -> dict[str, Any]:
        """Return every channel as points to draw, at most 2000 of each."""
        values = self._series[i]
        channels = []
        for k, name in enumerate(self._channels):
            t = _thin(values[:, k])
            channels.append({"name": name, "t": t.tolist(), "y": values[t, k].tolist()})
        shown = [] if self._beside is None else self._beside.row(i)
        return {"kind": self.kind, "length": len(values), "channels": channels, "fields": shown}

    def content_hash(self, i: int) -> str:
        """Return a hash of the values."""
        values = self._series[i]
        return digest(str(values.shape), values.tobytes())

    def aspects(self) -> list[Aspect]:
        """Return the *shape* of the series, and their *level* where it differs.

        Distances under time warping must be the only aspect.
        """
        lengths = [len(values) for values in self._series]
        if self._how == "dtw":
            about = "distances of z-normalized series under dynamic time warping"
            recipe = {"window": _window(lengths), "of": self._digest}
            return [Aspect("shape", f"{about}, window {recipe['window']}", recipe)]
        length = min(LONGEST, int(np.median(lengths)))
        about = "z-normalized values, compared moment by moment"
        if any(n != length for n in lengths):
            about += f", after bringing all series to {length} moments"
        recipe = {"length": length, "channels": self._channels}
        found = [Aspect("shape", about, recipe, BETTER)]
        ranges = _ranges(self._series)
        if any(low < high for low, high in ranges):
            about = "mean and standard deviation, scaled to [0, 1]"
            found.append(Aspect("level", about, {"ranges": ranges, "channels": self._channels}))
        return found

    def compute(self, aspect: Aspect, progress: OnProgress | None = None) -> np.ndarray | Features:
        """Return the values of every series by this aspect, or the distances of all pairs."""
        if "of" in aspect.recipe:
            if aspect.recipe["of"] != self._digest:
                raise self.from_all_together()
            recipe = f"{RECIPE}, {package_versions('dtaidistance')}"
            window = int(aspect.recipe["window"])
            D = self._cache.get(recipe, self._digest, lambda: _warped(self._series, window))
            return Features(D, metric="precomputed", notes=self._cache.notes)
        channels = list(aspect.recipe["channels"])
        if len(self._channels) != len(channels):
            raise InputError(
                f"these series have {plural(len(self._channels), 'channel')}, the first ones "
                f"{len(channels)}: {', '.join(channels)}"
            )
        if "ranges" in aspect.recipe:
            levels = zip(_levels(self._series).T, aspect.recipe["ranges"], strict=True)
            return np.column_stack([_shares(values, *map(float, ends)) for values, ends in levels])
        length = int(aspect.recipe["length"])
        if not 1 <= length <= LONGEST:
            raise InputError(f"series are compared at 1 to {LONGEST} moments, not {length}")
        return _z_normal(self._series, length)

    @cached_property
    def _digest(self) -> str:
        return digest(*(part for s in self._series for part in (str(s.shape), s.tobytes())))


def series_from_table(
    table: Table,
    id: str | None = None,
    columns: Sequence[str] | None = None,
    show: Sequence[str] = (),
) -> SeriesSet:
    """Read one series from every row: its columns of numbers in order, or a list in one cell."""
    names = [n for n in table.columns if n != id] if columns is None else list(columns)
    notes = list(table.notes)
    lists = [n for n in names if any(isinstance(v, list) for v in table.column(n)[:100])]
    if len(lists) > 1:
        raise InputError(f"{table.path} has lists in {lists}: name one of them with --columns")
    if lists:
        cells = enumerate(table.columns[lists[0]])
        raw = [one_channel(value, f"{table.path}, row {i}, {lists[0]}") for i, value in cells]
    else:
        numbers = {n: table.numbers(n) for n in names}
        others = [n for n, values in numbers.items() if values is None]
        points = [values for values in numbers.values() if values is not None]
        if not points or (others and columns is not None):
            what = ", ".join(others) or "nothing but ids"
            raise InputError(f"{table.path}: series are numbers, and it has {what}")
        if others:
            notes.append(f"columns that are not numbers were left out: {', '.join(others)}")
        raw = list(np.column_stack(points)[:, :, None])
    beside = Fields(table, show)
    return SeriesSet(table.path, table.ids(id), raw, ["value"], beside, notes=notes)


def series_from_list(things: Sequence[Any]) -> SeriesSet:
    """Read sequences of numbers that are in memory."""
    series = [one_channel(one, f"series {i}") for i, one in enumerate(things)]
    return SeriesSet(MEMORY, numbered(len(series)), series, ["value"])


def series_from_array(path: Path) -> SeriesSet:
    """Read an array of shape (series, time) or (series, time, channels)."""
    X, ids = read_array(path)
    if X.ndim == 2:
        X = X[:, :, None]
    if X.ndim != 3 or not X.size:
        raise InputError(
            f"{path}: series come as (series, time) or (series, time, channels), not {X.shape}"
        )
    count = X.shape[2]
    names = ["value"] if count == 1 else [f"channel {k}" for k in range(count)]
    return SeriesSet(path, ids or numbered(len(X)), list(X.astype(np.float64)), names)


def series_from_folder(folder: Path, columns: Sequence[str] | None) -> SeriesSet:
    """Read one series from every file: rows are moments, columns are channels."""
    root = folder.resolve()
    ids: list[str] = []
    raw: list[np.ndarray] = []
    problems: list[Problem] = []
    channels: list[str] | None = None
    wanted = (*CSV_SUFFIXES, ".npy")

    def leave_out(path: Path, why: str) -> None:
        if not path.suffix or path.suffix.lower() in wanted:
            problems.append(Problem(None, f"{name_in(path, root)} was left out: {why}"))

    found = files_below(root, leave_out)
    paths = sorted(path for path in found if path.suffix.lower() in wanted)
    for path, name in zip(paths, names_in(paths, root), strict=True):
        try:
            names, values = _read_series(path, columns)
            if channels is not None and names != channels:
                raise InputError(f"its channels are {names} and those before it {channels}")
        except InputError as error:
            problems.append(Problem(None, f"{name} was left out: {error}"))
            continue
        channels = names
        ids.append(name)
        raw.append(values)
    if channels is None:
        reason = f": {problems[0].message}" if problems else ""
        kinds = ", ".join(CSV_SUFFIXES + ARRAY_SUFFIXES[:1])
        raise InputError(f"there are no time series in {folder} ({kinds}){reason}")
    return SeriesSet(folder, ids, raw, channels, problems=problems)


def _read_series(path: Path, columns: Sequence[str] | None) -> tuple[list[str], np.ndarray]:
    if path.suffix.lower() == ".npy":
        values, _ = read_array(path)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or not values.size:
            raise InputError(f"shape {values.shape} is not (time,) or (time, channels)")
        names = [f"column {k}" for k in range(1, values.shape[1] + 1)]
        return names, values.astype(np.float64)
    table = read_table(path)
    numeric = {}
    for name in table.columns if columns is None else columns:
        numbers = table.numbers(name)
        if numbers is not None:
            numeric[name] = numbers
        # Rows are moments already, so a column of times is not a channel.
        elif columns is not None or table.times(name) is None:
            raise InputError(f"column {name!r} is not numbers; choose others with --columns")
    if not numeric:
        raise InputError("it has no columns of numbers")
    return list(numeric), np.column_stack(list(numeric.values()))


def one_channel(values: Any, where: str) -> np.ndarray:
    """Return a list of numbers as a series."""
    try:
        series = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where} is not a list of numbers: {error}") from error
    if series.ndim != 1 or not series.size:
        raise InputError(f"{where} is not a list of numbers: its shape is {series.shape}")
    return series[:, None]


def _without_gaps(given: SeriesSet) -> tuple[list[np.ndarray], list[str]]:
    """Cut missing values at the end, interpolate the others linearly, and say so in notes."""
    whole = []
    filled = cut = 0
    for values, name in zip(given.series, given.ids, strict=True):
        finite = np.isfinite(values)
        if finite.all():
            whole.append(values)
            continue
        if not finite.any(axis=0).all():
            raise InputError(f"series {name!r} has no values in one of its channels")
        length = int(np.flatnonzero(finite.any(axis=1))[-1]) + 1
        cut += length < len(values)
        mended = values[:length].copy()
        moments = np.arange(length)
        for k in range(mended.shape[1]):
            present = finite[:length, k]
            if not present.all():
                filled += int((~present).sum())
                mended[:, k] = np.interp(moments, moments[present], mended[present, k])
        whole.append(mended)
    notes = []
    if cut:
        notes.append(f"{cut} series {'ends' if cut == 1 else 'end'} before the last column")
    if filled:
        notes.append(f"{plural(filled, 'missing value')} filled in along a straight line")
    return whole, notes


def _thin(values: np.ndarray) -> np.ndarray:
    """Return which points to draw: all of a short series, the extremes of parts of a long one."""
    n = len(values)
    if n <= MOST_POINTS:
        return np.arange(n)
    edges = np.linspace(0, n, MOST_POINTS // 2).astype(int)
    kept = {0, n - 1}
    for start, end in pairwise(edges):
        stretch = values[start:end]
        kept.update((int(start + stretch.argmin()), int(start + stretch.argmax())))
    return np.array(sorted(kept))


def z_normalize(values: np.ndarray) -> np.ndarray:
    """Bring every channel to mean 0 and standard deviation 1; a constant one becomes 0."""
    largest = np.abs(values).max(axis=0)
    scaled = values / np.where(largest > 0, largest, 1.0)  # so that squares stay finite
    spread = scaled.std(axis=0)
    is_flat = spread < 1e-12
    return np.where(is_flat, 0.0, (scaled - scaled.mean(axis=0)) / np.where(is_flat, 1.0, spread))


def _z_normal(series: Sequence[np.ndarray], length: int) -> np.ndarray:
    return np.stack([z_normalize(_resample(values, length)).ravel() for values in series])


def _levels(series: Sequence[np.ndarray]) -> np.ndarray:
    """Return the mean and the standard deviation of every channel of every series."""
    largest = np.stack([np.abs(values).max(axis=0) for values in series])
    units = np.where(largest > 0, largest, 1.0)  # so that sums stay finite
    parts = [values / unit for values, unit in zip(series, units, strict=True)]
    means = [values.mean(axis=0) for values in parts]
    spreads = [values.std(axis=0) for values in parts]
    return np.hstack([np.stack(means) * units, np.stack(spreads) * units])


def _ranges(series: Sequence[np.ndarray]) -> list[tuple[float, float]]:
    """Return the ranges of the levels; one that is only rounding, as of z-scores, is empty."""
    top = np.max([np.abs(values).max(axis=0) for values in series], axis=0)
    ranges = map(finite_range, _levels(series).T)
    pairs = zip(ranges, np.tile(FLAT * top, 2).tolist(), strict=True)
    return [(low, high if high / 2 - low / 2 > least else low) for (low, high), least in pairs]


def _shares(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return values as shares of a range, 0 if it is empty."""
    return scaled(values, low, high) if low < high else np.zeros(len(values))


def _window(lengths: Sequence[int]) -> int:
    """Return how far moments may be shifted; refuse too many series."""
    if len(lengths) > MOST_WARPED:
        raise InputError(
            f"{len(lengths)} series are too many for dynamic time warping, which compares all "
            f"pairs (at most {MOST_WARPED}). Use --series-features euclidean."
        )
    # A tenth of the length, and at least the difference between the shortest and the longest.
    return max(lengths) // 10 + 1 + max(lengths) - min(lengths)


def _warped(series: Sequence[np.ndarray], window: int) -> np.ndarray:
    """Return the distances of all pairs."""
    with needs_extra("dynamic time warping", "series"):
        from dtaidistance import dtw_ndim
    normal = [np.ascontiguousarray(z_normalize(values)) for values in series]
    n_channels = normal[0].shape[1]
    D = dtw_ndim.distance_matrix_fast(normal, n_channels, window=window, only_triu=False)
    D = np.asarray(D, dtype=np.float64)
    np.fill_diagonal(D, 0.0)
    return D


def _resample(values: np.ndarray, length: int) -> np.ndarray:
    if len(values) == length:
        return values
    old, new = np.linspace(0, 1, len(values)), np.linspace(0, 1, length)
    return np.column_stack([np.interp(new, old, channel) for channel in values.T])
