"""Data on disk for the benchmarks of large data."""

import os
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("LIKEWISE_SCALE_FOLDER", "/tmp/likewise-scale"))
"""Where the data is made; set LIKEWISE_SCALE_FOLDER to a disk with room."""

N_PLACES = 20
_STEP = 2**20


def places(d, seed=0):
    """Return the means of the mixture."""
    return 3 * np.random.default_rng(seed).standard_normal((N_PLACES, d), dtype=np.float32)


def chunks(n_rows, d, seed=0):
    """Yield rows of a mixture of Gaussians, a million at a time."""
    means = places(d, seed)
    for i, start in enumerate(range(0, n_rows, _STEP)):
        rng = np.random.default_rng([seed, i])
        n = min(_STEP, n_rows - start)
        X = rng.standard_normal((n, d), dtype=np.float32)
        X += means[rng.integers(N_PLACES, size=n)]
        yield start, X


def parquet(n_rows, d, n_files=4):
    """Return a folder of Parquet files of so many rows, made if it is not there."""
    import pyarrow
    from pyarrow import parquet as pq

    folder = FOLDER / f"{n_rows}x{d}"
    if not folder.exists():
        new = folder.with_suffix(".tmp")
        new.mkdir(parents=True)
        names = [f"x{i}" for i in range(d)]
        schema = pyarrow.schema([(name, pyarrow.float32()) for name in names])
        per_file = -(-n_rows // n_files)
        # Numbers at random hardly repeat: looking for repeats would take most of the time.
        options = {"use_dictionary": False, "compression": "none"}
        writers = [
            pq.ParquetWriter(new / f"events-{i}.parquet", schema, **options) for i in range(n_files)
        ]
        for start, X in chunks(n_rows, d):
            for i in range(start // per_file, (start + len(X) - 1) // per_file + 1):
                low, high = max(i * per_file, start), min((i + 1) * per_file, start + len(X))
                columns = [np.ascontiguousarray(c) for c in X[low - start : high - start].T]
                writers[i].write_table(pyarrow.table(columns, schema=schema))
        for writer in writers:
            writer.close()
        new.rename(folder)
    return folder
