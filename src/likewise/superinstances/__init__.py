"""From rows to super-instances: small groups of rows, each with a row that stands for it."""

from likewise.core.partition import SuperInstances, singletons
from likewise.superinstances.build import build_super_instances

__all__ = ["SuperInstances", "build_super_instances", "singletons"]
