"""Time series: one per row of a table, per file of a folder, or per row of an array."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from likewise.errors import InputError
from likewise.items.cache import FeatureCache
from likewise.items.given import ARRAY_SUFFIXES, read_array
from likewise.items.items import Features, Items, Problem, Progress, check_ids, digest, shorten
from likewise.items.rowfeatures import as_numbers
from likewise.items.rows import fields, row_ids
from likewise.items.seriesfeatures import dtw_features, euclidean_features
from likewise.items.tables import CSV_SUFFIXES, Table, read_table

MOST_POINTS = 2_000
"""A longer series is thinned out for showing, lowest and highest values kept."""


@dataclass(frozen=True, eq=False)
class SeriesSet:
    """Series of one source, each an array of shape (length, channels) without gaps."""

    ids: list[str]
    series: list[np.ndarray]
    channels: list[str]
    fields: list[list[list[str]]]
    problems: list[Problem]
    notes: list[str]


class SeriesItems(Items):
    """Time series of one or several channels.

    ``view(i)`` is ``{"kind": "series", "length": ..., "channels": [{"name": ..., "t": [...],
    "y": [...]}, ...], "fields": [[name, text], ...]}``.
    """

    kind = "series"

    def __init__(
        self,
        source: Path,
        found: SeriesSet,
        *,
        how: Literal["euclidean", "dtw"] = "euclidean",
        cache: FeatureCache | None = None,
    ) -> None:
        super().__init__(source, found.ids, problems=found.problems, notes=found.notes)
        if how not in ("euclidean", "dtw"):
            raise InputError(f"series features are euclidean or dtw, not {how!r}")
        self._found = found
        self._how = how
        self._cache = cache or FeatureCache(None)

    def values(self, i: int) -> np.ndarray:
        """Return series `i` as an array of shape (length, channels)."""
        return self._found.series[i]

    def title(self, i: int) -> str:
        """Return the item's id."""
        return shorten(self.ids[i])

    def view(self, i: int) -> dict[str, Any]:
        """Return every channel as points to draw, at most 2000 of each."""
        values = self._found.series[i]
        channels = []
        for k, name in enumerate(self._found.channels):
            t = _thin(values[:, k])
            channels.append({"name": name, "t": t.tolist(), "y": values[t, k].tolist()})
        shown = self._found.fields[i] if self._found.fields else []
        return {"kind": self.kind, "length": len(values), "channels": channels, "fields": shown}

    def content_hash(self, i: int) -> str:
        """Return a hash of the values."""
        values = self._found.series[i]
        return digest(str(values.shape), values.tobytes())

    def _make_features(self, progress: Progress | None) -> Features:  # noqa: ARG002
        if self._how == "euclidean":
            return euclidean_features(self._found.series)
        return dtw_features(self._found.series, self._cache)


def table_series(
    table: Table, id: str | None, columns: Sequence[str] | None, show: Sequence[str] | None
) -> SeriesSet:
    """Read one series from every row: its columns of numbers in order, or a list in one cell."""
    names = [n for n in table.columns if n != id] if columns is None else list(columns)
    ids = row_ids(table, id)
    notes = list(table.notes)
    lists = [n for n in names if any(isinstance(v, list) for v in table.column(n)[:100])]
    if lists:
        if len(lists) > 1:
            raise InputError(f"{table.path} has lists in {lists}: name one of them with --columns")
        name = lists[0]
        raw = [
            _from_list(value, f"{table.path}, row {i}, {name}")
            for i, value in enumerate(table.columns[name])
        ]
    else:
        numbers = {n: as_numbers(table.column(n), table.has_decimal_comma) for n in names}
        others = [n for n, found in numbers.items() if found is None]
        points = [found for found in numbers.values() if found is not None]
        if others and (columns is not None or not points):
            raise InputError(f"{table.path}: not numbers: {', '.join(others)}")
        if others:
            notes.append(f"columns that are not numbers were left out: {', '.join(others)}")
        raw = list(np.column_stack(points)[:, :, None])
    whole, gaps = _without_gaps(raw, ids)
    notes.extend(gaps)
    shown = [fields(table, show, i) for i in range(table.n)] if show else []
    for name in show or ():
        table.column(name)
    return SeriesSet(ids, whole, ["value"], shown, [], notes)


