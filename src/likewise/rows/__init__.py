"""From rows to super-instances, and from large data to a sample of its rows."""

from likewise.core.partition import SuperInstances, singletons
from likewise.rows.blocks import ParquetRows
from likewise.rows.build import build_super_instances

__all__ = ["ParquetRows", "SuperInstances", "build_super_instances", "singletons"]
