"""The laboratory: the paper's experiments, run again, and its rivals. Others import it lazily."""
