"""What to ask next."""

from likewise.strategies.careful import Careful
from likewise.strategies.closest_first import ClosestFirst
from likewise.strategies.coarse_to_fine.strategy import CoarseToFine
from likewise.strategies.random_order import RandomOrder

Refine = CoarseToFine

__all__ = ["Careful", "ClosestFirst", "CoarseToFine", "RandomOrder", "Refine"]
