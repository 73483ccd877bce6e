"""Candidate pairs from a sparse matrix, and rows that certainly belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from likewise.core.candidates import Candidates
from likewise.core.partition import SuperInstances
from likewise.errors import InputError


def is_sparse(X: Any) -> bool:
    """Return whether data is a sparse matrix or array of scipy."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def candidates_from_sparse(X: Any) -> Candidates:
    """Return the stored entries of a symmetric sparse matrix of distances, zeros included."""
    if len(X.shape) != 2 or X.shape[0] != X.shape[1] or not X.shape[0]:
        raise InputError(f"sparse distances are a matrix of all rows by all rows, got {X.shape}")
    csr = X.tocsr().copy()
    if csr.dtype.kind not in "biuf":
        raise InputError(f"distances are numbers, got a sparse matrix of {csr.dtype}")
    csr.sum_duplicates()
    csr.sort_indices()
    rows, columns = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr)), csr.indices
    distances = csr.data.astype(np.float64)
    for is_bad, why in (
        (~(distances >= 0) | np.isinf(distances), "a distance is a finite number from 0"),
        ((rows == columns) & (distances != 0), "a row has no distance to itself"),
    ):
        if is_bad.any():
            k = int(np.flatnonzero(is_bad)[0])
            raise InputError(f"X[{rows[k]}, {columns[k]}] is {distances[k]}; {why}")
    other = csr.T.tocsr()  # its entries come sorted
    if not (np.array_equal(csr.indptr, other.indptr) and np.array_equal(columns, other.indices)):
        there, back = rows * csr.shape[0] + columns, columns.astype(np.int64) * csr.shape[0] + rows
        i, j = divmod(int(np.setdiff1d(there, back)[0]), csr.shape[0])
        raise InputError(
            f"X is not symmetric: X[{i}, {j}] is stored, X[{j}, {i}] is not. Store every pair in "
            "both places; X + X.T does it where each is stored once."
        )
    is_other = csr.data != other.data
    if is_other.any():
        k = int(np.flatnonzero(is_other)[0])
        i, j = rows[k], columns[k]
        raise InputError(
            f"X is not symmetric: X[{i}, {j}] is {csr.data[k]}, but X[{j}, {i}] is "
            f"{other.data[k]}. A pair has one distance."
        )
    is_upper = rows < columns
    return Candidates.sorted(csr.shape[0], rows[is_upper], columns[is_upper], distances[is_upper])


def joined(
    candidates: Candidates, is_certain: NDArray[np.bool_]
) -> tuple[Candidates, SuperInstances]:
    """Join the rows of certain pairs; return the other pairs, of rows that stand for the parts."""
    n = candidates.n_rows
    left, right = candidates.left[is_certain], candidates.right[is_certain]
    graph = coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(n, n))
    n_parts, parts = connected_components(graph, directed=False)
    n_certain = np.bincount(np.concatenate([left, right]), minlength=n)
    order = np.lexsort((-n_certain, parts))  # the row with the most certain pairs stands for a part
    reps = order[np.searchsorted(parts[order], np.arange(n_parts))]
    number = np.argsort(np.argsort(reps))  # super-instances are numbered by their row
    partition = SuperInstances(number[parts], np.sort(reps), metric="precomputed")
    one, other = reps[parts[candidates.left]], reps[parts[candidates.right]]
    is_left = one != other
    others = Candidates.sorted(n, one[is_left], other[is_left], candidates.distances[is_left])
    return others, partition
