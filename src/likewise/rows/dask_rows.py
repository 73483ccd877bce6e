"""Rows in Dask collections: the sample is fetched, predictions are lazy.

This is the only module of the method that knows Dask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import ClusterLostError, InputError, needs_extra
from likewise.inputs import refuse_rows
from likewise.rows.blocks import BLOCK_ROWS, Check, Compute, in_tiles, matrix_type
from likewise.words import plural

TIMEOUT = "300s"
"""How long a Dask cluster may take for one partition before it counts as lost, unless the Dask
setting ``likewise.timeout`` says otherwise. Without it, a call would wait forever for workers that
never start or keep dying."""


class DaskRows:
    """A Dask array or data frame of numbers."""

    is_in_memory = False

    def __init__(self, data: Any) -> None:
        with needs_extra("working with Dask", "dask"):
            import dask.array  # noqa: F401
        self.names: list[str] | None = None
        self.is_frame = hasattr(data, "columns") and data.ndim == 2
        if self.is_frame:
            self.names = [str(name) for name in data.columns]
            dtypes = list(data.dtypes)
            for name, dtype in zip(data.columns, dtypes, strict=True):
                if getattr(dtype, "kind", "O") not in "fiub":
                    raise InputError(
                        f"column {name!r} of the Dask data frame holds {dtype}, not numbers. "
                        "Choose the columns of numbers first, as by frame[[...]]"
                    )
        else:
            dtypes = [data.dtype]
            if getattr(data, "ndim", 0) != 2 or data.dtype.kind not in "fiub":
                raise InputError(
                    "a Dask data frame, or a Dask array with rows and columns of numbers, is "
                    f"needed; got {type(data).__name__} of {getattr(data, 'dtype', 'no')} numbers"
                )
            data = data.rechunk({1: -1})
        self.data = data
        self.dtype = matrix_type(dtypes)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.data.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self._sizes)

    @cached_property
    def _sizes(self) -> list[int]:
        """The rows of every partition; unless Dask knows them, all are counted."""
        sizes = known_lengths(self.data) if self.is_frame else self.data.chunks[0]
        if sizes is None or np.isnan(sizes).any():
            import dask

            # One column is enough to count rows, where columns are read separately.
            counted = self.data.iloc[:, :1] if self.is_frame else self.data
            length = dask.delayed(len)
            sizes = computed([length(part) for part in np.ravel(counted.to_delayed())])
        if not sum(sizes):
            raise InputError("the Dask collection has no rows")
        return [int(n) for n in sizes]

    def take(self, numbers: Any) -> NDArray[Any]:
        """Return the rows of given numbers, which increase, or all; only these are sent."""
        import dask

        numbers = np.asarray(range(self.n_rows) if numbers is None else numbers, dtype=np.intp)
        ends = np.cumsum([0, *self._sizes])
        pick = dask.delayed(_pick)
        parts = np.ravel(self.data.to_delayed())
        tasks = []
        for k, (part, size) in enumerate(zip(parts, self._sizes, strict=True)):
            low, high = np.searchsorted(numbers, ends[k : k + 2])
            if low < high:
                tasks.append(pick(part, numbers[low:high] - ends[k], k, size, self.dtype))
        return np.concatenate(computed(tasks))

    def map(
        self,
        compute: Compute,
        check: Check,  # noqa: ARG002  (it belongs to the estimator, which is not sent to workers)
        dtype: Any,
        n_columns: int | None = None,
    ) -> Any:
        """Return, lazily, what a function of a block of rows returns for all rows."""
        like = np.empty((0,) if n_columns is None else (0, n_columns), dtype=dtype)
        function = partial(_checked, compute, like)
        if self.is_frame:
            like = _framed(like, self.data._meta.index[:0])
            return self.data.map_partitions(_map_frame, function, self.dtype, meta=like)
        shape: dict[str, Any] = {"drop_axis": 1}
        if n_columns is not None:
            shape = {"chunks": (self.data.chunks[0], (n_columns,))}
        return self.data.map_blocks(_map_array, function, self.dtype, meta=like, **shape)


def known_lengths(frame: Any) -> tuple[int, ...] | None:
    """Return the rows of every partition if Dask knows them without reading, as from Parquet."""
    try:
        from dask.dataframe.dask_expr._expr import Lengths, Literal
    except ImportError:  # another version of Dask
        return None
    lengths = Lengths(frame.expr).optimize()
    return lengths.value if isinstance(lengths, Literal) else None


def _pick(
    part: Any, places: NDArray[np.intp], k: int, size: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return rows of a partition, which must have as many rows as it had when it was counted."""
    if len(part) != size:
        raise InputError(
            f"partition {k} had {plural(size, 'row')} and has {len(part)} now: the Dask collection "
            "gives other rows each time it is computed. Write it to Parquet first, or persist it."
        )
    return np.ascontiguousarray(_values(part, places, dtype), dtype=dtype)


