"""The scikit-learn estimators."""

from likewise.cluster.baselines import COSC, MPCKMeans
from likewise.cluster.cobra import COBRA
from likewise.cluster.likewise import Likewise

__all__ = ["COBRA", "COSC", "Likewise", "MPCKMeans"]
