"""From rows to super-instances, and from large data to a sample of its rows."""

from likewise.core.partition import SuperInstances, singletons
from likewise.rows.build import build_super_instances
from likewise.rows.row_files import ParquetRows

__all__ = ["ParquetRows", "SuperInstances", "build_super_instances", "singletons"]
