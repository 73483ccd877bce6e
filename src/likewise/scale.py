"""Data larger than memory, or than one machine: sources, and sessions about them.

This is where users import from. The code is in `likewise.rows` and `likewise.cluster`.
"""

from likewise.cluster.source_session import SourceSession
from likewise.rows.arrays import from_array, from_npy
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
