"""The laboratory: the paper's experiments and its rivals."""
