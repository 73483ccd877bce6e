"""What a person sees, and features from it: images, texts, rows, series or bare points."""

from likewise.items.items import Features, Items, Problem
from likewise.items.kinds import KINDS, open_items

__all__ = ["KINDS", "Features", "Items", "Problem", "open_items"]
