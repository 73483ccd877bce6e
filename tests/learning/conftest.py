import numpy as np
import pytest


@pytest.fixture
def embeddings():
    """Rows of unit length in many features, most of which is noise, and their groups."""
    rng = np.random.default_rng(0)
    y = rng.integers(8, size=600)
    rows = 0.35 * rng.normal(size=(8, 200))[y] + rng.normal(size=(600, 200))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), y


@pytest.fixture
def first_of_each():
    """A function that returns `n` rows of every group."""

    def rows_of(y, n):
        order = np.random.default_rng(0).permutation(len(y))
        return np.concatenate([order[y[order] == g][:n] for g in np.unique(y)])

    return rows_of
