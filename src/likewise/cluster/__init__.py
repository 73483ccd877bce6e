"""The scikit-learn estimators."""

from typing import TYPE_CHECKING

from likewise.lazy import lazily

if TYPE_CHECKING:
    from likewise.cluster.baselines import COSC, MPCKMeans
    from likewise.cluster.cobra import COBRA
    from likewise.cluster.likewise import Likewise

__all__ = ["COBRA", "COSC", "Likewise", "MPCKMeans"]

_HOMES = {"baselines": ("COSC", "MPCKMeans"), "cobra": ("COBRA",), "likewise": ("Likewise",)}
__getattr__, __dir__ = lazily(__name__, _HOMES)
