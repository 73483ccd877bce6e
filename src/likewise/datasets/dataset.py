"""What `load` returns: one clustering task with everything needed to show and to cite it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A clustering task: rows, their true classes, and where both come from.

    Attributes
    ----------
    name : str
        One of `task_names()`, or ``"digits"`` for the demonstration.
    X : ndarray of float64, shape (n_rows, n_features)
        The preprocessed features.
    y : ndarray of int64, shape (n_rows,)
        The class of every row, as an index into `target_names`.
    target_names : tuple of str
        The names of the classes as they stand in the original data.
    ids : ndarray, shape (n_rows,)
        What each row is called in the original data: a row number for tables, a file name for
        pictures and messages.
    source : str
        Where the values come from, how they were preprocessed and which features were used.
        Results made with different sources must not be compared one to one.
    citation : str
        What to cite.
    images : ndarray of uint8, shape (n_rows, height, width), or None
        The pictures, 0 is black and 255 is white.
    texts : sequence of str, or None
        The whole messages.

    Examples
    --------
    >>> from likewise.datasets import load_demo
    >>> load_demo()
    Dataset('digits', 1797 rows, 64 features, 10 classes)
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    target_names: tuple[str, ...]
    ids: NDArray[Any]
    source: str
    citation: str
    images: NDArray[np.uint8] | None = None
    texts: Sequence[str] | None = None

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.target_names)

    def __repr__(self) -> str:
        rows, features = self.X.shape
        return f"Dataset({self.name!r}, {rows} rows, {features} features, {self.n_classes} classes)"
