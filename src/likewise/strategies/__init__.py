"""What to ask next."""

from likewise.strategies.candidate_pairs import CandidatePairs
from likewise.strategies.closest_first import ClosestFirst
from likewise.strategies.most_doubt import MostDoubt

__all__ = ["CandidatePairs", "ClosestFirst", "MostDoubt"]
