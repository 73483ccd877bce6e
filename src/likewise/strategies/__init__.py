"""Which pair to ask about next."""

from likewise.strategies.careful import Careful
from likewise.strategies.closest_first import ClosestFirst
from likewise.strategies.random_order import RandomOrder
from likewise.strategies.refine import Refine

__all__ = ["Careful", "ClosestFirst", "RandomOrder", "Refine"]
