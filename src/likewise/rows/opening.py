"""Make a source of what there is: an array, a file, many files, Arrow data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from likewise.rows.arrow import ArrowSource
from likewise.rows.dask_source import DaskSource
from likewise.rows.parquet import Nulls, ParquetSource, Paths
from likewise.rows.source import ArraySource, NpySource, Source


def from_array(X: ArrayLike) -> Source:
    """Return an array in memory as a source.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Numbers.
    """
    return ArraySource(X)


def from_npy(path: str | os.PathLike[str], *, client: Any = None) -> Source:
    """Return a ``.npy`` file as a source. It is mapped into memory, not read.

    Parameters
    ----------
    path : path
        A file that `numpy.save` wrote, with a matrix of numbers.
    client : distributed.Client, optional
        The cluster to go over it on, whose workers see the same path; by default this process.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.zeros((1000, 3)))
    ...     from_npy(f"{folder}/x.npy").n_rows
    1000
    """
    return NpySource(path, client=client)


def from_parquet(
    paths: Paths,
    columns: Sequence[str] | None = None,
    *,
    nulls: Nulls = "error",
    client: Any = None,
) -> Source:
    """Return numeric columns of Parquet files as a source.

    Schemas, missing columns and nulls are checked now, as far as the files' own metadata tells.

    Parameters
    ----------
    paths : path, pattern, folder or sequence of them
        ``"events/*.parquet"``, a folder with Parquet files in it or below it, or a list. Files of
        a pattern or a folder are taken in the order of their names.
    columns : sequence of str, optional
        Which columns to use, in this order. By default all, which must then be numeric.
    nulls : "error" or float, default="error"
        Refuse missing values, or put this number in their place.
    client : distributed.Client, optional
        The cluster to go over them on, whose workers see the same paths; by default this process.
    """
    return ParquetSource(paths, columns, nulls=nulls, client=client)


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
        It is not computed as a whole: workers hold a few partitions at a time.
    columns : sequence of str, optional
        Which columns of a data frame to use, in this order. By default all.
    client : distributed.Client, optional
        The cluster; by default the one that is current.
    nulls : "error" or float, default="error"
        Refuse missing values, or put this number in their place.
    """
    return DaskSource(data, columns, client=client, nulls=nulls)
