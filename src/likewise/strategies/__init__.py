"""Which pair to ask about next."""

from likewise.strategies.closest_first import ClosestFirst
from likewise.strategies.random_order import RandomOrder

__all__ = ["ClosestFirst", "RandomOrder"]
