"""The scikit-learn estimators COBRA and Likewise."""

from typing import TYPE_CHECKING

from likewise.lazy import lazily

if TYPE_CHECKING:
    from likewise.cluster.cobra import COBRA
    from likewise.cluster.likewise import Likewise

__all__ = ["COBRA", "Likewise"]

_HOMES = {"cobra": ("COBRA",), "likewise": ("Likewise",)}
__getattr__, __dir__ = lazily(__name__, _HOMES)
