"""A short fingerprint of a matrix, to tell whether a saved session belongs to it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROWS_PER_BLOCK = 65_536
"""How many rows are hashed at a time."""


def fingerprint(X: NDArray[Any]) -> str:
    """Return a digest of the shape, type and values of a matrix."""
    digest = hashlib.blake2b(f"{X.shape} {X.dtype.str}".encode(), digest_size=16)
    for start in range(0, len(X), _ROWS_PER_BLOCK):
        digest.update(np.ascontiguousarray(X[start : start + _ROWS_PER_BLOCK]).data)
    return digest.hexdigest()
