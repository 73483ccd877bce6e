"""The laboratory: the paper, re-made, and its rivals. Nothing outside imports it eagerly."""
