"""Dask data frames and arrays as a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError, MissingExtraError
from likewise.rows.parquet import Nulls, checked_nulls
from likewise.rows.source import Part, Source, check_matrix, value_type
from likewise.rows.sweep import rows_per_block


class DaskSource(Source):
    """A Dask data frame or array; see `likewise.scale.from_dask`."""

    def __init__(
        self,
        data: Any,
        columns: Sequence[str] | None = None,
        *,
        client: Any = None,
        nulls: Nulls = "error",
    ) -> None:
        try:
            import dask
            from distributed import default_client
        except ImportError as error:
            raise MissingExtraError("working on a cluster", "dask") from error
        if not dask.is_dask_collection(data) or not hasattr(data, "to_delayed"):
            raise InputError(f"a Dask data frame or array is needed, got {type(data).__name__}")
        self.nulls = checked_nulls(nulls)
        try:
            self.client = client or default_client()
        except ValueError as error:
            raise InputError(
                "no cluster is connected: pass client=distributed.Client(...)"
            ) from error
        if hasattr(data, "columns"):
            data, dtypes = self._of_frame(data, columns)
        else:
            data, dtypes = self._of_array(data, columns)
        self.dtype = value_type(dtypes)
        self.n_features = len(dtypes)
        self.block_rows = rows_per_block(self.n_features, self.dtype)
        self._delayed = list(np.ravel(data.to_delayed()))
        # One column is enough to count rows, where others need not be read for it.
        counted = data[self.columns[:1]] if self.columns else data
        length = dask.delayed(len)
        lengths = [length(part) for part in np.ravel(counted.to_delayed())]
        sizes = self.client.gather(self.client.compute(lengths))
        if sum(sizes) == 0:
            raise InputError("the Dask collection has no rows")
        ends = np.cumsum(sizes).tolist()
        used = [i for i, n in enumerate(sizes) if n]
        self._delayed = [self._delayed[i] for i in used]
        self.parts = [
            Part(f"part-{i:05}", ends[i] - sizes[i], ends[i], f"partition {i}") for i in used
        ]
        self.cuts = [part.start for part in self.parts]

    def reader(self, start: int, stop: int) -> Any:
        """Return, delayed, the rows from `start` up to `stop`."""
        import dask

        # Cut where a partition lies, so that only the rows that are needed travel.
        cut = dask.delayed(_some_rows, pure=False)
        values, firsts, parts = [], [], []
        for whole, part in zip(self._delayed, self.parts, strict=True):
            low, high = max(start, part.start), min(stop, part.stop)
            if low < high:
                values.append(cut(whole, part, low, high, self.dtype, self.nulls))
                firsts.append(low)
                parts.append(part)
        shape = (self.n_rows, self.n_features, self.dtype, self.block_rows)
        return dask.delayed(Pieces, pure=False)(values, firsts, parts, shape)

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop`, fetched partition by partition."""
        for part in self.parts:
            low, high = max(start, part.start), min(stop, part.stop)
            if low < high:
                yield self._fetch(np.arange(low, high))

    def rows(self, numbers: ArrayLike) -> NDArray[Any]:
        """Return the rows of some numbers; no others travel."""
        wanted = np.asarray(numbers, dtype=np.intp).reshape(-1)
        if len(wanted) and (wanted.min() < 0 or wanted.max() >= self.n_rows):
            wrong = wanted[(wanted < 0) | (wanted >= self.n_rows)][0]
            raise InputError(f"there is no row {wrong}: the data has rows 0 to {self.n_rows - 1}")
        found = np.empty((len(wanted), self.n_features), dtype=self.dtype)
        for part in self.parts:
            here = np.flatnonzero((wanted >= part.start) & (wanted < part.stop))
            if len(here):
                found[here] = self._fetch(wanted[here])
        return found

    def check_unchanged(self) -> None:
        """Do nothing: partitions that change their length are found when they are read."""

    def _fetch(self, numbers: NDArray[np.intp]) -> NDArray[Any]:
        import dask

        reader = self.reader(int(numbers.min()), int(numbers.max()) + 1)
        picked = dask.delayed(_pick, pure=False)(reader, numbers)
        found: NDArray[Any] = self.client.compute(picked, optimize_graph=False).result()
        return found

    def _of_frame(
        self, data: Any, columns: Sequence[str] | None
    ) -> tuple[Any, list[np.dtype[Any]]]:
        names = list(columns if columns is not None else data.columns)
        for name in names:
            if name not in data.columns:
                raise InputError(
                    f"the data frame has no column {name!r}; it has {', '.join(data.columns)}"
                )
            if data.dtypes[name].kind not in "fiub":
                raise InputError(
                    f"column {name!r} of the data frame holds {data.dtypes[name]}, not numbers. "
                    "Choose others with columns=[...]"
                )
        self.columns = names
        return data[names], [_plain_type(data.dtypes[name]) for name in names]

    @staticmethod
    def _of_array(data: Any, columns: Sequence[str] | None) -> tuple[Any, list[np.dtype[Any]]]:
        if columns is not None:
            raise InputError("columns are chosen by name, and a Dask array has no names")
        check_matrix(np.empty([2] * data.ndim, dtype=data.dtype), "the Dask array")
        return data.rechunk({1: -1}), [data.dtype] * data.shape[1]


@dataclass(frozen=True, slots=True)
class Pieces:
    """Rows of some partitions on a worker, to go over."""

    values: Sequence[NDArray[Any]]
    firsts: Sequence[int]
    parts: Sequence[Part]
    shape: tuple[int, int, np.dtype[Any], int]

    @property
    def n_rows(self) -> int:
        """Number of rows of the whole."""
        return self.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.shape[2]

    @property
    def block_rows(self) -> int:
        """Number of rows of a block."""
        return self.shape[3]

    @property
    def cuts(self) -> Sequence[int]:
        """Nothing: the partitions are in memory."""
        return ()

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop`."""
        for value, first in zip(self.values, self.firsts, strict=True):
            low, high = max(start, first), min(stop, first + len(value))
            if low < high:
                yield value[low - first : high - first]

    def where(self, row: int) -> str:
        """Say where a row is."""
        part = next(part for part in self.parts if row < part.stop)
        return f"row {row - part.start} of {part.place}"


def _some_rows(
    value: Any, part: Part, start: int, stop: int, dtype: np.dtype[Any], nulls: Nulls
) -> NDArray[Any]:
    """Return the rows from `start` up to `stop`, which are in one partition, as numbers."""
    if len(value) != part.stop - part.start:
        raise InputError(
            f"{part.place} has {len(value)} rows and had {part.stop - part.start} before: the data "
            "has changed. Start anew with data that stays as it is."
        )
    value = value[start - part.start : stop - part.start]
    if not hasattr(value, "to_numpy"):
        return np.asarray(value, dtype=dtype)
    if nulls != "error":
        value = value.fillna(nulls)
    return np.asarray(value.to_numpy(dtype=dtype, na_value=np.nan))


def _pick(rows: Pieces, numbers: NDArray[np.intp]) -> NDArray[Any]:
    start = int(numbers.min())
    return np.concatenate(list(rows.batches(start, int(numbers.max()) + 1)))[numbers - start]


def _plain_type(dtype: Any) -> np.dtype[Any]:
    """Return numpy's type for one of pandas'."""
    return dtype if isinstance(dtype, np.dtype) else np.dtype(dtype.numpy_dtype)
