"""Time series from files: one per row of a table, per file of a folder, or per row of an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import InputError
from likewise.items.arrays import ARRAY_SUFFIXES, read_array
from likewise.items.items import Problem, check_ids
from likewise.items.limits import files_below, name_in
from likewise.items.tablefiles import CSV_SUFFIXES, read_table
from likewise.items.tables import Table, as_numbers, as_times
from likewise.words import plural


@dataclass(frozen=True, eq=False)
class SeriesSet:
    """Series of one source, each an array of shape (length, channels) without gaps."""

    ids: list[str]
    series: list[np.ndarray]
    channels: list[str]
    fields: list[list[list[str]]]
    problems: list[Problem]
    notes: list[str]


def series_from_table(
    table: Table, id: str | None, columns: Sequence[str] | None, show: Sequence[str] | None
) -> SeriesSet:
    """Read one series from every row: its columns of numbers in order, or a list in one cell."""
    names = [n for n in table.columns if n != id] if columns is None else list(columns)
    ids = table.ids(id)
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
    shown = [table.fields(show, i) for i in range(table.n)] if show else []
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
    wanted = (*CSV_SUFFIXES, ".npy")
    for path in sorted(p for p in files_below(root) if p.suffix.lower() in wanted):
        name = name_in(path, root)
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
    found = {}
    for name in table.columns if columns is None else columns:
        cells = table.column(name)
        numbers = as_numbers(cells, table.has_decimal_comma)
        if numbers is not None:
            found[name] = numbers
        # Rows are moments already, so a column of times is not a channel.
        elif columns is not None or as_times(cells) is None:
            raise InputError(f"column {name!r} is not numbers; choose others with --columns")
    if not found:
        raise InputError("it has no columns of numbers")
    return list(found), np.column_stack(list(found.values()))


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
        notes.append(f"{cut} series {'ends' if cut == 1 else 'end'} before the last column")
    if filled:
        notes.append(f"{plural(filled, 'missing value')} filled in along a straight line")
    return whole, notes
