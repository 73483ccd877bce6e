"""Data larger than memory, or than one machine: sources, and sessions about them.

This is where users import from. The code is in `likewise.rows` and `likewise.cluster`.
"""

import os
from typing import Any

from likewise.cluster.source_session import SourceSession
from likewise.errors import InputError
from likewise.rows.arrays import NpySource, from_array
from likewise.rows.arrow import from_arrow
from likewise.rows.dask_source import from_dask
from likewise.rows.parquet import from_parquet
from likewise.rows.source import Source

__all__ = [
    "Source",
    "SourceSession",
    "from_array",
    "from_arrow",
    "from_dask",
    "from_npy",
    "from_parquet",
]


def from_npy(path: str | os.PathLike[str], *, client: Any = None) -> Source:
    """Return a ``.npy`` file as a source. It is mapped into memory, not read.

    Parameters
    ----------
    path : path
        A file that `numpy.save` wrote, with a matrix of numbers.
    client : distributed.Client, optional
        The cluster that reads it, whose workers see the same path; by default this process.

    Raises
    ------
    InputError
        If the file is missing, cut or no matrix of numbers.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.zeros((1000, 3)))
    ...     from_npy(f"{folder}/x.npy").n_rows
    1000
    """
    try:
        return NpySource(path, client=client)
    except InputError:
        raise
    except Exception as error:  # numpy reads the header as Python text, which can fail in any way
        raise InputError(
            f"{path} is no .npy file of numbers, or its header is damaged: "
            f"{type(error).__name__}: {error}. Write it again with numpy.save."
        ) from error
