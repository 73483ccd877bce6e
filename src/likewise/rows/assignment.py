"""The nearest center of every row."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.errors import MissingExtraError
from likewise.rows.threads import map_in_threads

Kernel = Literal["numpy", "faiss"]

FAISS_MAX_FEATURES = 16
"""Up to this many features faiss is the faster kernel; above, a matrix product and argmax are."""

_SCORES_PER_BLOCK = 2**18
"""Scores of one small block of rows against all centers: they stay in the processor's cache."""

_ROWS_PER_THREAD = 2**15
"""How many rows a thread takes at a time. It changes the time only."""
_ROWS_PER_SEARCH = 2**13
"""How many rows faiss is given at a time. It changes the time only."""


def fastest_kernel(n_features: int, dtype: Any) -> Kernel:
    """Return the faster of the installed kernels for rows of this kind.

    faiss computes in float32 only, so it is not used for float64 rows.
    """
    is_small = n_features <= FAISS_MAX_FEATURES and np.dtype(dtype) == np.float32
    return "faiss" if is_small and find_spec("faiss") is not None else "numpy"


def assign(
    X: NDArray[Any],
    centers: NDArray[Any],
    *,
    kernel: Kernel = "numpy",
    n_jobs: int | None = None,
) -> NDArray[np.intp]:
    """Return the nearest center of every row.

    Rows and centers are compared after moving both by the mean of the centers, so that data far
    from the origin loses no digits. Blocks of rows are compared one at a time, each by one
    thread, so neither the number of threads nor the memory at hand changes a bit of the result.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.
    centers : ndarray of shape (n_centers, n_features)
        The centers.
    kernel : {"numpy", "faiss"}, default="numpy"
        What computes. The two differ only on rows that are nearly as close to another center.
    n_jobs : int, optional
        Threads.
    """

    def assign_rows(start: int) -> NDArray[np.intp]:
        return assign_block(X[start : start + _ROWS_PER_THREAD], centers, kernel)

    starts = range(0, len(X), _ROWS_PER_THREAD)
    found = map_in_threads(assign_rows, starts, n_jobs)
    return np.concatenate(found) if found else np.empty(0, dtype=np.intp)


def assign_block(rows: NDArray[Any], centers: NDArray[Any], kernel: Kernel) -> NDArray[np.intp]:
    """Return the nearest center of every row, for callers inside `one_thread_each`."""
    shift = centers.mean(axis=0, dtype=np.float64).astype(centers.dtype)
    find = _by_faiss if kernel == "faiss" else _by_product
    return find(rows, centers - shift, shift)


def rows_per_block(n_centers: int) -> int:
    """Return for how many rows the scores against the centers fit in the cache."""
    return int(2 ** np.clip(np.log2(_SCORES_PER_BLOCK / n_centers) // 1, 6, 12))


def _by_product(rows: NDArray[Any], centers: NDArray[Any], shift: NDArray[Any]) -> NDArray[np.intp]:
    """Compare by a matrix product: the nearest center has the largest x·c - |c|²/2."""
    half_norms = 0.5 * np.einsum("ij,ij->i", centers, centers)
    # A column of ones subtracts the norms within the product.
    factors = np.ascontiguousarray(np.vstack([centers.T, -half_norms]))
    n_features = centers.shape[1]
    n_block = min(rows_per_block(len(centers)), len(rows))
    extended = np.ones((n_block, n_features + 1), dtype=centers.dtype)
    scores = np.empty((n_block, len(centers)), dtype=centers.dtype)
    assignment = np.empty(len(rows), dtype=np.intp)
    for start in range(0, len(rows), n_block):
        block = rows[start : start + n_block]
        n = len(block)
        np.subtract(block, shift, out=extended[:n, :n_features])
        np.matmul(extended[:n], factors, out=scores[:n])
        scores[:n].argmax(axis=1, out=assignment[start : start + n])
    return assignment


def _by_faiss(rows: NDArray[Any], centers: NDArray[Any], shift: NDArray[Any]) -> NDArray[np.intp]:
    if find_spec("faiss") is None:
        raise MissingExtraError('kernel="faiss"', "fast")
    import faiss

    index = faiss.IndexFlatL2(centers.shape[1])
    index.add(np.ascontiguousarray(centers, dtype=np.float32))
    assignment = np.empty(len(rows), dtype=np.intp)
    moved = np.empty((_ROWS_PER_SEARCH, centers.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), _ROWS_PER_SEARCH):
        block = rows[start : start + _ROWS_PER_SEARCH]
        n = len(block)
        np.subtract(block, shift, out=moved[:n], casting="same_kind")
        assignment[start : start + n] = index.search(moved[:n], 1)[1][:, 0]
    return assignment
