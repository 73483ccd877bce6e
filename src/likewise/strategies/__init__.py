"""What to ask next."""

from likewise.strategies.closest_first import ClosestFirst
from likewise.strategies.row_by_row.strategy import RowByRow

__all__ = ["ClosestFirst", "RowByRow"]
