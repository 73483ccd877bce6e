"""What to ask next."""

from likewise.strategies.closest_first import ClosestFirst
from likewise.strategies.coarse_to_fine.row_by_row import RowByRow
from likewise.strategies.random_order import RandomOrder

__all__ = ["ClosestFirst", "RandomOrder", "RowByRow"]
