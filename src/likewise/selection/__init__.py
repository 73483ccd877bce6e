"""Active selection of pairs for clusterers that take a list of constraints."""

from likewise.selection.minmax import MinMax
from likewise.selection.npu import NPU
from likewise.selection.random import Random

__all__ = ["NPU", "MinMax", "Random"]
