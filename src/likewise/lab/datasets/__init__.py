"""The paper's 17 datasets and 21 tasks."""

from likewise.lab.datasets.catalog import task_names
from likewise.lab.datasets.loading import Dataset, load, load_demo

__all__ = ["Dataset", "load", "load_demo", "task_names"]
