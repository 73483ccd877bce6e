"""Where a session lives on disk."""
