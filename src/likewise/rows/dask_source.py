"""Dask data frames and arrays as a source, and rows that are held in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError, MissingExtraError
from likewise.rows.columns import Nulls, checked_nulls
from likewise.rows.source import (
    Part,
    Source,
    check_columns,
    check_matrix,
    parts_of_sizes,
    value_type,
)


def from_dask(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    client: Any = None,
    nulls: Nulls = "error",
) -> Source:
    """Return a Dask data frame or array as a source. All work is done on its cluster.

    Parameters
    ----------
    data : dask.dataframe.DataFrame or dask.array.Array
        It never comes to this process as a whole.
    columns : sequence of str, optional
        Which columns of a data frame to use, in this order. By default all.
    client : distributed.Client, optional
        The cluster; by default the one that is current.
    nulls : "error" or float, default="error"
        Refuse missing values, or put this number in their place.
    """
    return DaskSource(data, columns, client=client, nulls=nulls)


class DaskSource(Source):
    """A Dask data frame or array; made by `from_dask`."""

    def __init__(
        self, data: Any, columns: Sequence[str] | None, *, client: Any, nulls: Nulls
    ) -> None:
        try:
            import dask
            from distributed import default_client
        except ImportError as error:
            raise MissingExtraError("working on a cluster", "dask") from error
        if not dask.is_dask_collection(data) or not hasattr(data, "to_delayed"):
            raise InputError(f"a Dask data frame or array is needed, got {type(data).__name__}")
        self._nulls = checked_nulls(nulls)
        try:
            client = client or default_client()
        except ValueError as error:
            raise InputError(
                "no cluster is connected: pass client=distributed.Client(...)"
            ) from error
        names = None
        if hasattr(data, "columns"):
            data, dtypes = _columns_of_frame(data, columns)
            names = list(data.columns)
        else:
            data, dtypes = _columns_of_array(data, columns)
        delayed = list(np.ravel(data.to_delayed()))
        # One column is enough to count rows, where columns are read separately.
        counted = data[names[:1]] if names else data
        length = dask.delayed(len)
        lengths = [length(part) for part in np.ravel(counted.to_delayed())]
        sizes = client.gather(client.compute(lengths))
        parts, used = parts_of_sizes(
            sizes,
            [f"part-{i:05}" for i in range(len(sizes))],
            [f"partition {i}" for i in range(len(sizes))],
        )
        if not parts:
            raise InputError("the Dask collection has no rows")
        self._delayed = [delayed[i] for i in used]
        super().__init__(
            parts,
            len(dtypes),
            value_type(dtypes),
            cuts=[part.start for part in parts],
            columns=names,
            client=client,
        )

    def reader(self, start: int, stop: int) -> Any:
        """Return, delayed, the rows from `start` up to `stop`."""
        import dask

        # Cut on the worker that has the partition, so that only the needed rows are sent.
        cut = dask.delayed(_cut, pure=False)
        held = list(self.overlaps(start, stop))
        values = [
            cut(self._delayed[i], part, low, high, self.dtype, self._nulls)
            for i, part, low, high in held
        ]
        parts = [part for _, part, _, _ in held]
        return dask.delayed(HeldRows, pure=False)(values, held[0][2], parts, self.block_rows)

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop`, fetched partition by partition."""
        for _, _, low, high in self.overlaps(start, stop):
            yield self._fetch(np.arange(low, high))

    def rows(self, numbers: ArrayLike) -> NDArray[Any]:
        """Return the rows of some numbers; only these are sent."""
        wanted = self._row_numbers(numbers)
        found = np.empty((len(wanted), self.n_features), dtype=self.dtype)
        for part in self.parts:
            here = np.flatnonzero((wanted >= part.start) & (wanted < part.stop))
            if len(here):
                found[here] = self._fetch(wanted[here])
        return found

    def _fetch(self, numbers: NDArray[np.intp]) -> NDArray[Any]:
        import dask

        start = int(numbers.min())
        reader = self.reader(start, int(numbers.max()) + 1)
        picked = dask.delayed(_pick, pure=False)(reader, numbers)
        found: NDArray[Any] = self.client.compute(picked, optimize_graph=False).result()
        return found


class HeldRows(Source):
    """Consecutive rows of a larger source, in memory, from number `start` on."""

    def __init__(
        self, values: Sequence[NDArray[Any]], start: int, parts: Sequence[Part], block_rows: int
    ) -> None:
        super().__init__(parts, values[0].shape[1], values[0].dtype)
        self.block_rows = block_rows
        self._values = values
        self._first = start

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop`."""
        first = self._first
        for value in self._values:
            low, high = max(start - first, 0), min(stop - first, len(value))
            if low < high:
                yield value[low:high]
            first += len(value)


def _columns_of_frame(data: Any, columns: Sequence[str] | None) -> tuple[Any, list[np.dtype[Any]]]:
    names = list(columns if columns is not None else data.columns)
    check_columns(names, list(data.columns), "the data frame")
    for name in names:
        if data.dtypes[name].kind not in "fiub":
            raise InputError(
                f"column {name!r} of the data frame holds {data.dtypes[name]}, not numbers. "
                "Choose others with columns=[...]"
            )
    dtypes = [data.dtypes[name] for name in names]
    plain = [t if isinstance(t, np.dtype) else np.dtype(t.numpy_dtype) for t in dtypes]
    return data[names], plain


def _columns_of_array(data: Any, columns: Sequence[str] | None) -> tuple[Any, list[np.dtype[Any]]]:
    if columns is not None:
        raise InputError("columns are chosen by name, and a Dask array has no names")
    check_matrix(np.empty([2] * data.ndim, dtype=data.dtype), "the Dask array")
    return data.rechunk({1: -1}), [data.dtype] * data.shape[1]


def _cut(
    value: Any, part: Part, start: int, stop: int, dtype: np.dtype[Any], nulls: Nulls
) -> NDArray[Any]:
    """Return the rows from `start` up to `stop`, which are in one partition, as numbers."""
    if len(value) != part.stop - part.start:
        raise InputError(
            f"{part.place} has {len(value)} rows and had {part.stop - part.start} before: the data "
            "has changed. Start again with data that does not change."
        )
    value = value[start - part.start : stop - part.start]
    if not hasattr(value, "to_numpy"):
        return np.asarray(value, dtype=dtype)
    if nulls != "error":
        value = value.fillna(nulls)
    return np.asarray(value.to_numpy(dtype=dtype, na_value=np.nan))


def _pick(rows: HeldRows, numbers: NDArray[np.intp]) -> NDArray[Any]:
    start = int(numbers.min())
    return np.concatenate(list(rows.batches(start, int(numbers.max()) + 1)))[numbers - start]
