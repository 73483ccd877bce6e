"""A short fingerprint of a matrix, to tell whether a session belongs to it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.candidates import Candidates
from likewise.errors import SessionFileError

_ROWS_PER_BLOCK = 65_536
"""How many rows are hashed at a time."""


def fingerprint(X: NDArray[Any] | Candidates) -> str:
    """Return a digest of the shape, type and values of a matrix, or of candidate pairs."""
    if isinstance(X, Candidates):
        parts = [fingerprint(part) for part in (X.left, X.right, X.distances)]
        return hashlib.blake2b(f"{X.n_rows} {parts}".encode(), digest_size=16).hexdigest()
    digest = hashlib.blake2b(f"{X.shape} {X.dtype.str}".encode(), digest_size=16)
    for start in range(0, len(X), _ROWS_PER_BLOCK):
        digest.update(np.ascontiguousarray(X[start : start + _ROWS_PER_BLOCK]).data)
    return digest.hexdigest()


def refuse_other_rows(digest: str | None, X: Any, n_first: int | None = None) -> None:
    """Raise `InputError` unless the rows, or the first of them, have this digest."""
    if digest is None:
        return
    rows = np.asarray(X)
    rows = rows[:n_first] if rows.ndim else rows
    with np.errstate(over="ignore"):  # a value too large for single precision becomes infinite
        singles = rows.astype(np.float32) if rows.dtype != np.float32 else rows
    is_same = fingerprint(singles) == digest and bool(np.array_equal(singles, rows, equal_nan=True))
    if not is_same and fingerprint(rows.astype(np.float64)) != digest:
        raise SessionFileError(
            f"the session was made from other rows than these, of shape {rows.shape}: values, "
            "order or columns differ. Pass the rows it was made from, in the same order."
        )