def _values(part: Any, places: NDArray[np.intp] | slice, dtype: np.dtype[Any]) -> Any:
    """Return some rows of a partition, where they lie if that is possible."""
    if hasattr(part, "columns"):
        return part.iloc[places].to_numpy(dtype=dtype, na_value=np.nan)
    return part[places]


def _checked(compute: Compute, empty: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """Return what a worker computes of a block of rows; `empty` is the result for none."""
    if not len(rows):
        return empty
    refuse_rows(rows)
    return in_tiles(compute, rows).astype(empty.dtype, copy=False)


def _map_array(part: Any, function: Callable[..., Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Apply a function to a partition, block by block: large arrays cost more than small ones."""
    # All blocks use the same memory. As Dask sets up its workers, new memory costs much time.
    block = np.empty((min(len(part), BLOCK_ROWS), part.shape[1]), dtype=dtype)
    results = []
    for start in range(0, max(len(part), 1), BLOCK_ROWS):
        values = _values(part, slice(start, start + BLOCK_ROWS), dtype)
        np.copyto(block[: len(values)], values)
        results.append(function(block[: len(values)]))
    return np.concatenate(results)


def _map_frame(part: Any, function: Callable[..., Any], dtype: np.dtype[Any]) -> Any:
    return _framed(_map_array(part, function, dtype), part.index)


def _framed(values: NDArray[Any], index: Any) -> Any:
    import pandas

    if values.ndim == 1:
        return pandas.Series(values, index=index, name="label")
    return pandas.DataFrame(values, index=index)


def connect(address: str | None) -> Any:
    """Return a client of the Dask scheduler at an address, or None without one."""
    if address is None:
        return None
    with needs_extra("working on a cluster", "dask"):
        from distributed import Client
    try:
        return Client(address, timeout="10s")
    except OSError as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from error


def computed(tasks: Sequence[Any]) -> list[Any]:
    """Return the results of Dask tasks; a cluster has ``likewise.timeout`` for each."""
    import dask
    from dask.utils import parse_timedelta

    client = getattr(dask.base.get_scheduler(), "__self__", None)
    if client is None:
        try:
            return list(dask.compute(*tasks))
        except ValueError as error:
            if "Missing dependency" not in str(error):
                raise
            raise ClusterLostError(
                f"the Dask cluster that held the rows is closed: {error}"
            ) from error
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    limit = dask.config.get("likewise.timeout", TIMEOUT)
    futures: list[Any] = []
    try:
        futures = client.compute(list(tasks))
        return [future.result(timeout=parse_timedelta(limit)) for future in futures]
    except TimeoutError as error:
        raise ClusterLostError(
            f"no result came from the Dask cluster within {limit}: has it workers, and do they "
            "live? dask.config.set({'likewise.timeout': '1h'}) waits longer."
        ) from error
    except (CancelledError, KilledWorker, CommClosedError, OSError) as error:
        raise ClusterLostError(
            f"the Dask cluster is closed, or its workers died: {type(error).__name__}: {error}"
        ) from error
    finally:
        for future in futures:
            future.release()


def computed_each(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Return what a function returns for each tuple of arguments, computed by Dask."""
    import dask

    lazy = dask.delayed(function, pure=False)
    return computed([lazy(*each) for each in arguments])
