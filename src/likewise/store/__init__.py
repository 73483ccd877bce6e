"""Session files: settings, items and the log in one SQLite file.

`Store` is the file. `journals` looks at what lies beside it before SQLite does.
"""

from likewise.store.store import SETUP, Row, Store, Stored, now

__all__ = ["SETUP", "Row", "Store", "Stored", "now"]
