"""Arrow tables and datasets as a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from likewise.errors import InputError, needs_extra
from likewise.rows.columns import (
    ROWS_PER_BATCH,
    Columns,
    Nulls,
    arrow_type,
    check_numeric,
    checked_nulls,
    values_between,
)
from likewise.rows.source import Source, check_columns, cut_in_parts, parts_of_sizes


def from_arrow(
    data: Any, columns: Sequence[str] | None = None, *, nulls: Nulls = "error"
) -> Source:
    """Return numeric columns of an Arrow table or dataset as a source.

    Parameters
    ----------
    data : pyarrow.Table or pyarrow.dataset.Dataset
        For files of any format that Arrow reads: ``pyarrow.dataset.dataset(path, format=...)``.
    columns : sequence of str, optional
        Which columns to use, in this order. By default all, which must then be numeric.
    nulls : "error" or float, default="error"
        Refuse missing values, or put this number in their place.

    Examples
    --------
    >>> import pyarrow
    >>> table = pyarrow.table({"a": [1.0, 2.0], "name": ["x", "y"], "b": [3, 4]})
    >>> from_arrow(table, ["b", "a"]).rows([1])
    array([[4., 2.]])
    """
    return ArrowSource(data, columns, nulls=nulls)


class ArrowSource(Source):
    """Numeric columns of an Arrow table or dataset; made by `from_arrow`."""

    _gap_rows = ROWS_PER_BATCH

    def __init__(self, data: Any, columns: Sequence[str] | None, *, nulls: Nulls) -> None:
        with needs_extra("reading Arrow data", "tables"):
            import pyarrow
            from pyarrow import dataset
        nulls = checked_nulls(nulls)
        if not isinstance(data, pyarrow.Table | dataset.Dataset):
            raise InputError(
                f"an Arrow table or dataset is needed, got {type(data).__name__}. For files use "
                "pyarrow.dataset.dataset(path)."
            )
        names = list(columns if columns is not None else data.schema.names)
        check_columns(names, data.schema.names, "the data")
        check_numeric(data.schema, names, "the data")
        self._data = data
        self._columns = Columns(names, arrow_type(data.schema, names), nulls)
        self._fragments: list[Any] = []
        if isinstance(data, pyarrow.Table):
            parts = cut_in_parts(len(data), "the table")
        else:
            found = list(data.get_fragments())
            parts, used = parts_of_sizes(
                [fragment.count_rows() for fragment in found],
                [f"part-{i:05}" for i in range(len(found))],
                [getattr(each, "path", f"fragment {i}") for i, each in enumerate(found)],
            )
            self._fragments = [found[i] for i in used]
        if not parts:
            raise InputError("the Arrow data has no rows")
        super().__init__(
            parts,
            len(names),
            self._columns.dtype,
            cuts=[part.start for part in parts] if self._fragments else (),
            columns=names,
        )

    def batches(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from `start` up to `stop` in order."""
        if not self._fragments:
            batches = self._data.slice(start, stop - start).to_batches(ROWS_PER_BATCH)
            yield from values_between(batches, self._columns, start, start, stop, "the table")
            return
        for i, part, low, high in self.overlaps(start, stop):
            batches = self._fragments[i].to_batches(
                schema=self._data.schema,
                columns=self._columns.names,
                batch_size=ROWS_PER_BATCH,
                batch_readahead=0,
                fragment_readahead=0,
                use_threads=False,
            )
            within = low - part.start, high - part.start
            yield from values_between(batches, self._columns, 0, *within, part.place)

    def check_unchanged(self) -> None:
        """Count the rows of every fragment again."""
        for fragment, part in zip(self._fragments, self.parts, strict=False):
            if fragment.count_rows() != part.stop - part.start:
                raise InputError(f"{part.place} has changed since it was opened")
