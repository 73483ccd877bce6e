"""Where a session lives on disk: one SQLite file per project."""

from likewise.stores.changes import Changes
from likewise.stores.store import Entry, Store

__all__ = ["Changes", "Entry", "Store"]
