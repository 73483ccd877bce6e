"""Pictures, texts, rows and series: what a person sees, and features."""

from likewise.items.features import Aspect, Features, Problem
from likewise.items.items import Items
from likewise.items.kinds import KINDS, open_items

__all__ = ["KINDS", "Aspect", "Features", "Items", "Problem", "open_items"]
