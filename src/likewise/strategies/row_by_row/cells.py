"""The finest parts that are asked about: single rows, or small cells of rows in large data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.partition import SuperInstances
from likewise.rows.build import build_super_instances

MAX_CELLS, N_CELLS = 6000, 1000
"""Up to `MAX_CELLS` rows, each row is a cell; more rows are cut into `N_CELLS` cells. Finding a
question takes time in proportion to the number of cells, about 10 ms for 1000 of them."""


def cells_of(
    rows: NDArray[Any],
    n_cells: int | None = None,
    *,
    train_indices: NDArray[np.intp] | None,
    seed: int,
    n_jobs: int | None = None,
) -> tuple[SuperInstances, NDArray[np.bool_] | None]:
    """Return the finest cells, and which of them may be asked about; None stands for all.

    If there are no more rows than cells, each row is a cell, also rows that may not be asked about.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The data.
    n_cells : int, optional
        Data of more rows are cut into this many cells.
    train_indices : ndarray of int, optional
        The rows that may be asked about. By default all.
    seed : int
        Decides everything random.
    n_jobs : int, optional
        Never changes the result.
    """
    if len(rows) > (n_cells or MAX_CELLS):
        partition = build_super_instances(
            rows,
            n_cells or N_CELLS,
            train_indices=train_indices,
            seed=seed,
            n_jobs=n_jobs,
        )
        return partition, None
    each = np.arange(len(rows), dtype=np.intp)
    is_askable = None
    if train_indices is not None:
        is_askable = np.zeros(len(rows), dtype=bool)
        is_askable[train_indices] = True
    return SuperInstances(each, each, points=rows), is_askable
