"""Which rows of large data are asked about: a random sample, the same wherever the rows lie."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

SAMPLE_ROWS = 20_000
"""Data of more rows is asked about by a sample of this many, the largest size that is still quick:
60 choices take 3.4 s of CPU, and 6.8 s with 50 000 rows. A sample of 5000 loses up to .06 of the
adjusted Rand index (`benchmarks/large_quality.py`)."""


def draw_rows(
    n_rows: int,
    seed: int,
    *,
    train: NDArray[np.intp] | None = None,
    linked: Iterable[int] = (),
) -> NDArray[np.intp] | None:
    """Return a sample with all `linked` and as many `train` rows as fit, or None for all rows."""
    if n_rows <= SAMPLE_ROWS:
        return None
    rng = np.random.default_rng(seed)
    if train is None:
        drawn = rng.choice(n_rows, SAMPLE_ROWS, replace=False, shuffle=False)
    else:
        drawn = train
        if len(train) > SAMPLE_ROWS:
            drawn = rng.choice(train, SAMPLE_ROWS, replace=False, shuffle=False)
        others = np.setdiff1d(np.arange(n_rows), train)
        n_others = min(len(others), SAMPLE_ROWS - len(drawn))
        drawn = np.concatenate([drawn, rng.choice(others, n_others, replace=False)])
    return np.union1d(drawn, np.fromiter(linked, dtype=np.intp)).astype(np.intp)
