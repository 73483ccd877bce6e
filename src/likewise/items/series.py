"""Time series, compared by their z-normalized values or under dynamic time warping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from likewise.errors import InputError, needs_extra
from likewise.items.arrays import ARRAY_SUFFIXES
from likewise.items.cache import FeatureCache, package_versions
from likewise.items.items import Features, Items, OnProgress, digest, shorten
from likewise.items.seriesfiles import (
    SeriesSet,
    series_from_array,
    series_from_folder,
    series_from_table,
)
from likewise.items.tablefiles import READING, is_table, read_table

RECIPE = "series 1"
"""To be changed with anything that changes the distances, so that old ones are not found."""

LONGEST = 1_024
"""Series are compared at no more than this many moments."""
MOST_WARPED = 5_000
"""Beyond this many series a matrix of all distances no longer fits in memory comfortably."""

MOST_POINTS = 2_000
"""A longer series is shown with fewer points; the lowest and highest values stay."""


class SeriesItems(Items):
    """Time series of one or several channels, shown as curves."""

    kind = "series"
    noun = "series"
    options = ("id", "columns", "show", "series_features", *READING)

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

    @classmethod
    def recognizes(cls, source: Any, options: Mapping[str, Any]) -> bool:
        """Return False: time series are never recognized, only named as such."""
        return False

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
        """Read one series per file of a folder, row of a table, or row of an array."""
        for_tables = {"id": id, "show": show, **reading}
        if is_table(source):
            table = read_table(source, **reading)
            found = series_from_table(table, id, columns, show)
            return cls(table.path, found, how=series_features, cache=cache)
        is_array = source.suffix.lower() in ARRAY_SUFFIXES
        for name, value in (for_tables | {"columns": columns if is_array else None}).items():
            if value is not None:
                raise InputError(f"--{name} is for a table; {source} is opened as something else")
        found = series_from_array(source) if is_array else series_from_folder(source, columns)
        return cls(source, found, how=series_features, cache=cache)

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

    def _make_features(self, progress: OnProgress | None) -> Features:
        if self._how == "euclidean":
            return euclidean_features(self._found.series)
        return dtw_features(self._found.series, self._cache)


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


def z_normalize(values: np.ndarray) -> np.ndarray:
    """Bring every channel to mean 0 and standard deviation 1; a constant one becomes 0.

    Examples
    --------
    >>> z_normalize(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    largest = np.abs(values).max(axis=0)
    scaled = values / np.where(largest > 0, largest, 1.0)  # so that squares stay finite
    spread = scaled.std(axis=0)
    is_flat = spread < 1e-12
    return np.where(is_flat, 0.0, (scaled - scaled.mean(axis=0)) / np.where(is_flat, 1.0, spread))


def euclidean_features(series: Sequence[np.ndarray]) -> Features:
    """Return z-normalized values, all series brought to one length first."""
    lengths = {len(values) for values in series}
    length = min(LONGEST, int(np.median([len(values) for values in series])))
    X = np.stack([z_normalize(_resample(values, length)).ravel() for values in series])
    about = "z-normalized values, compared moment by moment"
    if lengths != {length}:
        about += f", after bringing all series to {length} moments"
    return Features(
        X,
        f"{about}. Series that are alike but shifted in time compare better with "
        '--series-features dtw (pip install "likewise[series]").',
    )


def dtw_features(series: Sequence[np.ndarray], kept: FeatureCache) -> Features:
    """Return the distances of all z-normalized series under dynamic time warping."""
    if len(series) > MOST_WARPED:
        raise InputError(
            f"dynamic time warping compares all pairs, which {len(series)} series are too many "
            f"for (at most {MOST_WARPED}). Use --series-features euclidean."
        )
    lengths = [len(values) for values in series]
    # A tenth of the length, and at least the difference between the shortest and the longest.
    window = max(lengths) // 10 + 1 + max(lengths) - min(lengths)
    key = digest(*(part for s in series for part in (str(s.shape), s.tobytes())))
    recipe = f"{RECIPE}, {package_versions('dtaidistance')}"
    return Features(
        kept.get(recipe, key, lambda: _warped(series, window)),
        f"distances of z-normalized series under dynamic time warping, window {window}",
        metric="precomputed",
        notes=kept.notes,
    )


def _warped(series: Sequence[np.ndarray], window: int) -> np.ndarray:
    """Return the distances of all pairs."""
    with needs_extra("dynamic time warping", "series"):
        from dtaidistance import dtw, dtw_ndim
    normal = [np.ascontiguousarray(z_normalize(values), dtype=np.float64) for values in series]
    n_channels = normal[0].shape[1]
    if n_channels == 1:
        flat = [values.ravel() for values in normal]
        D = dtw.distance_matrix_fast(flat, window=window, only_triu=False)
    else:
        D = dtw_ndim.distance_matrix_fast(normal, n_channels, window=window, only_triu=False)
    D = np.asarray(D, dtype=np.float64)
    np.fill_diagonal(D, 0.0)
    return D


def _resample(values: np.ndarray, length: int) -> np.ndarray:
    if len(values) == length:
        return values
    old, new = np.linspace(0, 1, len(values)), np.linspace(0, 1, length)
    return np.column_stack([np.interp(new, old, channel) for channel in values.T])
