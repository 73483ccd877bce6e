"""The paper's 17 datasets and 21 tasks."""

from likewise.datasets.catalog import task_names
from likewise.datasets.dataset import Dataset
from likewise.datasets.demo import load_demo
from likewise.datasets.loading import load

__all__ = ["Dataset", "load", "load_demo", "task_names"]
