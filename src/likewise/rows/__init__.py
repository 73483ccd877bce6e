"""From rows to super-instances: in memory, streamed from files, or on a Dask cluster."""

from likewise.core.partition import SuperInstances, singletons
from likewise.rows.build import build_super_instances

__all__ = ["SuperInstances", "build_super_instances", "singletons"]
