"""Clustering by asking: a few answers to "do these belong together?" become a grouping."""

from likewise.core.answers import Answer, Event, Query
from likewise.errors import LikewiseError

__all__ = ["Answer", "Event", "LikewiseError", "Query"]
__version__ = "0.1.0"
