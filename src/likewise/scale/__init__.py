"""Data larger than memory, or than one machine: sources, and sessions about them."""

from likewise.scale.opening import from_array, from_arrow, from_dask, from_npy, from_parquet
from likewise.scale.session import SourceSession
from likewise.scale.source import Source

__all__ = [
    "Source",
    "SourceSession",
    "from_array",
    "from_arrow",
    "from_dask",
    "from_npy",
    "from_parquet",
]
