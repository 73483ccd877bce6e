"""Clusterers that take lists of links, for comparison: COSC and MPCKMeans."""

from likewise.cluster.baselines.cosc import COSC
from likewise.cluster.baselines.mpckmeans import MPCKMeans

__all__ = ["COSC", "MPCKMeans"]
