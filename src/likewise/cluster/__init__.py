"""The scikit-learn estimators."""

from likewise.cluster.cobra import COBRA
from likewise.cluster.cosc import COSC
from likewise.cluster.likewise import Likewise
from likewise.cluster.mpckmeans import MPCKMeans

__all__ = ["COBRA", "COSC", "Likewise", "MPCKMeans"]
