"""The paper's 17 datasets and 21 tasks."""
