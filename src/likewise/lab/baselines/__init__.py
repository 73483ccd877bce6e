"""Clusterers that take lists of links, for comparison: COSC and MPCKMeans."""

from likewise.lab.baselines.cosc import COSC
from likewise.lab.baselines.mpckmeans import MPCKMeans

__all__ = ["COSC", "MPCKMeans"]