def series_from_array(path: Path) -> SeriesSet:
    """Read an array of shape (series, time) or (series, time, channels)."""
    X, ids = read_array(path)
    if X.ndim == 2:
        X = X[:, :, None]
    if X.ndim != 3 or not X.size:
        raise InputError(
            f"{path}: series come as (series, time) or (series, time, channels), not {X.shape}"
        )
    if ids is None:
        ids = [str(i) for i in range(len(X))]
    check_ids(ids, str(path))
    if len(ids) != len(X):
        raise InputError(f"{path} has {len(ids)} ids for {len(X)} series")
    whole, notes = _without_gaps(list(X.astype(np.float64)), ids)
    count = X.shape[2]
    names = ["value"] if count == 1 else [f"channel {k}" for k in range(count)]
    return SeriesSet(ids, whole, names, [], [], notes)


def series_from_folder(folder: Path, columns: Sequence[str] | None) -> SeriesSet:
    """Read one series from every file: rows are moments, columns are channels."""
    root = folder.resolve()
    ids: list[str] = []
    raw: list[np.ndarray] = []
    problems: list[Problem] = []
    channels: list[str] | None = None
    for path in sorted(_series_files(root)):
        name = path.relative_to(root).as_posix().encode("utf-8", "backslashreplace").decode()
        try:
            if not path.resolve().is_relative_to(root):
                raise InputError("a link to outside of the folder")
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
    whole, notes = _without_gaps(raw, ids)
    return SeriesSet(ids, whole, channels, [], problems, notes)


def _series_files(root: Path) -> list[Path]:
    found = []
    for parent, folders, names in os.walk(root, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            is_series = Path(name).suffix.lower() in (*CSV_SUFFIXES, ".npy")
            if is_series and not name.startswith("."):
                found.append(Path(parent, name))
    return found


def _read_series(path: Path, columns: Sequence[str] | None) -> tuple[list[str], np.ndarray]:
    if not path.is_file():
        raise InputError("it is not a regular file")
    if path.suffix.lower() == ".npy":
        values, _ = read_array(path)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or not values.size:
            raise InputError(f"shape {values.shape} is not (time,) or (time, channels)")
        names = [f"column {k}" for k in range(1, values.shape[1] + 1)]
        return names, values.astype(np.float64)
    table = read_table(path)
    names = list(table.columns) if columns is None else list(columns)
    found = []
    for name in names:
        numbers = as_numbers(table.column(name), table.has_decimal_comma)
        if numbers is None:
            raise InputError(f"column {name!r} is not numbers; choose others with --columns")
        found.append(numbers)
    return names, np.column_stack(found)


def _from_list(value: Any, where: str) -> np.ndarray:
    try:
        values = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where} is not a list of numbers: {error}") from error
    if values.ndim != 1 or not values.size:
        raise InputError(f"{where} is not a list of numbers")
    return values[:, None]


def _without_gaps(
    raw: Sequence[np.ndarray], ids: Sequence[str]
) -> tuple[list[np.ndarray], list[str]]:
    """Cut missing values at the end, draw a straight line over those in between."""
    whole = []
    filled = cut = 0
    for values, name in zip(raw, ids, strict=True):
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
            known = finite[:length, k]
            if not known.all():
                filled += int((~known).sum())
                mended[:, k] = np.interp(moments, moments[known], mended[known, k])
        whole.append(mended)
    notes = []
    if cut:
        notes.append(f"{cut} series end before the last column")
    if filled:
        notes.append(f"{filled} missing values were filled in along a straight line")
    return whole, notes


def _thin(values: np.ndarray) -> np.ndarray:
    """Return which points to draw: all of a short series, the extremes of stretches of a long."""
    n = len(values)
    if n <= MOST_POINTS:
        return np.arange(n)
    edges = np.linspace(0, n, MOST_POINTS // 2).astype(int)
    kept = {0, n - 1}
    for start, end in pairwise(edges):
        stretch = values[start:end]
        kept.update((int(start + stretch.argmin()), int(start + stretch.argmax())))
    return np.array(sorted(kept))
