"""Arrow tables and datasets as a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, MissingExtraError
from likewise.rows.parquet import Nulls, batch_values, check_numeric, checked_nulls
from likewise.rows.source import Part, Source, cut_in_parts, value_type
from likewise.rows.sweep import rows_per_block

_ROWS_PER_BATCH = 2**16


class ArrowSource(Source):
    """Numeric columns of an Arrow table or dataset; see `likewise.scale.from_arrow`."""

    def __init__(
        self, data: Any, columns: Sequence[str] | None = None, *, nulls: Nulls = "error"
    ) -> None:
        try:
            import pyarrow
            from pyarrow import dataset
        except ImportError as error:
            raise MissingExtraError("reading Arrow data", "tables") from error
        self.nulls = checked_nulls(nulls)
        if not isinstance(data, pyarrow.Table | dataset.Dataset):
            raise InputError(
                f"an Arrow table or dataset is needed, got {type(data).__name__}. For files use "
                "pyarrow.dataset.dataset(path)."
            )
        self._data = data
        self.columns = list(columns if columns is not None else data.schema.names)
        for name in self.columns:
            if name not in data.schema.names:
                raise InputError(
                    f"the data has no column {name!r}; it has {', '.join(data.schema.names)}"
                )
        check_numeric(data.schema, self.columns, "the data")
        self.n_features = len(self.columns)
        types = [data.schema.field(name).type.to_pandas_dtype() for name in self.columns]
        self.dtype = value_type([np.dtype(t) for t in types])
        self.block_rows = rows_per_block(self.n_features, self.dtype)
        if isinstance(data, pyarrow.Table):
            self._fragments: list[Any] = []
            self.parts = cut_in_parts(len(data), "the table") if len(data) else []
        else:
            self._fragments, self.parts = _fragments(data)
            self.cuts = [part.start for part in self.parts]
        if not self.parts:
            raise InputError("the Arrow data has no rows")

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop` in order."""
        if not self._fragments:
            for batch in self._data.slice(start, stop - start).to_batches(_ROWS_PER_BATCH):
                yield self._values(batch, f"rows {start} to {stop - 1}")
            return
        for fragment, part in zip(self._fragments, self.parts, strict=True):
            low, high = max(start, part.start), min(stop, part.stop)
            if low < high:
                yield from self._of_fragment(fragment, part, low, high)

    def check_unchanged(self) -> None:
        """Count the rows of every fragment again."""
        for fragment, part in zip(self._fragments, self.parts, strict=False):
            if fragment.count_rows() != part.stop - part.start:
                raise InputError(f"{part.place} has changed since it was opened")

    def _of_fragment(
        self, fragment: Any, part: Part, start: int, stop: int
    ) -> Iterator[NDArray[Any]]:
        seen = part.start
        try:
            for batch in fragment.to_batches(
                schema=self._data.schema,
                columns=list(self.columns or ()),
                batch_size=_ROWS_PER_BATCH,
                batch_readahead=0,
                fragment_readahead=0,
                use_threads=False,
            ):
                low, high = max(start - seen, 0), min(stop - seen, len(batch))
                if low < high:
                    yield self._values(batch.slice(low, high - low), part.place)
                seen += len(batch)
                if seen >= stop:
                    return
        except OSError as error:
            raise InputError(
                f"{part.place} cannot be read; it is cut or damaged: {error}"
            ) from error
        raise InputError(f"{part.place} ended after {seen - part.start} rows; it has changed")

    def _values(self, batch: Any, where: str) -> NDArray[Any]:
        return batch_values(batch, list(self.columns or ()), self.dtype, self.nulls, where)

    def _stretch_rows(self) -> int:
        return _ROWS_PER_BATCH


def _fragments(data: Any) -> tuple[list[Any], list[Part]]:
    """Return the fragments that have rows, and these as parts."""
    fragments = []
    parts: list[Part] = []
    for i, fragment in enumerate(data.get_fragments()):
        n = fragment.count_rows()
        if n:
            start = parts[-1].stop if parts else 0
            fragments.append(fragment)
            place = getattr(fragment, "path", f"fragment {i}")
            parts.append(Part(f"part-{i:05}", start, start + n, place))
    return fragments, parts
