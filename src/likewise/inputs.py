"""Check input rows: those that no estimator can use are refused, with the remedy.

Shapes and sparse matrices are left to scikit-learn, whose messages say what to do. Its advice about
missing values, text and infinite values does not fit here; and it takes dates, masked values and
numbers whose squares overflow without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.words import plural

LARGEST = 1e14
"""The largest value. Distances are computed in single precision; in it, the sum of the squared
distances between 2000 rows with a hundred such values is still finite."""

OPEN = "likewise.open_items(X) turns such columns into features"


def refuse_rows(X: Any, first: int = 0) -> None:
    """Raise `InputError` if rows cannot be used; `first` is the number of the first of a block."""
    if hasattr(X, "toarray"):  # sparse; one kind of it is a mapping
        return
    if X is None or isinstance(X, str | bytes | Mapping | Iterator):
        raise InputError(
            f"X must be rows of numbers, such as a list of lists, a numpy array or a data frame of "
            f"numbers, not {type(X).__name__}"
        )
    _refuse_texts(X)
    names = _column_names(X)
    if names is None and not isinstance(X, np.ndarray | list | tuple):
        return
    if np.ma.is_masked(X):
        raise InputError(
            "X has masked values, which would be taken for numbers. Fill them in first, as by "
            "X.filled(value), or leave out their rows."
        )
    array = _as_array(X)
    if array.dtype.kind == "V":
        raise InputError(
            f"X has fields ({', '.join(array.dtype.names or ())}), not columns. "
            "numpy.lib.recfunctions.structured_to_unstructured(X) makes columns of them."
        )
    if array.ndim != 2 or not array.size or array.dtype.kind == "c":
        return  # scikit-learn says what is wrong
    if array.dtype.kind in "mM":
        raise InputError(f"X has dates or times ({array.dtype}), not numbers. {_remedy(names)}")
    if array.dtype.kind in "OSU":
        _refuse_text(array, names, first)
    elif array.dtype.kind in "fiu":
        _refuse_values(array, names, first)


def index_ids(X: Any) -> list[Any] | None:
    """Return the index of a pandas data frame as ids of its rows.

    None for other data, and where it has anything but different texts and whole numbers.
    """
    if not (hasattr(X, "iloc") and hasattr(X, "columns")) or hasattr(X, "__dask_graph__"):
        return None
    ids = [i.item() if isinstance(i, np.integer) else i for i in X.index]
    are_plain = all(isinstance(i, str | int) and not isinstance(i, bool) for i in ids)
    return ids if are_plain and len(set(ids)) == len(ids) else None


def _column_names(X: Any) -> list[Any] | None:
    """Return the column names of a data frame, or None for other data."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return None
    names = list(X.columns)
    if not names:
        raise InputError("the data frame X has no columns; at least one of numbers is needed")
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise InputError(f"the data frame X has two columns called {twice[0]!r}; rename one")
    return names


def _as_array(X: Any) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError as error:
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in X]
        other = next((k for k, n in enumerate(lengths) if n != lengths[0]), None)
        if other is None:
            raise InputError(f"X cannot be read as rows of numbers: {error}") from error
        raise InputError(
            f"row {other} of X has {plural(lengths[other], 'value')}, but row 0 has {lengths[0]}; "
            "all rows need the same number"
        ) from error


def _refuse_texts(X: Any) -> None:
    """Refuse a list or a column of texts, and name the remedy."""
    is_list = isinstance(X, list | tuple) or getattr(X, "ndim", None) == 1
    first = next(iter(X), None) if is_list else None
    if isinstance(first, str):
        raise InputError(
            f"X is a list of texts, of which the first is {first[:40]!r}, not rows of numbers. "
            "likewise.open_items makes features of texts: model.fit(likewise.open_items(X), ...)"
        )


def _refuse_text(array: NDArray[Any], names: list[Any] | None, first: int) -> None:
    for row, column in np.ndindex(*array.shape):
        value: Any = array[row, column]
        why = ""
        if isinstance(value, str | bytes):
            try:
                float(value)
            except ValueError:
                why = f"{str(value)!r}, not a number"
        elif hasattr(value, "isoformat"):
            why = f"a date, {value}, not a number"
        elif value is None or str(value) in ("<NA>", "nan", "NaT"):
            why = "missing"
        if why:
            raise InputError(f"{_place(first + row, column, names)} is {why}. {_remedy(names)}")


def _refuse_values(array: NDArray[Any], names: list[Any] | None, first: int) -> None:
    largest: Any = LARGEST
    if array.dtype.kind == "f":
        # That of half precision is smaller.
        largest = min(largest, float(np.finfo(array.dtype).max))
    # The extremes need no second array as large as the data; they are NaN if any value is.
    if -largest <= array.min() and array.max() <= largest:
        return
    row, column = (int(k) for k in np.argwhere(~((-largest <= array) & (array <= largest)))[0])
    place, value = _place(first + row, column, names), array[row, column]
    if np.isnan(value):
        n = int(np.isnan(array).sum())
        raise InputError(
            f"{place} is NaN ({plural(n, 'missing value')} in all). Fill in what is missing, as by "
            "sklearn.impute.SimpleImputer().fit_transform(X), or leave out these rows"
            f"{'' if names is None else f'; {OPEN}'}."
        )
    if np.isinf(value):
        n = int(np.isinf(array).sum())
        raise InputError(
            f"{place} is {value} ({plural(n, 'infinite value')} in all). Replace such values by "
            "numbers, or leave out these rows."
        )
    raise InputError(
        f"{place} is {value:.3g}: squared distances to it would be too large. Scale "
        "the columns first, as by sklearn.preprocessing.MinMaxScaler().fit_transform(X)."
    )


def _place(row: int, column: int, names: list[Any] | None) -> str:
    return f"row {row}, column {column if names is None else repr(names[column])} of X"


def _remedy(names: list[Any] | None) -> str:
    return f"{OPEN}." if names is not None else f"Of a data frame, {OPEN}."
