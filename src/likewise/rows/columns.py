"""Columns of Arrow data as a matrix: types, missing values, batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.rows.source import value_type
from likewise.words import plural

ROWS_PER_BATCH = 2**16
"""How many rows are read at a time: a few megabytes. With half or twice as many, reading takes as
long."""

Nulls = Literal["error"] | float
"""What to do about missing values: refuse them, or put this number in their place."""


def checked_nulls(nulls: Any) -> Nulls:
    """Return what to do about missing values, or raise `InputError`."""
    if nulls == "error" or (isinstance(nulls, int | float) and np.isfinite(nulls)):
        return nulls if nulls == "error" else float(nulls)
    raise InputError(f'nulls must be "error" or a number to put in their place, got {nulls!r}')


def check_numeric(schema: Any, columns: Iterable[str], name: str) -> None:
    """Raise `InputError` for a column that holds no numbers."""
    from pyarrow import types

    for column in columns:
        kind = schema.field(column).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            numeric = [
                f.name for f in schema if types.is_integer(f.type) or types.is_floating(f.type)
            ]
            raise InputError(
                f"column {column!r} of {name} holds {kind}, not numbers. Choose among the numeric "
                f"columns with columns=[...]: {', '.join(numeric) or 'there are none'}"
            )


def arrow_type(schema: Any, columns: Sequence[str]) -> np.dtype[Any]:
    """Return the type of a matrix of some columns."""
    return value_type([np.dtype(schema.field(name).type.to_pandas_dtype()) for name in columns])


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns become a matrix of which type, and what is done about missing values."""

    names: Sequence[str]
    dtype: np.dtype[Any]
    nulls: Nulls


def values_between(
    batches: Iterable[Any], columns: Columns, seen: int, start: int, stop: int, place: str
) -> Iterator[NDArray[Any]]:
    """Yield the rows from `start` up to `stop` of batches, the first of which is row `seen`.

    `place` is what messages call the file or fragment that the batches are from.
    """
    try:
        for batch in batches:
            low, high = max(start - seen, 0), min(stop - seen, len(batch))
            if low < high:
                yield _matrix(batch.slice(low, high - low), columns, place, seen + low)
            seen += len(batch)
            if seen >= stop:
                return
    except OSError as error:
        raise InputError(f"{place} cannot be read; it is cut or damaged: {error}") from error
    raise InputError(f"{place} ended after {plural(seen, 'row')}; it has changed, or is cut")


def _matrix(batch: Any, columns: Columns, place: str, first_row: int) -> NDArray[Any]:
    import pyarrow

    values = np.empty((len(batch), len(columns.names)), dtype=columns.dtype)
    for i, name in enumerate(columns.names):
        column = batch.column(name)
        if column.null_count:
            if columns.nulls == "error":
                null = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
                raise InputError(
                    f"column {name!r} of {place} has a null in row {first_row + null}. Give a "
                    "number to put there, as in nulls=0.0, or leave such rows out."
                )
            column = column.fill_null(pyarrow.scalar(columns.nulls).cast(column.type))
        values[:, i] = column.to_numpy(zero_copy_only=False)
    return values
