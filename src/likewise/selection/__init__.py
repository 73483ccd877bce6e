"""Active selection of pairs for clusterers that take a list of constraints."""
