"""From a few rows whose group is known to all rows."""
