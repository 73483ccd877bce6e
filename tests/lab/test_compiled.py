"""Loops are compiled where numba is installed, and replaced by NumPy where it is not."""

import numpy as np
import pytest

import likewise.lab.compiled
from likewise.lab.compiled import compiled


def make():
    """Return a function with two versions that tell which one ran."""

    def plain(values):
        return float(np.cumsum(values)[-1]), "NumPy"

    @compiled(plain)
    def total(values):
        found = 0.0
        for value in values:
            found += value
        return found, "loop"

    return total


def test_the_loop_runs_where_numba_is_installed():
    pytest.importorskip("numba")
    values = np.random.default_rng(0).random(1000)
    assert make()(values) == (float(np.cumsum(values)[-1]), "loop")


def test_numpy_runs_where_numba_is_not_installed(monkeypatch):
    monkeypatch.setattr(likewise.lab.compiled, "find_spec", lambda _: None)
    assert make()(np.array([1.0, 2.0])) == (3.0, "NumPy")
