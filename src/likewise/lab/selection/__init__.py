"""Active selection of pairs for clusterers that take a list of constraints."""

from likewise.lab.selection.estimators import NPU, MinMax, Random

__all__ = ["NPU", "MinMax", "Random"]
