import numpy as np
import pytest

from likewise.errors import MissingExtraError
from likewise.lab.datasets import Dataset
from likewise.lab.experiments import cells


@pytest.fixture
def blobs(monkeypatch):
    """Three clouds of 20 points that stand for every task."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(scale=0.3, size=(60, 2)) + np.array([[0, 0], [4, 0], [0, 4]])[y]

    def dataset(task, *folders):
        return Dataset(task, X, y, ("a", "b", "c"), np.arange(60), "made up", "nobody")

    monkeypatch.setattr(cells, "dataset", dataset)
    return dataset("blobs")


@pytest.fixture
def made():
    """A function that returns a row, and skips the test if its method needs a missing extra."""

    def check(row):
        if MissingExtraError.__name__ in row.error:
            pytest.skip(row.error.strip().splitlines()[-1])
        return row

    return check
