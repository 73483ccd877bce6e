"""The scikit-learn estimators."""

from likewise.cluster.cobra import COBRA

__all__ = ["COBRA"]
