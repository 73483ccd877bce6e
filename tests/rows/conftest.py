from itertools import pairwise

import numpy as np
import pytest

N_ROWS, N_FEATURES, N_BLOBS = 6_000, 5, 6


@pytest.fixture(scope="session")
def blobs():
    """Rows around some places, shuffled, and the place of each."""
    rng = np.random.default_rng(0)
    places = rng.uniform(-10, 10, size=(N_BLOBS, N_FEATURES))
    y = rng.integers(N_BLOBS, size=N_ROWS)
    X = (places[y] + rng.normal(size=(N_ROWS, N_FEATURES))).astype(np.float32)
    return X, y


@pytest.fixture
def small_sample(monkeypatch):
    """Ask about 1000 rows, and read 700 at a time, so that small data is large."""
    monkeypatch.setattr("likewise.rows.sample.SAMPLE_ROWS", 1000)
    monkeypatch.setattr("likewise.rows.blocks.BLOCK_ROWS", 700)


@pytest.fixture
def table_of():
    """Rows as an Arrow table with the columns a to e."""
    pyarrow = pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    return lambda X: pyarrow.table(dict(zip("abcde", X.T, strict=True)))


@pytest.fixture
def write_parquet(table_of):
    """Write rows as several Parquet files that end at the given rows."""
    from pyarrow import parquet

    def write(folder, X, cuts, row_group_size=700):
        folder.mkdir(exist_ok=True)
        for i, (start, stop) in enumerate(pairwise([0, *cuts, len(X)])):
            path = folder / f"events-{i:02}.parquet"
            parquet.write_table(table_of(X[start:stop]), path, row_group_size=row_group_size)
        return folder

    return write
